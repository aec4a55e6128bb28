"""Notices: one warning when trouble starts, none while it goes on, again after it was over, and a bounded memory."""

import logging
from itertools import pairwise

import pytest

from kinema import notices

TROUBLES = [notices.OUT_OF_REACH, notices.ZERO_BONE, notices.DEGENERATE]


@pytest.fixture
def heard(caplog):
    """Messages so far, oldest first."""
    caplog.set_level(logging.WARNING, logger="kinema")
    return lambda: [record.getMessage() for record in caplog.records if record.name == "kinema"]


@pytest.mark.parametrize("flag", TROUBLES)
def test_one_warning_when_trouble_starts_and_none_while_it_goes_on(heard, flag):
    for _ in range(100):
        notices.report("two_bone", "arm", flag)
    assert len(heard()) == 1
    assert heard()[0].startswith("two_bone: ")


@pytest.mark.parametrize("flag", TROUBLES)
def test_again_after_it_was_over(heard, flag):
    for now in (flag, flag, 0, 0, flag, flag):
        notices.report("fabrik", "tail", now)
    assert len(heard()) == 2


def test_warnings_are_warnings_of_the_logger_kinema(caplog):
    notices.report("ccd", "neck", notices.OUT_OF_REACH)
    (record,) = caplog.records
    assert (record.name, record.levelno) == ("kinema", logging.WARNING)


def test_every_trouble_has_words_of_its_own(heard):
    for flag in TROUBLES:
        notices.report("ccd", flag, flag)
    assert len(set(heard())) == len(TROUBLES)
    assert any("out of reach" in message for message in heard())


def test_no_trouble_no_word(heard):
    notices.report("ccd", "neck", 0)
    assert heard() == []
    assert not notices.watched()


def test_troubles_of_one_chain_come_and_go_on_their_own(heard):
    both = notices.OUT_OF_REACH | notices.ZERO_BONE
    counts = [0]
    for flags in (notices.OUT_OF_REACH, both, both, notices.ZERO_BONE, both, 0, both):
        notices.report("ccd", "neck", flags)
        counts.append(len(heard()))
    assert [after - before for before, after in pairwise(counts)] == [1, 1, 0, 0, 1, 0, 2]


def test_chains_and_solvers_are_told_apart(heard):
    for solver in ("ccd", "fabrik"):
        for chain in ("left", "right"):
            for _ in range(3):
                notices.report(solver, chain, notices.OUT_OF_REACH)
    assert len(heard()) == 4


def test_one_chain_getting_well_does_not_cure_another(heard):
    notices.report("ccd", "left", notices.OUT_OF_REACH)
    notices.report("ccd", "right", notices.OUT_OF_REACH)
    notices.report("ccd", "left", 0)
    assert notices.watched()
    notices.report("ccd", "right", notices.OUT_OF_REACH)
    assert len(heard()) == 2


def test_watched_while_any_chain_is_in_trouble():
    assert not notices.watched()
    notices.report("ccd", "neck", notices.ZERO_BONE)
    assert notices.watched()
    notices.report("ccd", "neck", 0)
    assert not notices.watched()


def test_forget_makes_it_new(heard):
    notices.report("ccd", "neck", notices.OUT_OF_REACH)
    notices.forget()
    assert not notices.watched()
    notices.report("ccd", "neck", notices.OUT_OF_REACH)
    assert len(heard()) == 2


def flood(count, between=lambda: None):
    """Many other chains in trouble, without waiting for their words to be written."""
    notices.logger.disabled = True
    try:
        for i in range(count):
            notices.report("crowd", i, notices.OUT_OF_REACH)
            between()
    finally:
        notices.logger.disabled = False


def test_memory_is_bounded(heard):
    """Of very many chains the first is forgotten, which shows as its warning given again; the last is not."""
    notices.report("ccd", "first", notices.OUT_OF_REACH)
    flood(50_000)
    notices.report("crowd", 49_999, notices.OUT_OF_REACH)
    assert len(heard()) == 1
    notices.report("ccd", "first", notices.OUT_OF_REACH)
    assert len(heard()) == 2


def test_a_crowd_of_a_thousand_is_remembered(heard):
    flood(1_000)
    for i in range(1_000):
        notices.report("crowd", i, notices.OUT_OF_REACH)
    assert heard() == []


def test_a_chain_that_is_still_in_trouble_is_not_the_one_forgotten(heard):
    notices.report("ccd", "neck", notices.OUT_OF_REACH)
    flood(20_000, between=lambda: notices.report("ccd", "neck", notices.OUT_OF_REACH))
    notices.report("ccd", "neck", notices.OUT_OF_REACH)
    assert len(heard()) == 1
