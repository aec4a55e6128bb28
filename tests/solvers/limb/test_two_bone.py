"""The spatial limb: reach, side, easing, and the figures the issue of solvers asks for."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import kinema as km
from tests import naive, problems


def reachable_limbs(rng, count):
    root, lengths = rng.normal(size=(count, 3)), rng.uniform(0.3, 1.5, (count, 2))
    low, high = np.abs(lengths[:, 0] - lengths[:, 1]), lengths.sum(-1)
    distance = low + rng.uniform(0.001, 0.999, count) * (high - low)
    return root, root + problems.units(rng, count) * distance[:, None], lengths, root + rng.normal(size=(count, 3)) * 2


def test_reaches_with_the_knee_on_the_poles_side():
    rng = problems.generator(11)
    root, target, lengths, pole = reachable_limbs(rng, 20_000)
    r = km.two_bone(root, target, lengths, pole=pole)
    assert r.reached.all()
    assert np.linalg.norm(r.end - target, axis=-1).max() < 1e-6
    line = (target - root) / np.linalg.norm(target - root, axis=-1, keepdims=True)
    across = np.cross(line, pole - root)
    # The knee lies in the half plane of the pole: nothing of it across that plane, nothing on the other side.
    sine = np.linalg.norm(across, axis=-1) / np.linalg.norm(pole - root, axis=-1)
    clear = sine > 2e-3
    assert clear.mean() > 0.999
    off_plane = np.abs(((r.mid - root) * across).sum(-1)) / np.linalg.norm(across, axis=-1)
    assert off_plane[clear].max() < 1e-6
    aside = (pole - root) - line * ((pole - root) * line).sum(-1, keepdims=True)
    assert ((r.mid - root) * aside).sum(-1)[clear].min() > -1e-6


def test_agrees_with_the_naive_solver():
    rng = problems.generator(12)
    root, target, lengths, pole = reachable_limbs(rng, 300)
    r = km.two_bone(root, target, lengths, pole=pole)
    for i in range(300):
        mid, end = naive.two_bone(root[i], target[i], lengths[i], pole[i])[:2]
        np.testing.assert_allclose(r.mid[i], mid, atol=2e-6)
        np.testing.assert_allclose(r.end[i], end, atol=1e-9)


def test_too_far_is_straight_at_the_target_and_too_near_is_the_holes_edge():
    far = km.two_bone((0, 0, 0), (0, 0, 9), (1, 0.5))
    np.testing.assert_allclose([far.mid, far.end], [[0, 0, 1], [0, 0, 1.5]], atol=1e-12)
    assert not far.reached
    assert far.error == pytest.approx(7.5)
    assert far.reach == pytest.approx(6)
    near = km.two_bone((0, 0, 0), (0, 0.1, 0), (1, 0.5))
    np.testing.assert_allclose(near.end, [0, 0.5, 0], atol=1e-12)
    assert not near.reached
    assert near.error == pytest.approx(0.4)


def test_target_at_the_root():
    r = km.two_bone((1, 2, 3), (1, 2, 3), (1, 1), pole=(1, 2, 9))
    np.testing.assert_allclose(r.end, [1, 2, 3], atol=1e-12)
    np.testing.assert_allclose(r.mid, [1, 2, 4], atol=1e-9)


def test_the_hint_decides_where_the_pole_has_no_direction():
    for pole in (None, (0, 5, 0), (0, 0, 0)):  # none, on the line, at the root
        r = km.two_bone((0, 0, 0), (0, 1, 0), (1, 1), pole=pole, hint=(0.3, 7, 0))
        assert r.mid[0] > 0.8
        assert abs(r.mid[2]) < 1e-9
    neither = [km.two_bone((0, 0, 0), (0, 1, 0), (1, 1), pole=pole).mid for pole in (None, (0, 5, 0))]
    np.testing.assert_array_equal(neither[0], neither[1])


@pytest.mark.slow_uncompiled
def test_softening_has_a_continuous_slope_and_never_goes_straight():
    distance = np.linspace(0.5, 4.0, 20_001)
    target = np.stack([np.zeros_like(distance), distance, np.zeros_like(distance)], -1)
    r = km.two_bone((0, 0, 0), target, (1, 1), soften=0.9)
    got = r.end[:, 1]
    np.testing.assert_allclose(got[distance <= 1.8], distance[distance <= 1.8], rtol=1e-15)
    slope = np.diff(got) / np.diff(distance)
    assert np.abs(np.diff(slope)).max() < 2e-3
    assert slope.min() > 0
    assert slope.max() < 1 + 1e-9
    assert got.max() < 2
    assert not r.reached[distance > 1.9].any()
    hard = km.two_bone((0, 0, 0), target, (1, 1)).end[:, 1]
    assert np.abs(np.diff(np.diff(hard) / np.diff(distance))).max() > 0.4  # what softening takes away


def test_no_pops_through_full_extension():
    """Steps of the target near full reach move the knee in proportion when softened; unsoftened it snaps."""
    distance = np.linspace(1.7, 2.4, 7001)
    target = np.stack([distance, np.zeros_like(distance), np.zeros_like(distance)], -1)
    step = distance[1] - distance[0]

    def largest_move(soften):
        mid = km.two_bone((0, 0, 0), target, (1, 1), pole=(0, 1, 0), soften=soften).mid
        return np.linalg.norm(np.diff(mid, axis=0), axis=-1).max() / step

    assert largest_move(0.95) < 4
    assert largest_move(1.0) > 50


def test_no_pops_past_the_poles_line_with_the_frame_before_as_hint():
    """The target walks past the pole's line at a small distance: the knee swings round, it does not jump."""
    angle = np.linspace(-0.3, 0.3, 3001)
    target = np.stack([np.sin(angle), np.cos(angle), np.full_like(angle, 0.01)], -1) * 1.5
    hint, mids = np.array([-1.0, 0.0, 0.0]), []
    for t in target:
        r = km.two_bone((0, 0, 0), t, (1, 1), pole=(0, 2, 0), hint=hint)
        hint = r.mid
        mids.append(r.mid)
    assert np.linalg.norm(np.diff(mids, axis=0), axis=-1).max() < 0.1


