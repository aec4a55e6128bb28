"""Values have the right type and range, or an error with their path."""

import numpy as np
import pytest

from kinema.errors import FileError
from kinema.io.fbx import ascii, limits
from kinema.io.fbx.element import Budget, decoded


def only(written):
    data = f"Out: {{\n In: {written}\n}}".encode()
    return ascii.parse(data, Budget("a.fbx", len(data))).at("Out").at("In")


@pytest.mark.parametrize(
    ("written", "read", "message"),
    [
        ('"x"', lambda e: e.number(), "line 2: Out.In has b'x'; expected a finite number"),
        ("nan", lambda e: e.number(), "expected a finite number"),
        ("1e300", lambda e: e.number(), "expected a finite number"),
        ("1.5", lambda e: e.whole(), "expected a whole number"),
        ("1e60", lambda e: e.whole(), "expected a whole number"),
        ("1", lambda e: e.text(), "expected a string"),
        ("1", lambda e: e.number(1), "has 1 values; expected at least 2"),
        ('1,"x"', lambda e: e.numbers(), "has b'x'; expected numbers"),
        ("1,1e200", lambda e: e.numbers(), "numbers that are not finite"),
        ("1,1e90", lambda e: e.numbers(np.int64), "numbers that are too large"),
        ("1", lambda e: e.at("Lost"), "has no 'Lost'"),
    ],
)
def test_wrong_values(written, read, message):
    with pytest.raises(FileError, match=message):
        read(only(written))


def test_right_values():
    assert (only("4.0").whole(), only("4").number(), only('"x"').text()) == (4, 4.0, "x")
    assert only("1.00000000000000000000").number() == 1.0


def test_files_may_not_ask_for_more_than_they_deserve():
    with pytest.raises(FileError, match="needs 999,999,999 numbers"):
        only("1").budget.charge(999_999_999, only("1"))


def test_elements_are_counted(monkeypatch):
    monkeypatch.setattr("kinema.io.fbx.element.MOST_ELEMENTS", 1)
    with pytest.raises(FileError, match="is element 2; at most 1"):
        only("1")
    assert limits.MOST_ELEMENTS > 1


@pytest.mark.parametrize(
    ("raw", "name"),
    [
        ("Hüfte 腰".encode(), "Hüfte 腰"),
        ("Hüfte".encode("latin-1"), "Hüfte"),
        (b"armFBXASC046001", "arm.001"),
        (b"FBXASC195FBXASC188", "ü"),
        (b"a&quot;b", 'a"b'),
    ],
)
def test_names_in_any_encoding(raw, name):
    assert decoded(raw) == name
