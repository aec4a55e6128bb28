"""`PoseStrip`: poses that a user has stored, played one after the other with in-betweens."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from kinema.demo.scenes.actor import POSES
from kinema.demo.scenes.scene import finite
from kinema.errors import InputError
from kinema.math.arrays import smoothstep
from kinema.model.clip import Clip
from kinema.model.pose import Pose
from kinema.model.skeleton import Skeleton

MOST = 24
"""Poses that can be stored."""
HOLD, MOVE = 0.25, 0.75
"""Seconds for which a pose is held, and of the in-betweens to the next one."""
STEPS = 16
"""In-betweens from one pose to the next: enough for a smooth ease, 21 a second."""
DECIMALS = 5
"""Of stored numbers: 0.001 degrees."""
CHANGED = 1e-5
"""Difference from the rest pose up to which a joint is left out of a snapshot."""


class PoseStrip:
    """The stored poses of one character, each with a number of its own."""

    def __init__(self, skeleton: Skeleton) -> None:
        self._skeleton = skeleton
        self._next = 1
        self._poses: dict[int, Pose] = {}
        self._own: dict[int, list[int]] = {}

    def __len__(self) -> int:
        return len(self._poses)

    @property
    def numbers(self) -> list[int]:
        """The numbers of the poses, in order."""
        return list(self._poses)

    def at(self, index: int) -> tuple[int, Pose, list[int]]:
        """Return number, pose and own joints of a pose by its position. Raises InputError if there is none."""
        if not index < len(self):
            raise InputError(f"there is no stored pose {index + 1}; there are {len(self)}")
        number = self.numbers[index]
        return number, self._poses[number], self._own[number]

    def add(self, pose: Pose, own: Sequence[int] = ()) -> None:
        """Store a pose at the end. own: joints that the user has changed. Raises InputError if there are too many."""
        if len(self._poses) >= MOST:
            raise InputError(f"{MOST} poses are stored; remove one first")
        self._poses[self._next], self._own[self._next] = pose.copy(), list(own)
        self._next += 1

    def remove(self, index: int) -> None:
        """Remove a pose by its position; none if there is none."""
        numbers = self.numbers
        if 0 <= index < len(numbers):
            del self._poses[numbers[index]], self._own[numbers[index]]

    def time_of(self, index: int) -> float:
        """Return the time of a pose in the clip, seconds: in the middle of its hold."""
        return index * (HOLD + MOVE) + HOLD / 2

    def clip(self) -> Clip:
        """Return the clip that plays all poses and goes back to the first. At least one pose must be stored."""
        poses = list(self._poses.values())
        times, parts = [], []
        for n, pose in enumerate(poses):
            start, after = n * (HOLD + MOVE), poses[(n + 1) % len(poses)]
            shares = np.linspace(0.0, 1.0, STEPS + 1)[:-1]
            times += [start, *(start + HOLD + MOVE * shares)]
            parts += [pose, *(pose.blend(after, smoothstep(share)) for share in shares)]
        times.append(len(poses) * (HOLD + MOVE))
        parts.append(poses[0])
        batch = Pose.of(*(np.stack(arrays) for arrays in zip(*(part.arrays() for part in parts), strict=True)))
        return Clip.from_poses(POSES, self._skeleton, batch, times=times)

    # Snapshots.

    def state(self) -> list[Any]:
        """Return the poses as JSON values: of each joint that is not at rest, its number and its transform."""
        return [self._state_of(pose) | {"own": self._own[number]} for number, pose in self._poses.items()]

    def _state_of(self, pose: Pose) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for part in ("translations", "rotations"):
            now, rest = (np.asarray(getattr(p, part), float) for p in (pose, self._skeleton.rest))
            moved = np.flatnonzero(np.abs(now - rest).max(axis=-1) > CHANGED)
            found[part] = {str(j): np.round(now[j], DECIMALS).tolist() for j in moved.tolist()}
        return found

    def restore(self, state: Sequence[Any]) -> None:
        """Return to what `state` returned. It may come from outside: it is checked as any other input."""
        if not isinstance(state, list) or len(state) > MOST:
            raise InputError(f"poses must be a list of up to {MOST}")
        poses = [self._pose_of(one) for one in state]
        joints = range(len(self._skeleton))
        own = [[joint for joint in one.get("own", []) if joint in joints] for one in state]
        self._poses = {self._next + n: pose for n, pose in enumerate(poses)}
        self._own = {self._next + n: each for n, each in enumerate(own)}
        self._next += len(poses)

    def _pose_of(self, state: Any) -> Pose:
        translations, rotations, scales = (array.copy() for array in self._skeleton.rest.arrays())
        for part, array, width in (("translations", translations, 3), ("rotations", rotations, 4)):
            for joint, values in state[part].items():
                if not 0 <= int(joint) < len(array):
                    raise InputError(f"a stored pose has joint {joint!r:.20}; the character has {len(array)} joints")
                array[int(joint)] = np.clip(finite(part, values, width), -1e6, 1e6)
        return Pose(translations, rotations, scales)
