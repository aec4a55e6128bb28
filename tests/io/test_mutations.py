"""A few of the files that `make fuzz` damages: each is read or refused, in time and in bounded memory."""

from collections import Counter

import pytest

from tests.io.mutations import Trial, everything


@pytest.fixture(scope="module")
def trial(tmp_path_factory):
    return Trial(tmp_path_factory.mktemp("damaged"))


FIRST = 10_000_000
"""Seeds that `make fuzz` does not come to."""


@pytest.mark.parametrize("piece", range(4))
def test_damaged_files_are_read_or_refused(trial, piece):
    seeds = range(FIRST + 150 * piece, FIRST + 150 * (piece + 1))
    outcomes = Counter(trial.outcome(seed) for seed in seeds)
    assert min(outcomes["read"], outcomes["refused"]) > 15


def test_the_file_that_has_everything_is_read_without_damage():
    character = everything().read()
    assert (len(character.skeleton), len(character.clips), len(character.skins)) == (5, 3, 3)
    assert character.source.humanoid == {"hips": 0, "spine": 1}


def test_a_seed_is_the_same_file_every_time(trial):
    first = [trial.write(seed).read_bytes() for seed in range(20)]
    assert first == [trial.write(seed).read_bytes() for seed in range(20)]
    assert len(set(first)) > 15
