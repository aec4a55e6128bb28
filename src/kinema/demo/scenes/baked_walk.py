"""Bake what a walker shows: its clip on its ground, straight on from where it is now, with its dragged handles; or all
of its walk, as the page plays it, with the ground.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from kinema.bake import BakeSettings, MovingPoint, bake
from kinema.demo.scenes import grounds
from kinema.demo.scenes.actor import POSES, UP
from kinema.demo.scenes.character_files import saved
from kinema.demo.scenes.pose_layers import PoseLayers
from kinema.demo.scenes.scene import FileJob
from kinema.demo.scenes.walker import Walker
from kinema.errors import InputError
from kinema.io import names
from kinema.io.gltf.fresh import add_mesh
from kinema.io.gltf.writer import output_of
from kinema.math import arrays
from kinema.model.character import Character
from kinema.model.clip import Clip
from kinema.model.pose import Pose
from kinema.model.rig import Rig
from kinema.stages.feet.feet import Feet

LONGEST_BAKED = 120.0
"""Longest clip that is baked, seconds: a page waits three minutes for a file."""
WAY_POINTS_A_SECOND = 10.0
"""Samples per second of a dragged handle that moves along over uneven ground."""


SHOWN_FPS = 30.0
"""Poses per second of a walk as the page shows it; its stages run twice as often."""
CHANGED_FPS = 60.0
"""Poses per second of a clip with stored poses or bends laid over it."""


def bake_job(walker: Walker) -> FileJob:
    """Return the work that makes the character's file with the clip as it is shown and, if handles are dragged, the
    current pose.

    Everything is taken from the walker now: it may go on meanwhile.
    """
    character, rig = walker.actor.original, walker.character.rig
    take = None
    if walker.clip is not None and rig is not None:
        laid = _changed(walker.character.clips[walker.clip], walker.layers.over, bool(walker.layers.layers))
        take = _Take(walker, rig, laid).checked()
    after = PoseLayers(walker.character.skeleton)
    after.take(walker.layers)
    settings, baked_character = None if take is None else take.settings(), walker.character
    poses = [_shown_pose(walker, "held pose")] if walker.held.holds or take is None else []

    def job(progress: Callable[[float], None]) -> bytes:
        if take is None or settings is None:
            return _saved_with(character, poses)
        clip = bake(baked_character, take.clip, settings, progress=progress).clip
        clip = _changed(
            clip, lambda pose, times, duration: after.turn(after.bend(pose)), bool(after.bent or after.turned)
        )
        return _saved_with(character, [clip, *poses])

    return job


def walk_job(walker: Walker, seconds: float | None) -> FileJob:
    """Return the work that makes a file of the character as the page shows it, pulled and steered as it is, walking
    over its ground, with the ground.

    seconds: None for one round, from the start of the ground.
    """
    recorded = walker.copy()
    if not recorded.speed:
        recorded.set_speed(1.0)  # A walk that stands still would be a pose.
    if seconds is None:
        recorded.go_to(0.0, None, 0.0)

    def job(progress: Callable[[float], None]) -> bytes:
        clip = _recorded(recorded, seconds, progress)
        document = output_of(replace(recorded.actor.original, clips={clip.name: clip}))
        vertices, triangles = grounds.body_of(recorded.ground)
        add_mesh(document, f"ground: {recorded.ground}", vertices * recorded.actor.size, triangles)
        return b"".join(document.glb())

    return job


def _recorded(walker: Walker, seconds: float | None, progress: Callable[[float], None]) -> Clip:
    """Return the clip of a walker that walks on. Its roots take the travel."""
    skeleton = walker.character.skeleton
    roots = np.flatnonzero(skeleton.parents < 0)
    poses: list[Any] = []
    times: list[float] = []
    while True:
        own = [np.array(array) for array in walker.pose.arrays()]
        transform = np.asarray(walker.frame.transform, float)
        turn = arrays.from_matrix(transform[:3, :3])
        own[0][roots] = own[0][roots] @ transform[:3, :3].T + transform[:3, 3]
        own[1][roots] = arrays.mul(turn, own[1][roots])
        poses.append(own)
        times.append(len(times) / SHOWN_FPS)
        share = times[-1] / seconds if seconds else walker.way / walker.round
        progress(min(share, 0.99))
        if share >= 1.0:
            break
        if times[-1] >= LONGEST_BAKED:
            raise InputError(
                f"one round takes more than {LONGEST_BAKED:.0f} s at this speed; choose some seconds of it"
            )
        for _ in range(2):
            walker.step(0.5 / SHOWN_FPS)
    batch = Pose.of(*(np.stack(part) for part in zip(*poses, strict=True)))
    return Clip.from_poses(f"{walker.clip or 'pose'} on {walker.ground}", skeleton, batch, times=times)


def baked_file(walker: Walker) -> bytes:
    """Return the file that `bake_job` makes."""
    return bake_job(walker)(lambda share: None)


def pose_file(walker: Walker) -> bytes:
    """Return the character's file with the pose that is shown as its only clip, of one frame."""
    return _saved_with(replace(walker.actor.original, clips={}), [_shown_pose(walker, "pose")])


