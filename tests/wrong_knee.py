"""A person whose left knee bends back in its walk, as a bad export has it."""

from dataclasses import replace

import numpy as np

from kinema.demo import humanoid
from kinema.math import arrays
from kinema.model.clip import Clip
from kinema.model.pose import Pose

ANGLE = np.radians(70.0)
"""How far the shin is rotated against its way: more than the walk bends it."""


def person_with_a_wrong_knee():
    """Return our person with two clips: "idle" as it is, and "walk" with the left shin rotated the wrong way."""
    person = humanoid()
    knee, walk = person.skeleton.names.index("shin_l"), person.clips["walk"]
    times = np.linspace(0.0, walk.duration, 31)
    pose = walk.sample(times)
    rotations = np.array(pose.rotations)
    turn = arrays.from_axis_angle(np.array((1.0, 0.0, 0.0), rotations.dtype), -ANGLE)
    rotations[:, knee] = arrays.mul(rotations[:, knee], turn)
    wrong = Clip.from_poses("walk", person.skeleton, Pose(pose.translations, rotations, pose.scales), times=times)
    return replace(person, clips={"idle": person.clips["idle"], "walk": wrong}, name="wrong_knee")
