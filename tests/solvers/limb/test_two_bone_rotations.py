"""Corrections of an animated limb, judged by forward kinematics rebuilt from them with plain matrices."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import kinema as km
from tests import naive, problems

IDENTITY = np.array([0.0, 0.0, 0.0, 1.0])

precisions = pytest.mark.parametrize("dtype", [np.float64, np.float32], ids=["float64", "float32"])


# --- limbs and their forward kinematics ------------------------------------------------------------------------


def matrix(rotation=IDENTITY, translation=(0.0, 0.0, 0.0), scale=1.0, mirror=False):
    """One 4x4 matrix: mirrored in x first if asked, scaled, rotated, moved."""
    m = np.eye(4)
    m[:3, :3] = naive.quat_to_matrix(rotation) * scale @ np.diag([-1.0 if mirror else 1.0, 1.0, 1.0])
    m[:3, 3] = translation
    return m


def matrices(quaternions):
    """Unit quaternions (N, 4) as 4x4 matrices (N, 4, 4)."""
    m = np.tile(np.eye(4), (len(quaternions), 1, 1))
    for column, axis in enumerate(np.eye(3)):
        m[:, :3, column] = naive.quat_rotate(quaternions, np.broadcast_to(axis, (len(quaternions), 3)))
    return m


def forward(world, start, mid):
    """World matrices (N, 3, 4, 4) after both corrections: every joint keeps its place in its parent."""
    world = np.asarray(world, np.float64)
    first = world[:, 0] @ matrices(start)
    second = first @ np.linalg.inv(world[:, 0]) @ world[:, 1] @ matrices(mid)
    third = second @ np.linalg.inv(world[:, 1]) @ world[:, 2]
    return np.stack([first, second, third], axis=1)


def places(world):
    return np.asarray(world)[..., :3, 3]


def parents(rng, kind):
    """A parent's world matrix."""
    rotation, place = problems.quaternions(rng), rng.normal(size=3) * 3
    if kind in ("still", "moved"):
        return matrix(translation=place if kind == "moved" else np.zeros(3))
    if kind == "turned":
        return matrix(rotation)
    return matrix(rotation, place, 10.0 ** rng.uniform(-2, 2), mirror=kind == "mirrored")


PARENTS = ["still", "moved", "turned", "scaled", "mirrored"]

placed = pytest.mark.parametrize("kind", PARENTS)


def limbs(rng, count, kind="still", bend=(0.2, 2.8), inner=False):
    """World matrices (count, 3, 4, 4) of limbs whose joints are rotated any way, bent by an angle in a range.

    inner: the start and the middle joint have scales and mirrors of their own as well.
    """
    upper, sizes = problems.units(rng, count), rng.uniform(0.4, 1.5, (2, count, 1))
    across = np.cross(upper, problems.units(rng, count))
    across /= np.linalg.norm(across, axis=-1, keepdims=True)
    angle = rng.uniform(*bend, (count, 1))
    lower = upper * np.cos(angle) + np.cross(across, upper) * np.sin(angle)
    world = matrices(problems.quaternions(rng, 3 * count)).reshape(count, 3, 4, 4)
    if inner:
        world[..., :3, :3] *= 10.0 ** rng.uniform(-1, 1, (count, 3, 1, 1))
        world[..., :3, 0] *= rng.choice([-1.0, 1.0], (count, 3, 1))
    world[:, 1, :3, 3] = upper * sizes[0]
    world[:, 2, :3, 3] = upper * sizes[0] + lower * sizes[1]
    return np.stack([parents(rng, kind) for _ in range(count)])[:, None] @ world


def lengths(world):
    return naive.bone_lengths(places(world))


def reachable(rng, world, low=0.02, high=0.98):
    """Targets in any direction at a distance both bones together can do."""
    bones, count = lengths(world), len(world)
    hole, whole = np.abs(bones[:, 0] - bones[:, 1]), bones.sum(-1)
    distance = hole + rng.uniform(low, high, count) * (whole - hole)
    return places(world)[:, 0] + problems.units(rng, count) * distance[:, None]


