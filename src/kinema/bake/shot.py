"""`Shot`: the frames of a clip as they are to be baked, and where its character is in each of them."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from kinema import metrics
from kinema.bake.constants import (
    DEFAULT_FPS,
    FASTEST_FPS,
    IN_PLACE_GOES,
    INNER_FPS,
    LEAD_IN,
    LOOP_GAP,
    MOST_FRAMES,
    PLANT_HEIGHT,
    PLANTED_SHARE,
    SPARSE_FPS,
)
from kinema.bake.settings import BakeSettings
from kinema.bake.travel import Travel, travel_of
from kinema.clip import Clip
from kinema.constants import PLANTED_SPEED
from kinema.errors import InputError
from kinema.math import arrays
from kinema.pose import Pose
from kinema.rig import Rig
from kinema.root_motion import Root


@dataclass(frozen=True, eq=False)
class Shot:
    """The frames of a clip, evenly spaced, the end included. F frames.

    times: (F,), seconds. poses: (F,). places: (F, 4, 4), where the character's space is, on level ground. planted:
    (F, L), which feet stand. lead: how many frames of them come before the first one: a pass of a clip that loops, for
    whoever has to get going. stride: of the others, every so many is kept: in between, springs and feet have time to
    do what they do. rig: with the floor that the clip was made on. travel: what its planted feet say.
    """

    times: Any
    poses: Pose
    places: Any
    planted: Any
    lead: int
    stride: int
    rig: Rig
    travel: Travel
    moved: bool = False
    """Whether its planted feet move the character."""

    @property
    def dt(self) -> float:
        return float(self.times[1] - self.times[0])

    @property
    def without_lead(self) -> Shot:
        """Without what comes before."""
        return self._part(slice(self.lead, None), self.stride)

    @property
    def kept(self) -> Shot:
        """The frames of the new clip alone."""
        return self._part(slice(self.lead, None, self.stride), 1)

    def _part(self, frames: slice, stride: int) -> Shot:
        parts = {name: getattr(self, name)[frames] for name in ("times", "poses", "places", "planted")}
        return replace(self, **parts, lead=0, stride=stride)

    @property
    def world(self) -> Any:
        """(F, J, 4, 4): the clip at its places."""
        return self.places[:, np.newaxis] @ self.rig.skeleton.world(self.poses)


def own_rate(clip: Clip) -> float:
    """Frames a second of a clip's keys: of the track that has the most of them, if it has one in each frame."""
    times = max((track.times for track in clip.tracks), key=len, default=np.zeros(1))
    rate = 1.0 / float(np.median(np.diff(times))) if len(times) > 1 else 0.0
    return min(rate, FASTEST_FPS) if rate >= SPARSE_FPS else DEFAULT_FPS


def take(rig: Rig, clip: Clip, settings: BakeSettings) -> Shot:
    """The frames to be baked: sampled, moved by the feet if that is wanted, and repeated."""
    if settings.in_place:
        clip = clip.in_place(up=rig.up)
    times, stride = _frames(clip, settings)
    poses = clip.sample(times)
    closed = settings.loops > 1 or _is_loop(rig, poses)
    dt = float(times[1] - times[0])
    travel = travel_of(rig, rig.skeleton.world(poses), dt, closed=closed)
    own = _own_travel(rig, poses)
    stays = float(np.linalg.norm(own[:3, 3])) < IN_PLACE_GOES * rig.leg_length
    wanted = settings.on_treadmill or not settings.in_place
    moves = settings.places_feet and travel.needed and stays and wanted
    moves = moves if settings.travel is None else settings.travel
    places = travel.places(rig.up, dt) if moves else np.broadcast_to(np.eye(4), (times.size, 4, 4))
    one_pass = places[-1] @ own
    which, places = _repeated(places, one_pass, range(-1 if closed else 0, settings.loops))
    lead = min(times.size - 1, round(LEAD_IN / dt)) if closed else 0
    total = settings.loops * (times.size - 1) + 1 + lead
    which, places = which[-total:], places[-total:]
    rig = replace(rig, floor=travel.floor)
    shot = Shot((np.arange(which.size) - lead) * dt, poses[which], places, None, lead, stride, rig, travel, moves)
    speed = max(PLANTED_SPEED, PLANTED_SHARE * travel.speed)
    return replace(shot, planted=metrics.planted_from(rig, shot.world, dt, height=PLANT_HEIGHT, speed=speed))


def _frames(clip: Clip, settings: BakeSettings) -> tuple[Any, int]:
    """(F,): moments of a clip, from its first key to its end, and how many of them make one frame: as near to so many
    frames a second as the clip's length allows.

    Clips often begin a frame late: nothing moves before the first key, and a walk would halt there in every pass.
    """
    fps = settings.fps or own_rate(clip)
    start, end = min((float(track.times[0]) for track in clip.tracks), default=0.0), float(clip.duration or 0.0)
    stride, count = math.ceil(INNER_FPS / fps), max(round((end - start) * fps), 1)
    if settings.loops * count * stride > MOST_FRAMES:
        raise InputError(
            f"clip {clip.name!r} would have {settings.loops * count} frames; allowed are {MOST_FRAMES // stride}: "
            "ask for fewer loops or fewer frames a second"
        )
    step = (end - start) / count if end > start else 1.0 / fps
    return start + np.arange(count * stride + 1) * (step / stride), stride


def _is_loop(rig: Rig, poses: Pose) -> bool:
    """Whether the last frame has the feet where the first has them, seen from the hips."""
    if not rig.legs or poses.shape[0] < 3:
        return False
    world = rig.skeleton.world(poses[[0, -1]])
    soles = metrics.sole_points(rig, world) - world[:, rig.hips, np.newaxis, np.newaxis, :3, 3]
    return float(np.abs(soles[0] - soles[1]).max()) < LOOP_GAP * rig.leg_length


def _own_travel(rig: Rig, poses: Pose) -> Any:
    """(4, 4): how far the hips get over the ground by themselves, in the character's own space."""
    root = Root(rig.skeleton, int(rig.hips), rig.up)
    start, end = (_as_matrix(place, rig.up) for place in root.places_of(np.arange(2), *poses[[0, -1]].arrays()))
    return end @ np.linalg.inv(start)


def _as_matrix(place: Any, up: Any) -> Any:
    matrix = np.eye(4)
    matrix[:3, :3] = arrays.to_matrix(arrays.from_axis_angle(np.array(up), place[3]))
    matrix[:3, 3] = place[:3]
    return matrix


def _repeated(places: Any, one_pass: Any, passes: range) -> tuple[Any, Any]:
    """Which frame of a pass comes when in several of them, and the places, each pass going on where the last ended."""
    count = len(places) - 1
    which = np.append(np.tile(np.arange(count), len(passes)), count)
    starts = [np.linalg.matrix_power(one_pass, number) for number in passes]
    return which, np.repeat(starts, [*[count] * (len(passes) - 1), count + 1], axis=0) @ places[which]
