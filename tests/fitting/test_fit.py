"""`fit`: points of known motions onto bodies, judged by their joints; settings, errors and the report."""

import functools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import kinema as km
from kinema.demo import humanoid, quadruped
from kinema.fitting.layouts import NAMES, NEEDED, layout_of
from kinema.fitting.person import stance_of
from kinema.fitting.rotations import Footing, body_rotations, flat_slopes
from tests.fitting.judging import judge
from tests.fitting.observing import LEG, ORDERS, Noise, observe, truth_of

PERSON = humanoid()
FPS = 30.0
TIMES = np.arange(60) / FPS


@functools.cache
def walk():
    """Two seconds of a slow walk."""
    return truth_of(PERSON, PERSON.clips["walk"].sample(0.5 * TIMES).astype(float), FPS)


def seen(layout="coco17", noise=None, seed=1):
    return observe(walk(), layout, noise or Noise(), seed)[0] * PERSON.rig.leg_length / LEG


def figures(clip):
    return judge(walk(), PERSON, clip.sample(TIMES).astype(float), same=True)


@pytest.mark.parametrize("layout", ORDERS)
def test_the_body_is_where_its_points_are(layout):
    clip, report = km.fit(PERSON, seen(layout), layout=layout, contacts=False, report=True)
    found = figures(clip)
    assert report.captured
    assert report.up == "+y"
    assert found["positions"] < 1.3
    assert found["directions"] < 3.0
    assert found["jerk"] < 1.2


def test_standing_feet_stay_on_the_floor():
    found = figures(km.fit(PERSON, seen("mediapipe33"), layout="mediapipe33"))
    assert found["sink"] < 0.5
    assert found["directions"] < 3.0


def test_rough_points_are_smoothed():
    clip, report = km.fit(
        PERSON, seen(noise=Noise(deviation=0.03, missing=0.2)), layout="coco17", contacts=False, report=True
    )
    found = figures(clip)
    assert found["positions"] < 3.0
    assert found["directions"] < 6.0
    assert max(report.noise) == pytest.approx(0.03, rel=0.3)
    assert report.gaps


def test_swapped_sides_are_found():
    points, swapped = observe(walk(), "coco17", Noise(swapped=0.1), 3)
    _, report = km.fit(PERSON, points, layout="coco17", unit=1.0, report=True)
    assert report.swapped == tuple(np.flatnonzero(swapped))


def test_the_depth_of_one_camera_counts_less():
    points = seen(noise=Noise(depth=0.06))
    for depth in (None, 6.0):
        clip = km.fit(PERSON, points, layout="coco17", contacts=False, depth=depth)
        assert figures(clip)["directions"] < 5.0


def test_a_lost_arm_is_carried_along():
    clip, report = km.fit(PERSON, seen(noise=Noise(lost_arm=1.0)), layout="coco17", contacts=False, report=True)
    assert figures(clip)["directions"] < 6.0
    assert any("not seen" in warning for warning in report.warnings)


@pytest.mark.parametrize(
    ("turn", "up"),
    [
        (np.diag((1.0, -1.0, -1.0)), "-y"),
        (np.array(((1.0, 0, 0), (0, 0, -1), (0, 1, 0))), "+z"),
        (np.array(((0.0, -1, 0), (1, 0, 0), (0, 0, 1))), "-x"),
    ],
)
@pytest.mark.parametrize("unit", [1.0, 0.01, 0.001])
def test_axes_and_units_are_found(turn, up, unit):
    points = observe(walk(), "coco17", Noise(), 1)[0] @ turn.T / unit
    clip, report = km.fit(PERSON, points, layout="coco17", report=True)
    assert (report.up, report.unit) == (up, unit)
    assert figures(clip)["directions"] < 4.0 if up == "-y" else True
    given = km.fit(PERSON, points, layout="coco17", up=up, unit=unit)
    assert given.duration == clip.duration