def natural_axes(world):
    """The hinge of each middle joint in its own space, about which a positive turn bends the limb further."""
    points = places(world)
    across = np.cross(points[:, 1] - points[:, 0], points[:, 2] - points[:, 1])
    # Against mirrored axes a positive turn goes round the other way.
    local = np.linalg.solve(world[:, 1, :3, :3], across[..., None])[..., 0]
    local *= np.sign(np.linalg.det(world[:, 1, :3, :3]))[:, None]
    return local / np.linalg.norm(local, axis=-1, keepdims=True)


def check_reached(world, r, target, relative=1e-9):
    after = forward(world, r.start, r.mid)
    whole = lengths(world).sum(-1)
    miss = np.linalg.norm(places(after)[:, 2] - target, axis=-1)
    assert (miss / whole).max() < relative
    assert r.reached.all()
    np.testing.assert_allclose(r.error / whole, miss / whole, atol=relative)
    np.testing.assert_allclose(lengths(after), lengths(world), rtol=max(relative, 1e-9))
    np.testing.assert_array_equal(places(after)[:, 0], places(world)[:, 0])
    return after


# --- who reaches -----------------------------------------------------------------------------------------------


@placed
@pytest.mark.parametrize("inner", [False, True], ids=["rigid", "scaled inside"])
@pytest.mark.parametrize("poled", [False, True], ids=["", "pole"])
def test_the_tip_is_at_the_target(kind, inner, poled):
    rng = problems.generator(41)
    world = limbs(rng, 100, kind, inner=inner)
    target = reachable(rng, world)
    whole = lengths(world).sum(-1)[:, None]
    pole = places(world)[:, 0] + problems.units(rng, 100) * whole * 2 if poled else None
    check_reached(world, km.two_bone_rotations(world, target, pole=pole), target)


@placed
def test_the_tip_is_at_the_target_by_a_given_hinge(kind):
    rng = problems.generator(42)
    world = limbs(rng, 100, kind)
    axis, target = natural_axes(world), reachable(rng, world)
    r = km.two_bone_rotations(world, target, axis=axis)
    check_reached(world, r, target)
    # The middle joint rotates about nothing but its hinge.
    np.testing.assert_allclose(np.cross(r.mid[:, :3], axis), 0.0, atol=1e-9)
    bent = naive.angle_between(*_bones(forward(world, r.start, r.mid)))
    was = naive.angle_between(*_bones(world))
    rotation = 2.0 * np.arctan2((r.mid[:, :3] * axis).sum(-1), r.mid[:, 3])
    np.testing.assert_allclose(np.cos(rotation), np.cos(bent - was), atol=1e-7)
    np.testing.assert_allclose(np.sin(rotation), np.sin(bent - was), atol=1e-7)


def _bones(world):
    points = places(world)
    return points[:, 1] - points[:, 0], points[:, 2] - points[:, 1]


def test_the_other_way_round_about_a_given_hinge_the_limb_bends_the_other_way():
    rng = problems.generator(43)
    world = limbs(rng, 100, "scaled")
    axis, target = natural_axes(world), reachable(rng, world)
    r = km.two_bone_rotations(world, target, axis=-axis)
    after = check_reached(world, r, target)
    # In the middle joint's own space the bend now goes round the opposite way.
    assert ((natural_axes(after) * axis).sum(-1) < 0).all()


