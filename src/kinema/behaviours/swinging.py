"""Swing a foot to its foothold: over everything on its path, within its speed limit, landing exactly."""

from __future__ import annotations

from kinema._jit import batch, kernel, like, routine
from kinema.behaviours.ground_contact import PLANTED, SWINGING, floor_of
from kinema.behaviours.walking import HANGING, ankle_of, rotation_of
from kinema.constants import AT_REST
from kinema.math import quat, spring, vec
from kinema.math.rows import load3, load4, load_matrix, store3, store4

SWING_RISES = 0.4
"""Share of a swing in which a foot rises: early, so that it is above the edge of a step when it arrives there."""

SWING_ARRIVES = 0.1
"""Share of a swing, at its end, in which a foot only lowers, so that it does not scrape the ground."""

SWING_WAITS = 0.2
"""Share of a swing in which a foot only rises before a step up, or only lowers behind a step down."""

STEEP_STEP = 0.15
"""Height difference on the path, leg lengths, from which it counts fully as such a step."""

HIGHEST_STEP = 0.5
"""Leg lengths above both ends of the path from which an obstacle is a wall, not a step."""

PATH_RAYS = 6
"""Rays along the path of a swinging foot: at a long stride, a sixth of a leg apart."""


# --- planning ---------------------------------------------------------------------------------------------------------


@routine
def plan_swing(settings, leg, foot, hits, path, up):
    """Plan a swing: over everything on its path, up before what rises, down behind what falls, within the speed limit.

    hits: of all rays. path: the first of those along the path.
    """
    length = leg.bones.length
    one = like(length, 1.0)
    down = vec.dot(load3(foot.foothold), up)
    ends = max(foot.lift_off, down)
    top = ends
    for step in range(PATH_RAYS):
        hit = hits[path + step]
        if hit.found:
            height = vec.dot(load3(hit.point), up)
            top = max(top, height) if height < ends + length * like(length, HIGHEST_STEP) else top
    foot.apex = top + settings.lift * length
    steep = length * like(length, STEEP_STEP)
    waits = like(length, SWING_WAITS)
    foot.depart = waits * min((top - foot.lift_off) / steep, one)
    foot.arrive = like(length, SWING_ARRIVES) + waits * min((top - down) / steep, one)
    across = vec.length(vec.reject(vec.sub(load3(foot.foothold), load3(foot.target.ball)), up))
    foot.duration = foot.left = max(swing_duration(settings, leg, foot, across, down), settings.swing_time)


@kernel
def swing_duration(settings, leg, foot, across, down):
    """The duration of a swing, seconds: on average a foot moves at two thirds of its top speed, and rises more
    slowly."""
    length = leg.bones.length
    one = like(length, 1.0)
    rate = like(length, 1.5) / (settings.foot_speed * length)
    vertical = rate * like(length, 1.25) / leg.vertical_speed
    sideways = across * rate / (one - foot.depart - foot.arrive)
    rising = (foot.apex - foot.lift_off) * vertical / like(length, SWING_RISES)
    falling = (foot.apex - down) * vertical / like(length, 1.0 - SWING_RISES)
    return max(sideways, max(rising, falling))


# --- swinging ---------------------------------------------------------------------------------------------------------


@kernel
def land(foot):
    """Plant a foot on its foothold."""
    zero = like(foot.left, 0.0)
    foot.target.contact = PLANTED
    foot.left = zero
    store3(foot.target.ball, load3(foot.foothold))
    store3(foot.velocity, (zero, zero, zero))
    foot.pull = zero
    store4(foot.rotation, load4(foot.foothold_rotation))


@kernel
def glide(x, speed, goal, left, dt):
    """Position and speed after dt of a point that comes to rest at its goal in a number of seconds.

    The path is a cubic Hermite curve, the same for steps of any size.
    """
    one, two, three = like(dt, 1.0), like(dt, 2.0), like(dt, 3.0)
    if dt >= left:
        return (goal, like(dt, 0.0)) if dt > like(dt, 0.0) else (x, speed)
    u = dt / left
    way = goal - x
    at = x + way * u * u * (three - two * u) + speed * left * u * (one - u) * (one - u)
    rate = way * (u - u * u) * like(dt, 6.0) / left + speed * (one - u) * (one - three * u)
    return at, rate


