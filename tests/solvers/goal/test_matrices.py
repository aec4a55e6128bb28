"""Bare bone matrices: judged by what rigid bones do, and against `solve` on a skeleton of the same bones."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import kinema as km
from kinema import notices
from kinema.errors import InputError
from kinema.solvers.goal.matrices import apply_to_matrices
from tests import naive, problems
from tests.compiled import COMPILED, both_precisions

COUNT = 20 if COMPILED else 3
# A hip with two legs of four joints and a toe each, a tail, and a prop that hangs on nothing.
PARENTS = np.array([-1, 0, 1, 2, 3, 0, 5, 6, 7, 0, -1])
LIMB, LONG = [1, 2, 3], [0, 1, 2, 3, 4]
IDENTITY = np.array([0.0, 0.0, 0.0, 1.0])
KINDS = ["still", "moved", "turned", "scaled", "mirrored"]


def skeleton_and_pose(rng, count=COUNT, kind="turned"):
    """A skeleton and poses of it; what the kind says of the place is in the root joint."""
    joints = len(PARENTS)
    translations = problems.units(rng, joints) * rng.uniform(0.3, 1.0, (joints, 1))
    rotations, scales = problems.quaternions(rng, count, joints), np.ones((count, joints, 3))
    translations, roots = np.tile(translations, (count, 1, 1)), PARENTS < 0
    if kind in ("still", "moved"):
        rotations[:, roots] = IDENTITY
    if kind != "still":
        translations[:, roots] += rng.normal(size=(count, 1, 3)) * 3
    if kind in ("scaled", "mirrored"):
        scales[:, roots] *= 10.0 ** rng.uniform(-1, 1, (count, 1, 1))
    if kind == "mirrored":
        scales[:, roots, 0] *= -1
    names = [f"bone_{j}" for j in range(joints)]
    rest = km.Pose(translations[0], rotations[0], np.ones((joints, 3)))
    return km.Skeleton(names, PARENTS, rest), km.Pose(translations, rotations, scales)


def places(world, joints):
    return np.asarray(world)[..., :3, 3][..., joints, :]


def length(world, joints):
    return naive.bone_lengths(places(world, joints)).sum(-1)


def reachable(rng, world, joints, low=0.3, high=0.95):
    """Targets in any direction; of a limb, where both bones get to."""
    bones, count = naive.bone_lengths(places(world, joints)), len(world)
    hole = np.maximum(2 * bones.max(-1) - bones.sum(-1), 0)
    distance = hole + rng.uniform(low, high, count) * (bones.sum(-1) - hole)
    return places(world, joints)[:, 0] + problems.units(rng, count) * distance[:, None]


def local(world):
    """(..., B, 4, 4): each bone in its parent's space."""
    above = np.where((PARENTS < 0)[:, None, None], np.eye(4), world[..., np.maximum(PARENTS, 0), :, :])
    return np.linalg.solve(above, world)


def axes(world, joint):
    """(N, 3, 3): a bone's axes at length 1, x mirrored back where they are mirrored."""
    m = world[:, joint, :3, :3] / np.linalg.norm(world[:, joint, :3, :3], axis=1, keepdims=True)
    m[:, :, 0] *= np.sign(np.linalg.det(m))[:, None]
    return m


