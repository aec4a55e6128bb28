# Two commands on a fresh machine with Python 3.11+ and make: `make play` and `make test`.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
INSTALLED := $(VENV)/.installed

.PHONY: play test lint unit uncompiled fresh bench clean

play: $(INSTALLED)
	$(BIN)/kinema play

# Everything that must hold: style, types, layers, then the tests compiled, then a part of them uncompiled with coverage.
test: lint unit uncompiled

lint: $(INSTALLED)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

unit: $(INSTALLED)
	$(BIN)/python -m pytest

# The kernels as plain Python, so that coverage can see into them.
uncompiled: $(INSTALLED)
	NUMBA_DISABLE_JIT=1 $(BIN)/python -m pytest tests/math tests/solvers tests/test_limits.py -m "not slow_uncompiled" \
		--hypothesis-profile=uncompiled --cov --cov-report=term:skip-covered --cov-fail-under=93

# The figures of the README's first table again, over fresh random seeds and many more examples.
fresh: $(INSTALLED)
	KINEMA_FRESH=1 $(BIN)/python -m pytest

bench: $(INSTALLED)
	$(BIN)/python -m benchmarks

$(INSTALLED): pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip
	$(BIN)/python -m pip install --quiet --editable ".[dev]"
	touch $@

clean:
	rm -rf $(VENV) dist build .pytest_cache .hypothesis .mypy_cache .ruff_cache .coverage
