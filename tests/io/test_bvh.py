"""BVH files: what they say is where the joints are, whatever they look like; what they must not say is named."""

import itertools
import pickle
import tracemalloc
from unittest import mock

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kinema.errors import FileError, InputError
from kinema.io import bvh, files
from kinema.io.bvh import writer
from kinema.io.bvh.reader import MOST_JOINTS
from kinema.math import arrays
from kinema.model.character import Character
from kinema.model.clip import Clip, Track
from kinema.model.pose import Pose
from kinema.model.skeleton import Skeleton
from tests.assets import asset

REAL = ["cmu_02_01", "cmu_03_01", "three_pirouette"]
IDENTITY = (0.0, 0.0, 0.0, 1.0)

ARM = """HIERARCHY
ROOT Hips
{
  OFFSET 1 2 3
  CHANNELS 6 Xposition Yposition Zposition Zrotation Xrotation Yrotation
  JOINT Arm
  {
    OFFSET 0 1 0
    CHANNELS 3 Yrotation Xrotation Zrotation
    JOINT Hand
    {
      OFFSET 0.5 0 0
      CHANNELS 4 Zposition Xrotation Xposition Yrotation
      End Site
      {
        OFFSET 0 0 0.25
      }
    }
  }
}
MOTION
Frames: 2
Frame Time: 0.5
0 0 0 0 0 0 0 0 0 0 0 0 0
4 5 6 90 0 0 30 40 50 7 20 8 60
"""


def load(path, **options):
    return files.load(path, rig=False, **options)


# --- an oracle: plain matrices out of the words of a file -----------------------------------------------------


def turn(axis, degrees):
    c, s = np.cos(np.radians(degrees)), np.sin(np.radians(degrees))
    i, j = {"x": (1, 2), "y": (2, 0), "z": (0, 1)}[axis]
    m = np.eye(4)
    m[i, i] = m[j, j] = c
    m[j, i], m[i, j] = s, -s
    return m


def shift(vector):
    m = np.eye(4)
    m[:3, 3] = vector
    return m


def world_by_hand(text, every=1):
    """(F, J, 3): where every joint of a well-formed file is, depth first, End Sites too, in every n-th frame."""
    words = iter(text.split())
    assert next(words) == "HIERARCHY"

    def block():
        kind, _name, brace = next(words), next(words), next(words)
        assert brace == "{"
        joint = {"channels": [], "children": [], "kind": kind}
        for word in words:
            if word == "OFFSET":
                joint["offset"] = [float(next(words)) for _ in range(3)]
            elif word == "CHANNELS":
                joint["channels"] = [next(words) for _ in range(int(next(words)))]
            elif word == "}":
                return joint
            else:
                put_back(word)
                joint["children"].append(block())
        return None

    def put_back(word):
        nonlocal words
        words = itertools.chain([word], words)

    roots = []
    for word in words:
        if word == "MOTION":
            break
        put_back(word)
        roots.append(block())
    rest = [*words]
    assert rest[0] == "Frames:"
    assert rest[2:4] == ["Frame", "Time:"]
    frames = np.array([float(word) for word in rest[5:]]).reshape(int(rest[1]), -1)[::every]

    def walk(joint, above, numbers, out):
        position, matrix = list(joint["offset"]), np.eye(4)
        for channel in joint["channels"]:
            value = next(numbers)
            axis = channel[0].lower()
            if channel.endswith("position"):
                position["xyz".index(axis)] = value
            else:
                matrix = matrix @ turn(axis, value)
        world = above @ shift(position) @ matrix
        out.append(world[:3, 3])
        for child in joint["children"]:
            walk(child, world, numbers, out)
        return out

    return np.array(
        [[p for root in roots for p in walk(root, np.eye(4), numbers, [])] for numbers in map(iter, frames)]
    )


def positions(character, times=None):
    """(F, J, 3) of the only clip, at its keys."""
    (clip,) = character.clips.values()
    times = clip.tracks[0].times if times is None else times
    return character.skeleton.world(clip.sample(times))[..., :3, 3]


# --- reading ---------------------------------------------------------------------------------------------------


