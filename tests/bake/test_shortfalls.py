"""Warnings: a sentence for each figure that is not clean, and none for what is."""

from dataclasses import replace

import numpy as np
import pytest

import kinema as km
from kinema import metrics
from kinema.bake.shortfalls import shortfalls
from kinema.demo import humanoid

TIMES = np.arange(30) / 60


@pytest.fixture(scope="module")
def clean():
    """The figures of a person that stands still: a rig and its metrics."""
    rig = humanoid().rig
    world = np.repeat(rig.standing_world[np.newaxis], len(TIMES), axis=0)
    floor = km.Plane((0.0, rig.floor, 0.0))
    stands = np.ones((len(TIMES), len(rig.legs)), bool)
    return rig, metrics.measure(rig, world, floor, 1 / 60, planted=stands, reference=world)


def test_clean_files_have_no_findings(clean):
    assert list(shortfalls(*clean, TIMES)) == []


def test_a_knee_that_flips_is_named_with_its_moment(clean):
    rig, figures = clean
    flips = np.zeros_like(figures.flips)
    flips[12, 1] = True
    (reported,) = shortfalls(rig, replace(figures, flips=flips), TIMES)
    assert reported == "a knee flips to the other side 1 time(s), first at 0.20 s: check the legs there"


def test_a_joint_that_pops_is_named(clean):
    rig, figures = clean
    beyond = np.zeros(len(rig.skeleton))
    beyond[rig.legs[0].joints[1]] = np.radians(72)
    (reported,) = shortfalls(rig, replace(figures, beyond=beyond), TIMES)
    assert (
        reported
        == f"joint {rig.skeleton.names[rig.legs[0].joints[1]]!r} rotates 72° further in 1/60 s than it does in the clip"
    )


@pytest.mark.parametrize(
    ("field", "share", "words"),
    [
        ("penetration", 0.03, "a planted sole is 3.0% of a leg below the ground at 0.10 s"),
        ("hover", 0.03, "a planted sole is 3.0% of a leg above the ground at 0.10 s"),
        ("slide", 0.02, "a planted foot slides by 2.0% of a leg at 0.10 s"),
        ("shin", 0.05, "a shin is 5.0% of a leg inside the ground at 0.10 s"),
    ],
)
def test_each_length_is_reported_with_its_time(clean, field, share, words):
    rig, figures = clean
    values = np.zeros((len(TIMES), len(rig.legs)))
    values[6, 0] = share * figures.leg
    assert list(shortfalls(rig, replace(figures, **{field: values}), TIMES)) == [words]
