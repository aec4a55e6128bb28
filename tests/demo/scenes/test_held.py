"""A body that is pulled, rotated and pinned in the character's scene, without a screen."""

import numpy as np
import pytest

from kinema.demo import humanoid
from kinema.demo.scenes.balance import BalanceView, hull_order
from kinema.demo.scenes.character import CharacterScene
from kinema.demo.scenes.held import MOST_HELD, handles_by_joint
from kinema.errors import InputError
from kinema.math import arrays


@pytest.fixture
def scene():
    one = CharacterScene()
    one.be_still()
    return settled(one, 12)


def settled(scene, ticks=60):
    for _ in range(ticks):
        scene.settle(1 / 60)
    return scene


def at(scene, name):
    return scene.walker.world[scene.walker.character.skeleton.index(name), :3, 3].astype(float)


def relative(scene, point):
    """As the page sends it: relative to the origin of the character's space."""
    return point - scene.walker.frame.transform[:3, 3]


def grabbed(scene, joint, offset):
    """Grab a point beside a joint. Returns the handle, and where the point is."""
    index = scene.walker.character.skeleton.index(joint)
    handle = f"part {index}"
    scene.grab(handle, offset)
    matrix = scene.walker.world[index].astype(float)
    return handle, matrix[:3, :3] @ np.array(offset) + matrix[:3, 3]


def test_a_hand_pulled_out_of_reach_takes_the_body_along_and_the_feet_stay(scene):
    chest, feet = at(scene, "chest"), [at(scene, "foot_l"), at(scene, "foot_r")]
    to = at(scene, "hand_l") + (0.1, 0.1, 0.75)
    scene.drag("hand left", relative(scene, to))
    settled(scene)
    assert np.linalg.norm(at(scene, "hand_l") - to) < 2e-3
    assert np.linalg.norm(at(scene, "chest") - chest) > 0.08
    for before, name in zip(feet, ("foot_l", "foot_r"), strict=True):
        assert np.linalg.norm(at(scene, name) - before) < 2e-3


def test_a_grabbed_point_of_the_skin_follows_and_the_body_goes_back_when_it_is_released(scene):
    before = scene.walker.world.copy()
    handle, point = grabbed(scene, "chest", (0.08, 0.05, 0.1))
    scene.drag(handle, relative(scene, point + (0.12, -0.1, 0.05)))
    settled(scene)
    grip = scene.walker.held.grips[handle]
    assert np.linalg.norm(grip.position(scene.walker.world) - point - (0.12, -0.1, 0.05)) < 2e-3
    assert handle in [one["name"] for one in scene.description()["handles"]]
    scene.release(handle)
    settled(scene, 90)
    assert np.abs(scene.walker.world - before).max() < 5e-3
    assert handle not in [one["name"] for one in scene.description()["handles"]]


def test_a_pinned_hand_stays_while_the_other_is_pulled_out_of_reach(scene):
    scene.pin("hand right")
    before = at(scene, "hand_r")
    scene.drag("hand left", relative(scene, at(scene, "hand_l") + (1.5, 0.5, 0.5)))
    settled(scene)
    assert np.linalg.norm(at(scene, "hand_r") - before) < 2e-3
    assert scene.frame()["held"].tolist()[:2] == [1, 2]


def test_hands_rotate_as_they_are_asked_to(scene):
    index = scene.walker.character.skeleton.index("hand_l")
    now = arrays.from_matrix(scene.walker.world[index, :3, :3].astype(float))
    wanted = arrays.mul(arrays.from_axis_angle(np.array((0.0, 1.0, 0.0)), 0.5), now)
    before = at(scene, "hand_l")
    scene.rotate("hand left", wanted.tolist())
    settled(scene)
    reached = arrays.from_matrix(scene.walker.world[index, :3, :3].astype(float))
    assert arrays.angle_between(reached, wanted) < 0.01
    assert np.linalg.norm(at(scene, "hand_l") - before) < 2e-3


def test_an_elbow_swings_around_and_its_hand_stays(scene):
    hand, elbow = at(scene, "hand_l"), at(scene, "forearm_l")
    scene.drag("elbow left", relative(scene, elbow + (0.15, 0.0, -0.1)))
    settled(scene)
    assert np.linalg.norm(at(scene, "hand_l") - hand) < 5e-3
    assert np.linalg.norm(at(scene, "forearm_l") - elbow) > 0.02


def test_balance_is_kept_where_it_is_asked_for(scene):
    scene.drag("hand left", relative(scene, at(scene, "hand_l") + (0.0, 0.0, 1.2)))
    settled(scene, 90)
    leaning = scene.frame()["mass"]
    scene.set("balanced", True)
    settled(scene, 120)
    balanced = scene.frame()["mass"]
    assert leaning[4] == balanced[4] == 1.0
    assert leaning[3] < 0.0 < balanced[3]
    scene.key("Backspace", (0.0, 0.0))
    assert scene.frame()["mass"][4] == 0.0