def test_a_small_file():
    character = bvh.loads(ARM, "wave")
    skeleton = character.skeleton
    assert skeleton.names == ("Hips", "Arm", "Hand", "Hand_end")
    np.testing.assert_array_equal(skeleton.parents, [-1, 0, 1, 2])
    np.testing.assert_array_equal(skeleton.rest.translations, [(1, 2, 3), (0, 1, 0), (0.5, 0, 0), (0, 0, 0.25)])
    np.testing.assert_array_equal(skeleton.rest.rotations, np.tile(IDENTITY, (4, 1)))
    assert list(character.clips) == ["wave"]
    assert character.name == "wave"
    assert character.rig is None
    assert character.skins == ()
    clip = character.clips["wave"]
    assert clip.duration == 0.5
    # Hips rotated a quarter about z: the arm, up at rest, points to -x.
    np.testing.assert_allclose(positions(character)[1, :2], [(4, 5, 6), (3, 5, 6)], atol=1e-12)
    # The hand's x and z come from its channels, y from its offset.
    np.testing.assert_allclose(clip.sample(0.5).translations[2], (8, 0, 7), atol=1e-12)
    np.testing.assert_allclose(positions(character), world_by_hand(ARM), atol=1e-12)


@pytest.mark.slow_uncompiled
@pytest.mark.parametrize("name", REAL)
def test_real_files_agree_with_plain_matrices(name):
    path = asset(f"bvh/{name}.bvh")
    character = load(path)
    assert list(character.clips) == [name]
    expected = world_by_hand(path.read_text(), every=5)
    size = np.ptp(expected, axis=1).max()
    np.testing.assert_allclose(positions(character)[::5], expected, atol=1e-12 * size)


@pytest.mark.slow_uncompiled
def test_every_captured_take_is_read():
    takes = sorted(asset("bvh/cmu").glob("*.bvh"))
    assert len(takes) == 36
    for path in takes:
        character = load(path)
        clip = character.clips[path.stem]
        assert len(character.skeleton) == 38
        assert clip.duration < 8.0
        assert len(clip.tracks[0].times) == round(clip.duration * 60) + 1
        assert np.isfinite(positions(character)).all()


@pytest.mark.slow_uncompiled
def test_what_a_real_file_holds():
    character = load(asset("bvh/cmu_02_01.bvh"))
    clip = character.clips["cmu_02_01"]
    assert len(character.skeleton) == 38
    assert clip.duration == pytest.approx(343 * 0.0083333)
    assert character.skeleton.chain("LeftUpLeg", "LeftToeBase_end")[-1] == character.skeleton.index("LeftToeBase") + 1
    # Bones keep their length through the whole take.
    at = positions(character)
    parents = character.skeleton.parents[1:]
    lengths = np.linalg.norm(at[:, 1:] - at[:, parents], axis=-1)
    assert np.ptp(lengths, axis=0).max() < 1e-9


ORDERS = ["".join(order) for n in (1, 2, 3) for order in itertools.permutations("XYZ", n)]


@pytest.mark.parametrize("order", ORDERS)
def test_any_order_of_rotations(order):
    angles = (30, -75, 160)[: len(order)]
    channels = " ".join(f"{axis}rotation" for axis in order)
    text = f"""HIERARCHY ROOT a {{ OFFSET 0 0 0 CHANNELS {len(order)} {channels} End Site {{ OFFSET 1 2 3 }} }}
MOTION Frames: 1 Frame Time: 1 {" ".join(map(str, angles))}"""
    expected = np.eye(4)
    for axis, angle in zip(order.lower(), angles, strict=True):
        expected = expected @ turn(axis, angle)
    found = bvh.loads(text)
    np.testing.assert_allclose(positions(found)[0, 1], expected[:3, :3] @ (1, 2, 3), atol=1e-14)
    np.testing.assert_allclose(found.skeleton.world(found.clips["clip"].sample(0.0))[0], expected, atol=1e-14)