@placed
def test_the_tip_is_at_the_target_by_a_skewed_hinge(kind):
    """A hinge at an angle to the bones: the end stays on a cone, so the distances that can be had are fewer."""
    rng = problems.generator(44)
    world = limbs(rng, 100, kind)
    axis = natural_axes(world) + problems.units(rng, 100) * 0.6
    axis /= np.linalg.norm(axis, axis=-1, keepdims=True)
    frame = world[:, 1, :3, :3] / np.cbrt(np.abs(np.linalg.det(world[:, 1, :3, :3])))[:, None, None]
    hinge = (frame @ axis[..., None])[..., 0]
    upper, lower = _bones(world)
    a, b = -upper, lower
    along = (a * hinge).sum(-1) * (b * hinge).sum(-1)
    across = np.linalg.norm(np.cross(a, hinge), axis=-1) * np.linalg.norm(np.cross(b, hinge), axis=-1)
    squares = (a * a).sum(-1) + (b * b).sum(-1) - 2 * along
    nearest, farthest = np.sqrt(squares - 2 * across), np.sqrt(squares + 2 * across)
    distance = nearest + rng.uniform(0.02, 0.98, 100) * (farthest - nearest)
    target = places(world)[:, 0] + problems.units(rng, 100) * distance[:, None]
    r = km.two_bone_rotations(world, target, axis=axis)
    check_reached(world, r, target)
    np.testing.assert_allclose(np.cross(r.mid[:, :3], axis), 0.0, atol=1e-9)


@placed
def test_the_middle_joint_lies_towards_the_pole(kind):
    rng = problems.generator(45)
    world = limbs(rng, 200, kind)
    target = reachable(rng, world)
    root = places(world)[:, 0]
    whole = lengths(world).sum(-1)
    to_pole = problems.units(rng, 200) * (whole * 10.0 ** rng.uniform(-1, 3, 200))[:, None]
    for axis in (None, natural_axes(world)):
        r = km.two_bone_rotations(world, target, axis=axis, pole=root + to_pole)
        after = check_reached(world, r, target)
        line = (target - root) / np.linalg.norm(target - root, axis=-1, keepdims=True)
        across = np.cross(line, to_pole)
        sine = np.linalg.norm(across, axis=-1) / np.linalg.norm(to_pole, axis=-1)
        np.testing.assert_allclose(r.pole_sine, sine, atol=1e-9)
        clear = sine > 0.03
        assert clear.mean() > 0.95
        mid = places(after)[:, 1] - root
        off_plane = np.abs((mid * across).sum(-1)) / np.linalg.norm(across, axis=-1) / whole
        assert off_plane[clear].max() < 1e-7
        aside = to_pole - line * (to_pole * line).sum(-1, keepdims=True)
        assert (mid * aside).sum(-1)[clear].min() > 0


@placed
@pytest.mark.parametrize("guide", ["nothing", "pole", "axis", "axis and pole"])
def test_a_straight_limb_bends(kind, guide):
    rng = problems.generator(46)
    world = limbs(rng, 60, kind, bend=(0.0, 0.0))
    target = reachable(rng, world)
    root, whole = places(world)[:, 0], lengths(world).sum(-1)[:, None]
    pole = root + problems.units(rng, 60) * whole * 2 if "pole" in guide else None
    axis = None
    if "axis" in guide:
        upper = np.linalg.solve(world[:, 1, :3, :3], _bones(world)[0][..., None])[..., 0]
        axis = np.cross(upper, problems.units(rng, 60))
        axis /= np.linalg.norm(axis, axis=-1, keepdims=True)
    r = km.two_bone_rotations(world, target, axis=axis, pole=pole)
    after = check_reached(world, r, target)
    if pole is not None:
        line = (target - root) / np.linalg.norm(target - root, axis=-1, keepdims=True)
        aside = (pole - root) - line * ((pole - root) * line).sum(-1, keepdims=True)
        clear = r.pole_sine > 0.03
        assert ((places(after)[:, 1] - root) * aside).sum(-1)[clear].min() > 0


