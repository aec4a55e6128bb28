"""The walking crowd, without a screen."""

import numpy as np
import pytest

from kinema.demo import humanoid
from kinema.demo.characters.humanoid import skin_of
from kinema.demo.scenes.crowd import DRAGGED_FOR, CrowdScene
from kinema.demo.scenes.people import (
    A_DRAGGED_TURN,
    AROUND,
    DRAWN,
    LEVELS,
    LOOKS,
    SPEED,
    STEPS_A_METRE,
    People,
    followed,
    hill_height,
    packed_level,
)
from kinema.errors import InputError
from tests.demo.scripts import run

TICK = 1 / 60
TARGET = np.array((3.0, 1.5, 0.5))


@pytest.fixture(scope="module")
def walked():
    """Forty people after a second of walking."""
    people = People(40, 0)
    for tick in range(60):
        people.step((tick + 1) * TICK, TICK, TARGET)
    return people


def test_everybody_walks_along_their_ring_on_the_ground(walked):
    x, y, z = walked.origins()[:, :3].T.astype(float)
    assert np.hypot(x, z) == pytest.approx(walked.radii, abs=0.01)
    assert np.abs(y - hill_height(x, z)).max() < 0.15
    moved = walked.transforms(1.0)[0] - walked.transforms(0.9)[0]
    heading = walked.transforms(0.95)[1]
    along = moved[:, 0] * np.sin(heading) + moved[:, 2] * np.cos(heading)
    assert along == pytest.approx(0.135, abs=0.003), "they face where they go"


def test_those_near_the_target_reach_for_it_with_the_nearer_hand(walked):
    away = np.linalg.norm((walked.origins()[:, :3] - TARGET)[:, [0, 2]], axis=1)
    reaching = walked.reaching.any(axis=1)
    assert reaching[away < 0.9].all()
    assert not reaching[away > 1.6].any()
    assert not walked.reaching.all(axis=1).any(), "a character reaches with both hands"


def test_the_packed_matrices_are_the_skinning_matrices(walked):
    packed = walked.palettes()
    assert packed.shape == (40, len(DRAWN), 12)
    rows = packed.reshape(40, len(DRAWN), 3, 4) / STEPS_A_METRE
    rows[..., 3] += walked.origins()[:, np.newaxis, :3]
    kept = [humanoid().skeleton.index(name) for name in DRAWN]
    assert np.abs(rows - walked.frame.palette[:, kept]).max() < 2e-4


def test_standing_still_changes_no_position(walked):
    before = walked.origins()
    walked.step(1.0, TICK, TARGET)
    assert np.abs(walked.origins() - before).max() < 0.01


@pytest.mark.parametrize("number", range(len(LEVELS)))
def test_levels_have_fewer_and_fewer_vertices_and_follow_few_joints(number):
    skin = skin_of(LEVELS[number])
    joints, weights = followed(skin, humanoid().skeleton, DRAWN)
    assert len(skin.vertices) < (8000, 2000, 600, 300)[number]
    assert joints.max() < len(DRAWN)
    assert weights.sum(axis=1) == pytest.approx(1.0)
    assert np.ptp(skin.vertices[:, 1]) == pytest.approx(1.75, abs=0.05)
    counts = np.frombuffer(packed_level(number), "<u4", 2)
    assert tuple(counts) == (len(skin.vertices), len(skin.triangles))
    assert len(packed_level(number)) == 8 + 4 * (14 * counts[0] + 3 * counts[1])


def test_limbs_of_the_coarsest_level_meet_at_their_joints():
    """It has no dark joints between them."""
    skin, skeleton = skin_of(LEVELS[-1]), humanoid().skeleton
    rest = skeleton.world(skeleton.rest)[:, :3, 3]
    bound = skin.joints[np.arange(len(skin.joints)), skin.weights.argmax(axis=1)]
    for upper, lower in (("thigh_l", "shin_l"), ("shin_l", "foot_l"), ("upper_arm_l", "forearm_l")):
        joint = rest[skeleton.index(lower)]
        for name in (upper, lower):
            vertices = skin.vertices[bound == skeleton.index(name)]
            along = (vertices - joint) @ (joint - rest[skeleton.index(upper)])
            assert along.min() <= 0.001 or name == upper, f"a gap between {name} and its joint"
            assert along.max() >= -0.005 or name == lower, f"a gap between {name} and the next joint"


def test_looks_differ():
    crowd = CrowdScene()
    looks = crowd.description()["looks"]
    assert len(looks) == LOOKS
    assert len({str(look) for look in looks}) == LOOKS