@pytest.mark.parametrize(
    "change",
    [
        lambda text: text.replace("\n", "\r\n"),
        lambda text: text.replace("\n", "\r"),
        lambda text: text.replace("  ", "\t").replace(" ", " \t  "),
        lambda text: text.replace("\n", "\n\n \t\n"),
        lambda text: (
            text.replace("\n", " ").replace("Hips ", "Hips\n").replace("Arm ", "Arm\n").replace("Hand ", "Hand\n")
        ),
        lambda text: text.replace("Hips\n{", "Hips{").replace("Site\n      {", "Site{").replace("}", " }"),
        lambda text: text.lower().replace("hips", "Hips").replace("arm", "Arm").replace("hand", "Hand"),
        lambda text: text.upper().replace("HIPS", "Hips").replace("ARM", "Arm").replace("HAND", "Hand"),
        lambda text: text.replace("Frames: 2", "Frames:2").replace("Time: 0.5", "Time :\t.5"),
        lambda text: text.replace("0.25", "2.5e-1").replace("90 0", "+9.0E+01 -0"),
        lambda text: text.replace("6 90 0 0 30", "6\n90 0\n0 30"),
        lambda text: "\ufeff" + text.rstrip(),
    ],
)
def test_any_spacing_and_spelling_is_parsed(change, tmp_path):
    path = tmp_path / "odd.bvh"
    path.write_bytes(change(ARM).encode())
    found = load(path)
    assert found.skeleton.names == ("Hips", "Arm", "Hand", "Hand_end")
    np.testing.assert_array_equal(positions(found), positions(bvh.loads(ARM)))


def test_names_with_spaces_colons_and_old_letters(tmp_path):
    path = tmp_path / "names.bvh"
    path.write_bytes(ARM.replace("Hips", "mixamorig:Hips").replace("Arm", " Left Arm ").encode())
    assert load(path).skeleton.names == ("mixamorig:Hips", "Left Arm", "Hand", "Hand_end")
    path.write_bytes(ARM.replace("Arm", "Ärm").encode("latin-1"))
    assert load(path).skeleton.names[1] == "Ärm"
    path.write_bytes(ARM.replace("Arm", "腕").encode())
    assert load(path).skeleton.names[1] == "腕"


def test_names_that_come_twice_are_made_different():
    twice = ARM.replace("Arm", "Hips").replace("Hand", "Hips")
    assert bvh.loads(twice).skeleton.names == ("Hips", "Hips_2", "Hips_3", "Hips_3_end")
    ends = "End Site { OFFSET 0 0 1 } End Site { OFFSET 0 1 0 }"
    text = f"HIERARCHY ROOT a {{ OFFSET 0 0 0 {ends} }} MOTION Frames: 0 Frame Time: 1"
    assert bvh.loads(text).skeleton.names == ("a", "a_end", "a_end_2")


def test_several_roots():
    text = """HIERARCHY
ROOT a { OFFSET 0 0 0 CHANNELS 3 Xposition Yposition Zposition JOINT b { OFFSET 1 0 0 End Site { OFFSET 0 1 0 } } }
ROOT c { OFFSET 5 0 0 CHANNELS 1 Yrotation End Site { OFFSET 1 0 0 } }
MOTION Frames: 2 Frame Time: 0.1
1 2 3 90
4 5 6 180"""
    found = bvh.loads(text)
    assert found.skeleton.names == ("a", "b", "b_end", "c", "c_end")
    np.testing.assert_array_equal(found.skeleton.parents, [-1, 0, 1, -1, 3])
    np.testing.assert_allclose(positions(found)[1], [(4, 5, 6), (5, 5, 6), (5, 6, 6), (5, 0, 0), (4, 0, 0)], atol=1e-12)


def test_no_frames_no_clip_and_one_frame_a_still():
    none = bvh.loads(ARM[: ARM.index("Frames")] + "Frames: 0\nFrame Time: 0\n")
    assert none.clips == {}
    assert len(none.skeleton) == 4
    one = bvh.loads(ARM[: ARM.rindex("4 5 6")].replace("Frames: 2", "Frames: 1").replace("0.5\n", "0\n"))
    assert one.clips["clip"].duration == 0.0


def test_joints_without_channels_hold_still():
    text = (
        ARM.replace("CHANNELS 3 Yrotation Xrotation Zrotation", "").replace("30 40 50 ", "").replace("0 0 0 0", "0", 1)
    )
    (clip,) = bvh.loads(text).clips.values()
    assert {int(track.joint) for track in clip.tracks} == {0, 2}
    none = "HIERARCHY ROOT a { OFFSET 1 1 1 CHANNELS 0 } MOTION Frames: 3 Frame Time: 0.5"
    (clip,) = bvh.loads(none).clips.values()
    assert clip.duration == 1.0
    assert not clip.tracks


