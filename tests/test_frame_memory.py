"""Frames that are kept, memory that is reused, weights that change: nothing leaks from one frame into another.

Memory that must not be read is filled with NaN: new arrays, and the animator's arrays that no frame shows.
"""

import gc

import numpy as np
import pytest

import kinema as km
from kinema.demo import humanoid
from kinema.stages.stage import Stage, StageState
from tests import naive
from tests.compiled import COMPILED

DT = 1 / 60
FRAMES = 8 if COMPILED else 3


def leaning(pose, time, dt):
    rotations = pose.rotations.copy()
    rotations[:, 3] = naive.quat_mul(rotations[:, 3], naive.quat_from_axis_angle((0, 0, 1), 0.2)).astype(np.float32)
    return km.Pose(pose.translations, rotations, pose.scales)


STAGES = {
    "play": lambda **more: km.Play("walk", **more),
    "layer": lambda **more: km.Layer(leaning, **more),
    "breathing": km.Breathing,
    "sway": km.Sway,
    "recoil": km.Recoil,
    "feet": km.Feet,
    "locomotion": km.Locomotion,
    "hands": km.Hands,
    "aim": lambda **more: km.Aim(joint=humanoid().rig.arms[0].joints[-1], **more),
    "body": km.Body,
    "head": km.Head,
    "eyes": km.Eyes,
    "tail": lambda **more: km.Tail(chains=[["spine_1", "spine_2", "spine_3"]], **more),
    "springs": lambda **more: km.Springs(springs=[km.Spring(joints=["spine_1", "spine_2", "spine_3"])], **more),
    "constraints": lambda **more: km.Constraints(
        constraints=[km.Constraint(joint="spine_2", source="head", kind="rotation")], **more
    ),
}


def slope(x, z):
    return 0.1 * x


def animator(name, weight=1.0, ground=slope, **settings):
    """Three people who walk over a slope, and do what this stage does to them."""
    stages = [STAGES[name](weight=weight, **settings)]
    if name != "play":
        stages.append(km.Play("walk", time=(0.1, 0.4, 0.8)))
    made = km.Animator(humanoid(), stages, ground=ground, count=3)
    made.set_transform([(0, 0, 0), (2, 0.2, 0), (4, 0.4, 1)])
    ask(made, name)
    return made


def ask(made, name):
    """Give a stage something to do."""
    if name in ("head", "eyes"):
        made.look_at((1.0, 1.2, 4.0))
    if name == "aim":
        made["aim"].aim_at((1.0, 1.2, 4.0))
    if name == "hands":
        made["hands"].reach("left", (0.3, 1.2, 0.4))
    if name == "body":
        made["body"].set(km.Effector("left_hand", (0.3, 1.2, 0.4)))
    if name == "recoil":
        made["recoil"].kick()
    if name == "locomotion":
        made["locomotion"].walk((0.0, 0.0, 0.5))


def numbers(frame):
    return [*frame.pose.arrays(), frame.world, frame.palette, frame.transform]


def poison(made):
    """Fill every array of an animator that no frame shows with NaN. The next frame must update all characters."""
    context = made._context
    for buffers in (context._buffers, *context._spare):
        if buffers.held() is None:
            for array in (*buffers.local, buffers.world):
                array[:] = np.nan


def poison_new_memory(monkeypatch):
    """Fill arrays from `np.empty` with NaN, from now on. Kernels must be compiled: numba uses the real `np.empty`."""

    def filled(make):
        def poisoned(*arguments, **named):
            array = make(*arguments, **named)
            if array.dtype.kind == "f":
                array.fill(np.nan)
            return array

        return poisoned

    monkeypatch.setattr(np, "empty", filled(np.empty))
    monkeypatch.setattr(np, "empty_like", filled(np.empty_like))


def test_every_public_stage_is_tried_here():
    public = {getattr(km, name) for name in km.__all__}
    stages = {kind for kind in public if isinstance(kind, type) and issubclass(kind, km.Stage)} - {km.Stage}
    assert {type(make()) for make in STAGES.values()} == stages


@pytest.mark.parametrize("weight", [0.0, 0.5, 1.0])
@pytest.mark.parametrize("name", STAGES)
def test_no_stage_reads_memory_of_other_frames(name, weight, monkeypatch):
    compare_in_poisoned_memory([animator(name, weight) for _ in range(2)], monkeypatch)


def test_a_weight_that_is_set_reads_no_memory_of_other_frames(monkeypatch):
    pair = [animator("play") for _ in range(2)]
    for made in pair:
        made.set_weight("play", 0.4)
    compare_in_poisoned_memory(pair, monkeypatch)


