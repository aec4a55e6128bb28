# Two commands on a fresh machine with Python 3.11+ and make: `make play` and `make test`.
# `make test` takes about ten minutes on two idle cores and runs on pushes to main and pull requests; `make test-all` runs
# every night.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
INSTALLED := $(VENV)/.installed
PLAY_INSTALLED := $(VENV)/.installed-play
PAGE_SOURCES := $(shell find src/kinema/playground/web -type f -not -path '*/node_modules/*' -not -name protocol.ts)
PLAYGROUND_RESULTS := benchmarks/results/playground.json
NODE_MODULES := tests/judges/node_modules/.package-lock.json

UNCOMPILED_QUICK := tests/math tests/solvers/chain/test_chain.py tests/solvers/limb/test_two_bone.py tests/solvers/chain/test_schedule.py \
	$(shell grep -rl --include='test_*.py' plain_python_only tests)
UNCOMPILED := tests/math tests/model tests/solvers tests/world tests/physics tests/planar tests/stages

.PHONY: idle cleaning pictures blender release-check docs size mutants play test test-all test-lowest wheel lint style types unit uncompiled uncompiled-quick e2e e2e-quick page first-frame latency playground-figures screens judges fresh fuzz bench figures motion motion-rates locomotion retargeting fitting clean

play: $(PLAY_INSTALLED)
	$(BIN)/kinema play

# The playground's page, built anew where its sources are newer. Installing Kinema builds it too.
page: $(INSTALLED)
	$(BIN)/python hatch_build.py

# Build the source distribution and the wheel with its kernels, then try the wheel in an empty environment.
wheel: $(INSTALLED)
	rm -rf dist
	$(BIN)/python -m build
	$(BIN)/python -m tests.wheel dist

# Whether a release could be made today: metadata, readme, contents, installs with the lowest and newest dependencies, and
# everything documented, from the wheel. Half an hour on two idle cores; nothing is uploaded.
release-check: $(INSTALLED)
	rm -rf dist
	$(BIN)/python -m build
	$(BIN)/python -m tests.release dist

# The add-on for Blender as an extension: build/kinema_blender-VERSION.zip.
blender:
	$(PYTHON) -m blender.pack build

# Seconds from starting the playground to the first frame of every scene, with the wheel that `make wheel` built.
first-frame: $(INSTALLED)
	$(BIN)/python -m tests.first_frame dist --json $(PLAYGROUND_RESULTS)

# Milliseconds from the pointer to the answer in every scene: the server alone, then in Chromium.
latency: page
	$(BIN)/python -m benchmarks --only playground --json $(PLAYGROUND_RESULTS)
	$(BIN)/python -m tests.e2e.latency --json $(PLAYGROUND_RESULTS)

# All figures of the playground in one file: the server alone, the pointer in Chromium, the first pictures from a wheel.
playground-figures: wheel latency
	$(MAKE) first-frame

# Pictures of every scene on three screens, light and dark, in build/screens.
screens: page
	$(BIN)/python -m tests.e2e.screens

# The oldest versions of everything that pyproject.toml allows.
test-lowest:
	$(PYTHON) -m venv $(VENV)-lowest
	KINEMA_WITHOUT_PAGE=1 $(VENV)-lowest/bin/python -m pip install --quiet --editable . numpy==1.26.0 numba==0.63.0 \
		typer==0.15.4 rich==13.0.0 pillow pytest hypothesis
	$(VENV)-lowest/bin/python -m pytest -q tests/solvers tests/math tests/cli tests/stages/test_animator.py \
		tests/compile tests/test_compile_ahead.py

# Style, types and layers, all tests compiled, with fewer random examples than `test-all`, the chains' kernels as plain
# Python, and the playground's scenes in a real browser.
test: EXAMPLES = quick
test: lint unit uncompiled-quick e2e-quick

# Everything that must hold: the same with all examples, all kernels as plain Python with coverage, and the whole
# playground in a real browser.
test-all: lint unit uncompiled e2e

lint: $(INSTALLED)
	$(MAKE) -j2 style types

style: $(INSTALLED)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports
	$(BIN)/python hatch_build.py check

types: $(INSTALLED)
	$(BIN)/mypy

# Compiled once beforehand, so that the two processes find what they share on disk. EXAMPLES: a profile of tests/conftest.py.
EXAMPLES ?= ci
unit: $(INSTALLED) $(NODE_MODULES)
	$(BIN)/kinema warmup
	$(BIN)/python -m pytest --numprocesses=2 --dist=loadfile --ignore=tests/e2e --hypothesis-profile=$(EXAMPLES) \
		--durations=20

PLAIN_PYTHON := NUMBA_DISABLE_JIT=1 $(BIN)/python -m pytest -m "not slow_uncompiled" --numprocesses=2 --dist=loadfile \
	--hypothesis-profile=uncompiled --durations=10

# The kernels as plain Python, so that coverage can see into them.
uncompiled: $(INSTALLED)
	$(PLAIN_PYTHON) $(UNCOMPILED) --cov --cov-report=term:skip-covered --cov-fail-under=93

# Compiled code reads past the end of an array in silence; as plain Python it is an error.
uncompiled-quick: $(INSTALLED)
	$(PLAIN_PYTHON) $(UNCOMPILED_QUICK)

