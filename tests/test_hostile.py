"""Whatever is passed to skeletons, bodies, goals, grounds and physics: an answer, or an error by name."""

import numpy as np
import pytest

import kinema as km
from kinema import physics
from kinema.demo import humanoid
from kinema.errors import KinemaError

PERSON = humanoid()
SKELETON, REST, RIG = PERSON.skeleton, PERSON.skeleton.rest, PERSON.rig
LEG, ARM = RIG.legs[0], RIG.arms[0]
ARM_JOINTS = SKELETON.chain(ARM.joints[0], ARM.joints[-1])
BODY = km.FullBody(PERSON)
CLIP = next(iter(PERSON.clips.values()))
SKIN = km.Skin(np.eye(3), [(0, 1, 2)], np.zeros((3, 4), int), np.full((3, 4), 0.25), np.eye(3))
ROOM, BALLS = physics.Room((-1, 0, -1), (1, 3, 1)), physics.Balls([[0, 2, 0]], radii=0.1).hold(0)
HAND, POINT = km.Effector("left_hand", (0.4, 1.2, 0.3)), km.Goal((0.4, 1.2, 0.3))
LEGS = {"joints": LEG.joints, "toe": LEG.toe, "sole": None, "toes": (), "girdle": None, "twists": ()}


class Odd:
    """Something that is nothing else."""


HOSTILE = [
    *(None, "x", b"x", 3, -1, 1.5, np.nan, np.inf, 10**400, 1j, True, (), [], [[]], {}, {"a": 1}, {1}),
    *(object, Odd(), [Odd()] * 3, [1, "a"], ["a"], [None, None], [[1, 2], [3]], range(3), (0, 0, 0, 0)),
    *(np.zeros(0), np.zeros((0, 3)), np.zeros((2, 3, 4)), np.array("s"), np.array([None], object), np.full(3, np.nan)),
    *(np.zeros(3, "M8[s]"), np.array([1j] * 3), lambda: 0, REST, SKELETON, "left_hand"),
]


def solve_effector(**fields):
    return BODY.solve(REST, [km.Effector(**fields)])


def solve_goal(**fields):
    return km.solve(SKELETON, REST, ARM_JOINTS, km.Goal(**fields))