# --- files that are wrong --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("old", "new", "line", "message"),
    [
        ("HIERARCHY", "HIERARCHIE", 1, "found 'HIERARCHIE'; expected HIERARCHY"),
        ("ROOT", "JOINT", 2, "found 'JOINT'; expected ROOT"),
        ("ROOT Hips", "ROOT", 3, "no name"),
        ("ROOT Hips\n{", "ROOT Hips", 3, "found 'OFFSET'; expected {"),
        ("OFFSET 1 2 3", "OFFSET 1 2", 5, "found 'CHANNELS'; expected a number"),
        ("OFFSET 1 2 3", "OFFSET 1 2 3 4", 4, "found '4'; expected CHANNELS or JOINT or END or }"),
        ("OFFSET 1 2 3", "OFFSET 1 2 3 OFFSET 1 2 3", 4, "found 'OFFSET'; expected CHANNELS"),
        ("OFFSET 1 2 3", "", 20, "no OFFSET"),
        ("OFFSET 1 2 3", "OFFSET 1 nan 3", 4, "found nan; allowed are finite numbers"),
        ("OFFSET 1 2 3", "OFFSET 1 -inf 3", 4, "found -inf; allowed are finite numbers"),
        ("OFFSET 1 2 3", "OFFSET 1 1e300 3", 4, "magnitude up to 1e.100"),
        ("OFFSET 1 2 3", "OFFSET 1 1_0 3", 4, "found '1_0'; expected a number"),
        ("CHANNELS 6", "CHANNELS 7", 5, "the number of CHANNELS is 7; at most 6 are allowed"),
        ("CHANNELS 3", "CHANNELS 4", 10, "found 'JOINT'; expected XPOSITION or"),
        ("CHANNELS 6", "CHANNELS 5", 5, "found 'Yrotation'; expected JOINT or END or }"),
        ("CHANNELS 6", "CHANNELS -6", 5, "the number of CHANNELS is '-6'"),
        ("CHANNELS 6", "CHANNELS 99999999999999999999", 5, "at most 6 are allowed"),
        ("Xposition Yposition", "Xposition Xposition", 5, "found 'Xposition' twice"),
        ("Xposition", "Wposition", 5, "found 'Wposition'; expected XPOSITION"),
        ("Xposition", "Xscale", 5, "found 'Xscale'"),
        ("End Site", "End Sight", 14, "found 'Sight'; expected SITE"),
        ("OFFSET 0 0 0.25", "OFFSET 0 0 0.25 JOINT x { OFFSET 0 0 0 }", 16, "found 'JOINT'; expected }"),
        ("OFFSET 0 0 0.25", "OFFSET 0 0 0.25 CHANNELS 0", 16, "found 'CHANNELS'; expected }"),
        ("MOTION", "} MOTION", 21, "found '}'; expected ROOT or MOTION"),
        ("}\nMOTION", "MOTION", 20, "found 'MOTION'; expected CHANNELS|found 'MOTION'; expected JOINT or END or }"),
        ("Frames: 2", "Frames: two", 22, "the number of frames is 'two'"),
        ("Frames: 2", "Frames: 2.5", 22, "the number of frames is '2.5'"),
        ("Frames: 2", "Frames: -2", 22, "the number of frames is '-2'"),
        ("Frames: 2", "Frames: 3", 23, "39 numbers should follow; the 59 characters left have room for fewer"),
        ("Frames: 2", "Frames: 0", 24, "more than the 0 numbers"),
        ("Frames: 2", "Frames: 100000", 23, "1,300,000 numbers should follow"),
        ("Frames: 2", "Frames: 1300000", 22, "the number of frames is 1300000; at most 1,000,000 are allowed"),
        ("Frames: 2", "Frames: 999999999999", 22, "the number of frames is 999999999999; at most"),
        ("Frames: 2", "Frames: " + "9" * 5000, 22, "the number of frames is 9+; at most"),
        ("Frame Time: 0.5", "Frame Time: 0", 23, "a frame takes 0 seconds"),
        ("Frame Time: 0.5", "Frame Time: -1", 23, "a frame takes -1 seconds"),
        ("Frame Time: 0.5", "Frame Time: nan", 23, "found nan"),
        ("Frame Time: 0.5", "Frame Time: 1e90", 23, r"a frame takes 1e\+90 seconds"),
        ("Frame Time: 0.5", "Frame Rate: 2", 23, "found 'Rate'; expected TIME"),
        ("4 5 6", "4 five 6", 25, "found 'five'; expected a number"),
        ("4 5 6", "4 NaN 6", 25, "found NaN; allowed are finite"),
        ("4 5 6", "4 1e400 6", 25, "found 1e400; allowed are finite"),
        ("4 5 6", "4 5_0 6", 25, "found '5_0'; expected a number"),
        ("4 5 6", "4 5", 25, "the file ends after 25 of 26 numbers"),
        ("4 5 6", "4 5 6 6", 25, "more than the 26 numbers"),
        ("4 5 6", "4 {5 6", 25, "found '{5'; expected a number"),
    ],
)
def test_what_is_wrong_is_named_with_its_line(old, new, line, message):
    assert old in ARM
    with pytest.raises(FileError, match=message) as caught:
        bvh.loads(ARM.replace(old, new, 1), "broken.bvh")
    assert str(caught.value).startswith(f"broken.bvh, line {line}: ")
    assert caught.value.line == line
    assert caught.value.file == "broken.bvh"


