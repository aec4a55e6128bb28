"""Choose the foothold of a foot of a clip: where on its line of landing the ground carries ball, heel and tip."""

from __future__ import annotations

from kinema.compile.jit import kernel, like, routine
from kinema.math.rows import load3
from kinema.stages.feet.foot_rays import (
    BALL_STEP,
    CLEAR_BEFORE_TIP,
    CLEAR_BEHIND_HEEL,
    HEEL_AT_LANDING,
    MIDDLE_STEP,
    MOST_STEPS,
    TIP_STEP,
    TOES_STEP,
)
from kinema.stages.legs.ground_contact import NO_GROUND, SupportPlane, fit_plane, height_on

FARTHEST_FOOTHOLD = 0.28
"""Leg lengths that a landing foot may be moved at most, however long it is: a planted foot is held back by so much at
most, and the clip's own sliding needs some of that."""

FOOTHOLD_SPEED = 0.8
"""Leg lengths a second of its swing that it may be moved at most: a foot that is lifted for a moment comes down where
it was."""

FOOTHOLD_COST = 0.012
"""What a step costs, as a gap under the foot in leg lengths: a bump is no reason to change the stride."""

HOLD_BALL = 1.5
"""Weight of a gap under the ball in judging a foothold: in the end the ball carries everything."""

HOLD_TOES = 0.5
"""Weight of a gap between ball and tip: a ball right at an edge is no good hold either."""

HOLD_ENDS = 0.3
"""Weight of a gap under heel, middle and tip, which may hang over an edge, and of a rise a hand's width ahead."""

HOLD_RISE = 1.0
"""Weight of a rise right before the tip: it leaves no room to lift the toes over it."""

HOLD_BEHIND = 0.3
"""Weight of a rise right behind the heel, which would be scraped on the way down."""


@kernel
def rise_at(hit, plane, up):
    """How far the ground at a sample is above a plane; 0 where it is not."""
    zero = like(up[0], 0.0)
    return max(-height_on(plane, load3(hit.point), up), zero) if hit.found else zero


@kernel
def gap_at(hit, plane, up, otherwise):
    """How far the ground at a sample is below a plane that clears it; so much where there is no ground."""
    return height_on(plane, load3(hit.point), up) if hit.found else otherwise


@kernel
def hold_cost(hits, heel, plane, up, length):
    """What is wrong with standing on this plane, as metres of gap. heel: the ray under it."""
    none = like(length, NO_GROUND) * length
    ends = gap_at(hits[heel], plane, up, none) + gap_at(hits[heel + MIDDLE_STEP], plane, up, none)
    ball = gap_at(hits[heel + BALL_STEP], plane, up, none)
    toes = gap_at(hits[heel + TOES_STEP], plane, up, none)
    tip = gap_at(hits[heel + TIP_STEP], plane, up, none)
    before = rise_at(hits[heel + TIP_STEP + 1], plane, up)
    ahead = rise_at(hits[heel + TIP_STEP + CLEAR_BEFORE_TIP], plane, up)
    behind = rise_at(hits[heel - CLEAR_BEHIND_HEEL], plane, up)
    return (
        like(length, HOLD_BALL) * ball
        + like(length, HOLD_TOES) * max(toes, like(length, 0.0))
        + like(length, HOLD_ENDS) * (ends + tip + ahead)
        + like(length, HOLD_RISE) * before
        + like(length, HOLD_BEHIND) * behind
    )


@kernel
def foothold_seen(foot, hits):
    """Whether there is any ground where a foot is going to land. hits: of the leg, (RAYS,)."""
    seen = False
    for n in range(TIP_STEP + 1):
        seen |= hits[HEEL_AT_LANDING + n].found
    return seen & foot.rays.at_landing


@routine
def shift_foothold(sole, foot, hits, floor, cos_slope):
    """Shift the foothold of a foot ahead of where its clip lands, or back, by the steps of the profile that are best.
    Returns the plane it is going to stand on.

    A step costs a little, so that a foot is moved only off an edge, a wall or a hole. What was chosen the frame before
    stays, unless something is clearly better. hits: of the leg, (RAYS,).
    """
    zero = like(cos_slope, 0.0)
    farthest = min(like(zero, FARTHEST_FOOTHOLD), foot.swing.seconds * like(zero, FOOTHOLD_SPEED)) * sole.length
    farthest = zero if foot.landing.fixed else farthest
    best, cheapest, any_yet = 0, zero, False
    best_plane = SupportPlane(floor.point, floor.up)
    for order in range(2 * MOST_STEPS + 1):
        # 0, -1, 1, -2, 2 and so on: of equals the nearest stays.
        steps = (order + 1) // 2 if order % 2 == 0 else -((order + 1) // 2)
        if sole.spacing * like(zero, abs(steps)) > farthest:
            break
        kept = foot.foothold.chosen & (steps == foot.foothold.steps)
        away = abs(steps) - (MOST_STEPS if kept else 0)
        cost = like(zero, FOOTHOLD_COST) * sole.length * like(zero, away)
        if any_yet & (cost >= cheapest):
            continue  # The ground there can only add to it.
        heel = HEEL_AT_LANDING + steps
        plane = fit_plane(hits, heel, MIDDLE_STEP, floor, cos_slope)
        cost += hold_cost(hits, heel, plane, floor.up, sole.length)
        if (not any_yet) | (cost < cheapest):
            best, cheapest, any_yet, best_plane = steps, cost, True, plane
    foot.foothold.steps, foot.foothold.chosen = best, True
    return best_plane