# --- what rigid bones do ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("joints", [LIMB, LONG], ids=["limb", "long"])
def test_the_end_is_at_the_goal_and_every_bone_keeps_its_translation(kind, joints):
    rng = problems.generator(91)
    skeleton, pose = skeleton_and_pose(rng, kind=kind)
    world = skeleton.world(pose)
    target, rotation = reachable(rng, world, joints), problems.quaternions(rng, COUNT)
    moved, report = apply_to_matrices(world, joints, km.Goal(target, rotation), PARENTS)
    size = length(world, joints)
    miss = np.linalg.norm(places(moved, joints)[:, -1] - target, axis=-1)
    assert report.reached.all()
    assert (miss <= 1e-4 * size).all()
    np.testing.assert_allclose(report.error, miss, atol=1e-12 * size.max())
    np.testing.assert_allclose(axes(moved, joints[-1]), naive.quat_to_matrix(rotation), atol=1e-9)
    before, after = local(world), local(moved)
    np.testing.assert_allclose(after[..., 3], before[..., 3], rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(
        np.linalg.norm(after[..., :3], axis=-2), np.linalg.norm(before[..., :3], axis=-2), rtol=1e-9
    )
    others = [b for b in range(len(PARENTS)) if b not in joints]
    np.testing.assert_allclose(after[:, others], before[:, others], atol=1e-9)
    untouched = [b for b in others if not _below(b, joints[0])]
    np.testing.assert_array_equal(moved[:, untouched], world[:, untouched])


def _below(bone, top):
    while bone >= 0 and bone != top:
        bone = PARENTS[bone]
    return bone == top


def test_twelve_numbers_may_be_columns():
    """As engines and consoles store them: three axes, then the translation."""
    rng = problems.generator(97)
    skeleton, pose = skeleton_and_pose(rng)
    world = skeleton.world(pose)
    goal = km.Goal(reachable(rng, world, LIMB), problems.quaternions(rng, COUNT))
    expected, _ = apply_to_matrices(world, LIMB, goal, PARENTS)
    rows = world[..., :3, :].reshape(COUNT, -1, 12)
    columns = np.swapaxes(world[..., :3, :], -1, -2).reshape(COUNT, -1, 12)
    by_rows, _ = apply_to_matrices(rows, LIMB, goal, PARENTS, layout="rows")
    by_columns, report = apply_to_matrices(columns, LIMB, goal, PARENTS, layout="columns")
    np.testing.assert_array_equal(by_rows, expected[..., :3, :].reshape(rows.shape))
    np.testing.assert_array_equal(by_columns, np.swapaxes(expected[..., :3, :], -1, -2).reshape(columns.shape))
    assert report.reached.all()
    with pytest.raises(InputError, match="layout is 'diagonal'; allowed are 'rows', 'columns'"):
        apply_to_matrices(rows, LIMB, goal, layout="diagonal")
    with pytest.raises(InputError, match=r"must have shape \(..., bones, 4, 3\), .* \(..., bones, 12\), got"):
        apply_to_matrices(world[..., :3, :], LIMB, goal, layout="columns")


@pytest.mark.parametrize("height", [3, 4])
def test_matrices_by_columns_are_transposed(height):
    """As `Skeleton.palette` lays them out by columns, and as three.js and glm do."""
    rng = problems.generator(98)
    skeleton, pose = skeleton_and_pose(rng)
    world = skeleton.world(pose)[..., :height, :]
    goal = km.Goal(reachable(rng, world, LIMB))
    expected, _ = apply_to_matrices(world, LIMB, goal, PARENTS)
    moved, report = apply_to_matrices(np.swapaxes(world, -1, -2), LIMB, goal, PARENTS, layout="columns")
    np.testing.assert_array_equal(moved, np.swapaxes(expected, -1, -2))
    assert report.reached.all()


@pytest.mark.parametrize("layout", ["rows", "columns"])
def test_matrices_in_the_other_layout_are_warned_about(layout, caplog):
    rng = problems.generator(99)
    skeleton, pose = skeleton_and_pose(rng)
    world = skeleton.world(pose)
    rows = world[..., :3, :].reshape(COUNT, -1, 12)
    columns = np.swapaxes(world[..., :3, :], -1, -2).reshape(COUNT, -1, 12)
    right, wrong = (rows, columns) if layout == "rows" else (columns, rows)
    goal = km.Goal(reachable(rng, world, LIMB))
    notices.forget()
    apply_to_matrices(right, LIMB, goal, layout=layout)
    assert "layout" not in caplog.text
    for _ in range(3):
        apply_to_matrices(wrong, LIMB, goal, layout=layout)
    other = "columns" if layout == "rows" else "rows"
    assert caplog.text.count(f'these matrices look like layout="{other}"') == 1


@pytest.mark.parametrize("form", [(3, 4), (4, 4), (12,)], ids=str)
def test_an_empty_batch(form):
    moved, report = apply_to_matrices(np.zeros((0, 4, *form)), [0, 1, 2], (0, 0, 0))
    assert moved.shape == (0, 4, *form)
    assert report.reached.shape == (0,)


def test_without_parents_the_chain_moves_and_nothing_else():
    rng = problems.generator(92)
    skeleton, pose = skeleton_and_pose(rng)
    world = skeleton.world(pose)
    goal = km.Goal(reachable(rng, world, LIMB), problems.quaternions(rng, COUNT))
    alone, report = apply_to_matrices(world, LIMB, goal)
    along, _ = apply_to_matrices(world, LIMB, goal, PARENTS)
    np.testing.assert_array_equal(alone[:, LIMB], along[:, LIMB])
    others = [b for b in range(len(PARENTS)) if b not in LIMB]
    np.testing.assert_array_equal(alone[:, others], world[:, others])
    assert report.reached.all()
    assert not np.array_equal(along[:, 4], world[:, 4])


def test_bones_that_a_chain_leaves_out_go_along():
    """From hip to toe over the knee: what lies between stays as it is in its parent."""
    rng = problems.generator(93)
    skeleton, pose = skeleton_and_pose(rng)
    world = skeleton.world(pose)
    joints = [0, 2, 4]
    target = reachable(rng, world, joints)
    moved, report = apply_to_matrices(world, joints, km.Goal(target), PARENTS)
    assert report.reached.all()
    kept = [b for b in range(1, len(PARENTS)) if b != 2]
    np.testing.assert_allclose(local(moved)[:, kept], local(world)[:, kept], atol=1e-9)


def test_scales_mirrors_and_shears_of_single_bones_survive():
    rng = problems.generator(94)
    skeleton, pose = skeleton_and_pose(rng)
    world = skeleton.world(pose)
    world[..., :3, :3] = world[..., :3, :3] @ rng.normal(size=(COUNT, len(PARENTS), 3, 3))
    world[0, 2, :3, :3] = 0
    target = reachable(rng, world, LIMB)
    moved, report = apply_to_matrices(world, LIMB, km.Goal(target), PARENTS)
    assert report.reached.all()
    np.testing.assert_allclose(np.linalg.norm(places(moved, LIMB)[:, -1] - target, axis=-1), 0, atol=1e-9)
    between = [np.swapaxes(m[..., :3, :3], -1, -2) @ m[..., :3, :3] for m in (world, moved)]
    np.testing.assert_allclose(between[1], between[0], rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(np.linalg.det(moved), np.linalg.det(world), rtol=1e-9)


def test_too_far_is_straight_at_the_goal():
    rng = problems.generator(95)
    skeleton, pose = skeleton_and_pose(rng)
    world = skeleton.world(pose)
    for joints in (LIMB, LONG):
        target = reachable(rng, world, joints, 2.0, 3.0)
        moved, report = apply_to_matrices(world, joints, km.Goal(target), PARENTS)
        at, size = places(moved, joints), length(world, joints)
        assert not report.reached.any()
        assert (report.reach > 1).all()
        np.testing.assert_allclose(np.linalg.norm(at[:, -1] - at[:, 0], axis=-1), size, rtol=1e-6)
        np.testing.assert_allclose(report.error, np.linalg.norm(target - at[:, 0], axis=-1) - size, rtol=1e-6)


# --- against the skeleton --------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["turned", "mirrored"])
@pytest.mark.parametrize("solver", ["two_bone", "ccd", "fabrik"])
@pytest.mark.parametrize("asked", ["position", "pole", "rotation", "weight", "all"])
def test_it_is_what_solve_does(kind, solver, asked):
    rng = problems.generator(96)
    skeleton, pose = skeleton_and_pose(rng, kind=kind)
    world = skeleton.world(pose)
    joints = LIMB if solver == "two_bone" else LONG[1:]
    extra = {
        "pole": problems.units(rng, COUNT) * 2,
        "rotation": problems.quaternions(rng, COUNT),
        "weight": rng.uniform(0, 1, COUNT),
    }
    goal = km.Goal(reachable(rng, world, joints), **{k: v for k, v in extra.items() if asked in (k, "all")})
    soften = 0.9 if solver == "two_bone" else 1.0
    solved, expected = km.solve(skeleton, pose, joints, goal, solver=solver, soften=soften)
    moved, report = apply_to_matrices(world, joints, goal, PARENTS, solver=solver, soften=soften)
    np.testing.assert_allclose(moved, skeleton.world(solved), atol=1e-7 * np.abs(world).max())
    for name in ("error", "reach"):
        np.testing.assert_allclose(getattr(report, name), getattr(expected, name), atol=1e-7 * np.abs(world).max())
    for name in ("soft", "pole_singular", "iterations", "limited"):
        np.testing.assert_array_equal(getattr(report, name), getattr(expected, name))


@pytest.mark.parametrize("mirror", [1.0, -1.0])
def test_a_hinge_bends_a_straight_limb(mirror):
    """Two bones along +y: about +x they bend to where the axis says, about -x the other way."""
    world = np.tile(np.diag([1.0, 1.0, mirror, 1.0]), (3, 1, 1))
    world[:, 1, 3] = range(3)
    for axis in ((1.0, 0.0, 0.0), (-1.0, 0.0, 0.0)):
        moved, report = apply_to_matrices(world, [0, 1, 2], km.Goal((0.0, 1.5, 0.0)), axis=axis)
        # A positive rotation about +x takes +y to +z, so the end comes forward and the middle goes back.
        assert report.reached
        assert moved[1, 2, 3] * axis[0] * mirror < -0.5


# --- shapes ----------------------------------------------------------------------------------------------------


@both_precisions
def test_every_form_of_matrix_gives_the_same(dtype):
    rng = problems.generator(97)
    skeleton, pose = skeleton_and_pose(rng)
    world = skeleton.world(pose).astype(dtype)
    world[..., 3, :] = (0, 0, 0, 1)
    goal = km.Goal(reachable(rng, world, LIMB), problems.quaternions(rng, COUNT), weight=0.7)
    square, report = apply_to_matrices(world, LIMB, goal, PARENTS)
    wide, _ = apply_to_matrices(world[..., :3, :], LIMB, goal, PARENTS)
    flat, _ = apply_to_matrices(world[..., :3, :].reshape(COUNT, -1, 12), LIMB, goal, PARENTS)
    assert square.shape == world.shape
    assert square.dtype == wide.dtype == flat.dtype == dtype
    assert report.error.dtype == dtype
    np.testing.assert_array_equal(square[..., :3, :], wide)
    np.testing.assert_array_equal(wide.reshape(COUNT, -1, 12), flat)
    np.testing.assert_array_equal(square[..., 3, :], world[..., 3, :])


def test_a_batch_is_many_singles():
    rng = problems.generator(98)
    skeleton, pose = skeleton_and_pose(rng)
    world = skeleton.world(pose)
    for joints in (LIMB, LONG):
        target, rotation, pole = (
            reachable(rng, world, joints),
            problems.quaternions(rng, COUNT),
            rng.normal(size=(COUNT, 3)),
        )
        weight = rng.uniform(0, 1, COUNT)
        many, report = apply_to_matrices(world, joints, km.Goal(target, rotation, pole, weight), PARENTS)
        for i in range(COUNT):
            goal = km.Goal(target[i], rotation[i], pole[i], weight[i])
            one, single = apply_to_matrices(world[i], joints, goal, PARENTS)
            np.testing.assert_array_equal(one, many[i])
            assert all(np.array_equal(a[i], b) for a, b in zip(report, single, strict=True))


def test_one_character_and_many_goals():
    rng = problems.generator(99)
    skeleton, pose = skeleton_and_pose(rng)
    world = skeleton.world(pose)[0]
    targets = reachable(rng, np.tile(world, (6, 1, 1, 1)), LIMB).reshape(2, 3, 3)
    moved, report = apply_to_matrices(world, LIMB, km.Goal(targets), PARENTS)
    assert moved.shape == (2, 3, *world.shape)
    assert report.error.shape == (2, 3)
    np.testing.assert_allclose(moved[:, :, LIMB[-1], :3, 3], targets, atol=1e-9)


def test_weight_zero_gives_back_every_bit_and_nothing_that_came_in_changes():
    rng = problems.generator(100)
    skeleton, pose = skeleton_and_pose(rng)
    world = skeleton.world(pose)
    given = world.copy()
    weight = np.where(np.arange(COUNT) % 2, 1.0, 0.0)
    target = reachable(rng, world, LIMB)
    moved, report = apply_to_matrices(world, LIMB, km.Goal(target, IDENTITY, weight=weight), PARENTS)
    np.testing.assert_array_equal(world, given)
    np.testing.assert_array_equal(moved[weight == 0], world[weight == 0])
    np.testing.assert_array_equal(report.reached, weight == 1)


def test_parents_may_come_in_any_order():
    rng = problems.generator(101)
    skeleton, pose = skeleton_and_pose(rng)
    world = skeleton.world(pose)
    order = rng.permutation(len(PARENTS))
    place = np.argsort(order)
    parents = np.where(PARENTS[order] < 0, -1, place[PARENTS[order]])
    goal = km.Goal(reachable(rng, world, LIMB))
    expected, _ = apply_to_matrices(world, LIMB, goal, PARENTS)
    moved, _ = apply_to_matrices(world[:, order], place[LIMB].tolist(), goal, parents)
    np.testing.assert_array_equal(moved, expected[:, order])


# --- anything that comes ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [np.float64, np.float32], ids=["float64", "float32"])
@given(data=st.data())
def test_finite_in_finite_out(dtype, data):
    count = data.draw(st.integers(2, 5))
    numbers = st.lists(problems.numbers(), min_size=12 * count, max_size=12 * count)
    matrices = np.array(data.draw(numbers)).reshape(count, 3, 4).astype(dtype)
    if data.draw(st.booleans()):
        matrices[..., :3] = np.eye(3)
    rotation = data.draw(st.one_of(st.none(), st.just([0.5, 0.5, -0.5, 0.5])))
    pole = data.draw(st.one_of(st.none(), problems.vectors()))
    goal = km.Goal(data.draw(problems.vectors()), rotation, pole, data.draw(st.sampled_from([0.0, 0.3, 1.0])))
    moved, report = apply_to_matrices(matrices, list(range(count)), goal, soften=data.draw(st.sampled_from([0.5, 1.0])))
    assert np.isfinite(moved).all()
    assert all(np.isfinite(field).all() for field in report)
    assert naive.bones_kept(matrices[:, :, 3], moved[:, :, 3])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"matrices": np.zeros((3, 3))}, r"matrices must have shape \(..., bones, 3, 4\)"),
        ({"matrices": np.full((4, 3, 4), np.nan)}, r"matrices\[0, 0\] is nan"),
        ({"joints": [0]}, "joints must be"),
        ({"joints": [0, 1, 4]}, r"joints\[2\] is 4; bones go from 0 to 3"),
        ({"joints": [0, 1, 0]}, r"joints\[2\] is 0, which is in the chain already"),
        ({"joints": ["hip", "knee"]}, "joints must be"),
        ({"goal": "hand"}, "goal must be a Goal or a point"),
        ({"goal": km.Goal((0, 0))}, r"position must have shape \(..., 3\)"),
        ({"goal": km.Goal((0, 0, 0), weight=2)}, "weight is 2.0"),
        ({"goal": km.Goal((0, 0, 0), (0, 0, 0, 0))}, "rotation is zero"),
        ({"goal": km.Goal(np.zeros((3, 3))), "matrices": np.zeros((2, 4, 12))}, "batch shapes do not match"),
        ({"parents": [-1, 0, 1]}, "parents must be 4 whole numbers"),
        ({"parents": [-1, 0, 1, 9]}, r"parents\[3\] is 9"),
        ({"parents": [1, 0, 1, 2]}, "parents make a cycle"),
        ({"parents": [-1, 0, 0, 1]}, r"joints\[2\] \(2\) does not hang below joints\[1\] \(1\)"),
        ({"solver": "magic"}, "solver is 'magic'; allowed are 'two_bone', 'ccd', 'fabrik' and None"),
        ({"solver": "two_bone", "joints": [0, 1]}, "two_bone takes three joints; this chain has 2"),
        ({"axis": (0, 0, 0)}, "axis"),
        ({"soften": 2}, "soften is 2.0"),
    ],
)
def test_bad_input_is_named(change, message):
    world = np.tile(np.eye(4), (4, 1, 1))
    world[:, 1, 3] = range(4)
    call = {"matrices": world, "joints": [0, 1, 2], "goal": km.Goal((0.0, 1.0, 0.5))} | change
    with pytest.raises(InputError, match=message):
        apply_to_matrices(**call)
