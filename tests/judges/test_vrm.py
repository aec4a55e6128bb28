"""three-vrm plays springs, constraints and VRM animations as we do: files of both versions, for ten seconds."""

import numpy as np
import pytest

import kinema as km
from kinema.io import files
from tests.io.gltf.test_vrma import bones, dancer
from tests.io.gltf.vrm_build import BODY, stick, with_springs
from tests.judges import programs

MOVED = ("hips", "head", "leftHand", "leftUpperLeg")
FRAMES = 600


def shaken(nodes, file, size):
    """Local translations and rotations of the moved nodes in every frame, (F, M, 7). The first frame is at rest."""
    time = np.arange(FRAMES)[:, np.newaxis] / 60
    waves = np.sin(time * (3.1, 5.3, 2.0, 7.1, 1.3) + (0, 1, 2, 3, 4)) - np.sin((0, 1, 2, 3, 4))
    poses = np.zeros((FRAMES, len(MOVED), 7))
    for m, name in enumerate(MOVED):
        poses[:, m, :3] = file.json["nodes"][nodes[name]]["translation"]
        vector = size * waves[:, np.roll(np.arange(5), m)[:3]] * (0.5, 0.6, 0.2)
        poses[:, m, 3:] = km.quat.from_axis_angle(vector + (0, 1e-9, 0), np.linalg.norm(vector, axis=-1))
    poses[:, 0, :3] += size * waves[:, :3] * 0.2
    return poses


def ours(character, nodes, poses):
    """(F, N, 4, 4): world matrices of the nodes."""
    stages = [km.Springs(), *([km.Constraints()] if character.constraints else [])]
    animator, rest = km.Animator(character, stages), character.skeleton.rest
    joints = [character.source.joint_of_node[nodes[name]] for name in MOVED]
    worlds = []
    for pose in poses:
        t, r = rest.translations.copy(), rest.rotations.copy()
        t[joints], r[joints] = pose[:, :3], pose[:, 3:]
        worlds.append(animator.update(1 / 60, pose=km.Pose(t, r, rest.scales)).world)
    return np.array(worlds)[:, list(character.source.joint_of_node)]


@pytest.fixture(scope="module")
def played(tmp_path_factory):
    """{(version, size of the motion, whether bones are measured exactly): (our world matrices, three-vrm's, the lengths
    that it measured, the nodes that begin a chain)}."""
    folder, jobs, found = tmp_path_factory.mktemp("vrm"), [], {}
    for version in (0, 1):
        made, nodes = with_springs(version)
        file = folder / f"{version}.vrm"
        file.write_bytes(made.glb())
        character = files.load(file, rig=False)
        first = [character.source.joint_of_node.index(joint) for joint in first_joints(character)]
        for size, exact in ((1.0, True), (1.0, False), (0.15, False)):
            poses = shaken(nodes, made, size)
            moving = [nodes[name] for name in MOVED]
            job = {"file": str(file), "dt": 1 / 60, "moving": moving, "frames": poses.tolist(), "exactLengths": exact}
            jobs.append(job)
            found[version, size, exact] = ours(character, nodes, poses), first
    answers = programs.three_vrm(jobs)
    return {key: (mine, *answer, first) for (key, (mine, first)), answer in zip(found.items(), answers, strict=True)}


def first_joints(character):
    """The joints of springs with none of another spring above."""
    skeleton = character.skeleton
    swinging = {skeleton.index(joint) for spring in character.springs for joint in spring.joints}
    return [joint for joint in swinging if swinging.isdisjoint(skeleton.above([joint]).tolist()[:-1])]


def off(mine, theirs):
    """Largest distance of a node, metres; hair, skirt and ribbon have bones of 6.7 to 12.4 cm."""
    return np.linalg.norm(mine[..., :3, 3] - theirs[..., :3, 3], axis=-1).max()


@pytest.mark.parametrize("version", [0, 1])
def test_the_same_to_a_millionth_of_a_metre_when_shaken_hard(played, version):
    mine, theirs, lengths, _ = played[version, 1.0, True]
    assert np.abs(lengths - 1).max() < 1e-6
    assert off(mine, theirs) < 1e-6
    assert np.abs(mine[..., :3, :3] - theirs[..., :3, :3]).max() < 1e-5
    assert np.ptp(mine[:, :, :3, 3], axis=0).max() > 0.3


@pytest.mark.parametrize("version", [0, 1])
def test_three_vrm_measures_only_the_first_bones_of_chains_right(played, version):
    """It measures a bone to where its end was before the bone above rotated in the frame. No bone above the first of a
    chain rotates then: those are as long as they are, and rotate as ours do, as it is and shaken hard.
    """
    mine, theirs, lengths, first = played[version, 1.0, False]
    wrong = np.abs(lengths - 1).max(axis=0)
    assert (wrong < 1e-6).sum() == len(first) == 3
    assert np.abs(mine[:, first] - theirs[:, first]).max() < 1e-6
    assert 0.2 < wrong.max() < 0.3
    assert 0.05 * 0.067 < off(mine, theirs) < 0.25 * 0.067


@pytest.mark.parametrize("version", [0, 1])
def test_within_a_hundredth_of_the_shortest_bone_of_three_vrm_as_it_is(played, version):
    """In calm motion the wrong lengths are nearly right."""
    mine, theirs, _, _ = played[version, 0.15, False]
    assert off(mine[60:], theirs[60:]) < 0.01 * 0.067


def test_a_clip_that_we_write_plays_on_another_character(tmp_path):
    character, target = dancer(turned=False), tmp_path / "target.vrm"
    target.write_bytes(stick()[0].glb())
    km.save(tmp_path / "dance.vrma", character)
    times = np.arange(0, 31, 3) / 30
    job = {"file": str(target), "animation": str(tmp_path / "dance.vrma"), "times": times.tolist()}
    ((theirs, _),) = programs.three_vrm([job])
    nodes = stick()[1]
    theirs = theirs[:, [nodes[bone] for bone in BODY], :3, 3]
    mine = bones(files.load(tmp_path / "dance.vrma", rig=False), times)
    mine += mine[:1] * (1 / 1.2 - 1)  # Hips at a height of 1 instead of 1.2 m: their motion is scaled.
    assert np.abs(theirs - mine).max() < 1e-5
    issues = programs.validator_issues([tmp_path / "dance.vrma"])
    assert not programs.serious(issues[0])