def test_a_straight_limb_is_bent_to_a_target_on_its_own_line():
    world = np.stack([matrix(translation=(0, y, 0)) for y in (0, 1, 2)])
    for pole in (None, (0.0, 1.0, 3.0)):
        for distance in (1.9, 1.0, 0.3, -1.0):
            target = np.array([0.0, distance, 0.0])
            r = km.two_bone_rotations(world, target, pole=pole)
            after = check_reached(world[None], _row(r), target[None])
            if pole is not None:
                np.testing.assert_allclose(places(after)[0, 1, 0], 0.0, atol=1e-9)
                assert places(after)[0, 1, 2] > 0.1


def _row(r):
    """The answer for one limb as a batch of one."""
    return type(r)(*(np.asarray(field)[None] for field in r))


@placed
def test_too_far_is_straight_at_the_target_and_too_near_is_the_holes_edge(kind):
    rng = problems.generator(47)
    world = limbs(rng, 100, kind)
    bones = lengths(world)
    root, whole, hole = places(world)[:, 0], bones.sum(-1), np.abs(bones[:, 0] - bones[:, 1])
    direction = problems.units(rng, 100)
    for ends, distance in ((whole, whole * rng.uniform(1.01, 1e3, 100)), (hole, hole * rng.uniform(0.1, 0.9, 100))):
        target = root + direction * distance[:, None]
        r = km.two_bone_rotations(world, target)
        end = places(forward(world, r.start, r.mid))[:, 2]
        # The square of a distance has lost half the digits where it is at its largest or smallest.
        np.testing.assert_allclose((end - root) / whole[:, None], direction * (ends / whole)[:, None], atol=1e-7)
        np.testing.assert_allclose(r.error, np.linalg.norm(end - target, axis=-1), rtol=1e-6)
        np.testing.assert_allclose(r.reach, distance / whole, rtol=1e-9)
        np.testing.assert_array_equal(r.reached, r.error <= 1e-4 * whole)


@precisions
def test_tiny_and_huge_limbs(dtype):
    """The same limb a million million times smaller and larger."""
    rng = problems.generator(48)
    world, limit = limbs(rng, 40), 1e-9 if dtype is np.float64 else 1e-5
    target = reachable(rng, world, 0.1, 0.9)
    for size in (1e-12, 1e-6, 1e6, 1e12):
        big = world.copy()
        big[..., :3, :] *= size
        r = km.two_bone_rotations(big.astype(dtype), (target * size).astype(dtype))
        check_reached(big.astype(dtype), r, (target * size).astype(dtype), limit)


# --- weights ---------------------------------------------------------------------------------------------------


@precisions
def test_weight_zero_is_exactly_the_identity(dtype):
    rng = problems.generator(49)
    world, target = limbs(rng, 30, "mirrored").astype(dtype), rng.normal(size=(30, 3)).astype(dtype)
    r = km.two_bone_rotations(world, target, pole=(1, 2, 3), weight=0)
    for field in (r.start, r.mid):
        np.testing.assert_array_equal(field, np.tile(IDENTITY, (30, 1)))
        assert not np.signbit(field).any()


def test_partial_weights_slerp_the_whole_rotation_and_keep_bone_lengths():
    rng = problems.generator(50)
    world = limbs(rng, 60, "mirrored")
    target, pole = reachable(rng, world), places(world)[:, 0] + rng.normal(size=(60, 3))
    whole = km.two_bone_rotations(world, target, pole=pole)
    for weight in (1e-3, 0.25, 0.5, 0.9, 1.0):
        r = km.two_bone_rotations(world, target, pole=pole, weight=weight)
        for part, full in ((r.start, whole.start), (r.mid, whole.mid)):
            expected = np.array([naive.slerp(IDENTITY, q, weight) for q in full])
            assert naive.angle_between_rotations(part, expected).max() < 1e-9
            np.testing.assert_allclose(np.linalg.norm(part, axis=-1), 1.0, atol=1e-12)
        np.testing.assert_allclose(lengths(forward(world, r.start, r.mid)), lengths(world), rtol=1e-9)
        # What is reported is what the full revolution does.
        np.testing.assert_array_equal(r.error, whole.error)


