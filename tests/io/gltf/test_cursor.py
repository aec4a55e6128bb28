"""Values out of JSON: of the right type and range, or an error that names where they stand."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kinema.errors import FileError
from kinema.io.gltf.cursor import Cursor

TREE = {"list": [{"n": 3, "half": 4.0, "t": "x", "yes": True, "v": [1, 2.5]}, {"n": 7, "t": "y"}], "word": "w"}
ROOT = Cursor(TREE, "a.glb")


def refused(path, message, call):
    with pytest.raises(FileError) as caught:
        call()
    assert str(caught.value).startswith(f"a.glb: {path} ".replace("  ", " ")), str(caught.value)
    assert message in str(caught.value)


def test_what_is_there_is_given():
    first = ROOT.each("list")[0]
    assert first.whole("n", 0, 3) == 3
    assert first.whole("half", 0, 9) == 4
    assert type(first.whole("half", 0, 9)) is int
    assert first.whole("none", 0, 9, otherwise=-5) == -5
    assert first.text("t") == "x"
    assert first.text("none", "z") == "z"
    assert first.one_of("t", ("x", "y")) == "x"
    assert first.flag("yes") is True
    assert first.flag("none") is False
    assert first.numbers("v", (0.0, 0.0)) == (1.0, 2.5)
    assert first.numbers("none", (9.0,)) == (9.0,)
    assert ROOT.maybe("none") is None
    assert ROOT.maybe("word").value == "w"
    assert len(ROOT.each("none")) == 0
    assert [p.path for p in ROOT.each("list")] == ["list[0]", "list[1]"]


@pytest.mark.parametrize(
    ("path", "message", "call"),
    [
        ("list[0].n", "is 3; expected a whole number from 0 to 2", lambda: ROOT.each("list")[0].whole("n", 0, 2)),
        ("list[0].n", "is 3; expected none, as there are none", lambda: ROOT.each("list")[0].index("n", 0)),
        ("list[0].t", "is 'x'; expected a whole number", lambda: ROOT.each("list")[0].whole("t", 0, 2)),
        ("list[0].yes", "is True; expected a whole number", lambda: ROOT.each("list")[0].whole("yes", 0, 2)),
        ("list[0]", "has no 'm'", lambda: ROOT.each("list")[0].whole("m", 0, 2)),
        ("list[0].n", "is 3; expected a string", lambda: ROOT.each("list")[0].text("n")),
        ("list[0].t", "is 'x'; expected 'y' or 'z'", lambda: ROOT.each("list")[0].one_of("t", ("y", "z"))),
        ("list[0].n", "is 3; expected true or false", lambda: ROOT.each("list")[0].flag("n")),
        ("list[0].v", "is an array of 2; expected an array of 3", lambda: ROOT.each("list")[0].numbers("v", (0,) * 3)),
        ("list", "is an array of 2; expected an object", lambda: ROOT.at("list").text("t")),
        ("word", "is 'w'; expected an array", lambda: ROOT.each("word")),
        ("word", "is 'w'; expected an object", lambda: ROOT.at("word").whole("n", 0, 1)),
        ("", "the file has no 'other'", lambda: ROOT.at("other")),
    ],
)
def test_what_is_wrong_is_named_by_its_path(path, message, call):
    refused(path, message, call)


@pytest.mark.parametrize("number", [float("inf"), float("nan"), 1e101, 10**400, "1", None, True, [1]])
def test_numbers_are_finite_numbers(number):
    refused("v", "has", lambda: Cursor({"v": [number]}, "a.glb").numbers("v", (0.0,)))


@pytest.mark.parametrize("value", ["x" * 10**7, 10**4000, {"a": 1}, [0] * 10**6, 1e308])
def test_messages_stay_short(value):
    with pytest.raises(FileError) as caught:
        Cursor({"v": value}, "a.glb").whole("v", 0, 1)
    assert len(str(caught.value)) < 200


# --- many at once ----------------------------------------------------------------------------------------------

VALUES = st.one_of(st.integers(-2, 9), st.floats(), st.text(max_size=2), st.booleans(), st.none(), st.just([]))
ELEMENTS = st.one_of(st.dictionaries(st.sampled_from("ab"), VALUES), VALUES)


def outcome(call):
    try:
        return call()
    except FileError as problem:
        return str(problem)


@given(st.lists(ELEMENTS, max_size=6), st.sampled_from([None, 0, -1, 5]))
def test_all_at_once_is_one_by_one(elements, otherwise):
    cursors = Cursor({"list": elements}, "a.glb").each("list")
    assert outcome(lambda: cursors.wholes("a", 0, 7, otherwise)) == outcome(
        lambda: [cursor.whole("a", 0, 7, otherwise) for cursor in cursors]
    )
    text = None if otherwise is None else "t"
    assert outcome(lambda: cursors.texts("a", text)) == outcome(lambda: [cursor.text("a", text) for cursor in cursors])


@given(st.lists(st.one_of(st.fixed_dictionaries({"t": ELEMENTS}), ELEMENTS), max_size=5))
def test_members_of_all(elements):
    cursors = Cursor({"list": elements}, "a.glb").each("list")
    found = outcome(lambda: cursors.under("t").wholes("a", 0, 7, 0))
    assert found == outcome(lambda: [p.whole("a", 0, 7, 0) for p in [cursor.at("t") for cursor in cursors]])
    if not isinstance(found, str) and elements:
        assert cursors.under("t")[0].path == "list[0].t"
    json.dumps(found)
