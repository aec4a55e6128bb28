"""What every generated character has to live up to."""

import numpy as np
import pytest

from kinema.demo import humanoid, quadruped, spider
from tests.demo import checks

CHARACTERS = {"humanoid": humanoid, "quadruped": quadruped, "spider": spider}
CLIPS = ("idle", "walk", "run")
SPEEDS = {  # Metres a second.
    ("humanoid", "walk"): 1.35,
    ("humanoid", "run"): 3.2,
    ("quadruped", "walk"): 0.8,
    ("quadruped", "run"): 2.2,
    ("spider", "walk"): 0.4,
    ("spider", "run"): 1.0,
}
FASTEST = {  # Degrees that a joint may turn in a sixtieth of a second. Eyelids, which blink, are left out.
    ("humanoid", "walk"): 12.0,
    ("humanoid", "run"): 16.0,
    ("quadruped", "walk"): 16.0,
    ("quadruped", "run"): 24.0,
    ("spider", "walk"): 9.0,
    ("spider", "run"): 18.0,
}

each = pytest.mark.parametrize("who", CHARACTERS)
each_clip = pytest.mark.parametrize("clip", CLIPS)
each_gait = pytest.mark.parametrize("clip", ["walk", "run"])


@each
def test_it_is_complete(who):
    character = CHARACTERS[who]()
    assert character.name == who
    assert set(character.clips) == set(CLIPS)
    assert character.rig.skeleton is character.skeleton
    assert len(character.skins) == 1
    assert character.skeleton.names[0] == "root"
    assert character.skeleton.parents.tolist().count(-1) == 1
    assert character.skeleton.rest.precision == np.float32


@each
def test_it_stands_on_the_ground_at_rest(who):
    character = CHARACTERS[who]()
    at = character.skeleton.rest_world[:, :3, 3]
    assert abs(character.skins[0].vertices[:, 1].min()) < 1e-4
    assert max(abs(at[leg.joints[-1], 1] - leg.sole) for leg in character.rig.legs) < 1e-4


@each
def test_the_skin_is_whole(who):
    skin = CHARACTERS[who]().skins[0]
    assert 2000 <= len(skin.vertices) <= 8000
    assert np.unique(skin.triangles).size == len(skin.vertices)
    assert np.abs(skin.weights.sum(axis=1) - 1).max() < 1e-5
    assert skin.weights.min() >= 0
    assert np.abs(np.linalg.norm(skin.normals, axis=1) - 1).max() < 1e-5
    assert skin.colours.min() >= 0
    assert skin.colours.max() <= 1


@each
def test_the_skin_is_seen_from_outside(who):
    """Every closed piece has its fronts out, and its normals on the side of its fronts."""
    skin = CHARACTERS[who]().skins[0]
    a, b, c = (skin.vertices[skin.triangles[:, n]].astype(np.float64) for n in range(3))
    front = np.cross(b - a, c - a)
    piece = checks.pieces(skin)[skin.triangles[:, 0]]
    centres = {p: skin.vertices[skin.triangles[piece == p]].mean(axis=(0, 1)) for p in np.unique(piece)}
    for p, centre in centres.items():
        own = piece == p
        assert np.sum((a[own] - centre) * front[own]) > 0
    facing = np.einsum("tc,tnc->tn", front, skin.normals[skin.triangles])
    assert (facing > 0).mean() > 0.98


@each
def test_at_rest_the_skin_is_as_it_was_made(who):
    character = CHARACTERS[who]()
    bent = character.skins[0].deform(character.skeleton.palette(character.skeleton.rest))
    assert np.abs(bent - character.skins[0].vertices).max() < 1e-5


@each
def test_weights_do_not_leak_across_the_body(who):
    """What is on one side follows no limb of the other."""
    character = CHARACTERS[who]()
    skin, names = character.skins[0], np.array(character.skeleton.names)
    for ending, sign in (("_l", 1), ("_r", -1)):
        theirs = np.char.endswith(names, ending)[skin.joints] & (skin.weights > 0)
        assert not (theirs.any(axis=1) & (skin.vertices[:, 0] * sign < -0.03)).any()


@each
@each_clip
def test_clips_keep_to_the_limits(who, clip):
    off, joint = checks.beyond_limits(CHARACTERS[who](), clip)
    assert off < 1e-5, joint


@each
@each_clip
def test_clips_loop(who, clip):
    moved, rotated = checks.loop_gap(CHARACTERS[who](), clip)
    assert moved < 1e-6
    assert rotated < 1e-6


@each
@each_clip
def test_no_joint_is_faster_than_it_should_be(who, clip):
    speeds = checks.fastest(CHARACTERS[who]().clips[clip])
    speeds = {joint: speed for joint, speed in speeds.items() if not joint.startswith("lid")}
    assert max(speeds.values()) < FASTEST.get((who, clip), 1.0), max(speeds, key=speeds.get)


@each
@each_gait
def test_the_root_travels_at_the_speed_of_the_gait(who, clip):
    played = CHARACTERS[who]().clips[clip]
    positions = played.sample(np.linspace(0.0, played.duration, 7)).translations[:, 0]
    way = SPEEDS[who, clip] * played.duration
    assert np.allclose(positions, np.linspace(0.0, 1.0, 7)[:, np.newaxis] * (0.0, 0.0, way), atol=1e-6)


@each
@each_gait
def test_planted_feet_are_on_the_ground_and_do_not_slide(who, clip):
    height, slide = checks.contact(CHARACTERS[who](), clip)
    assert height < 1e-3
    assert slide < 2e-3


@each
@each_gait
def test_feet_off_the_ground_are_off_the_ground(who, clip):
    """The events say when a foot stands: half-way between, in the air, its sole is clear of the ground."""
    character = CHARACTERS[who]()
    times, _, rotations, positions = checks.played(character, clip)
    for leg in character.rig.legs:
        points = checks.sole_points(character.rig, leg, rotations, positions)
        at = {event.name: event.time for event in character.clips[clip].events}
        length = character.clips[clip].duration
        up, down = at[f"{leg.name}_up"], at[f"{leg.name}_down"]
        middle = np.mod(up + np.mod(down - up, length) / 2, length)
        assert points[np.abs(times - middle).argmin(), :, 1].min() > 5e-3


@each
def test_feet_stay_where_they_are_while_it_stands(who):
    character = CHARACTERS[who]()
    _, _, rotations, positions = checks.played(character, "idle")
    for leg in character.rig.legs:
        points = checks.sole_points(character.rig, leg, rotations, positions)
        assert np.abs(points[:, :, 1]).max() < 1e-3
        assert np.ptp(points, axis=0).max() < 1e-3


@each
@each_clip
def test_the_skin_stays_above_the_ground(who, clip):
    assert checks.lowest(CHARACTERS[who](), clip) > -2.5e-3


@each
def test_it_is_built_the_same_every_time(who):
    character = CHARACTERS[who]()
    assert character.skeleton is CHARACTERS[who]().skeleton
    assert checks.same(character, CHARACTERS[who].__wrapped__())


@each
def test_clips_that_are_replaced_or_dropped_stay_with_their_character(who):
    character = CHARACTERS[who]()
    character.clips["walk"] = character.clips.pop("run")
    assert set(CHARACTERS[who]().clips) == {"idle", "walk", "run"}
    assert CHARACTERS[who]().clips["walk"] is not character.clips["walk"]