def test_points_around_the_hips_walk_away():
    points = seen("mediapipe33")
    hips = 0.5 * (points[:, 23] + points[:, 24])
    clip, report = km.fit(PERSON, points - np.nan_to_num(hips)[:, np.newaxis], layout="mediapipe33", report=True)
    if np.isnan(hips).any():
        clip, report = km.fit(PERSON, walk_around_hips(), layout="mediapipe33", report=True)
    assert any("around the hips" in warning for warning in report.warnings)
    hips = PERSON.skeleton.world(clip.sample(TIMES))[:, PERSON.rig.hips, :3, 3]
    assert np.ptp(hips[:, 1]) < 0.1 * PERSON.rig.leg_length


def walk_around_hips():
    points = seen("mediapipe33", Noise(missing=0.0))
    return points - 0.5 * (points[:, 23] + points[:, 24])[:, np.newaxis]


def test_points_of_one_picture_are_lifted():
    points = np.stack([walk().points[name] for name in ORDERS["coco17"]], 1)
    away = 4.0 - (points[..., 2] - points[:, :1, 2])
    focal = 0.5 * 1280 / np.tan(np.radians(30))
    pixels = np.stack((640 + focal * points[..., 0] / away, 360 - focal * (points[..., 1] - 0.9) / away), -1)
    camera = km.Camera(1280, 720, np.radians(60))
    clip, report = km.fit(PERSON, pixels, layout="coco17", camera=camera, report=True)
    assert figures(clip)["directions"] < 25.0
    assert any("depth is a guess" in warning for warning in report.warnings)


def test_several_people_come_as_clips():
    points = seen()
    clips = km.fit(PERSON, np.stack((points, points + 1.0)), layout="coco17")
    alone = km.fit(PERSON, points, layout="coco17")
    assert len(clips) == 2
    assert np.array_equal(clips[0].sample(TIMES).rotations, alone.sample(TIMES).rotations)


def test_somebody_leaves_and_comes_back():
    points = seen()
    points[20:35] = np.nan
    clip, report = km.fit(PERSON, points, layout="coco17", report=True)
    poses = clip.sample(TIMES)
    steps = np.abs((poses.rotations[1:] * poses.rotations[:-1]).sum(-1)).clip(0, 1)
    assert np.degrees(2 * np.arccos(steps)).max() < 25
    assert report.gaps["nose"][1] == pytest.approx(0.5, abs=0.2)


def test_the_person_has_a_skeleton_of_its_own(tmp_path):
    _, report = km.fit(PERSON, seen("smpl24"), layout="smpl24", report=True)
    km.save(tmp_path / "person.bvh", report.person, clip="fitted")
    again = km.load(tmp_path / "person.bvh")
    assert {leg.name for leg in again.rig.legs} == {"left", "right"}
    thigh = again.skeleton.length(again.rig.leg("left").joints[:2])
    assert thigh == pytest.approx(report.lengths["left_hip to left_knee"], rel=1e-3)


def test_markers_with_offsets_pull_their_joints():
    count = len(ORDERS["coco17"])
    ankle = int(PERSON.rig.leg("left").joints[-1])
    world = PERSON.skeleton.world(PERSON.clips["walk"].sample(0.5 * TIMES)).astype(float)
    marker = world[:, ankle] @ (0.0, 0.05, 0.1, 1.0)
    points = np.concatenate((seen(noise=Noise(0.0, 0.0)), marker[:, np.newaxis, :3]), 1)
    layout = dict(enumerate(ORDERS["coco17"])) | {count: (PERSON.skeleton.names[ankle], (0.0, 0.05, 0.1))}
    clip = km.fit(PERSON, points, layout=layout, contacts=False)
    got = PERSON.skeleton.world(clip.sample(TIMES)).astype(float)[:, ankle] @ (0.0, 0.05, 0.1, 1.0)
    assert np.median(np.linalg.norm((got - marker)[:, :3], axis=-1)) < 0.03 * PERSON.rig.leg_length