@pytest.mark.parametrize("name", STAGES)
def test_a_stage_that_fades_by_distance_reads_no_memory_of_other_frames(name, monkeypatch):
    """One character stands near the viewer, one where the stage fades, one beyond."""
    pair = [animator(name, max_distance=3.0) for _ in range(2)]
    for made in pair:
        made.viewer = (-0.5, 0.0, 0.0)
    compare_in_poisoned_memory(pair, monkeypatch)


def compare_in_poisoned_memory(pair, monkeypatch):
    """Check that the second of two equal animators computes the same with every unused array full of NaN."""
    (twin, made), expected, kept = pair, [], []
    for _ in range(FRAMES):
        expected.append([array.copy() for array in numbers(twin.update(DT))])
    poison_new_memory(monkeypatch)
    for n in range(FRAMES):
        frame = made.update(DT)
        if n % 3:  # Some are dropped at once, so that their memory is used again.
            kept.append((frame, expected[n]))
        del frame
        poison(made)
    assert all(np.isfinite(array).all() for arrays in expected for array in arrays)
    for frame, arrays in kept:
        for got, wanted in zip(numbers(frame), arrays, strict=True):
            np.testing.assert_array_equal(got, wanted)


def test_part_of_a_clip_is_part_of_the_way_from_rest():
    character = humanoid()
    rest, walk = character.skeleton.rest, character.clips["walk"]
    for weight in (0.0, 0.25, 1.0):
        made = km.Animator(character, [km.Play("walk", weight=weight)])
        for n in range(1, 4):
            wanted = rest.blend(walk.sample(n * 0.1, loop=True), weight)
            np.testing.assert_allclose(made.update(0.1).pose.rotations, wanted.rotations, atol=1e-6)


def test_part_of_a_clip_starts_from_a_pose_that_is_given():
    character = humanoid()
    walk = character.clips["walk"]
    made = km.Animator(character, [km.Play("walk", weight=0.5)])
    given = walk.sample(0.7)
    wanted = given.blend(walk.sample(0.1), 0.5)
    np.testing.assert_allclose(made.update(0.1, given).pose.rotations, wanted.rotations, atol=1e-6)


def test_arrays_are_reused_when_no_frame_is_kept():
    made = animator("breathing")
    seen = set()
    for _ in range(6):
        frame = made.update(DT)
        seen.add(id(frame._arrays.world))
    assert len(seen) <= 2  # The one that `frame` names while the next is made, and that one.
    first = made.update(DT)
    del frame
    gc.disable()
    try:
        addresses = set()
        for _ in range(4):
            addresses.add(made.update(DT)._arrays.world.ctypes.data)
    finally:
        gc.enable()
    assert len(addresses) == 1
    del first


def test_arrays_that_were_handed_out_outlive_their_frame():
    made, twin = animator("breathing"), animator("breathing")
    handed_out, expected = [], []
    for _ in range(5):
        frame = made.update(DT)
        handed_out.append((frame.pose.rotations[1], frame.world[2], frame.pose))
        expected.append(twin.update(DT))
        del frame
        poison(made)
    for (rotations, world, pose), frame in zip(handed_out, expected, strict=True):
        np.testing.assert_array_equal(rotations, frame.pose.rotations[1])
        np.testing.assert_array_equal(world, frame.world[2])
        assert pose.same(frame.pose)


def test_frames_of_a_character_that_stands_still_share_their_arrays():
    made = km.Animator(humanoid())
    frames = [made.update(DT) for _ in range(4)]
    assert len({id(frame._arrays) for frame in frames}) == 1
    made.set_transform((1, 0, 0))
    moved = made.update(DT)
    assert frames[0].transform[0, 3] == 0
    assert moved.transform[0, 3] == 1


def test_resting_characters_are_in_every_frame_while_others_move():
    character = humanoid()
    made = km.Animator(character, [km.Play("walk", speed=0.0)], count=3)
    made.update(DT)
    made["play"].play("walk", speed=1.0, rows=[1])
    frames = [made.update(DT) for _ in range(5)]
    for frame in frames:
        for i in (0, 2):
            np.testing.assert_array_equal(frame.world[i], frames[0].world[0])
    assert not np.array_equal(frames[-1].world[1], frames[0].world[1])


# --- reports ---------------------------------------------------------------------------------------------------


def same_report(a, b):
    if isinstance(a, tuple):
        return type(a) is type(b) and all(same_report(x, y) for x, y in zip(a, b, strict=True))
    return np.array_equal(a, b) if isinstance(a, np.ndarray) else a == b