def test_an_error_survives_the_way_to_another_process():
    with pytest.raises(FileError) as caught:
        bvh.loads("HIERARCHY\nBRANCH", "a.bvh")
    again = pickle.loads(pickle.dumps(caught.value))
    assert str(again) == str(caught.value) == "a.bvh, line 2: found 'BRANCH'; expected ROOT"
    assert (again.file, again.line) == ("a.bvh", 2)


def test_a_file_cut_off_anywhere_is_refused():
    """But for the line end, and digits of the very last number."""
    for length in range(len(ARM) - 2):
        with pytest.raises(FileError):
            bvh.loads(ARM[:length])


@given(data=st.binary(max_size=200))
def test_any_bytes_are_refused(data, tmp_path_factory):
    path = tmp_path_factory.getbasetemp() / "any.bvh"
    path.write_bytes(data)
    with pytest.raises(FileError):
        load(path)


@given(st.data())
def test_any_damage_is_read_or_refused(data):
    text = list(ARM)
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(text) - 1))
        size = data.draw(st.sampled_from([0, 1, 1, 8]))
        text[at : at + size] = data.draw(
            st.sampled_from(["", "{", "}", "9", "-", "e", " ", "\n", "nan", "JOINT x", "\0"])
        )
    try:
        found = bvh.loads("".join(text))
    except FileError:
        return
    for clip in found.clips.values():
        assert np.isfinite(found.skeleton.world(clip.sample((0.0, 0.3)))).all()


def nested(depth):
    opened = "".join(f"JOINT j{i} {{ OFFSET 0 1 0 CHANNELS 1 Xrotation " for i in range(depth - 1))
    head = f"HIERARCHY ROOT r {{ OFFSET 0 0 0 CHANNELS 1 Xrotation {opened}{'}' * depth}"
    return f"{head} MOTION Frames: 1 Frame Time: 1 {'0.1 ' * depth}"


HEAD = ARM[: ARM.index("MOTION")]
MOTION = "MOTION Frames: {} Frame Time: 0.1 "
HOSTILE = {
    "deeper than any joint": lambda: nested(MOST_JOINTS + 1),
    "braces only": lambda: "HIERARCHY " + "ROOT a {" * 1_000_000,
    "a word without end": lambda: "\u00e9" * 2**25,
    "a name without end": lambda: "HIERARCHY ROOT " + "a" * 2**25,
    "space without end": lambda: "HIERARCHY" + " " * 2**25,
    "lines without end": lambda: HEAD + MOTION.format(1) + "\n" * 2**25,
    "a number without end": lambda: HEAD + MOTION.format(1) + "1" * 2**25,
    "a billion frames": lambda: HEAD + MOTION.format(10**9) + "0 " * 1000,
    "a million frames": lambda: HEAD + MOTION.format(600_000) + "0 " * 1000,
    "a billion frames of nothing": lambda: "HIERARCHY ROOT a { OFFSET 0 0 0 } " + MOTION.format(10**9),
    "one number short": lambda: HEAD + MOTION.format(50_000) + "0 " * 649_999,
    "one number too many, then a million": lambda: HEAD + MOTION.format(1) + "0\n" * 1_000_000,
    "not a number at the end": lambda: HEAD + MOTION.format(50_000) + "0 " * 649_999 + "x",
}


