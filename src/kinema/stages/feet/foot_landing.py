"""When and where a foot of a clip lands next: as it was set, as its clip has it, or as it did the last time."""

from __future__ import annotations

from typing import Any, NamedTuple

from kinema.compile.jit import kernel, like
from kinema.math import vec, xform
from kinema.math.rows import load3, load_matrix, store3
from kinema.stages.legs.ground_contact import SWINGING

SETTLED_FROM = 0.6
"""Share of a swing that is left when its foothold is settled: a foot that changes its mind later comes late."""


class Landing(NamedTuple):
    """Seconds until a swinging foot lands, and whether that is known."""

    left: Any
    known: Any


@kernel
def predicted_landing(foot):
    """When a swinging foot lands, if it takes as long as was set, or as long as the last time."""
    left = foot.swing.seconds - foot.swing.since
    return Landing(left, (left > like(left, 0.0)) & (foot.contact == SWINGING))


@kernel
def foothold_is_settled(foot, left):
    """Whether the foothold of a swinging foot no longer changes. left: seconds until it lands."""
    return foot.foothold.chosen & (left < foot.swing.seconds * like(left, SETTLED_FROM))


@kernel
def foothold_shift(sole, foot):
    """How far the chosen foothold is from where the clip lands, across up."""
    steps = sole.spacing * like(sole.spacing, foot.foothold.steps)
    return vec.scale(load3(foot.landing.heading), steps)


@kernel
def foothold_point(sole, foot):
    """Where the ball of a foot comes down. Its height does not matter."""
    return vec.add(load3(foot.landing.point), foothold_shift(sole, foot))


@kernel
def learn_landing(sole, foot, clip, hips, transform):
    """Remember where a foot has landed, from the hips, in the character's own space."""
    # From the heel, which is down first; the ball comes down where the foot's length puts it.
    ball = vec.add(clip.points.heel, vec.scale(load3(foot.heading), sole.heel))
    store3(foot.landing.learnt, xform.linear(xform.inverse(load_matrix(transform)), vec.sub(ball, hips)))