@pytest.mark.parametrize("first", [0, 20, 60])
def test_markers_with_offsets_may_be_missing(first):
    marker = np.full((60, 1, 3), (0.2, 0.1, 0.1))
    marker[:first] = np.nan
    layout = dict(enumerate(ORDERS["coco17"])) | {17: (PERSON.skeleton.names[3], (0.0, 0.0, 0.0))}
    points = seen(noise=Noise(0.0, 0.0))
    clip = km.fit(PERSON, np.concatenate((points, marker), 1), layout=layout, contacts=False)
    alone = km.fit(PERSON, points, layout="coco17", contacts=False)
    assert np.isfinite(clip.sample(TIMES).rotations).all()
    assert clip.sample(TIMES).same(alone.sample(TIMES)) == (first == 60)


def test_inputs_stay_and_answers_repeat():
    points, trust = seen(), np.full((60, 17), 0.7)
    kept = points.copy()
    one, two = (km.fit(PERSON, points, layout="coco17", confidence=trust) for _ in range(2))
    assert np.array_equal(points, kept, equal_nan=True)
    assert one.sample(TIMES).same(two.sample(TIMES))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"layout": "coco18"}, "there is no layout 'coco18'"),
        ({"layout": ["nose"] * 17}, "no 'left_shoulder'"),
        ({"layout": ["elbow"] + [""] * 16}, "no role word"),
        ({"layout": dict.fromkeys(range(17), ("head", (0, 0, 0)))}, "joints with an offset come on top"),
        ({"layout": {0: "no_joint"}}, "neither a role word nor a joint"),
        ({"points": np.zeros((5, 4, 3))}, "17 points, and points has 4"),
        ({"points": np.zeros((5, 17, 5))}, "shape"),
        ({"points": np.full((5, 17, 3), np.nan)}, "never shows left_shoulder"),
        ({"points": [["a"]]}, "points must be numbers"),
        ({"points": np.ones((5, 17, 3)) * 1j}, "points must be numbers"),
        ({"points": [[[10**400] * 3] * 17]}, "points must be numbers"),
        ({"points": np.full((5, 17, 3), 2e12)}, "never shows left_shoulder .85 points beyond 1e.12 count as missing"),
        ({"points": np.ones((5, 17, 2)) * (300, -42.5)}, "y down"),
        ({"points": np.full((5, 17, 2), 1e10)}, "more than 0 and up to 1e.09"),
        ({"points": np.ones((2, 5, 17, 3)), "confidence": 1}, "confidence must be a sequence of arrays"),
        ({"report": np.zeros(2)}, "report must be true or false"),
        ({"confidence": np.full((60, 17), 2.0)}, "allowed are 0 to 1"),
        ({"confidence": np.ones(3)}, "confidence has the shape"),
        ({"fps": 0.0}, "fps"),
        ({"up": "north"}, "allowed are"),
        ({"lengths": "own"}, "lengths"),
        ({"depth": 0.5}, "depth"),
        ({"camera": 60}, "camera"),
    ],
)
def test_wrong_arguments_are_named(change, message):
    arguments = {"points": seen(), "layout": "coco17"} | change
    with pytest.raises(km.InputError, match=message):
        km.fit(PERSON, arguments.pop("points"), **arguments)


def test_bodies_with_other_legs_are_refused():
    with pytest.raises(km.InputError, match="4"):
        km.fit(quadruped(), seen(), layout="coco17")


@settings(deadline=None, max_examples=15)
@given(
    st.integers(1, 12),
    st.sampled_from(["same", "line", "huge", "tiny", "random", "holes"]),
    st.integers(0, 2**16),
)
def test_any_finite_points_give_a_finite_clip(frames, kind, seed):
    rng = np.random.default_rng(seed)
    points = rng.normal(size=(frames, 17, 3))
    points = {
        "same": np.zeros_like(points),
        "line": points * (1.0, 0.0, 0.0),
        "huge": points * 1e11,
        "tiny": points * 1e-11,
        "random": points,
        "holes": np.where(rng.random((frames, 17, 1)) < 0.6, np.nan, points),
    }[kind]
    points[0] = np.where(np.isnan(points[0]), 0.5, points[0])
    clip = km.fit(PERSON, points, layout="coco17")
    poses = clip.sample(np.linspace(0, float(clip.duration or 0), 5))
    assert np.isfinite(poses.rotations).all()
    assert np.isfinite(poses.translations).all()


