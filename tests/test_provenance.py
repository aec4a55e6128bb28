"""Committed figures are those of the code that is committed with them."""

import json

import pytest
from benchmarks.provenance import FIGURES, RESULTS, fingerprint, stamps


def test_every_file_of_figures_is_known():
    assert {path.name for path in RESULTS.glob("*.json")} == set(FIGURES)


@pytest.mark.parametrize("name", FIGURES)
def test_figures_are_not_older_than_the_code_they_speak_of(name):
    found = stamps(json.loads((RESULTS / name).read_text("utf-8")))
    measure = (
        f"benchmarks/results/{name} is older than the code it speaks of; measure it again: {FIGURES[name].command}"
    )
    assert found, measure
    for made in found:
        assert made.get("sources") == fingerprint(name), measure
        assert made.get("commit"), measure
