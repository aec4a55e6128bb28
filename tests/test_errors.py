"""Words of messages: how many, which names there are, and which one was meant."""

import pytest

from kinema import errors


def test_names_that_are_meant():
    clips = ["Walking_A", "Walking_B", "Jump", *(f"Pose {n}" for n in range(20))]
    assert errors.suggestion("Waking_A", clips).startswith("did you mean 'Walking_A' or 'Walking_B'")
    assert errors.suggestion("Q", clips).endswith(" and 11 more")
    assert errors.suggestion("Q", clips).count("'") == 24
    assert errors.suggestion("Q", []) == "there are none"


def test_one_thing_is_no_plural():
    assert [errors.counted(n, "joint") for n in (0, 1, 2)] == ["0 joints", "1 joint", "2 joints"]


def test_an_unknown_name_is_a_key_error_and_an_input_error_with_a_plain_message():
    for kind in (KeyError, errors.InputError):
        with pytest.raises(kind) as caught:
            raise errors.UnknownNameError("there is no clip 'Wlak'")
        assert str(caught.value) == "there is no clip 'Wlak'"
