"""Hands of 21 points onto fingers, markers of plug-in-gait, and points by joints of our own body."""

import numpy as np
import pytest

import kinema as km
from kinema.demo import humanoid
from kinema.fitting.layouts import layout_of
from tests.fitting.judging import angle

PERSON = humanoid()
TIMES = np.arange(20) / 30
FINGERS = ("thumb", "index", "middle", "ring", "little")


@pytest.fixture(scope="module")
def fist():
    """A body that stands and makes a fist: its pose, and where its joints are."""
    start = PERSON.skeleton.rest.astype(float)
    rotations = np.repeat(start.rotations[np.newaxis], len(TIMES), 0)
    for name in FINGERS[1:]:
        for number in (1, 2, 3):
            for side, sign in (("l", -1.0), ("r", 1.0)):
                half = 0.5 * sign * np.linspace(0.0, 1.0, len(TIMES))
                joint = PERSON.skeleton.index(f"{name}_{number}_{side}")
                own = rotations[:, joint]
                axis = own_axis(joint)
                turn = np.concatenate((np.sin(half)[:, None] * axis, np.cos(half)[:, None]), 1)
                rotations[:, joint] = km.quat.mul(own, turn)
    poses = km.Pose(np.broadcast_to(start.translations, (len(TIMES), *start.translations.shape)), rotations)
    return poses, PERSON.skeleton.world(poses)[..., :3, 3]


def own_axis(joint):
    """The character's axis ahead, in the space of a joint at rest."""
    return PERSON.skeleton.rest_world[joint, :3, :3].T @ (0.0, 0.0, 1.0)


def test_fingers_follow_their_points(fist):
    _, at = fist
    index = PERSON.skeleton.index
    words, joints = [], []
    for side in ("left", "right"):
        s = side[0]
        body = {
            "shoulder": "upper_arm",
            "elbow": "forearm",
            "wrist": "hand",
            "hip": "thigh",
            "knee": "shin",
            "ankle": "foot",
        }
        for word, joint in body.items():
            words.append(f"{side}_{word}")
            joints.append(index(f"{joint}_{s}"))
        for name in FINGERS:
            for number in (1, 2, 3):
                words.append(f"{side}_{name}_{number}")
                joints.append(index(f"{name}_{number}_{s}"))
    clip = km.fit(PERSON, at[:, joints], layout=words, contacts=False)
    got = PERSON.skeleton.world(clip.sample(TIMES))[..., :3, 3]
    for side in ("l", "r"):
        for name in FINGERS[1:]:
            a, b = index(f"{name}_1_{side}"), index(f"{name}_2_{side}")
            assert angle(got[:, b] - got[:, a], at[:, b] - at[:, a]).mean() < 8.0, (name, side)


def test_markers_show_the_joints_inside_them():
    """Markers on a standing body that turns its whole trunk to a side and leans."""
    world = PERSON.skeleton.rest_world
    where = {name: world[k, :3, 3] for k, name in enumerate(PERSON.skeleton.names)}
    hip = 0.5 * (where["thigh_l"] + where["thigh_r"])
    wide = 0.24
    front = {"LASI": (0.12, 0.072, 0.0456), "RASI": (-0.12, 0.072, 0.0456)}
    markers = {name: hip + (np.array(way)) for name, way in front.items()}
    markers |= {"LPSI": hip + (0.04, 0.09, -0.13), "RPSI": hip + (-0.04, 0.09, -0.13)}
    head, neck = where["head"], where["neck_1"]
    markers |= {"CLAV": neck + (0, -0.05, 0.06), "C7": neck + (0, 0.03, -0.06), "STRN": neck + (0, -0.2, 0.1)}
    markers |= {"T10": neck + (0, -0.25, -0.1), "RBAK": neck + (-0.1, -0.1, -0.1)}
    for side, s, out in (("L", "l", 1.0), ("R", "r", -1.0)):
        markers |= {f"{side}FHD": head + (0.07 * out, 0.12, 0.09), f"{side}BHD": head + (0.07 * out, 0.12, -0.09)}
        markers |= {
            f"{side}SHO": where[f"upper_arm_{s}"] + (0, 0.2 * wide, 0),
            f"{side}ELB": where[f"forearm_{s}"] + (0, 0, 0),
        }
        markers |= {f"{side}WRA": where[f"hand_{s}"] + (0, 0, 0.03), f"{side}WRB": where[f"hand_{s}"] - (0, 0, 0.03)}
        markers |= {
            f"{side}FIN": where[f"hand_{s}"] + (0.08 * out, 0, 0),
            f"{side}KNE": where[f"shin_{s}"] + (0.2 * wide * out, 0, 0),
        }
        markers |= {
            f"{side}ANK": where[f"foot_{s}"] + (0.14 * wide * out, 0, 0),
            f"{side}HEE": where[f"foot_{s}"] + (0, -0.05, -0.05),
        }
        markers |= {f"{side}TOE": where[f"toe_{s}"] + (0, 0.02, 0)}
        for name in ("UPA", "FRM", "THI", "TIB"):
            markers[f"{side}{name}"] = np.full(3, np.nan)
    markers["SACR"] = np.full(3, np.nan)
    names = list(layout_of("plug-in-gait").roles)
    points = np.repeat(np.array([markers[name] for name in names])[np.newaxis], 20, 0)
    clip, report = km.fit(PERSON, points * 1000.0, layout="plug-in-gait", fps=100.0, contacts=False, report=True)
    got = PERSON.skeleton.world(clip.sample(0.1))[..., :3, 3]
    assert report.unit == 0.001
    for name in ("shin", "foot", "forearm", "hand"):
        for s in ("l", "r"):
            k = PERSON.skeleton.index(f"{name}_{s}")
            assert np.linalg.norm(got[k] - where[f"{name}_{s}"]) < 0.06, name