# Programs that nobody here wrote, on every file: three.js and the Khronos validator, as in `unit`, and Blender (a gigabyte).
judges: $(INSTALLED) $(NODE_MODULES)
	$(BIN)/python -m tests.judges.install --blender
	KINEMA_BLENDER=1 $(BIN)/python -m pytest -s tests/judges tests/blender

# Without Chromium these tests are skipped; KINEMA_BROWSER_REQUIRED=1 makes them fail.
e2e: page
	$(BIN)/python -m pytest tests/e2e

# The playground alone for ten minutes, and fifty changes of scene: does it grow?
idle: page
	KINEMA_IDLE_MINUTES=10 $(BIN)/python -m pytest tests/e2e/test_endurance.py

# Every scene opens and draws, and what is dragged follows.
e2e-quick: page
	$(BIN)/python -m pytest tests/e2e -m smoke

# The figures of the README's first table again, over fresh random seeds and many more examples.
fresh: $(INSTALLED)
	KINEMA_FRESH=1 $(BIN)/python -m pytest

# 100,000 damaged files: each is read or refused, in time and in bounded memory. A quarter of an hour on two cores.
fuzz: $(INSTALLED)
	$(BIN)/python -m tests.io.mutations 100000

# Every take and rig of the assets baked onto six grounds and judged as it plays; the worst are drawn in build/motion. Then
# the table of docs/feet.md.
# Options: make motion OPTIONS="--only 'cmu/0*' --ground stairs --split given"
motion: $(INSTALLED)
	$(BIN)/python -m tests.motion $(or $(OPTIONS),--json benchmarks/results/motion.json)
	$(BIN)/python -m tests.motion.table

# The same clips played through `Feet` at four frame rates, and judged as a game shows them; then its table in docs/feet.md.
# Options: make motion-rates OPTIONS="--only 'cmu/0*' --ground stairs"
motion-rates: $(INSTALLED)
	$(BIN)/python -m tests.motion.rates $(or $(OPTIONS),--json benchmarks/results/motion_rates.json)

# Captured takes as points with noise, fitted to their own body and to others, judged by their joints.
fitting: $(INSTALLED)
	$(BIN)/python -m tests.fitting.suite $(or $(OPTIONS),--json benchmarks/results/fitting.json)
	$(BIN)/python -m tests.fitting.table

# Takes and clips of rigs damaged, cleaned and judged; then the table of docs/clean.md.
cleaning: $(INSTALLED)
	$(BIN)/python -m tests.retargeting.cleaning $(or $(OPTIONS),--json)

# Every take and some clips of rigs moved onto twelve bodies and judged by their joints.
retargeting: $(INSTALLED)
	$(BIN)/python -m tests.retargeting $(or $(OPTIONS),--json benchmarks/results/retargeting.json)

# Characters that walk without a clip, over six grounds at four frame rates, judged by their poses; then the tables of
# docs/locomotion.md. Options: make locomotion OPTIONS="--only fox --ground 'stairs*' --rates 60 --details"
locomotion: $(INSTALLED)
	$(BIN)/python -m tests.locomotion $(or $(OPTIONS),--more --json benchmarks/results/locomotion.json)
	$(BIN)/python -m tests.locomotion.table

# The documentation site, in build/site: every page, the docstring of every public name, links and spelling checked. Nothing
# is loaded from elsewhere; open build/site/index.html.
docs: $(INSTALLED)
	$(BIN)/python -m pip install --quiet --editable ".[docs]"
	$(BIN)/codespell README.md CONTRIBUTING.md CHANGELOG.md docs blender src/kinema --skip "*.svg,*.png,*.gif,*/node_modules/*,*/page/*,*.json,*.ts" --ignore-words-list tread,treads,fro,mot,buss,thi
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --quiet

# The pictures of the docs that are older than what they show. Needs the test files, Chromium, all viewers and a screen.
pictures: page
	$(BIN)/python -m benchmarks.provenance

# Lines by room: code, docstrings, comments, imports, blanks; the longest function, the most parameters.
size: $(INSTALLED)
	$(BIN)/python -m tests.size

# Tuning constants of feet, walks and bakes, changed one at a time: does a test notice? Hours on two cores; with
# OPTIONS=--own half an hour.
mutants: $(INSTALLED)
	$(BIN)/kinema warmup
	$(BIN)/python -m tests.mutants $(OPTIONS)

bench: $(INSTALLED)
	$(BIN)/python -m benchmarks --json benchmarks/results

# The figures of docs/full_body.md. PEERS: the Python of an environment with Kinema's dependencies and its peers.
PEERS ?= $(BIN)/python
figures: $(INSTALLED)
	PYTHONPATH=src $(PEERS) -m benchmarks --only full_body --json benchmarks/results/full_body.json
	$(BIN)/python -m benchmarks.readme

$(INSTALLED): pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip
	$(BIN)/python -m pip install --quiet --editable ".[dev,play]"
	touch $@ $(PLAY_INSTALLED)

# What the playground needs and no more: the tools that tests need come with the first `make test`.
$(PLAY_INSTALLED): pyproject.toml $(PAGE_SOURCES)
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip
	$(BIN)/python -m pip install --quiet --editable ".[play]"
	touch $@

# Without a network, what needs them is skipped.
$(NODE_MODULES): $(INSTALLED) tests/judges/package-lock.json
	-$(BIN)/python -m tests.judges.install

clean:
	rm -rf $(VENV) .judges tests/judges/node_modules dist build .pytest_cache .hypothesis .mypy_cache .ruff_cache .coverage