def test_snapshots_bring_pins_rotations_and_parts_back(scene):
    handle, point = grabbed(scene, "spine_2", (0.0, 0.05, 0.1))
    scene.drag(handle, relative(scene, point + (0.05, 0.0, 0.05)))
    scene.pin("hand right")
    scene.rotate("head", (0.0, 0.2, 0.0, 1.0))
    kept = scene.snapshot()
    settled(scene)
    world = scene.walker.world.copy()
    scene.key("Backspace", (0.0, 0.0))
    settled(scene)
    scene.restore(kept)
    assert scene.snapshot() == kept
    settled(scene, 90)
    assert np.abs(scene.walker.world - world).max() < 5e-3


@pytest.mark.parametrize(
    "held",
    [
        {"hand left": {"at": [0, 0]}},
        {"hand left": {"at": [0, 0, float("nan")]}},
        {"hand left": {"at": [0, 1, 0], "rotation": [0, 0, 0, 0]}},
        {"hand left": {"at": [0, 1, 0], "rotation": "up"}},
        {"part 5": {"at": [0, 1, 0], "offset": [1e9, 0, 0]}},
        {"hand left": 3},
    ],
)
def test_broken_snapshots_are_refused_and_change_nothing(scene, held):
    scene.drag("hand left", (0.4, 1.2, 0.3))
    before = scene.walker.held.state()
    with pytest.raises(InputError):
        scene.restore({"values": {}, "own": {"held": held}})
    assert scene.walker.held.state() == before


def test_unknown_parts_are_ignored_and_far_points_refused(scene):
    for handle in ("part 999", "part -1", "part x", "part", "wing left"):
        scene.grab(handle, (0.0, 0.0, 0.0))
        scene.drag(handle, (0.0, 1.0, 0.0))
        scene.pin(handle)
        scene.rotate(handle, (0.0, 0.0, 0.0, 1.0))
    assert not scene.walker.held.holds
    with pytest.raises(InputError, match="grabbed point"):
        scene.grab("part 5", (50.0, 0.0, 0.0))


def test_only_so_many_handles_are_held(scene):
    for j in range(MOST_HELD):
        scene.grab(f"part {j}", (0.0, 0.0, 0.0))
        scene.drag(f"part {j}", (0.0, 1.0, 0.0))
    with pytest.raises(InputError, match="release one first"):
        scene.drag("hand left", (0.0, 1.0, 0.0))
    assert len(scene.walker.held.holds) == MOST_HELD
    scene.drag("part 3", (0.1, 1.0, 0.0))
    settled(scene, 2)
    assert np.isfinite(scene.frame()["world"]).all()


def test_fingers_belong_to_the_hand_and_eyes_to_the_head():
    character = humanoid()
    handles = dict(zip(character.skeleton.names, handles_by_joint(character.rig, character.skeleton), strict=True))
    assert handles["index_3_l"] == handles["hand_l"] == "hand left"
    assert handles["eye_l"] == handles["head"] == "head"
    assert handles["toe_r"] == "foot right"
    assert handles["forearm_r"] == f"part {character.skeleton.index('forearm_r')}"
    assert handles["root"] == handles["hips"]


def test_the_hull_goes_around_its_corners_once():
    points = np.array([(0.0, 0.0), (1.0, 0.0), (0.5, 0.4), (1.0, 1.0), (0.0, 1.0), (0.5, 0.0)])
    assert [tuple(points[i]) for i in hull_order(points)] == [(0, 0), (1, 0), (1, 1), (0, 1)]
    assert hull_order(points[:1]) == [0]


def test_a_person_at_rest_is_in_balance_and_one_moved_aside_is_not():
    rig = humanoid().rig
    view, world = BalanceView(rig), rig.skeleton.rest_world.astype(float)
    both = view.of(world, np.array((True, True)))
    assert both.margin > 0.01
    assert both.support.shape == (6, 3)
    assert view.of(world, np.array((True, False))).margin < 0.0


@pytest.mark.parametrize("beyond", [1.0, 1.05, 1.2, 1.5])
def test_a_hand_that_is_pinned_at_the_end_of_its_reach_leaves_the_other_one_free(beyond):
    scene = CharacterScene()
    scene.be_still()
    scene.step(1 / 60)

    def at(handle):
        origin = scene.walker.frame.transform[:3, 3]
        return scene.walker.held.grips[handle].position(scene.walker.world) - origin

    def settle():
        for _ in range(45):
            scene.settle(1 / 60)

    left = at("hand left")
    scene.drag("hand left", left + (np.array((0.31, 1.69, -0.65)) - left) * beyond)
    settle()
    scene.pin("hand left")
    settle()
    pinned, wanted = at("hand left"), at("hand right") + (-0.1, 0.3, 0.2)
    scene.drag("hand right", wanted)
    settle()
    assert np.linalg.norm(at("hand right") - wanted) < 5e-3
    assert np.linalg.norm(at("hand left") - pinned) < 5e-3