@given(
    problems.vectors(),
    problems.vectors(),
    problems.lengths(),
    problems.lengths(),
    problems.vectors(),
    problems.vectors(),
    st.floats(0, 1),
    st.sampled_from([np.float64, np.float32]),
)
def test_finite_in_finite_out_honest_and_bones_kept(root, target, length1, length2, pole, hint, soften, dtype):
    root, target, pole, hint = (a.astype(dtype) for a in (root, target, pole, hint))
    lengths = np.array([length1, length2], dtype)
    r = km.two_bone(root, target, lengths, pole=pole, hint=hint, soften=soften)
    assert all(np.isfinite(field).all() for field in r)
    size = max(np.abs(root).max(), lengths.max())
    tolerance = (1e-9 if dtype is np.float64 else 1e-5) * float(size)
    wide = [np.asarray(a, np.float64) for a in (root, r.mid, r.end, lengths, target)]
    assert abs(np.linalg.norm(wide[1] - wide[0]) - wide[3][0]) <= tolerance
    assert abs(np.linalg.norm(wide[2] - wide[1]) - wide[3][1]) <= tolerance
    error = np.linalg.norm(wide[2] - wide[4])
    assert float(r.error) == pytest.approx(error, rel=1e-4, abs=tolerance)
    assert bool(r.reached) == bool(r.error <= dtype(1e-4) * (lengths[0] + lengths[1]))


def test_lists_tuples_integers_and_views_are_taken_once_at_the_edge():
    expected = km.two_bone((0.0, 0.0, 0.0), (1.0, 1.0, 0.0), (1.0, 1.0))
    wide = np.zeros((3, 8))
    wide[:, 2] = (1, 1, 0)
    for target in ([1, 1, 0], np.array([1, 1, 0]), wide[:, 2], np.array([1, 1, 0], ">f8"), (np.float64(1), 1, 0)):
        r = km.two_bone((0, 0, 0), target, [1, 1])
        assert all(np.array_equal(a, b) for a, b in zip(r, expected, strict=True))


@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # Uncompiled, NumPy's scalars warn where compiled code does not.
@pytest.mark.parametrize("count", [0, 5, 500])
@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("root", np.nan, r"root\[.*\] is nan; allowed are finite numbers of magnitude up to 1e\+100"),
        ("target", np.inf, r"target\[.*\] is inf"),
        ("pole", -np.inf, r"pole\[.*\] is -inf"),
        ("hint", 1e200, r"hint\[.*\] is 1e\+200"),
        ("lengths", -1.0, r"lengths\[.*\] is -1.0; a length must be 0 or more"),
    ],
)
def test_bad_numbers_are_named_with_their_index(name, value, message, count):
    """In a single limb (0), below a tile and above one."""
    shape = (count,) if count else ()
    arguments = {
        key: np.ones((*shape, 2 if key == "lengths" else 3)) for key in ("root", "target", "lengths", "pole", "hint")
    }
    arguments[name].reshape(-1)[-1] = value
    with pytest.raises(ValueError, match=message):
        km.two_bone(**arguments)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"soften": 1.5}, "soften is 1.5; allowed are finite numbers from 0 to 1"),
        ({"soften": float("nan")}, "soften is nan"),
        ({"tolerance": -1}, "tolerance is -1.0"),
        ({"tolerance": "tight"}, "tolerance must be one number"),
        ({"lengths": (1, 1, 1)}, r"lengths must have shape \(..., 2\), got \(3,\)"),
        ({"target": [[0, 1, 2]] * 2, "pole": [[0, 1, 2]] * 3}, "batch shapes do not match"),
        ({"root": None}, "root must be an array of numbers, got None"),
        ({"root": (0, 0, "x")}, "root must be an array of numbers"),
        ({"root": (0, 0, 10**400)}, "root must be an array of numbers"),
        ({"root": np.zeros(3, complex)}, "root must be an array of numbers"),
    ],
)
def test_bad_input_is_named(arguments, message):
    with pytest.raises(ValueError, match=message):
        km.two_bone(**{"root": (0, 0, 0), "target": (1, 1, 0), "lengths": (1, 1)} | arguments)


