"""`km.fit` beside what people write for it: least squares over the skeleton in every frame, and mink on the same body.

All get the same noisy points of one walk and the same body. The oracle and mink start each frame from the one before.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from time import process_time
from typing import Any

import numpy as np

import kinema as km
from benchmarks.machine import installed
from kinema.demo import humanoid

FPS, NOISE, SEED = 30.0, 0.01, 30
"""Frames a second, metres of noise in each axis, and the seed of the noise."""

ROLES = {
    **{
        f"{side}_{role}": f"{joint}_{side[0]}"
        for side in ("left", "right")
        for role, joint in (
            ("hip", "thigh"),
            ("knee", "shin"),
            ("ankle", "foot"),
            ("shoulder", "upper_arm"),
            ("elbow", "forearm"),
            ("wrist", "hand"),
        )
    },
}
"""Joints of the body by role word."""

BONES = [(k, k + 1) for limb in range(4) for k in (3 * limb, 3 * limb + 1)]
"""Points at both ends of each bone of a limb."""

SMALL = 1e-9
"""Weight of staying in the pose of the frame before, for what the points leave free."""

RUNS, ENOUGH = 5, 2.0
"""How often each contestant is timed, and seconds of a run after which once is enough. The fastest run counts, in
seconds of one core: a machine does other things, too."""

MINK_STEPS = 3
"""Gauss-Newton steps of mink in each frame."""


def compare(frames: int = 900, few: int = 12) -> dict[str, dict[str, float | str]]:
    """Return figures of each contestant. few: frames of the slow ones."""
    person = humanoid()
    joints = [person.skeleton.index(name) for name in ROLES.values()]
    times = 0.5 - 0.5 * np.cos(np.arange(frames) / FPS * 0.8)  # To and fro, without a jump where a loop would have one.
    poses = person.clips["walk"].sample(times).astype(np.float64)
    truth = person.skeleton.world(poses)[..., :3, 3][:, joints]
    seen = truth + np.random.default_rng(SEED).normal(size=truth.shape) * NOISE
    found: dict[str, dict[str, float | str]] = {}
    for name, settings in (("kinema, closed form", {"polish": False}), ("kinema, polished", {})):
        found[name] = _timed(partial(_ours, person, joints, settings), seen, truth)
    rest, version = person.skeleton.rest.astype(np.float64), installed("scipy")
    if version is not None:
        oracle = LeastSquares(person, joints, rest)
        found[f"least squares in every frame (scipy {version})"] = _timed(oracle.solve, seen[:few], truth[:few])
    if installed("mink") is not None and installed("mujoco") is not None:
        body = Mink(person, joints)
        found[f"mink {installed('mink')}"] = _timed(body.solve, seen[:few], truth[:few])
    return found


def _timed(solve: Callable[[Any], Any], seen: Any, truth: Any) -> dict[str, float | str]:
    """Solve some times, time the fastest, and judge: centimetres, degrees, jerk of directions beside the truth's."""
    seconds, at = np.inf, None
    for run in range(RUNS + 1):  # The first one compiles.
        began = process_time()
        at = solve(seen)
        seconds = min(seconds, process_time() - began) if run else seconds
        if ENOUGH < seconds < np.inf:
            break
    ways = [_directions(each) for each in (at, truth)]
    angles = np.degrees(np.arccos(np.clip((ways[0] * ways[1]).sum(-1), -1.0, 1.0)))
    jerks = [np.linalg.norm(np.diff(way, 3, axis=0), axis=-1).mean() for way in ways]
    return {
        "frames": len(seen),
        "frames_a_second": round(len(seen) / seconds, 1),
        "positions_cm": round(float(np.linalg.norm(at - truth, axis=-1).mean()) * 100, 3),
        "directions_degrees": round(float(angles.mean()), 3),
        "jerk": round(float(jerks[0] / jerks[1]), 3),
    }


def _directions(at: Any) -> Any:
    ways = np.stack([at[:, b] - at[:, a] for a, b in BONES], 1)
    return ways / np.linalg.norm(ways, axis=-1, keepdims=True)


def _ours(person: Any, joints: list[int], settings: dict[str, Any], points: Any) -> Any:
    clip = km.fit(person, points, layout=list(ROLES), fps=FPS, contacts=False, unit=1.0, up="+y", **settings)
    return person.skeleton.world(clip.sample(np.arange(len(points)) / FPS))[..., :3, 3][:, joints]


class LeastSquares:
    """Rotations of all joints above the points, and where the hips are, by `scipy.optimize.least_squares`."""

    def __init__(self, person: Any, joints: list[int], rest: Any) -> None:
        self._rest, self._joints = rest, joints
        self._nodes = person.skeleton.above(joints).tolist()
        self._parents = person.skeleton.parents.tolist()
        self._turning = [j for j in self._nodes if any(self._parents[k] == j for k in self._nodes)]

    def solve(self, points: Any) -> Any:
        from scipy.optimize import least_squares

        guess, found = np.zeros(3 + 3 * len(self._turning)), []
        for frame in points:

            def misses(numbers: Any, frame: Any = frame, before: Any = guess) -> Any:
                return np.append((self._forward(numbers) - frame).ravel(), np.sqrt(SMALL) * (numbers - before))

            guess = least_squares(misses, guess, method="trf", max_nfev=20).x
            found.append(self._forward(guess))
        return np.array(found)

    def _forward(self, numbers: Any) -> Any:
        from scipy.spatial.transform import Rotation

        turns = Rotation.from_rotvec(numbers[3:].reshape(-1, 3)).as_matrix()
        own = Rotation.from_quat(self._rest.rotations).as_matrix()
        where, turned = np.zeros((len(own), 3)), np.tile(np.eye(3), (len(own), 1, 1))
        for j in self._nodes:
            p = self._parents[j]
            where[j] = numbers[:3] + self._rest.translations[j]
            if p >= 0:
                where[j] = where[p] + turned[p] @ self._rest.translations[j]
                turned[j] = turned[p]
            turned[j] = turned[j] @ own[j]
            if j in self._turning:
                turned[j] = turned[j] @ turns[self._turning.index(j)]
        return where[self._joints]


class Mink:
    """The same body in MuJoCo with ball joints, one task for each point."""

    def __init__(self, person: Any, joints: list[int]) -> None:
        import mink
        import mujoco

        from benchmarks.body_problems import BodyPoses
        from benchmarks.peers.mink_body_peer import _xml

        nothing = np.zeros((1, len(joints), 3)), np.zeros((1, len(joints), 4))
        self._mink, self._model = (
            mink,
            mujoco.MjModel.from_xml_string(_xml(BodyPoses(person.skeleton, tuple(joints), True, *nothing))),
        )
        self._configuration = mink.Configuration(self._model)
        self._rest = self._configuration.q.copy()
        self._tasks = [mink.FrameTask(f"b{joint}", "body", position_cost=1.0, orientation_cost=0.0) for joint in joints]
        self._bodies = [self._model.body(f"b{joint}").id for joint in joints]

    def solve(self, points: Any) -> Any:
        self._configuration.update(self._rest)
        found = []
        for frame in points:
            for task, at in zip(self._tasks, frame, strict=True):
                task.set_target(self._mink.SE3.from_translation(at))
            for _ in range(MINK_STEPS):
                velocity = self._mink.solve_ik(self._configuration, self._tasks, 1.0, "daqp", damping=1e-3)
                self._configuration.integrate_inplace(velocity, 1.0)
            found.append(self._configuration.data.xpos[self._bodies].copy())
        return np.array(found)


if __name__ == "__main__":
    for name, figures in compare().items():
        print(name, figures)