def copied(report):
    if isinstance(report, tuple):
        return type(report)(*map(copied, report)) if hasattr(report, "_fields") else report
    return report.copy() if isinstance(report, np.ndarray) else report


@pytest.mark.parametrize("name", STAGES)
def test_every_stage_has_a_report_in_every_frame(name):
    made = animator(name, weight=0.0)
    assert name in made.update(DT).reports  # Not run yet.
    made.set_weight(name, 1.0)
    ran = made.update(DT)
    last = copied(ran.reports[name])
    if name != "play":
        made.set_weight(name, 0.0)
        assert same_report(made.update(DT).reports[name], last)
    assert same_report(ran.reports[name], last)  # A report that is kept does not change either.


def test_a_report_is_there_when_nothing_moved():
    made = km.Animator(humanoid(), [km.Play("walk", speed=0.0), km.Head()])
    first = made.update(DT)
    for _ in range(5):
        frame = made.update(DT)
    assert frame.trace[1].skipped == "nothing moved"
    assert frame.reports["head"].yaw == first.reports["head"].yaw
    assert frame.reports["play"].clips == ("walk",)


# --- weights ---------------------------------------------------------------------------------------------------


class _Bent(StageState):
    def __init__(self, crowd):
        self.weights = []
        self.resets = []
        self.count = crowd.count

    def awake(self, dt):
        return np.zeros(self.count, bool)

    def reset(self, rows):
        self.resets.append(rows.tolist())

    def update(self, context):
        self.weights.append(context.weights.copy())


class Bent(Stage):
    """Keeps the weights it is run with."""

    def start(self, crowd):
        return _Bent(crowd)


def weights_of(made, frames):
    for _ in range(frames):
        made.update(0.125)
    return np.array(made["bent"].weights)


def test_a_weight_is_set_at_once():
    made = km.Animator(humanoid(), [Bent()], count=2)
    made.set_weight("bent", (0.3, 0.8))
    np.testing.assert_allclose(weights_of(made, 2), [(0.3, 0.8)], rtol=1e-6)  # The second time nothing moved.


def test_a_weight_fades_smoothly_and_arrives():
    made = km.Animator(humanoid(), [Bent()], count=2)
    made.update(0.1)
    made.set_weight("bent", (0.5, 1.0), fade=1.0)
    got = weights_of(made, 20)
    x = np.arange(1, 9) / 8
    np.testing.assert_allclose(got[1:, 0], 1 - 0.5 * (3 * x**2 - 2 * x**3), atol=1e-6)
    assert (got[:, 1] == 1).all()  # Once settled, no character stays awake.
    assert len(got) == 9


def test_a_fade_begins_from_the_weight_there_is():
    made = km.Animator(humanoid(), [Bent()])
    made.set_weight("bent", 0.5, fade=1.0)
    there = weights_of(made, 5)[-1]
    made.set_weight("bent", 1.0, fade=1.0)
    made.update(0.001)
    assert made["bent"].weights[-1] == pytest.approx(there, abs=1e-4)


def test_a_fade_waits_while_no_time_passes():
    made = km.Animator(humanoid(), [Bent()])
    made.set_weight("bent", 0.5, fade=1.0)
    for _ in range(3):
        made.update(0.0)
    assert (np.array(made["bent"].weights) == 1).all()
    assert weights_of(made, 30)[-1] == np.float32(0.5)


def test_returning_characters_are_reset():
    made = km.Animator(humanoid(), [Bent()], count=2)
    made.update(0.1)
    made.set_weight("bent", (0.0, 1.0), fade=0.2)
    for _ in range(4):
        made.update(0.1)
    made.set_weight("bent", 1.0, fade=0.5)
    made.update(0.1)
    assert made["bent"].resets == [[0]]


@pytest.mark.parametrize("name", [name for name in STAGES if name not in ("play", "locomotion")])
def test_a_stage_that_fades_out_and_in_again_never_pops(name):
    """No joint moves much faster than with the stage at work all the time."""
    if not COMPILED:
        pytest.skip("two seconds of frames take long uncompiled")
    made, steady, bare = animator(name), animator(name), animator("play")
    largest, usual, before = 0.0, 0.0, None
    bare["play"].play("walk", fade=0.0, time=(0.1, 0.4, 0.8))
    for n in range(120):
        if n == 40:
            made.set_weight(name, 0.0, fade=0.3)
        if n == 80:
            made.set_weight(name, 1.0, fade=0.3)
        now = [frame.pose.rotations for frame in (made.update(DT), steady.update(DT), bare.update(DT))]
        if n > 30:
            step, with_it, without = (naive.angle_between_rotations(a, b) for a, b in zip(now, before, strict=True))
            away = naive.angle_between_rotations(now[1], now[2])
            largest = max(largest, float((step - np.maximum(with_it, without)).max()))
            usual = max(usual, float(away.max()))
        before = now
    # A smooth fade of 18 frames goes at most 1.5 / 18 of the way in one.
    assert largest <= 0.12 * usual + 0.02