@pytest.mark.parametrize("make", HOSTILE.values(), ids=HOSTILE.keys())
def test_hostile_files_are_refused(make):
    with pytest.raises(FileError) as caught:
        bvh.loads(make())
    assert len(str(caught.value)) < 300


def test_declared_sizes_do_not_reserve_memory():
    text = HEAD + MOTION.format(600_000) + "0 " * 1000
    tracemalloc.start()
    with pytest.raises(FileError):
        bvh.loads(text)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 1_000_000


def test_too_large_a_file_is_not_read(tmp_path):
    path = tmp_path / "large.bvh"
    path.write_text(ARM)
    with pytest.raises(FileError, match=r"large\.bvh: the file is larger than"):
        files.load(path, max_bytes=300)
    with pytest.raises(FileError, match="longer than 300 characters"):
        bvh.loads(ARM, max_bytes=300)
    assert len(load(path, max_bytes=len(ARM)).skeleton) == len(bvh.loads(ARM).skeleton)


def test_a_deep_chain_within_bounds_is_read_and_written():
    text = nested(600)
    found = bvh.loads(text)
    assert len(found.skeleton) == 600
    again = bvh.loads(bvh.dumps(found))
    np.testing.assert_allclose(positions(again)[:, :600], positions(found), atol=1e-6)


def test_bytes_are_not_text():
    with pytest.raises(InputError, match="text must be a string, got bytes"):
        bvh.loads(ARM.encode())


# --- writing ---------------------------------------------------------------------------------------------------


@pytest.mark.slow_uncompiled
@pytest.mark.parametrize("name", REAL)
def test_real_files_come_back_as_they_were(name, tmp_path):
    character = load(asset(f"bvh/{name}.bvh"))
    path = tmp_path / f"{name}.bvh"
    files.save(path, character)
    again = load(path)
    assert again.skeleton.names == character.skeleton.names
    np.testing.assert_array_equal(again.skeleton.parents, character.skeleton.parents)
    np.testing.assert_allclose(again.skeleton.rest.translations, character.skeleton.rest.translations, atol=1e-9)
    np.testing.assert_allclose(positions(again), positions(character), atol=1e-6)
    assert path.read_text().count("End Site") == asset(f"bvh/{name}.bvh").read_text().count("End Site")
    np.testing.assert_allclose(world_by_hand(path.read_text(), every=5), positions(character)[::5], atol=1e-6)
    assert again.clips[name].duration == pytest.approx(character.clips[name].duration, rel=1e-9)


def random_character(seed, joints=7, keys=5, scaled=False):
    """A tree with axes of its own at every joint, moving everywhere."""
    rng = np.random.default_rng(seed)
    parents = [-1, *(int(rng.integers(-1 if i == 3 else 0, i)) for i in range(1, joints))]
    rotations = arrays.unit(rng.normal(size=(joints, 4)))
    rest = Pose(rng.normal(size=(joints, 3)), rotations, rng.uniform(0.5, 2, (joints, 3)) if scaled else None)
    skeleton = Skeleton([f"joint {i}" for i in range(joints)], parents, rest)
    times = np.arange(keys) * 0.25
    tracks = [Track(j, "rotation", times, arrays.unit(rng.normal(size=(keys, 4)))) for j in range(joints)]
    tracks += [Track(j, "translation", times, rng.normal(size=(keys, 3))) for j in (0, joints - 1)]
    return Character(skeleton, {"any": Clip("any", skeleton, tracks)})


def every_digit():
    """Write twelve decimals instead of six, to see what everything but rounding does."""
    return mock.patch.object(writer, "_DECIMALS", 12)


def by_name(character, times):
    at = positions(character, times)
    return {name.replace(" ", "_"): at[:, i] for i, name in enumerate(character.skeleton.names)}


