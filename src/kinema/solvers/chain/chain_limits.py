"""Limits of a chain, applied root to tip.

Every limited pass ends with `apply_limits`, so what a pass leaves behind is within its limits whatever came before.
"""

from __future__ import annotations

from kinema.compile.jit import kernel, like, routine
from kinema.compile.lanes import load3, load4, store3, store4
from kinema.math import quat, vec
from kinema.math.rows import load3 as load_row
from kinema.model import limits
from kinema.model.limits import HINGE, NONE


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
                parent = load3(scratch.parent, k)
                rotation = quat.between(parent, direction, vec.hinge_of(parent))
                store4(scratch.frame, k, quat.unit(quat.mul(rotation, load4(scratch.frame, k))))
            store3(scratch.parent, k, direction)
            store3(after.position, k, vec.add(load3(here.position, k), vec.scale(direction, after.length[k])))


@routine
def hold_hinge(here, after, limit, scratch, settings):
    """Move the direction in `here.axis` onto a hinge, into `after.position`; leave the hinge's axis and edge."""
    hinge = vec.cross(load_row(limit.across), load_row(limit.aside))
    zero = like(limit.radius, 0.0)
    for k in range(after.length.size):
        frame = load4(scratch.frame, k)
        local = quat.rotate(quat.conj(frame), load3(here.axis, k))
        held = limits.onto_hinge(local, limit)
        axis = quat.rotate(frame, hinge)
        low, high = limits.ends_of_range(limits.angle_on_hinge(held, limit), limit, settings.edge_slack)
        side = like(zero, 1.0) if high else (like(zero, -1.0) if low else zero)
        store3(after.position, k, vec.unit_or(quat.rotate(frame, held), load3(scratch.parent, k)))
        store3(here.axis, k, axis)
        store3(here.edge, k, vec.scale(axis, side))


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