@pytest.mark.parametrize("bad", [-0.1, np.nan, "slow"])
def test_a_fade_is_seconds(bad):
    made = km.Animator(humanoid(), [km.Breathing()])
    with pytest.raises(km.InputError, match="fade"):
        made.set_weight("breathing", 0.5, fade=bad)


# --- grounds and large numbers ---------------------------------------------------------------------------------


@pytest.mark.parametrize("ground", [0.25, lambda x, z: 0.25 + 0.0 * x, km.Plane((0, 0.25, 0))])
def test_a_ground_is_an_object_a_height_or_a_function(ground):
    made = km.Animator(humanoid(), [km.Play("idle"), km.Feet()], ground=ground)
    for _ in range(60 if COMPILED else 2):
        frame = made.update(DT)
    np.testing.assert_allclose(frame.reports["feet"].height + frame.transform[1, 3], 0.25, atol=1e-3)


class BrokenGround:
    """A slope whose answers in some frames have a point, a normal or a distance that is not finite."""

    def __init__(self, field, broken):
        self.field, self.broken, self.frame = field, broken, 0
        self.slope = km.Ground.from_function(slope)

    def cast(self, origins, directions, max_distance):
        hits = self.slope.cast(origins, directions, max_distance)
        if self.frame not in self.broken:
            return hits
        return hits._replace(**{self.field: np.full_like(getattr(hits, self.field), np.nan)})


@pytest.mark.parametrize("field", ["point", "normal", "distance"])
@pytest.mark.parametrize("name", ["feet", "locomotion", "tail"])
def test_a_ground_that_answers_nan_for_a_moment_does_no_lasting_harm(name, field):
    if not COMPILED:
        pytest.skip("two seconds of frames take long uncompiled")
    frames = []
    for broken in ((), (5, 6, 20)):
        ground = BrokenGround(field, broken)
        made = animator(name, ground=ground)
        if name == "locomotion":
            made.set_weight("play", 0.0)  # Its legs cannot follow two walks at once.
        for ground.frame in range(120):
            if name == "locomotion" and ground.frame == 50:
                made[name].stop()  # A step that was late leaves a walker out of phase, but in the same place.
            frame = made.update(DT)
            assert all(np.isfinite(array).all() for array in numbers(frame))
        frames.append(frame)
    np.testing.assert_allclose(frames[1].world, frames[0].world, atol=0.05)


def test_float32_characters_stand_where_numbers_are_usable():
    made = km.Animator(humanoid(), [km.Play("walk"), km.Feet(), km.Head()], ground=lambda x, z: 0 * x)
    with pytest.raises(km.InputError, match=r"position\[0\] is 1e\+15; .* up to 1e\+12"):
        made.set_transform((1e15, 0, 0))
    made.set_transform((1e12, 0, -1e12))
    made.look_at((1e12, 3, 0))
    for _ in range(3):
        assert all(np.isfinite(array).all() for array in numbers(made.update(DT)))


@pytest.mark.parametrize("dt", [1e39, 1e300, 2e6])
def test_a_step_of_many_days_is_refused(dt):
    with pytest.raises(km.InputError, match="dt is"):
        km.Animator(humanoid(), [km.Play("walk")]).update(dt)


def test_the_longest_step_gives_finite_frames():
    made = km.Animator(humanoid(), [km.Play("walk"), km.Breathing(), km.Sway(), km.Feet(), km.Head()], ground=0.0)
    made.look_at((1, 1, 1))
    for dt in (DT, 1e6, DT):
        assert all(np.isfinite(array).all() for array in numbers(made.update(dt)))


def test_after_an_error_in_a_stage_all_characters_are_updated_again():
    fails = [False]

    def layer(pose, time, dt):
        if fails[0]:
            raise RuntimeError("no")
        return pose

    made = km.Animator(humanoid(), [km.Play("walk", speed=0.0), km.Layer(layer)])
    wanted = numbers(made.update(DT))
    fails[0] = True
    with pytest.raises(RuntimeError):
        made.update(DT)
    fails[0] = False
    for got, expected in zip(numbers(made.update(DT)), wanted, strict=True):
        np.testing.assert_array_equal(got, expected)