def test_every_limb_may_have_a_weight_of_its_own():
    rng = problems.generator(51)
    world = limbs(rng, 5)
    target, weight = reachable(rng, world), np.array([0.0, 0.2, 0.5, 0.9, 1.0])
    r = km.two_bone_rotations(world, target, weight=weight)
    for i in range(5):
        one = km.two_bone_rotations(world[i], target[i], weight=weight[i])
        np.testing.assert_array_equal(r.start[i], one.start)
        np.testing.assert_array_equal(r.mid[i], one.mid)


# --- the animation is kept -------------------------------------------------------------------------------------


@placed
@pytest.mark.parametrize("hinged", [False, True], ids=["", "axis"])
def test_a_tip_at_its_target_rotates_nothing(kind, hinged):
    rng = problems.generator(52)
    world = limbs(rng, 100, kind, bend=(0.05, 2.8))
    axis = natural_axes(world) if hinged else None
    r = km.two_bone_rotations(world, places(world)[:, 2], axis=axis)
    assert naive.rotation_angle(r.start).max() < 1e-9
    assert naive.rotation_angle(r.mid).max() < 1e-9
    assert r.reached.all()


@placed
def test_a_small_step_of_the_target_gives_a_small_rotation(kind):
    rng = problems.generator(53)
    world = limbs(rng, 100, kind, bend=(0.5, 2.0))
    whole = lengths(world).sum(-1)
    for step in (1e-3, 1e-5, 1e-7):
        target = places(world)[:, 2] + problems.units(rng, 100) * (whole * step)[:, None]
        r = km.two_bone_rotations(world, target)
        check_reached(world, r, target)
        assert naive.rotation_angle(r.start).max() < 20 * step
        assert naive.rotation_angle(r.mid).max() < 20 * step


def largest_move(world, path, **options):
    """The farthest any joint moves between neighbours on a path of targets, in steps of the target."""
    r = km.two_bone_rotations(world, path, **options)
    after = places(forward(np.broadcast_to(world, (len(path), *world.shape)), r.start, r.mid))
    step = np.linalg.norm(np.diff(path, axis=0), axis=-1).max()
    return np.linalg.norm(np.diff(after, axis=0), axis=-1).max() / step


def bent_limb(rng, kind):
    """A limb of bones 1 and 1 whose middle joint is off to +x of the way up, rotated and placed by a parent."""
    points = np.array([[0.0, 0.0, 0.0], [0.5, np.sqrt(0.75), 0.0], [0.0, 2 * np.sqrt(0.75), 0.0]])
    own = np.stack([matrix(problems.quaternions(rng), point) for point in points])
    parent = parents(rng, kind)
    return parent @ own, parent


def through(parent, points):
    return points @ parent[:3, :3].T + parent[:3, 3]


@pytest.mark.slow_uncompiled
@placed
@pytest.mark.parametrize("poled", [False, True], ids=["", "pole"])
def test_no_pops_through_full_extension(kind, poled):
    rng = problems.generator(54)
    world, parent = bent_limb(rng, kind)
    distance = np.linspace(1.7, 2.4, 1501)
    path = through(parent, distance[:, None] * naive.unit((0.2, 1.0, 0.3)))
    pole = through(parent, np.array([1.0, 0.0, 2.0])) if poled else None
    assert largest_move(world, path, pole=pole, soften=0.95) < 4
    assert largest_move(world, path, pole=pole) > 15  # what softening takes away


@pytest.mark.slow_uncompiled
@placed
@pytest.mark.parametrize("aside", [0.01, 0.003, 0.0])
def test_no_pops_past_the_poles_line(kind, aside):
    """The target walks past the line from the root to the pole, at a small distance and straight through it."""
    rng = problems.generator(55)
    world, parent = bent_limb(rng, kind)
    angle = np.linspace(-0.3, 0.3, 2001)
    path = np.stack([np.sin(angle), np.cos(angle), np.full_like(angle, aside)], -1) * 1.5
    pole = through(parent, np.array([0.0, 2.0, 0.0]))
    assert largest_move(world, through(parent, path), pole=pole) < 200