def test_the_crowd_shows_characters_or_limbs():
    crowd = CrowdScene()
    assert set(crowd.frame()) == {"target", "solve_ms", "origins", "palettes"}
    crowd.set("show", "limbs")
    crowd.step(TICK)
    assert set(crowd.frame()) == {"target", "solve_ms", "joints"}
    assert crowd.status().total == 1000


def test_the_crowd_gives_only_its_own_files():
    crowd = CrowdScene()
    assert crowd.give("people_0.bin") == packed_level(0)
    assert len(crowd.give("ground.bin")) > 1000
    with pytest.raises(InputError, match="no file"):
        crowd.give("people_9.bin")


def test_the_crowd_walks_on_after_a_drag_and_stands_while_paused():
    crowd = CrowdScene()
    crowd.set("count", 20)
    crowd.drag("target", (2.0, 1.5, 1.0))
    crowd.drop("target")
    before = crowd.people.origins()
    for _ in range(6):
        crowd.step(TICK)
    after = crowd.people.origins()
    assert np.linalg.norm((after - before)[:, :3], axis=1).min() > 0.1
    crowd.settle(TICK)
    assert np.abs(crowd.people.origins() - after).max() < 0.02


def test_a_moved_target_is_answered_around_it_and_the_others_catch_up():
    crowd = CrowdScene()
    crowd.set("count", 60)
    for _ in range(10):
        crowd.step(TICK)
    before = crowd.people.origins()
    crowd.drag("target", before[0, :3] + (0.3, 1.5, 0.3))
    answered = crowd.answer(TICK)
    moved = np.linalg.norm((crowd.people.origins() - before)[:, :3], axis=1)
    away = np.linalg.norm((before[:, :3] - crowd.target)[:, [0, 2]], axis=1)
    assert answered.tolist() == np.flatnonzero(away < AROUND).tolist()
    assert moved[away < AROUND].min() > 0.01
    assert moved[away > AROUND].max() == 0.0
    crowd.step(TICK)
    x, _, z = crowd.people.transforms(crowd.time)[0].T
    assert np.abs(crowd.people.origins()[:, [0, 2]] - np.stack((x, z), 1)).max() < 0.02


def test_a_crowd_too_large_for_one_frame_takes_turns():
    together, in_turns = People(40, 0), People(40, 0, a_turn=16)
    for people in (together, in_turns):
        people.complete(0.0, TARGET)
        for tick in range(1, 61):
            people.step(tick * TICK, TICK, TARGET)
    assert in_turns.frame.trace[0].characters == 8
    behind = np.abs(in_turns.origins() - together.origins())
    assert behind[:, [0, 2]].max() < 3 * SPEED * TICK
    assert behind[32:].max() < 0.02, "the last turn is up to date"


def test_a_dragged_target_leaves_time_for_the_next_drag_and_then_everybody_walks_again():
    crowd = CrowdScene()
    crowd.set("count", A_DRAGGED_TURN + 50)
    crowd.drag("target", TARGET)
    crowd.step(TICK)
    assert crowd.people.frame.trace[0].characters == A_DRAGGED_TURN
    for _ in range(round(DRAGGED_FOR / TICK) + 2):
        crowd.step(TICK)
    along = np.linalg.norm(crowd.people.origins()[:, :3] - crowd.people.transforms(crowd.time)[0], axis=1)
    assert along.max() < 0.02, "all are where the time has brought them"


def test_the_script_gives_the_crowd_on_the_screen():
    """Every joint of everybody, whatever was dragged when. The walk goes on from there; gaze and feet begin anew."""
    crowd = CrowdScene()
    crowd.set("count", 24)
    for tick in range(90):
        if tick % 3 == 0:
            crowd.drag("target", (2.0 + 0.01 * tick, 1.5, 1.0))
            crowd.answer(0.3 * TICK)
        crowd.step(TICK)
    names = run(crowd.python())
    assert np.linalg.norm(names["joints"] - crowd.people.joints, axis=-1).max() < 2e-5
    crowd.step(TICK)
    went_on = np.linalg.norm(names["frame"].world[..., :3, 3] - crowd.people.joints, axis=-1)
    assert went_on[:, humanoid().skeleton.index("hips")].max() < 0.03


def test_the_script_of_a_thousand_is_short_and_puts_everybody_where_they_are():
    crowd = CrowdScene()
    crowd.set("count", 1000)
    for _ in range(30):
        crowd.step(TICK)
    text = crowd.python()
    assert len(text) < 20_000
    names = run(text)
    crowd.people.complete(crowd.time, crowd.target)
    away = np.linalg.norm(names["joints"] - crowd.people.joints, axis=-1)
    hips = humanoid().skeleton.index("hips")
    assert np.hypot(*(names["joints"] - crowd.people.joints)[:, hips, ::2].T).max() < 0.03
    assert np.median(away) < 0.03, "feet, hands and gaze begin anew"