@pytest.mark.parametrize("scaled", [False, True])
@given(seed=st.integers(0, 2**32 - 1))
def test_any_character_keeps_its_joint_positions(scaled, seed):
    character = random_character(seed, scaled=scaled)
    with every_digit():
        text = bvh.dumps(character)
    again = bvh.loads(text)
    times = np.arange(5) * 0.25
    before, after = by_name(character, times), by_name(again, times)
    for name, at in before.items():
        np.testing.assert_allclose(after[name], at, atol=1e-6)
    rest, rest_again = (c.skeleton.rest_world[:, :3, 3] for c in (character, again))
    for i, name in enumerate(character.skeleton.names):
        at = again.skeleton.index(name.replace(" ", "_"))
        np.testing.assert_allclose(rest_again[at], rest[i], atol=1e-9)
    # Written again it is the same text: nothing is lost the second time.
    assert bvh.loads(bvh.dumps(again)).skeleton.names == again.skeleton.names
    np.testing.assert_allclose(world_by_hand(text), positions(again, times), atol=1e-9)


def test_motion_has_six_decimals():
    character = random_character(3, scaled=False)
    text = bvh.dumps(character)
    rows = text.partition("Frame Time:")[2].splitlines()[1:]
    assert max(len(number.partition(".")[2]) for row in rows for number in row.split()) == 6
    times = np.arange(5) * 0.25
    before, after = by_name(character, times), by_name(bvh.loads(text), times)
    for name, at in before.items():
        np.testing.assert_allclose(after[name], at, atol=5e-6)


def test_what_is_written_can_be_read_back(monkeypatch):
    """Near the limit, a clip is refused or comes back: there is nothing in between."""
    monkeypatch.setattr(writer, "LARGEST_FILE", 4_000)
    character = bvh.loads(ARM)
    outcomes = set()
    for fps in range(1, 400, 7):
        try:
            text = bvh.dumps(character, fps=float(fps))
        except InputError:
            outcomes.add("refused")
            continue
        assert len(bvh.loads(text, max_bytes=4_000).skeleton) == len(character.skeleton)
        outcomes.add("read")
    assert outcomes == {"refused", "read"}


def rotated_to(rotations):
    skeleton = Skeleton(("a", "b"), (-1, 0), Pose([(0, 0, 0), (0.3, 0.5, 0.7)], [IDENTITY, IDENTITY]))
    times = np.arange(len(rotations)) / 10
    return Character(skeleton, {"c": Clip("c", skeleton, [Track("a", "rotation", times, rotations)])}), times


@given(st.floats(-1e-6, 1e-6), st.floats(-4, 4), st.floats(-4, 4), st.sampled_from([-1, 1]))
def test_quarter_revolutions_about_x_are_exact(off, z, y, side):
    """Where the first and the last of the three angles rotation about the same axis."""
    axes, angles = ((0, 0, 1), (1, 0, 0), (0, 1, 0)), (z, side * np.pi / 2 + off, y)
    q = np.array(IDENTITY)
    for axis, angle in zip(axes, angles, strict=True):
        q = arrays.mul(q, arrays.from_axis_angle(np.array(axis, float), np.array(angle)))
    character, times = rotated_to(arrays.unit(q)[np.newaxis])
    with every_digit():
        again = bvh.loads(bvh.dumps(character))
    np.testing.assert_allclose(positions(again, times)[:, :2], positions(character, times), atol=1e-10)


def test_written_angles_do_not_jump():
    """A slow turn is written as slow angles, though it goes round and round and past a quarter rotation about x."""
    angles = np.linspace(0, 15, 400)
    for axis in ((0, 0, 1), (1, 0, 0), (0, 1, 0), arrays.unit((1.0, 2.0, 3.0))):
        character, _ = rotated_to(arrays.from_axis_angle(np.array(axis, float), angles))
        rows = bvh.dumps(character).split("Frame Time: ")[1].split("\n")[1:-1]
        written = np.array([[float(word) for word in row.split()] for row in rows])[:, 3:6]
        assert np.abs(np.diff(written, axis=0)).max() < 20


def test_position_channels_only_where_something_moves():
    character = random_character(3)
    text = bvh.dumps(character)
    assert text.count("CHANNELS 6") == 1 + (character.skeleton.parents[1:] < 0).sum() + 1
    assert text.count("CHANNELS 3") == len(character.skeleton) - text.count("CHANNELS 6")


def test_an_end_that_moves_is_a_joint():
    character = bvh.loads(ARM)
    still = bvh.dumps(character)
    assert still.count("End Site") == 1
    assert "Hand_end" not in still
    skeleton, clip = character.skeleton, character.clips["clip"]
    moving = Clip("m", skeleton, [*clip.tracks, Track("Hand_end", "rotation", (0.0, 0.5), [IDENTITY, (1, 0, 0, 0)])])
    text = bvh.dumps(Character(skeleton, {"m": moving}))
    assert "JOINT Hand_end" in text
    assert bvh.loads(text).skeleton.names == (*skeleton.names, "Hand_end_end")


