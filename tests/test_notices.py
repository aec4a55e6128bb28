"""Warnings: one per call site and second."""

import logging

import pytest

import kinema as km
from kinema import notices

TROUBLES = [notices.OUT_OF_REACH, notices.ZERO_BONE, notices.DEGENERATE]


@pytest.fixture
def heard(caplog):
    """Messages so far, oldest first."""
    caplog.set_level(logging.WARNING, logger="kinema")
    return lambda: [record.getMessage() for record in caplog.records if record.name == "kinema"]


@pytest.fixture
def clock(monkeypatch):
    """A clock that advances only when the test sets it."""
    now = [0.0]
    monkeypatch.setattr(notices, "monotonic", lambda: now[0])

    def move(seconds):
        now[0] += seconds

    return move


def test_every_trouble_has_words_of_its_own(heard):
    notices.report("chain", sum(TROUBLES))
    assert len(set(heard())) == len(TROUBLES)
    assert any("out of reach" in message for message in heard())


def test_warnings_are_warnings_of_the_logger_kinema(caplog):
    notices.report("ccd", notices.OUT_OF_REACH)
    (record,) = caplog.records
    assert (record.name, record.levelno) == ("kinema", logging.WARNING)


def test_no_trouble_no_word(heard):
    notices.report("ccd", 0)
    assert heard() == []


def test_a_call_site_is_warned_once_a_second(heard, clock):
    for _ in range(150):
        notices.report("ccd", notices.OUT_OF_REACH)
        clock(1 / 60)
    assert len(heard()) == 3


def test_two_equal_limbs_of_which_one_is_out_of_reach_warn_once_a_second(heard, clock):
    for _ in range(60):
        for target in ((0.5, 0.5, 0.0), (9.0, 0.0, 0.0)):
            km.two_bone((0.0, 0.0, 0.0), target, (1.0, 1.0))
        clock(1 / 61)
    assert len(heard()) == 1


def test_call_sites_are_told_apart(heard, clock):
    notices.report("ccd", notices.OUT_OF_REACH)
    notices.report("ccd", notices.OUT_OF_REACH)
    assert len(heard()) == 2


def test_what_is_remembered_is_bounded(clock, monkeypatch):
    monkeypatch.setattr(notices.logger, "disabled", True)
    for i in range(5_000):
        notices.report(f"solver {i}", notices.OUT_OF_REACH)
    assert len(notices._last_warning) <= notices._CALL_SITES


def test_forget_makes_it_new(heard, clock):
    for _ in range(2):
        notices.report("ccd", notices.OUT_OF_REACH)
        notices.forget()
    assert len(heard()) == 2
