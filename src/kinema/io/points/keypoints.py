"""Keypoints in JSON: the result files of MediaPipe, OpenPose, AlphaPose and MMPose, COCO's results, and plain lists.

None of them has a schema that says which it is, so the tree itself is looked at: a file is a frame or a list of frames,
a frame a person or a list of people, a person a list of points. AlphaPose and COCO list people, each with the name of
its image.
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

import numpy as np

from kinema.errors import FileError
from kinema.io.points.people import Sighting, sorted_into_takes
from kinema.io.points.take import LAYOUTS, PointTake

LARGEST_FILE = 64 * 2**20
"""Bytes of a file, or of all files of a folder: as Python's objects they take ten times as much."""

_MOST_POINTS = 4_096
"""Points of a person. Faces, hands and body together have some hundred."""

_WORLD = ("worldLandmarks", "poseWorldLandmarks", "pose_world_landmarks", "world_landmarks")
_IMAGE = ("landmarks", "poseLandmarks", "pose_landmarks", "landmark", "points", "keypoints_3d", "keypoints")
_FRAMES = ("frames", "results", "instance_info", "annotations", "predictions", "data", "points", "keypoints")
_PEOPLE = ("people", "instances", "persons")
_SCORES = ("visibility", "score", "confidence", "presence")


def read(data: bytes, file: str) -> tuple[PointTake, ...]:
    """Read the takes of a .json file."""
    tree = _parsed(data, file)
    if isinstance(tree, dict) and "asset" in tree:
        raise FileError("glTF files hold joints, not points; km.load reads them", file)
    return _Reader(file).takes([(0, tree)])


def read_folder(folder: Path, max_bytes: int) -> tuple[PointTake, ...]:
    """Read the takes of a folder with a .json file per frame, numbered by the last number in their names."""
    paths = sorted(path for path in folder.iterdir() if path.suffix.lower() == ".json" and path.is_file())
    if not paths:
        raise FileError("the folder has no .json files", folder.name)
    numbers = _numbered([path.stem for path in paths])
    frames, left = [], max_bytes
    for number, path in zip(numbers, paths, strict=True):
        with path.open("rb") as stream:
            data = stream.read(left + 1)
        left -= len(data)
        if left < 0:
            raise FileError(f"its files are larger than {max_bytes:,} bytes", folder.name)
        frames.append((number, _parsed(data, path.name)))
    return _Reader(folder.name).takes(frames)


def _parsed(data: bytes, file: str) -> Any:
    try:
        return json.loads(data.decode("utf-8-sig", "replace"))
    except json.JSONDecodeError as problem:
        raise FileError(f"not JSON: {problem.msg}", file, problem.lineno) from None
    except (ValueError, RecursionError) as problem:  # Numbers of thousands of digits, lists inside each other.
        raise FileError(f"not JSON that can be read: {str(problem)[:120]}", file) from None


def _numbered(stems: list[str]) -> list[int]:
    """Return the number of each frame by the last number of its name; in order of the names if they have none."""
    found = [re.search(r"(\d{1,15})\D*$", stem) for stem in stems]
    numbers = [int(match[1]) for match in found if match]
    order = {stem: i for i, stem in enumerate(dict.fromkeys(stems))}
    if len(numbers) < len(stems) or max(numbers) - min(numbers) > 100 * len(order):
        return [order[stem] for stem in stems]
    return [number - min(numbers) for number in numbers]


