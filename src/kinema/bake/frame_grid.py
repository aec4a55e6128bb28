"""Which of the frames that were computed become keys: every so many of them, or exactly so many a second.

A shot's frames divide its length evenly, so that a loop closes; a game or a film wants its keys on its own frames.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from kinema.bake.animating import Made
from kinema.bake.constants import ON_FRAME
from kinema.bake.shot import Shot
from kinema.clip import Clip
from kinema.math import arrays
from kinema.pose import Pose


def keys_of(shot: Shot, made: Made, fps: float | None) -> tuple[Shot, Made]:
    """The frames of a shot that become keys, and what was made of them. made: of all frames that do not lead in.

    fps: keys at k / fps exactly, and one at the end; None: those that the shot keeps.
    """
    if fps is None:
        every = slice(None, None, shot.stride)
        return shot.kept, Made(made.poses[every], made.places[every], made.world[every])
    shot = shot.without_lead
    times = _grid(float(shot.times[-1]), fps)
    poses, places = _poses_at(shot, made.poses, times), _places_at(shot, made.places, times)
    made = Made(poses, places, places[:, np.newaxis] @ shot.rig.skeleton.world(poses))
    return replace(
        shot,
        times=times,
        poses=_poses_at(shot, shot.poses, times),
        places=_places_at(shot, shot.places, times),
        planted=_planted_at(shot, times),
        stride=1,
    ), made


def _grid(end: float, fps: float) -> Any:
    """(F,): moments k / fps from 0 to the end, which is the last of them wherever it lies."""
    times = np.arange(int(end * fps + ON_FRAME) + 1) / fps
    return times if end - times[-1] < ON_FRAME / fps else np.append(times, end)


def _between(shot: Shot, times: Any) -> tuple[Any, Any]:
    """(F,), (F,): the frame before each moment, and how far on the way to the next one it is, 0 to 1."""
    at = np.clip(times / shot.dt, 0.0, len(shot.times) - 1)
    left = np.minimum(at.astype(np.int64), len(shot.times) - 2)
    return left, at - left


def _poses_at(shot: Shot, poses: Pose, times: Any) -> Pose:
    return Clip.from_poses("frames", shot.rig.skeleton, poses, times=shot.times).sample(times)


def _places_at(shot: Shot, places: Any, times: Any) -> Any:
    """(F, 4, 4): places in between."""
    left, share = _between(shot, times)
    turns = arrays.from_matrix(places[:, :3, :3])
    made = np.tile(np.eye(4), (len(times), 1, 1))
    made[:, :3, :3] = arrays.to_matrix(arrays.slerp(turns[left], turns[left + 1], share))
    made[:, :3, 3] = places[left, :3, 3] + share[:, np.newaxis] * (places[left + 1, :3, 3] - places[left, :3, 3])
    return made


def _planted_at(shot: Shot, times: Any) -> Any:
    """(F, L): which feet stand: those that do on both sides. On a frame, both sides are that frame."""
    left, share = _between(shot, times)
    before = np.where(share > 1.0 - ON_FRAME, left + 1, left)
    after = np.where(share < ON_FRAME, left, left + 1)
    return shot.planted[before] & shot.planted[after]