# --- points that are never seen -----------------------------------------------------------------------------------

FEW = 6


def without(layout, roles):
    """A few frames in which the points of these role words are never seen."""
    points = seen(layout, Noise(0.0, 0.0))[:FEW].copy()
    points[:, [layout_of(layout).columns[role] for role in roles]] = np.nan
    return points


def optional(layout):
    return [role for role in layout_of(layout).columns if role not in NEEDED]


def assert_finite(clip):
    poses = clip.sample(np.arange(FEW) / FPS)
    assert np.isfinite(poses.rotations).all()
    assert np.isfinite(poses.translations).all()


@pytest.mark.parametrize("role", optional("coco17"))
def test_a_point_that_is_never_seen_is_no_obstacle(role):
    assert_finite(km.fit(PERSON, without("coco17", [role]), layout="coco17"))


@pytest.mark.parametrize("layout", NAMES)
def test_every_layout_may_lack_any_point(layout):
    known = (*layout_of(f"coco17+{layout}" if "hand" in layout else layout).known, "pelvis")
    at = {role: np.random.default_rng(k).normal(size=(2, 3)) for k, role in enumerate(known)}
    for lost in set(known) - {*NEEDED, "pelvis"}:
        some = {role: value for role, value in at.items() if role != lost}
        rotations = body_rotations(some, stance_of(PERSON), FPS, Footing(0.0, 1.0, flat_slopes(some, 1.0)))
        assert all(np.isfinite(each).all() for each in rotations.values()), lost


@settings(deadline=None, max_examples=15)
@given(st.sampled_from(sorted(ORDERS)), st.data())
def test_any_points_of_any_layout_may_be_missing(layout, data):
    lost = data.draw(st.sets(st.sampled_from(optional(layout))))
    clip, report = km.fit(PERSON, without(layout, sorted(lost)), layout=layout, report=True)
    assert_finite(clip)
    hidden = {f"{side}_elbow": f"{side} arm" for side in ("left", "right")}
    hidden |= {f"{side}_ankle": f"{side} shin" for side in ("left", "right")}
    assert {part for role, part in hidden.items() if role in lost} <= set(report.missing)


def test_the_rest_of_a_body_without_ankles_is_fitted():
    lost = ("left_ankle", "right_ankle")
    clip, report = km.fit(PERSON, without("coco17", lost), layout="coco17", contacts=False, report=True)
    whole = km.fit(PERSON, without("coco17", ()), layout="coco17", contacts=False)
    for limb in (PERSON.rig.arm("left"), PERSON.rig.arm("right")):
        ways = []
        for each in (clip, whole):
            world = PERSON.skeleton.world(each.sample(np.arange(FEW) / FPS))[:, :, :3, 3].astype(float)
            ways.append(world[:, int(limb.joints[-1])] - world[:, int(limb.joints[0])])
        cosine = (ways[0] * ways[1]).sum(-1) / np.prod([np.linalg.norm(way, axis=-1) for way in ways], axis=0)
        assert np.degrees(np.arccos(cosine.clip(-1, 1))).max() < 5.0
    assert {"left shin", "right shin", "left foot"} <= set(report.missing)
    assert any("no points of 'left shin', 'right shin'" in warning for warning in report.warnings)


def test_points_around_the_hips_walk_away_on_one_foot():
    points = without("coco17", ["left_ankle"])
    hips = 0.5 * (points[:, 11] + points[:, 12])[:, np.newaxis]
    assert_finite(km.fit(PERSON, np.tile(points - hips, (3, 1, 1)), layout="coco17"))


def test_a_fourth_number_is_the_confidence():
    points = seen()
    trust = np.linspace(0.2, 1.0, 17) * np.ones((len(points), 1))
    both = np.concatenate((points, trust[..., np.newaxis]), axis=-1)
    one, other = km.fit(PERSON, both, layout="coco17"), km.fit(PERSON, points, layout="coco17", confidence=trust)
    assert one.sample(0.5).same(other.sample(0.5))
    with pytest.raises(km.InputError, match="leave out confidence="):
        km.fit(PERSON, both, layout="coco17", confidence=trust)