@dataclass
class _Reader:
    """Reads one file: what it found out about the kind of points."""

    file: str
    layout: str | None = None
    unit: float | None = None
    names: tuple[str, ...] = ()
    fps: float | None = None
    place: str = "the file"

    def fail(self, problem: str) -> NoReturn:
        raise FileError(f"{self.place}: {problem}", self.file)

    def takes(self, files: list[tuple[int, Any]]) -> tuple[PointTake, ...]:
        """files: (number of the frame, tree) of each file."""
        frames = self.frames(files[0][1]) if len(files) == 1 else dict(files)
        sightings, last = [], 0
        for number, frame in frames.items():
            self.place = f"frame {number}"
            last = max(last, number)
            try:
                sightings += [self.sighting(number, person) for person in self.people(frame) if person]
            except RecursionError:
                self.fail("objects inside each other without end")
        kept = [sighting for sighting in sightings if sighting is not None]
        if not kept:
            raise FileError("no keypoints in it: expected MediaPipe's, OpenPose's, AlphaPose's or lists", self.file)
        known = {"layout": self.layout, "unit": self.unit}
        return sorted_into_takes(self.file, kept, last + 1, self.names, self.fps, known)

    def frames(self, tree: Any) -> dict[int, Any]:
        """Return the frames of a file by their number."""
        if isinstance(tree, dict):
            rate = tree.get("fps", tree.get("frame_rate"))
            self.fps = float(rate) if isinstance(rate, int | float) and 0 < rate < 1e5 else None
            names = tree.get("names")
            if isinstance(names, list) and names and all(isinstance(name, str) for name in names):
                self.names = tuple(names)
            inner = next((tree[key] for key in _FRAMES if _depth(tree.get(key)) > 1), None)
            if inner is None or any(key in tree for key in _PEOPLE):
                return {0: tree}
            return self.frames(inner)
        if not isinstance(tree, list):
            self.fail("expected a list of frames or an object")
        if tree and all(isinstance(each, dict) and "image_id" in each for each in tree):
            by_frame = defaultdict(list)
            for number, person in zip(_numbered([str(each["image_id"])[:200] for each in tree]), tree, strict=True):
                by_frame[number].append(person)
            return dict(by_frame)
        if _is_points(tree):
            return {0: tree}
        return dict(enumerate(tree))

    def people(self, frame: Any) -> list[Any]:
        """Return the people of a frame."""
        if frame is None:
            return []
        if isinstance(frame, dict):
            for key in _PEOPLE:
                if isinstance(frame.get(key), list):
                    return frame[key]
            world = next((frame[key] for key in _WORLD if frame.get(key)), None)
            if world is not None:
                self.unit = 1.0
                return self.people(world)
            inner = next((frame[key] for key in _IMAGE if frame.get(key)), None)
            return [frame] if "keypoints" in frame or "pose_keypoints_2d" in frame else self.people(inner)
        if not isinstance(frame, list):
            self.fail(f"expected a list of points, got {type(frame).__name__}")
        return [frame] if _is_points(frame) else frame

    def sighting(self, number: int, person: Any) -> Sighting | None:
        """Read the points of one person."""
        identity = None
        if isinstance(person, dict):
            identity = next((_whole(person.get(key)) for key in ("person_id", "idx", "track_id")), None)
            if "landmark" in person:
                person = person["landmark"]
            else:
                return self.of_detector(number, identity, person)
        if not _is_points(person):
            self.fail("expected points of two to four numbers, or objects with x and y")
        if isinstance(person[0], dict):
            self.layout = self.layout or {33: "mediapipe33"}.get(len(person))
            self.names = self.names or self.named(person)
            values = [[point.get(axis) for axis in "xyz"] for point in person]
            scores = [next((point[key] for key in _SCORES if key in point), None) for point in person]
            seen = None if all(score is None for score in scores) else self.numbers(scores)
            return self.made(number, identity, self.numbers(values), seen)
        return self.made(number, identity, self.numbers(person), None)

    def of_detector(self, number: int, identity: int | None, person: dict[str, Any]) -> Sighting | None:
        """Read the flat lists of OpenPose, AlphaPose and COCO, or MMPose's points and scores."""
        key = next((key for key in ("pose_keypoints_3d", "pose_keypoints_2d", "keypoints") if person.get(key)), None)
        if key is None:
            return None
        values = self.numbers(person[key])
        if values.ndim not in (1, 2):
            self.fail(f"{key!r} is {person[key]!r:.60}; expected a list of numbers or of points")
        if values.ndim == 1:
            size = 4 if key.endswith("3d") else 3
            if len(values) % size:
                self.fail(f"{key!r} has {len(values)} numbers; expected a multiple of {size}")
            values = values.reshape(-1, size)
            values, scores = values[:, :-1], values[:, -1]
        else:
            given = person.get("keypoint_scores")
            scores = np.ones(len(values)) if given is None else self.numbers(given)
        if values.ndim != 2 or scores.shape != values.shape[:1]:
            self.fail(f"{key!r} has the shape {values.shape} and its scores {scores.shape}")
        values = np.where((scores > 0)[:, None], values, np.nan)
        self.layout = self.layout or LAYOUTS.get(len(values))
        return self.made(number, identity, values, scores)

    def made(self, number: int, identity: int | None, values: Any, scores: Any) -> Sighting:
        if values.ndim != 2 or len(values) > _MOST_POINTS or values.shape[1] not in (2, 3, 4):
            self.fail(f"points have the shape {values.shape}; expected (points, 2 to 4)")
        return Sighting(number, identity, values, scores)

    def numbers(self, values: Any) -> Any:
        try:
            return np.array(values, np.float64)
        except (ValueError, TypeError, OverflowError):
            self.fail("expected lists of numbers of one length")

    def named(self, person: list[Any]) -> tuple[str, ...]:
        names = [point.get("name") for point in person]
        return tuple(names) if all(isinstance(name, str) and name for name in names) else ()


def _depth(tree: Any) -> int:
    """Count how many lists or objects lie inside each other, up to three, along the first elements."""
    depth = 0
    while isinstance(tree, (list, dict)) and tree and depth < 3:
        depth += 1
        tree = tree[0] if isinstance(tree, list) else next(iter(tree.values()))
    return depth


def _is_points(tree: Any) -> bool:
    """Whether a value is a list of points: of objects with x and y, or of two to four numbers."""
    if not isinstance(tree, list) or not tree:
        return False
    if all(isinstance(each, dict) and "x" in each and "y" in each for each in tree):
        return True
    return all(
        isinstance(each, list) and len(each) in (2, 3, 4) and not any(isinstance(part, (list, dict)) for part in each)
        for each in tree
    )


def _whole(value: Any) -> int | None:
    """Return the number of a person: a whole number from 0, perhaps alone in a list."""
    value = value[0] if isinstance(value, list) and len(value) == 1 else value
    return int(value) if type(value) in (int, float) and 0 <= value < 2**31 else None