def _changed(clip: Clip, change: Callable[[Pose, Any, float], Pose], wanted: bool) -> Clip:
    """Return a clip with all its poses changed, if that is wanted. change: of poses, their times and the duration."""
    duration = float(clip.duration or 0.0)
    if not wanted or not duration:
        return clip
    times = np.linspace(0.0, duration, max(round(duration * CHANGED_FPS), 1) + 1)
    poses = change(clip.sample(times), times, duration)
    return Clip.from_poses(clip.name, clip.skeleton, poses, times=times, events=clip.events)


def _shown_pose(walker: Walker, name: str) -> Clip:
    still = Pose.of(*(array[np.newaxis] for array in walker.pose.arrays()))
    return Clip.from_poses(name, walker.character.skeleton, still, times=(0.0,))


def _saved_with(character: Character, clips: Sequence[Clip]) -> bytes:
    for clip in clips:
        name = names.unique([*character.clips, clip.name])[-1]
        character = replace(character, clips=character.clips | {name: replace(clip, name=name)})
    return saved(character)


@dataclass(frozen=True)
class _Take:
    """A clip to bake along the path of a walker. The rig's up is +Y."""

    walker: Walker
    rig: Rig
    clip: Clip

    def checked(self) -> _Take:
        """Return itself. Raises InputError if the clip is too long."""
        if self._duration > LONGEST_BAKED:
            raise InputError(
                f"{self.clip.name!r:.60} lasts {self._duration:.0f} s; the page bakes up to {LONGEST_BAKED:.0f} s. "
                "Use `kinema bake` for longer clips"
            )
        return self

    def settings(self) -> BakeSettings:
        walker, held = self.walker, self.walker.held
        feet = walker.feet_work and float(np.dot(self.rig.up, UP)) > 0.999
        forward = self._rotation @ np.array(self.rig.forward)
        start = self._over(0.0) - self._rotation @ self._hips[0]
        pulled = held.is_pulled and walker.weights["body"] > 0.0
        gaze = held.holds.get("gaze")
        return BakeSettings(
            ground=walker.ground_shape if feet else None,
            at=(float(start[0]), float(start[2])),
            heading=float(np.arctan2(forward[0], forward[2])),
            travel=False if walker.clip == POSES else None,
            keep_strides=True,  # It goes as far as it does on the screen.
            look_at=self._moving(gaze.position) if gaze and walker.weights["head"] else None,
            pull=self._pulls() if pulled else {},
            pin=[f"{leg.name}_foot" for leg in self.rig.legs if f"foot {leg.name}" not in held.holds] if pulled else (),
            feet=Feet(weight=walker.weights["feet"] if feet else 1.0),
        )

    def _pulls(self) -> dict[str, MovingPoint]:
        """Return where held joints are, by name. Of a part that was grabbed beside its joint, where the joint is."""
        walker, pulls = self.walker, {}
        for handle, hold in walker.held.holds.items():
            grip = walker.held.grips[handle]
            at = walker.own_position(walker.world[grip.joint, :3, 3]) if any(grip.offset) else hold.position
            if grip.kind != "gaze":
                pulls[self.rig.skeleton.names[grip.joint]] = self._moving(at)
        return pulls

    @property
    def _duration(self) -> float:
        return float(self.clip.duration or 0.0)

    @cached_property
    def _hips(self) -> Any:
        """(2, 3): position of the hips at the start and the end of the clip, in its own space, with its travel."""
        return self.rig.skeleton.world(self.clip.sample((0.0, self._duration)))[:, self.rig.hips, :3, 3].astype(float)

    @cached_property
    def _travel(self) -> Any:
        """(3,): travel of the clip along its floor."""
        up, way = np.array(self.rig.up), self._hips[1] - self._hips[0]
        return way - up * (way @ up)

    @cached_property
    def _rotation(self) -> Any:
        """(3, 3): rotation of the clip's space that points its travel along the walker's heading."""
        motion, way = self.walker.motion, float(np.linalg.norm(self._travel))
        ahead = self._travel / way if motion.extract and way else motion.ahead
        upright = self.walker.actor.upright(replace(motion, ahead=ahead))
        return arrays.to_matrix(arrays.mul(arrays.from_axis_angle(UP, self.walker.spot.heading), upright))

    def _over(self, seconds: float) -> Any:
        """Return (3,): the position on the path after some seconds of the clip, at height 0."""
        spot, motion = self.walker.spot, self.walker.motion
        way = float(np.linalg.norm(self._travel)) if motion.extract else motion.speed * self._duration
        ahead = np.array((np.sin(spot.heading), 0.0, np.cos(spot.heading)))
        gone = ahead * way * seconds / self._duration if self._duration else 0.0
        return np.array((spot.x, 0.0, spot.z)) * self.walker.actor.size + gone

    def _moving(self, at: Any) -> MovingPoint:
        """Return a dragged handle, given in the walker's space, as it moves along over the ground."""
        times = np.linspace(0.0, max(self._duration, 1.0), max(round(self._duration * WAY_POINTS_A_SECOND), 1) + 1)
        rotation = np.asarray(self.walker.frame.transform[:3, :3], float)
        points = []
        for seconds in times.tolist():
            over = self._over(seconds)
            points.append(over + self.walker.ground_at(over) * UP + rotation @ (at - self.walker.motion.centre))
        return MovingPoint(times, np.array(points))