def test_one_warning_when_trouble_starts(caplog):
    for _ in range(3):
        km.two_bone((0, 0, 0), (0, 9, 0), (1, 1))
    assert [r.getMessage() for r in caplog.records] == [
        "two_bone: the target is out of reach; the closest reachable pose is returned"
    ]
    km.two_bone((0, 0, 0), (0, 1, 0), (1, 1))
    km.two_bone((0, 0, 0), (0, 9, 0), (1, 1))
    assert len(caplog.records) == 2
    km.two_bone((0, 0, 0), (0, 1, 0), (1, 0))
    km.two_bone((0, 0, 0), (0, 0, 0), (0, 0))
    assert "a bone has length zero" in caplog.text
    assert "the whole chain has length zero" in caplog.text


@given(problems.vectors(), problems.vectors(), st.floats(0.1, 2), st.floats(0.1, 2))
def test_scaling_the_world_scales_the_answer(target, pole, length1, length2):
    """Pixels and metres behave alike: by powers of two even to the bit."""
    one = km.two_bone((0, 0, 0), target, (length1, length2), pole=pole)
    big = km.two_bone((0, 0, 0), target * 1024, (length1 * 1024, length2 * 1024), pole=pole * 1024)
    np.testing.assert_array_equal(big.mid, one.mid * 1024)
    assert big.reached == one.reached


@pytest.mark.parametrize("dtype", [np.float64, np.float32], ids=["float64", "float32"])
@pytest.mark.parametrize("sine", [0.0, 1e-9, 1e-6, 1e-4, 1e-3, 1e-2])
@pytest.mark.parametrize("hinted", [False, True], ids=["", "hint"])
def test_bones_keep_their_length_with_the_pole_near_the_reach_line(dtype, sine, hinted):
    rng = problems.generator(13)
    _, target, lengths, _ = reachable_limbs(rng, 4_000)
    root = np.zeros_like(target)
    target = problems.units(rng, 4_000) * (lengths.sum(-1) * rng.uniform(0.3, 0.99, 4_000))[:, None]
    line = naive.unit_rows(target)
    aside = naive.unit_rows(np.cross(line, problems.units(rng, 4_000)))
    pole = (line + aside * sine) * rng.uniform(0.1, 1e4, (4_000, 1)) * rng.choice([-1.0, 1.0], (4_000, 1))
    root, target, lengths, pole = (array.astype(dtype) for array in (root, target, lengths, pole))
    r = km.two_bone(root, target, lengths, pole=pole, hint=pole if hinted else None)
    limit = 1e-9 if dtype is np.float64 else 1e-5
    upper = np.linalg.norm(r.mid.astype(np.float64), axis=-1)
    assert np.abs(upper / lengths[:, 0] - 1).max() <= limit
    lower = np.linalg.norm(r.end.astype(np.float64) - r.mid, axis=-1)
    inside = np.abs(lengths[:, 0] - lengths[:, 1]) < np.linalg.norm(target, axis=-1)
    assert np.abs(lower / lengths[:, 1] - 1)[inside].max() <= limit


@pytest.mark.parametrize("shape", [(), (3,), (2, 3)])
def test_rotations_carry_the_axis_onto_the_bones(shape):
    draw = np.random.default_rng(3)
    root, target = draw.normal(size=(*shape, 3)), draw.normal(size=(*shape, 3))
    limb = km.two_bone(root, target, (0.7, 0.6), pole=(0, 0, 5))
    rotations = limb.rotations(axis=(0, 0, 1))
    assert rotations.shape == (*shape, 2, 4)
    bones = np.stack((limb.mid - root, limb.end - limb.mid), axis=-2)
    expected = bones / np.linalg.norm(bones, axis=-1, keepdims=True)
    np.testing.assert_allclose(naive.quat_rotate(rotations, (0.0, 0.0, 1.0)), expected, atol=1e-12)