CALLS = {
    "Skeleton": (km.Skeleton, {"names": ["a"], "parents": [-1], "rest": km.Pose(np.zeros((1, 3)), [(0, 0, 0, 1)])}),
    "Skeleton options": (lambda **k: km.Skeleton(SKELETON.names, SKELETON.parents, REST, **k), {"limits": None}),
    "index": (SKELETON.index, {"joint": "hips"}),
    "chain": (SKELETON.chain, {"start": 0, "end": 1}),
    "below": (SKELETON.below, {"joints": [0]}),
    "above": (SKELETON.above, {"joints": [0]}),
    "length": (SKELETON.length, {"chain": ARM_JOINTS}),
    "world": (SKELETON.world, {"pose": REST, "before": SKELETON.world(REST), "changed": [3]}),
    "palette": (SKELETON.palette, {"pose": REST, "layout": "rows"}),
    "mirrored": (SKELETON.mirrored, {"pose": REST, "pairs": None}),
    "world_rotations": (SKELETON.world_rotations, {"pose": REST}),
    "Pose": (km.Pose, {"translations": np.zeros((2, 3)), "rotations": [(0, 0, 0, 1)] * 2, "scales": None}),
    "blend": (REST.blend, {"other": REST, "weight": 0.5}),
    "add": (REST.add, {"layer": REST, "weight": 0.5}),
    "difference": (REST.difference, {"base": REST}),
    "named": (REST.named, {"names": SKELETON.names}),
    "astype": (REST.astype, {"dtype": np.float32}),
    "same": (REST.same, {"other": REST}),
    "Hinge": (km.Hinge, {"axis": (1, 0, 0), "low": 0, "high": 1}),
    "Cone": (km.Cone, {"angle": 1}),
    "SwingTwist": (km.SwingTwist, {"swing": 1, "twist_low": 0, "twist_high": 1}),
    "project": (km.Cone(1).project, {"rotations": (0, 0, 0, 1), "bone": (0, 1, 0)}),
    "Track": (km.Track, {"joint": 0, "path": "scale", "times": [0], "values": [(1, 1, 1)], "interpolation": "LINEAR"}),
    "Event": (km.Event, {"time": 0.2, "name": "step"}),
    "Clip": (km.Clip, {"name": "a", "skeleton": SKELETON, "tracks": CLIP.tracks, "duration": None, "events": ()}),
    "sample": (CLIP.sample, {"t": 0.1, "loop": True}),
    "events_between": (CLIP.events_between, {"t0": 0.0, "t1": 1.0, "loop": False}),
    "root_motion": (CLIP.root_motion, {"t0": 0, "t1": 1, "loop": True, "joint": None, "up": (0, 1, 0)}),
    "in_place": (CLIP.in_place, {"joint": None, "up": (0, 1, 0)}),
    "mirrored clip": (CLIP.mirrored, {"pairs": None}),
    "from_poses": (
        km.Clip.from_poses,
        {"name": "a", "skeleton": SKELETON, "poses": CLIP.sample([0, 0.1]), "fps": 30, "times": None, "closed": False},
    ),
    "Rig": (
        km.Rig,
        {
            "skeleton": SKELETON,
            "hips": 0,
            "spine": (),
            "head": None,
            "legs": (),
            "arms": (),
            "tails": (),
            "up": (0, 1, 0),
        },
    ),
    "Leg": (lambda **k: km.Rig(skeleton=SKELETON, legs=[km.Leg(**k)]), {"name": "left"} | LEGS),
    "Arm": (
        lambda **k: km.Rig(skeleton=SKELETON, arms=[km.Arm(**k)]),
        {"name": "left", "joints": ARM.joints, "shoulder": None, "fingers": (), "twists": ()},
    ),
    "leg": (RIG.leg, {"name": "left"}),
    "own_axes": (RIG.own_axes, {"joint": 0}),
    "sole_points": (RIG.sole_points, {"leg": LEG}),
    "deform": (SKIN.deform, {"palette": SKELETON.palette(REST)}),
    "Character": (km.Character, {"skeleton": SKELETON, "clips": {}, "rig": None}),
    "FullBody": (
        km.FullBody,
        {"body": PERSON, "rig": None, "root": "free", "mobility": None, "masses": None, "tolerance": 1, "attempts": 1},
    ),
    "FullBody.solve": (
        BODY.solve,
        {"pose": REST, "effectors": [HAND], "warm": REST, "dt": 0.1, "transform": np.eye(4)[:3].reshape(12)},
    ),
    "FullBody.solve one": (BODY.solve, {"pose": REST, "effectors": [HAND], "warm": None}),
    "FullBody.is_settled": (BODY.is_settled, {"pose": REST, "warm": REST}),
    "FullBody.joint": (BODY.joint, {"name": "hips"}),
    "Effector": (
        solve_effector,
        {
            "joint": "left_hand",
            "position": (0.4, 1.2, 0.3),
            "rotation": (0, 0, 0, 1),
            "offset": None,
            "direction": None,
            "axis": (0, 1, 0),
            "normal": None,
            "weight": 1.0,
            "rotation_weight": 0.5,
            "strength": 1.0,
            "priority": 0,
            "pin": False,
        },
    ),
    "Effector direction": (solve_effector, {"joint": "head", "direction": (0, 0, 1), "axis": (0, 0, 1)}),
    "Effector distance": (solve_effector, {"joint": "left_hand", "other": "head", "distance": 0.3}),
    "solve": (
        km.solve,
        {
            "skeleton": SKELETON,
            "pose": REST,
            "chain": ARM_JOINTS,
            "goal": POINT,
            "solver": None,
            "max_iterations": None,
        },
    ),
    "Goal": (
        solve_goal,
        {"position": (0.4, 1.2, 0.3), "rotation": None, "pole": None, "weight": 0.5, "priority": 0, "direction": None},
    ),
    "hinge_angles": (km.hinge_angles, {"skeleton": SKELETON, "pose": REST, "joints": None}),
    "from_hinge_angles": (
        km.from_hinge_angles,
        {"skeleton": SKELETON, "angles": np.zeros(len(km.hinge_angles(SKELETON, REST))), "joints": None},
    ),
    "Slider": (km.Slider, {"axis": (0, 0, 1), "low": -1.0, "high": 1.0}),
    "apply_to_matrices": (
        km.apply_to_matrices,
        {
            "matrices": SKELETON.world(REST),
            "joints": ARM_JOINTS,
            "goal": POINT,
            "parents": SKELETON.parents,
            "axis": (1, 0, 0),
            "solver": None,
            "soften": 1.0,
            "tolerance": 1e-4,
            "layout": "rows",
        },
    ),
    "Plane": (km.Plane, {"point": (0, 0, 0), "normal": (0, 1, 0), "two_sided": True}),
    "Sphere": (km.Sphere, {"centre": (0, 0, 0), "radius": 1.0, "two_sided": True}),
    "HeightField": (km.HeightField, {"heights": np.eye(3), "origin": (0, 0), "spacing": 1.0, "holes": None}),
    "VoxelGrid": (km.VoxelGrid, {"filled": np.ones((2, 2, 2), bool), "origin": (0, 0, 0), "size": 1.0}),
    "TriangleMesh": (km.TriangleMesh, {"vertices": np.eye(3), "triangles": [(0, 1, 2)], "accelerator": "auto"}),
    "from_function": (km.Ground.from_function, {"height_and_normal": lambda x, z: x, "step": 0.1}),
    "cast": (km.Plane().cast, {"origins": (0, 1, 0), "directions": (0, -1, 0), "max_distance": 3.0}),
    "Room": (physics.Room, {"low": (-1, 0, -1), "high": (1, 3, 1), "boxes": (), "gravity": (0, -9.8, 0), "drag": 0.1}),
    "Balls": (physics.Balls, {"positions": [[0, 2, 0]], "radii": 0.1, "velocities": 0.0, "masses": 1.0, "held": False}),
    "Balls.move": (BALLS.move, {"ball": 0, "position": (0, 1, 0), "dt": 0.1}),
    "Balls.release": (BALLS.release, {"ball": 0, "velocity": None}),
    "step": (physics.step, {"room": ROOM, "balls": BALLS, "dt": 0.01}),
    "energy": (physics.energy, {"room": ROOM, "balls": BALLS}),
    "Rope2D": (physics.Rope2D, {"start": (0, 2), "end": (1, 2), "links": 5, "length": 1.0, "gravity": (0, -9.8)}),
}


@pytest.mark.slow_uncompiled
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", CALLS)
def test_no_argument_gives_a_raw_error(name):
    call, arguments = CALLS[name]
    call(**arguments)
    for argument in arguments:
        for value in HOSTILE:
            try:
                call(**(arguments | {argument: value}))
            except KinemaError:
                pass
            except Exception as problem:
                pytest.fail(f"{name}({argument}={value!r:.40}): {type(problem).__name__}: {problem}")