@pytest.mark.slow_uncompiled
def test_no_pops_when_every_frame_starts_from_the_one_before():
    """The corrected pose goes back in: the limb follows a closed path and keeps its bend plane."""
    rng = problems.generator(56)
    world, parent = bent_limb(rng, "turned")
    rotation = np.linspace(0.0, 2.0 * np.pi, 800)
    path = through(
        parent, np.stack([0.6 * np.sin(rotation), 1.2 + 0.5 * np.cos(2 * rotation), 0.4 * np.sin(2 * rotation)], -1)
    )
    r = km.two_bone_rotations(world, path[0])
    here = forward(world[None], r.start[None], r.mid[None])[0]
    moves = []
    for target in path:
        r = km.two_bone_rotations(here, target)
        after = forward(here[None], r.start[None], r.mid[None])[0]
        moves.append(np.linalg.norm(places(after) - places(here), axis=-1).max())
        here = after
        assert r.reached
    assert max(moves) < 4 * np.linalg.norm(np.diff(path, axis=0), axis=-1).max()


# --- guarantees ------------------------------------------------------------------------------------------------


def check_sound(r):
    assert all(np.isfinite(field).all() for field in r)
    for q in (r.start, r.mid):
        np.testing.assert_allclose(np.linalg.norm(q.astype(np.float64), axis=-1), 1.0, atol=1e-5)


@precisions
@pytest.mark.parametrize("poled", [False, True], ids=["", "pole"])
@pytest.mark.parametrize("hinged", [False, True], ids=["", "axis"])
def test_degenerate_limbs_stay_finite(dtype, poled, hinged):
    rng = problems.generator(57)
    whole = limbs(rng, 1)[0]
    no_upper, no_lower, no_bones, collapsed, flat = (whole.copy() for _ in range(5))
    no_upper[1, :3, 3] = no_upper[0, :3, 3]
    no_lower[2, :3, 3] = no_lower[1, :3, 3]
    no_bones[:, :3, 3] = no_bones[0, :3, 3]
    collapsed[:, :3, :3] = 0.0
    flat[:, :3, 1] = 0.0
    options = {"pole": whole[0, :3, 3] if poled else None, "axis": (1, 0, 0) if hinged else None}
    for world in (whole, no_upper, no_lower, no_bones, collapsed, flat, np.zeros((3, 4, 4))):
        for target in (world[0, :3, 3], world[1, :3, 3], world[2, :3, 3], np.array([9.0, 9, 9])):
            for soften in (0.0, 0.9, 1.0):
                r = km.two_bone_rotations(world.astype(dtype), target.astype(dtype), soften=soften, **options)
                check_sound(r)


@given(st.data())
def test_finite_in_finite_out(data):
    """Any matrices at all, however skewed."""
    world = np.array(data.draw(st.lists(problems.numbers(), min_size=36, max_size=36))).reshape(3, 3, 4)
    dtype = data.draw(st.sampled_from([np.float64, np.float32]))
    target = data.draw(problems.vectors()).astype(dtype)
    pole = data.draw(st.one_of(st.none(), problems.vectors()))
    weight, soften = data.draw(st.floats(0, 1)), data.draw(st.floats(0, 1))
    pole = pole if pole is None else pole.astype(dtype)
    r = km.two_bone_rotations(world.astype(dtype), target, pole=pole, weight=weight, soften=soften)
    check_sound(r)
    whole = np.linalg.norm(np.diff(world[:, :, 3].astype(dtype).astype(np.float64), axis=0), axis=-1).sum()
    assert r.reached == (r.error <= 1e-4 * whole) or r.error == pytest.approx(1e-4 * whole, rel=1e-4)


