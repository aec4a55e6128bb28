import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kinema.demo.characters.bones import Bone, build
from kinema.demo.characters.puppet import Puppet, X, Y, Z, compose, framed, rotation
from kinema.math import arrays
from kinema.model.clip import Event

LEG = build(
    [
        Bone("root", None, (0.0, 0.0, 0.0), (0.0, 0.1, 0.0)),
        Bone("hip", "root", (0.1, 0.9, 0.0), (0.1, 0.5, 0.05), (0.0, 0.0, -1.0)),
        Bone("knee", "hip", (0.1, 0.5, 0.05), (0.1, 0.1, 0.0), (0.0, 0.0, -1.0)),
        Bone("ankle", "knee", (0.1, 0.1, 0.0), (0.1, 0.02, 0.08), (0.0, 1.0, 0.0)),
        Bone("toe", "ankle", (0.1, 0.02, 0.08), (0.1, 0.02, 0.15), (0.0, 1.0, 0.0)),
    ]
)
angles = st.floats(-0.6, 0.6)


def played(puppet):
    """World matrices of the pose that comes out, (F, J, 4, 4)."""
    return LEG.world(puppet.pose().astype(np.float64))


def test_rotations_are_about_the_characters_axes_for_any_joint_axes():
    puppet = Puppet(LEG, 1)
    puppet.rotate("hip", rotation(X, np.pi / 2))
    knee = played(puppet)[0, 2, :3, 3]
    assert np.allclose(knee, (0.1, 0.9 - 0.05, -0.4), atol=1e-5)  # Down goes back, ahead goes down.


def test_the_last_joint_ends_up_with_the_whole_rotation():
    puppet, by = Puppet(LEG, 2), rotation(Z, np.array((0.3, -0.9)))
    puppet.rotate_along(("hip", "knee", "ankle"), by)
    assert arrays.angle_between(puppet.transform("ankle")[0], by).max() < 1e-6


@given(x=st.floats(-0.15, 0.3), y=st.floats(0.2, 0.4), z=st.floats(-0.3, 0.3), yaw=angles, tilt=angles)
def test_it_reaches_with_a_pure_hinge_towards_where_it_should(x, y, z, yaw, tilt):
    puppet, target = Puppet(LEG, 1), np.array(((x, y, z),))
    puppet.rotate("root", compose(rotation(Y, yaw * 0.1), rotation(Z, tilt * 0.1)))
    aside = arrays.rotate(rotation(Y, yaw), X)
    puppet.reach(("hip", "knee", "ankle"), target, X, aside)
    world = played(puppet)[0, :, :3, 3]
    assert np.allclose(world[3], target, atol=1e-5)
    bent = puppet.rotations[0, 2]
    assert np.abs(bent[1:3]).max() < 1e-12
    assert bent[0] * bent[3] > -0.2
    across = np.cross(world[2] - world[1], world[3] - world[2])
    assert across @ aside > 0, "the knee bends the way the hinge says"


def test_out_of_reach_it_is_straight_at_the_target():
    puppet, target = Puppet(LEG, 1), np.array(((0.1, 0.9, 5.0),))
    puppet.reach(("hip", "knee", "ankle"), target, X, X)
    _, hip, knee, ankle, _ = played(puppet)[0, :, :3, 3]
    assert np.allclose(arrays.unit(knee - hip), arrays.unit(ankle - knee), atol=1e-5)
    assert np.allclose(arrays.unit(ankle - hip), (0.0, 0.0, 1.0), atol=1e-5)


@given(y=st.floats(0.2, 0.35), z=st.floats(-0.2, 0.2), last=st.floats(-0.5, 0.5), sway=st.floats(-0.1, 0.1))
def test_three_bones_reach_in_one_plane(y, z, last, sway):
    puppet, target = Puppet(LEG, 1), np.array(((0.1 + sway, y, z),))
    puppet.reach_on(("hip", "knee", "ankle", "toe"), target, X, np.array((last,)))
    assert np.allclose(played(puppet)[0, 4, :3, 3], target, atol=1e-5)
    for joint in (2, 3):
        assert np.abs(puppet.rotations[0, joint, 1:3]).max() < 1e-9


def test_a_held_joint_does_not_mind_its_parents():
    puppet, wanted = Puppet(LEG, 3), rotation(Y, np.array((0.1, 0.2, 0.3)))
    puppet.rotate("hip", rotation(X, 0.7))
    puppet.rotate("knee", rotation(X, np.array((0.2, 0.9, 1.4))))
    puppet.hold("ankle", wanted)
    assert arrays.angle_between(puppet.transform("ankle")[0], wanted).max() < 1e-9


def test_placed_is_what_the_pose_plays():
    puppet = Puppet(LEG, 4)
    puppet.offsets[:, 0, 2] = np.linspace(0.0, 1.0, 4)
    puppet.rotate("hip", rotation((1.0, 2.0, 3.0), np.linspace(0.0, 2.0, 4)))
    puppet.rotate("knee", rotation((3.0, -1.0, 0.5), np.linspace(1.0, -2.0, 4)))
    world = played(puppet)
    for j, name in enumerate(LEG.names):
        whole, at = puppet.transform(name)
        assert np.allclose(world[:, j, :3, 3], at, atol=1e-5)
        own = arrays.from_matrix(LEG.rest_world[j, :3, :3].astype(np.float64))
        assert arrays.angle_between(arrays.from_matrix(world[:, j, :3, :3]), arrays.mul(whole, own)).max() < 1e-5


def test_keys_do_not_flip_sign():
    puppet = Puppet(LEG, 200)
    puppet.rotate("hip", rotation(Y, np.linspace(0.0, 4 * np.pi, 200)))
    rotations = puppet.pose().rotations.astype(np.float64)
    assert np.sum(rotations[1:] * rotations[:-1], axis=-1).min() > 0.9


def test_a_clip_has_its_keys_at_even_times():
    puppet = Puppet(LEG, 5)
    puppet.rotate("knee", rotation(X, np.linspace(0.0, 1.0, 5)))
    clip = puppet.clip("bend", 2.0, [Event(1.0, "half")])
    assert clip.name == "bend"
    assert clip.duration == 2.0
    assert clip.events == (Event(1.0, "half"),)
    assert [LEG.names[track.joint] for track in clip.tracks] == ["knee"]
    assert np.allclose(clip.tracks[0].times, (0.0, 0.5, 1.0, 1.5, 2.0))


def test_framed_axes_are_at_right_angles():
    axes = framed(np.array((1.0, 2.0, 3.0)), X)
    assert np.allclose(axes.T @ axes, np.eye(3), atol=1e-12)
    assert axes[:, 0] @ np.array((1.0, 2.0, 3.0)) == pytest.approx(np.sqrt(14))
    assert axes[0, 1] > 0
