"""Who is who: sort what was seen in each frame into one take per person."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from kinema.errors import FileError
from kinema.io.points.take import PointTake, check_size, stem, take

_REACH = 0.5
"""How far a person's middle moves from one frame to the next at most, in sizes of the person: a sprinter filmed at 10
frames per second."""

_PATIENCE = 30
"""Frames after which somebody who was not seen counts as gone: a second of video. Whoever comes later is another."""

MOST_PEOPLE = 200
"""People in a frame who are followed by where they are: each is compared with all of the last frames."""


@dataclass
class Sighting:
    """A person in one frame."""

    frame: int
    identity: int | None
    """Number of the person by the file; None if it does not say."""
    points: Any
    """(K, 2 to 4)."""
    confidence: Any
    """(K,) or None."""


def sorted_into_takes(
    file: str, seen: list[Sighting], frames: int, names: tuple[str, ...], fps: float | None, known: dict[str, Any]
) -> tuple[PointTake, ...]:
    """Return a take per person, those seen longest first. frames: of the file. known: further fields of the takes."""
    shape = seen[0].points.shape
    for sighting in seen:
        if sighting.points.shape != shape:
            problem = f"points have the shape {sighting.points.shape}; before it was {shape}"
            raise FileError(f"frame {sighting.frame}: {problem}", file)
    people = _by_identity(seen) if all(one.identity is not None for one in seen) else _by_place(file, seen)
    check_size(file, len(people), frames, *shape)
    makes = []
    for i, person in enumerate(sorted(people, key=len, reverse=True)):
        points = np.full((frames, *shape), np.nan)
        scores = None if person[0].confidence is None else np.zeros((frames, shape[0]))
        for sighting in person:
            points[sighting.frame] = sighting.points
            if scores is not None and sighting.confidence is not None:
                scores[sighting.frame] = sighting.confidence
        if np.isfinite(points).any() or len(people) == 1:
            name = stem(file) if len(people) == 1 else f"{stem(file)} {i + 1}"
            makes.append(take(file, points, names, fps, scores, name=name, **known))
    if not makes:
        raise FileError("not a single point is there in any frame", file)
    return tuple(makes)


def _by_identity(seen: list[Sighting]) -> list[list[Sighting]]:
    people: dict[int | None, list[Sighting]] = {}
    for sighting in seen:
        people.setdefault(sighting.identity, []).append(sighting)
    return list(people.values())


def _by_place(file: str, seen: list[Sighting]) -> list[list[Sighting]]:
    """Follow people from frame to frame: whoever is nearest continues, within half a body's size."""
    by_frame: dict[int, list[Sighting]] = {}
    for sighting in seen:
        by_frame.setdefault(sighting.frame, []).append(sighting)
    if all(len(each) == 1 for each in by_frame.values()):
        return [seen]
    people: list[list[Sighting]] = []
    active: list[tuple[list[Sighting], Any]] = []  # Somebody's sightings, and the middle of the last one.
    for frame in sorted(by_frame):
        active = [(person, middle) for person, middle in active if frame - person[-1].frame <= _PATIENCE]
        if len(by_frame[frame]) > MOST_PEOPLE:
            problem = f"{len(by_frame[frame]):,} people are in it; at most {MOST_PEOPLE} can be told apart"
            raise FileError(f"frame {frame}: {problem}", file)
        here = [(sighting, *_middle(sighting)) for sighting in by_frame[frame]]
        followed: set[int] = set()
        taken: dict[int, int] = {}
        for i, k in _nearest_first(here, active):
            if i not in taken and k not in followed:
                taken[i] = k
                followed.add(k)
        for i, (sighting, middle, _) in enumerate(here):
            if i in taken:
                active[taken[i]][0].append(sighting)
                active[taken[i]] = (active[taken[i]][0], middle)
            elif np.isfinite(middle).all():
                people.append([sighting])
                active.append((people[-1], middle))
    return people


def _nearest_first(
    here: list[tuple[Sighting, Any, float]], active: list[tuple[list[Sighting], Any]]
) -> list[list[int]]:
    """Return which of those here may be which of those before, by number, the nearest pair first."""
    if not active:
        return []
    middles, lasts = np.array([middle for _, middle, _ in here]), np.array([last for _, last in active])
    away = np.linalg.norm(middles[:, np.newaxis] - lasts, axis=-1)
    pairs = np.argwhere(away <= _REACH * np.array([size for _, _, size in here])[:, np.newaxis])
    nearest: list[list[int]] = pairs[np.argsort(away[tuple(pairs.T)], kind="stable")].tolist()
    return nearest


def _middle(sighting: Sighting) -> tuple[Any, float]:
    """Return the middle of a person and its size; NaN if nothing is seen of it."""
    points = sighting.points[:, : 3 if sighting.points.shape[1] == 4 else None]
    points = points[np.isfinite(points).all(1)]
    if not len(points):
        return np.full(points.shape[1], np.nan), 0.0
    return np.median(points, 0), float(np.linalg.norm(np.ptp(points, axis=0)))
