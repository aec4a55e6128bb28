"""Limits of a chain, applied root to tip.

Every limited pass ends with `apply_limits`, so what a pass leaves behind is within its limits whatever came before.

A hinge rotates about an axis in its parent's frame, which positions alone must tell: that frame is the one before,
after the smallest rotation from bone to bone. Between opposite directions there is none, and close to them its axis is
rounding noise, which would rotate all hinges further down. So a bone about a hinge across it carries the hinge's own
rotation on, and any other bone before a hinge is held off straight back (`hold_off_back`).
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from kinema.compile.jit import kernel, like, routine
from kinema.compile.lanes import load3, load4, store3, store4
from kinema.math import quat, vec
from kinema.math.rows import load3 as load_row
from kinema.model import limits
from kinema.model.limits import CONE, HINGE, NONE

BACK = 0.01
"""Angle from straight back, radians, within which the smallest rotation to a bone's direction is not trusted: there, a
rounding of float32 rotates what follows by 1e-5 radians."""

ACROSS = math.cos(BACK / 2.0)
"""Radius of the circle of a hinge, for a bone of length 1, from which its bone may come as near to straight back."""


def hold_off_back(table: Any) -> None:
    """Narrow limits, in place, so that no bone before a hinge points straight back. table: float64 `LIMIT` records."""
    before = np.arange(len(table)) < np.flatnonzero(table.kind == HINGE)[-1]
    wide = before & ((table.kind == NONE) | ((table.kind != HINGE) & (table.cos_widest < -math.cos(BACK))))
    table.kind[wide & (table.kind == NONE)] = CONE
    table.cos_widest[wide], table.sin_widest[wide] = -math.cos(BACK), math.sin(BACK)


@routine
def apply_limits(work, table, settings, keep_directions):
    """Rotate every bone to the nearest direction its limit allows, and rebuild the chain.

    keep_directions: whether bones start from the direction they have, or from pointing at where their end was.
    Leaves each bone's `axis` and `edge` in the joint it starts from.
    """
    chain, group, scratch = work.chain, work.group[0], work.scratch[0]
    lanes = range(group.miss.size)
    zero = like(settings.tolerance, 0.0)
    for k in lanes:
        store3(scratch.parent, k, load_row(settings.straight))
        store4(scratch.frame, k, (zero, zero, zero, like(zero, 1.0)))
        store3(scratch.previous, k, (zero, zero, zero))
    for j in range(chain.size - 1):
        here, after, limit = chain[j], chain[j + 1], table[j]
        for k in lanes:
            was = load3(after.position, k)
            origin = vec.select(keep_directions, load3(scratch.previous, k), load3(here.position, k))
            store3(here.axis, k, vec.unit_or(vec.sub(was, origin), load3(scratch.parent, k)))
            store3(scratch.previous, k, was)
        if limit.kind == like(zero, HINGE):
            hold_hinge(here, after, limit, scratch, settings)
        else:
            hold_cone(here, after, limit, scratch, settings)
        for k in lanes:
            # Bones keep their direction in `after.position` until here; now it becomes a position.
            direction = load3(after.position, k)
            if settings.has_hinges:
                if limit.kind != like(zero, HINGE) or limit.radius < like(zero, ACROSS):
                    parent = load3(scratch.parent, k)
                    store4(here.rotation, k, quat.between(parent, direction, vec.hinge_of(parent)))
                frame = quat.mul(load4(here.rotation, k), load4(scratch.frame, k))
                store4(scratch.frame, k, quat.unit(frame))
            store3(scratch.parent, k, direction)
            store3(after.position, k, vec.add(load3(here.position, k), vec.scale(direction, after.length[k])))


@routine
def hold_hinge(here, after, limit, scratch, settings):
    """Move the direction in `here.axis` onto a hinge, into `after.position`; leave its axis, edge and rotation."""
    hinge = vec.cross(load_row(limit.across), load_row(limit.aside))
    zero = like(limit.radius, 0.0)
    for k in range(after.length.size):
        frame = load4(scratch.frame, k)
        local = quat.rotate(quat.conj(frame), load3(here.axis, k))
        held = limits.onto_hinge(local, limit)
        axis = quat.rotate(frame, hinge)
        angle = limits.angle_on_hinge(held, limit)
        low, high = limits.ends_of_range(angle, limit, settings.edge_slack)
        side = like(zero, 1.0) if high else (like(zero, -1.0) if low else zero)
        store3(after.position, k, vec.unit_or(quat.rotate(frame, held), load3(scratch.parent, k)))
        store3(here.axis, k, axis)
        store3(here.edge, k, vec.scale(axis, side))
        store4(here.rotation, k, quat.from_cos_sin(axis, angle[0], angle[1]))


@routine
def hold_cone(here, after, limit, scratch, settings):
    """Move the direction in `here.axis` into a cone, if there is one, into `here.axis` and `after.position`."""
    zero = like(limit.radius, 0.0)
    for k in range(after.length.size):
        direction = load3(here.axis, k)
        edge = (zero, zero, zero)
        if limit.kind != like(zero, NONE):
            parent = load3(scratch.parent, k)
            held = limits.into_cone(parent, direction, limit.cos_widest, limit.sin_widest)
            direction = vec.unit_or(held, parent)
            across = vec.cross(parent, direction)
            sine, cosine = vec.length(across), vec.dot(parent, direction)
            at_edge = sine * limit.cos_widest - cosine * limit.sin_widest >= -settings.edge_slack
            edge = vec.select(at_edge, vec.unit_or(across, edge), edge)
        store3(here.axis, k, direction)
        store3(here.edge, k, edge)
        store3(after.position, k, direction)


@kernel
def is_stiff(limit, settings):
    """Whether a limit leaves a bone no angle at all to its parent: a cone, or a hinge's range, of zero width."""
    one = like(limit.radius, 1.0)
    if limit.kind == like(one, HINGE):
        return (limit.sin_half <= settings.edge_slack) & (limit.cos_half > like(one, 0.0))
    cone = limit.kind != like(one, NONE)
    return cone & (limit.sin_widest <= settings.edge_slack) & (limit.cos_widest > like(one, 0.0))
