"""`Shot`: the frames of a clip as they are to be baked, and where its character is in each of them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from kinema import metrics
from kinema.bake.constants import DEFAULT_FPS, FASTEST_FPS, LOOP_ANGLE, MOST_FRAMES, SLOWEST_FPS
from kinema.bake.settings import Settings
from kinema.bake.travel import Travel, clip_floor, travel_of
from kinema.clip import Clip
from kinema.errors import InputError
from kinema.math import arrays
from kinema.pose import Pose
from kinema.rig import Rig
from kinema.root_motion import Root


@dataclass(frozen=True, eq=False)
class Shot:
    """The frames of a clip, evenly spaced, the end included. F frames.

    times: (F,), seconds. poses: (F,). places: (F, 4, 4), where the character's space is, on level ground, seen from the
    first frame. lead_in: as many frames that come before, where the clip is a loop; None where it is not. travel: what
    its planted feet say. in_place: whether the clip walks in place. closed: whether it is a loop.
    """

    times: Any
    poses: Pose
    places: Any
    lead_in: tuple[Pose, Any] | None
    travel: Travel
    in_place: bool
    closed: bool

    @property
    def dt(self) -> float:
        return float(self.times[1] - self.times[0])

    def world(self, rig: Rig) -> Any:
        """(F, J, 4, 4): the clip on level ground."""
        return self.places[:, np.newaxis] @ rig.skeleton.world(self.poses)


def own_rate(clip: Clip) -> float:
    """Frames a second of a clip's keys: of the track that has the most of them."""
    times = max((track.times for track in clip.tracks), key=len, default=np.zeros(1))
    if len(times) < 2:
        return DEFAULT_FPS
    return float(np.clip(1.0 / np.median(np.diff(times)), SLOWEST_FPS, FASTEST_FPS))


def floor_of(rig: Rig, clip: Clip) -> Rig:
    """The rig with the floor that this clip was made on."""
    if not rig.legs:
        return rig
    frames = _frames(clip, own_rate(clip))
    return replace(rig, floor=clip_floor(rig, metrics.sole_points(rig, clip.sample(frames))))


def take(rig: Rig, clip: Clip, settings: Settings) -> Shot:
    """The frames to be baked: sampled, moved by the feet if that is wanted, and repeated."""
    if settings.in_place:
        clip = clip.in_place(up=rig.up)
    times = _frames(clip, settings.fps or own_rate(clip))
    if settings.loops * (times.size - 1) > MOST_FRAMES:
        raise InputError(
            f"clip {clip.name!r} would have {settings.loops * times.size} frames; allowed are {MOST_FRAMES}: "
            "ask for fewer loops or fewer frames a second"
        )
    poses = clip.sample(times)
    closed = _is_loop(rig, poses)
    dt = float(times[1] - times[0])
    travel = travel_of(rig, rig.skeleton.world(poses), dt, closed=closed)
    in_place = travel.needed
    moves = (
        (settings.places_feet and in_place and not settings.in_place) if settings.travel is None else settings.travel
    )
    places = travel.places(rig.up, dt) if moves else np.broadcast_to(np.eye(4), (times.size, 4, 4))
    one_pass = places[-1] @ _own_travel(rig, clip) if closed else np.eye(4)
    return Shot(
        *_repeated(times, poses, places, one_pass, settings.loops),
        (poses[:-1], np.linalg.inv(one_pass) @ places[:-1]) if closed else None,
        travel,
        in_place,
        closed,
    )


def _frames(clip: Clip, fps: float) -> Any:
    """(F,): moments of a clip, from its start to its end, as near to so many a second as that allows."""
    duration = float(clip.duration or 0.0)
    if duration <= 0.0:
        return np.array((0.0, 1.0 / fps))
    return np.linspace(0.0, duration, max(round(duration * fps), 1) + 1)


def _is_loop(rig: Rig, poses: Pose) -> bool:
    """Whether the last frame is the first once more, wherever it has got to."""
    below = np.setdiff1d(rig.skeleton.below([rig.hips]), [rig.hips])
    turned = arrays.angle_between(poses.rotations[0, below], poses.rotations[-1, below])
    return poses.shape[0] > 2 and bool(turned.max(initial=0.0) < LOOP_ANGLE)


def _own_travel(rig: Rig, clip: Clip) -> Any:
    """(4, 4): how far a clip that travels gets in one pass, in the character's own space."""
    root = Root(rig.skeleton, int(rig.hips), rig.up)
    start, end = (_as_matrix(place, rig.up) for place in clip.root_ends(root, rig.skeleton.rest.precision))
    return end @ np.linalg.inv(start)


def _as_matrix(place: Any, up: Any) -> Any:
    matrix = np.eye(4)
    matrix[:3, :3] = arrays.to_matrix(arrays.from_axis_angle(np.array(up), place[3]))
    matrix[:3, 3] = place[:3]
    return matrix


def _repeated(times: Any, poses: Pose, places: Any, one_pass: Any, loops: int) -> tuple[Any, Pose, Any]:
    """Times, poses and places of several passes, each going on where the last one ended."""
    count = times.size - 1
    which = np.append(np.tile(np.arange(count), loops), count)
    passes = np.append(np.repeat(np.arange(loops), count), loops - 1)
    starts = [np.eye(4)]
    for _ in range(loops - 1):
        starts.append(starts[-1] @ one_pass)
    step = float(times[1] - times[0])
    return np.arange(which.size) * step, poses[which], np.array(starts)[passes] @ places[which]