@kernel
def glide_smoothly(x, speed, pull, goal, left, dt):
    """The same with minimum jerk (the quintic Hermite curve): position, speed and acceleration."""
    zero = like(dt, 0.0)
    if dt >= left:
        return (goal, zero, zero) if dt > zero else (x, speed, pull)
    u = dt / left
    way, v, a = goal - x, speed * left, pull * left * left * like(dt, 0.5)
    # x(u) = x + v u + a u^2 + c u^3 + d u^4 + e u^5, with x(1) = goal, at rest and without acceleration.
    c = like(dt, 10.0) * way - like(dt, 6.0) * v - like(dt, 3.0) * a
    d = like(dt, -15.0) * way + like(dt, 8.0) * v + like(dt, 3.0) * a
    e = like(dt, 6.0) * way - like(dt, 3.0) * v - a
    at = x + u * (v + u * (a + u * (c + u * (d + u * e))))
    two, three, four, five = like(dt, 2.0), like(dt, 3.0), like(dt, 4.0), like(dt, 5.0)
    rate = v + u * (two * a + u * (three * c + u * (four * d + u * five * e)))
    bend = two * a + u * (like(dt, 6.0) * c + u * (like(dt, 12.0) * d + u * like(dt, 20.0) * e))
    return at, rate / left, bend / (left * left)


@kernel
def smooth(u):
    """Ease in and out: 0 to 1 with no slope at the ends."""
    return u * u * (like(u, 3.0) - u - u)


@routine
def swing_foot(foot, up, dt):
    """Step a swinging foot by dt."""
    if dt >= foot.left:
        land(foot)
        return
    one, zero = like(dt, 1.0), like(dt, 0.0)
    ball, velocity, foothold = load3(foot.target.ball), load3(foot.velocity), load3(foot.foothold)
    now, goal, rate = vec.reject(ball, up), vec.reject(foothold, up), vec.reject(velocity, up)
    waits = min(max(foot.left - foot.duration * (one - foot.depart), zero), dt)
    across, step = max(foot.left - waits - foot.duration * foot.arrive, zero), dt - waits
    x, vx = glide(now[0], rate[0], goal[0], across, step)
    y, vy = glide(now[1], rate[1], goal[1], across, step)
    z, vz = glide(now[2], rate[2], goal[2], across, step)
    height, climb = swing_height(foot, vec.dot(ball, up), vec.dot(velocity, up), vec.dot(foothold, up), dt)
    store3(foot.target.ball, vec.add((x, y, z), vec.scale(up, height)))
    store3(foot.velocity, vec.add((vx, vy, vz), vec.scale(up, climb)))
    done, then = smooth(one - foot.left / foot.duration), smooth(one - (foot.left - dt) / foot.duration)
    share = (then - done) / (one - done) if done < one else one
    store4(foot.rotation, quat.unit(quat.slerp(load4(foot.rotation), load4(foot.foothold_rotation), share)))
    foot.left -= dt


@kernel
def swing_height(foot, height, climb, down, dt):
    """Height and vertical speed of a swinging foot after dt: up to its apex, then down to its foothold."""
    zero = like(dt, 0.0)
    rising = max(foot.left - foot.duration * like(dt, 1.0 - SWING_RISES), zero)
    part = min(rising, dt)
    if part > zero:
        height, climb, foot.pull = glide_smoothly(height, climb, foot.pull, foot.apex, rising, part)
    if dt > part:
        height, climb, foot.pull = glide_smoothly(height, climb, foot.pull, down, foot.left - part, dt - part)
    return height, climb


@routine
def hang_foot(settings, leg, walker, foot, m, dt):
    """Move a foot without ground towards its home."""
    goal = load3(foot.home)
    gap = vec.scale(vec.sub(load3(foot.target.ball), goal), spring.decay(settings.pelvis.half_life, dt))
    there = walker.pelvis.fresh | (vec.span(gap) < leg.bones.length * like(dt, AT_REST))
    walker.pelvis.moving |= not there
    store3(foot.target.ball, vec.select(there, goal, vec.add(goal, gap)))
    store4(foot.rotation, rotation_of(m))


@routine
def set_target(leg, foot, floor):
    """Set the target of the ankle, and the height of the body for this foot."""
    zero = like(foot.left, 0.0)
    one = like(foot.left, 1.0)
    target, base = foot.target, vec.dot(floor.point, floor.up)
    store3(target.ankle, ankle_of(leg, foot))
    store4(target.rotation, quat.unit(quat.mul(load4(foot.rotation), load4(leg.ankle_rotation))))
    target.swing, target.ground = zero, vec.dot(load3(target.ball), floor.up) - base
    if target.contact == HANGING:
        target.swing, target.ground = one, zero
    if target.contact == SWINGING:
        done = smooth(one - foot.left / foot.duration)
        down = vec.dot(load3(foot.foothold), floor.up)
        target.swing = one - done
        target.ground = foot.lift_off + (down - foot.lift_off) * done - base


@batch
def swing_feet(rows, settings, legs, walkers, feet, transforms, dt):
    """Step all feet by dt, and set the targets of their legs."""
    for k in range(rows.size):
        i = rows[k]
        floor, m = floor_of(settings.contact, transforms[i, 0]), load_matrix(transforms[i, 0])
        for n in range(legs.size):
            foot = feet[i, n]
            if foot.target.contact == SWINGING:
                swing_foot(foot, floor.up, dt)
            elif foot.target.contact == HANGING:
                hang_foot(settings, legs[n], walkers[i], foot, m, dt)
            set_target(legs[n], foot, floor)
