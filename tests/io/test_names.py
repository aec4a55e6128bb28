"""Names made different."""

from hypothesis import given
from hypothesis import strategies as st

from kinema.io import names


def test_the_first_keeps_its_name():
    assert names.unique(["a", "b", "a", "a"]) == ("a", "b", "a_2", "a_3")


def test_a_name_in_use_is_not_given_again():
    assert names.unique(["a", "a", "a_2", "a"]) == ("a", "a_3", "a_2", "a_4")
    assert names.unique(["a", "a", "a_2", "a_2"]) == ("a", "a_3", "a_2", "a_2_2")


def test_many_of_one_name_are_no_problem():
    assert len(set(names.unique(["hand"] * 20_000))) == 20_000


@given(st.lists(st.sampled_from(["a", "b", "a_2", "a_3", "a_2_2", ""])))
def test_all_are_different_and_what_was_different_stays(given_names):
    result = names.unique(given_names)
    assert len(set(result)) == len(result) == len(given_names)
    for i, name in enumerate(given_names):
        assert result[i].startswith(name)
        if name not in given_names[:i]:
            assert result[i] == name
