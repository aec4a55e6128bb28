"""A symmetric person with spine, neck, head, arms and legs."""

import numpy as np

from kinema.math import arrays
from kinema.model.character import Character
from kinema.model.pose import Pose
from kinema.model.rig import Arm, Leg, Rig
from kinema.model.skeleton import Skeleton
from tests import problems

# Name, parent, position in the character's space.
JOINTS = [
    ("root", -1, (0.0, 0.0, 0.0)),
    ("hips", 0, (0.0, 1.0, 0.0)),
    ("spine", 1, (0.0, 1.1, 0.0)),
    ("chest", 2, (0.0, 1.3, 0.0)),
    ("neck", 3, (0.0, 1.5, 0.0)),
    ("head", 4, (0.0, 1.6, 0.0)),
    ("shoulder_l", 3, (0.05, 1.45, 0.0)),
    ("arm_l", 6, (0.2, 1.45, 0.0)),
    ("forearm_l", 7, (0.45, 1.45, 0.0)),
    ("hand_l", 8, (0.7, 1.45, 0.0)),
    ("shoulder_r", 3, (-0.05, 1.45, 0.0)),
    ("arm_r", 10, (-0.2, 1.45, 0.0)),
    ("forearm_r", 11, (-0.45, 1.45, 0.0)),
    ("hand_r", 12, (-0.7, 1.45, 0.0)),
    ("thigh_l", 1, (0.1, 0.95, 0.0)),
    ("shin_l", 14, (0.1, 0.5, 0.0)),
    ("foot_l", 15, (0.1, 0.1, 0.0)),
    ("thigh_r", 1, (-0.1, 0.95, 0.0)),
    ("shin_r", 17, (-0.1, 0.5, 0.0)),
    ("foot_r", 18, (-0.1, 0.1, 0.0)),
]
NAMES = [name for name, _, _ in JOINTS]


def person(dtype=np.float64, roles=True):
    """A symmetric person whose joints have axes of their own, below a root that is rotated and scaled."""
    rng = np.random.default_rng(1)
    rotations = problems.quaternions(rng, len(JOINTS))
    scale = 0.5
    local_t, local_r = [], []
    for i, (_, parent, at) in enumerate(JOINTS):
        above, origin = (
            (rotations[parent], np.array(JOINTS[parent][2])) if parent >= 0 else (np.array([0, 0, 0, 1.0]), np.zeros(3))
        )
        local_t.append(arrays.rotate(arrays.conj(above), np.array(at) - origin) / (scale if parent >= 0 else 1.0))
        local_r.append(arrays.mul(arrays.conj(above), rotations[i]))
    scales = np.ones((len(JOINTS), 3))
    scales[0] = scale
    bones = Skeleton(
        NAMES, [parent for _, parent, _ in JOINTS], Pose(np.array(local_t), np.array(local_r), scales).astype(dtype)
    )
    if not roles:
        return Character(bones, rig=Rig(skeleton=bones), name="without roles")
    rig = Rig(
        skeleton=bones,
        hips="hips",
        spine=["spine", "chest"],
        neck=["neck"],
        head="head",
        arms=[
            Arm(name=n, joints=[f"arm_{s}", f"forearm_{s}", f"hand_{s}"], shoulder=f"shoulder_{s}")
            for n, s in (("left", "l"), ("right", "r"))
        ],
        legs=[Leg(name=n, joints=[f"thigh_{s}", f"shin_{s}", f"foot_{s}"]) for n, s in (("left", "l"), ("right", "r"))],
    )
    return Character(bones, rig=rig, name="person")