def test_float32_reaches_and_stays_float32():
    rng = problems.generator(58)
    world = limbs(rng, 100, "scaled").astype(np.float32)
    target = reachable(rng, world).astype(np.float32)
    root = places(world)[:, 0]
    for pole in (None, root + np.float32(1.0)):
        r = km.two_bone_rotations(world, target, pole=pole)
        assert all(field.dtype == np.float32 for field in (r.start, r.mid, r.error, r.reach, r.pole_sine))
        after = places(forward(world, r.start, r.mid))
        whole = lengths(world).sum(-1)
        # The place of a limb away from the origin is itself known to a few units in the last place only.
        rounding = 4 * np.finfo(np.float32).eps * np.abs(world[..., 3]).max(axis=(-1, -2))
        assert (np.linalg.norm(after[:, 2] - target, axis=-1) <= 1e-5 * whole + rounding).all()


def test_leading_axes_broadcast_and_both_matrix_shapes_are_taken():
    rng = problems.generator(61)
    world = limbs(rng, 4)
    target = rng.normal(size=(5, 4, 3))
    r = km.two_bone_rotations(world, target, weight=np.linspace(0, 1, 5)[:, None])
    assert r.start.shape == (5, 4, 4)
    assert r.mid.shape == (5, 4, 4)
    assert r.error.shape == (5, 4)
    short = km.two_bone_rotations(world[..., :3, :], target, weight=np.linspace(0, 1, 5)[:, None])
    assert all(np.array_equal(a, b) for a, b in zip(r, short, strict=True))
    assert km.two_bone_rotations(world[:0], np.zeros((0, 3))).start.shape == (0, 4)


WORLD = np.stack([matrix(translation=(0, y, 0)) for y in (0, 1, 2)])


def _with_nan():
    world = WORLD.copy()
    world[1, 2, 3] = np.nan
    return world


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"world": WORLD[:2]}, r"world must have shape \(..., 3, 3, 4\) or \(..., 3, 4, 4\), got \(2, 4, 4\)"),
        ({"world": np.eye(4)}, r"world must have shape .* got \(4, 4\)"),
        ({"world": _with_nan()}, r"world\[1, 2, 3\] is nan"),
        ({"target": (1, 2)}, r"target must have shape \(..., 3\), got \(2,\)"),
        ({"target": (1, np.inf, 0)}, r"target\[1\] is inf"),
        ({"axis": (0, 0, 0)}, "axis is the zero vector; it must have a direction"),
        ({"axis": [[1, 0, 0], [0, 0, 0]]}, r"axis\[1\] is the zero vector"),
        ({"pole": (np.nan, 0, 0)}, r"pole\[0\] is nan"),
        ({"soften": 1.5}, "soften is 1.5; allowed are finite numbers from 0 to 1"),
        ({"weight": 1.5}, "weight is 1.5; allowed are numbers from 0 to 1"),
        ({"weight": [0.5, -0.1]}, r"weight\[1\] is -0.1"),
        ({"weight": np.nan}, "weight is nan"),
        ({"tolerance": -1}, "tolerance is -1.0"),
        ({"target": np.ones((2, 3)), "pole": np.ones((3, 3))}, "batch shapes do not match"),
    ],
)
def test_bad_input_is_named(arguments, message):
    with pytest.raises(ValueError, match=message):
        km.two_bone_rotations(**{"world": WORLD, "target": (1, 1, 0)} | arguments)


def test_one_warning_when_trouble_starts(caplog):
    for _ in range(3):
        km.two_bone_rotations(WORLD, (0, 9, 0))
    assert [r.getMessage() for r in caplog.records] == [
        "two_bone_rotations: the target is out of reach; the closest reachable pose is returned"
    ]
    km.two_bone_rotations(WORLD, (0, 1, 0))
    km.two_bone_rotations(WORLD, (0, 9, 0))
    assert len(caplog.records) == 2
    km.two_bone_rotations(np.tile(np.eye(4), (3, 1, 1)), (0, 0, 0))
    assert "the whole chain has length zero" in caplog.text