def test_frame_rates():
    character = bvh.loads(ARM)
    assert "Frames: 2\nFrame Time: 0.5\n" in bvh.dumps(character)
    finer = bvh.dumps(character, fps=20)
    assert "Frames: 11\nFrame Time: 0.05\n" in finer
    times = np.linspace(0, 0.5, 11)
    np.testing.assert_allclose(positions(bvh.loads(finer), times), positions(character, times), atol=1e-6)
    skeleton = character.skeleton
    uneven = Clip("u", skeleton, [Track(0, "translation", (0.0, 0.1, 1.0), np.zeros((3, 3)))])
    assert "Frames: 31\nFrame Time: 0.0333333" in bvh.dumps(character, uneven)


def test_which_clip_is_written():
    character = bvh.loads(ARM)
    skeleton = character.skeleton
    two = {
        name: Clip(name, skeleton, [Track(0, "translation", (0.0, 1.0), np.full((2, 3), at))])
        for name, at in [("a", 1), ("b", 2)]
    }
    both = Character(skeleton, two)
    with pytest.raises(InputError, match="holds one clip; choose one with clip=: there are 'a', 'b'"):
        bvh.dumps(both)
    with pytest.raises(InputError, match="there is no clip 'c'; there are 'a', 'b'"):
        bvh.dumps(both, "c")
    assert bvh.dumps(both, "b") == bvh.dumps(both, two["b"])
    assert "\n2 2 2 " in bvh.dumps(both, "b")
    rest = bvh.dumps(Character(skeleton))
    assert "Frames: 1\n" in rest
    np.testing.assert_allclose(positions(bvh.loads(rest), (0.0,))[0], skeleton.rest_world[:, :3, 3])
    with pytest.raises(InputError, match="another skeleton"):
        bvh.dumps(bvh.loads(ARM), two["a"])


@pytest.mark.parametrize("fps", [0, -30, np.nan, np.inf, 1e9, "30"])
def test_frame_rates_that_cannot_be(fps):
    with pytest.raises(InputError, match="fps"):
        bvh.dumps(bvh.loads(ARM), fps=fps)


def test_too_many_frames_to_write():
    skeleton = bvh.loads(ARM).skeleton
    long = Clip("l", skeleton, [Track(0, "translation", (0.0, 1e9), np.zeros((2, 3)))])
    with pytest.raises(InputError, match="a BVH file holds up to"):
        bvh.dumps(Character(skeleton, {"l": long}), fps=60)


def test_names_are_written_so_that_everyone_can_read_them():
    rest = Pose(np.zeros((4, 3)), np.tile(IDENTITY, (4, 1)))
    skeleton = Skeleton(("a b", "a_b", "c{}\n", ""), (-1, 0, 1, 2), rest)
    again = bvh.loads(bvh.dumps(Character(skeleton)))
    assert again.skeleton.names[:4] == ("a_b", "a_b_2", "c_", "_")


def test_a_character_in_single_precision():
    character = bvh.loads(ARM)
    rest = character.skeleton.rest.astype(np.float32)
    skeleton = Skeleton(character.skeleton.names, character.skeleton.parents, rest)
    again = bvh.loads(bvh.dumps(Character(skeleton)))
    np.testing.assert_allclose(again.skeleton.rest_world, character.skeleton.rest_world, atol=1e-6)


def test_a_failed_save_leaves_the_file_alone(tmp_path):
    path = tmp_path / "kept.bvh"
    path.write_text("kept")
    with pytest.raises(InputError):
        files.save(path, bvh.loads(ARM), clip="no such clip")
    assert path.read_text() == "kept"


def test_one_frame_more_than_is_declared_is_ignored():
    """Some exporters count the frames from 0."""
    short = bvh.loads(ARM.replace("Frames: 2", "Frames: 1", 1), "short.bvh")
    (clip,), (whole,) = short.clips.values(), bvh.loads(ARM, "arm.bvh").clips.values()
    assert clip.duration == 0.0
    np.testing.assert_array_equal(clip.sample(0.0).rotations, whole.sample(0.0).rotations)
