"""The JSON file of benchmark results."""

import json

from benchmarks.report import Measurement, Row, add, write


def row(name, seconds):
    return Row(name, "a call", "us", Measurement(seconds, 2 * seconds), bar=20.0)


def test_rows_are_added_in_place_of_those_with_the_same_name(tmp_path):
    target = tmp_path / "results.json"
    write(target, {"cpu": "one"}, [row("first", 1e-6), row("second", 2e-6)])
    add(target, [row("second", 3e-6), row("third", 4e-6)])
    content = json.loads(target.read_text())
    assert content["machine"] == {"cpu": "one"}
    assert [(each["name"], each["kinema"]["min"]) for each in content["rows"]] == [
        ("first", 1.0),
        ("second", 3.0),
        ("third", 4.0),
    ]
