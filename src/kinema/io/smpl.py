"""SMPL motion in .npz files, as AMASS and pose estimators write it: rotations of a body with 22, 24, 52 or 55 joints.

Read and written without a model file. Names and parents of joints are those that Loper et al. 2015 (SMPL), Romero et
al. 2017 (SMPL-H) and Pavlakos et al. 2019 (SMPL-X) publish. Bone lengths come from no model: they are the shares of
stature of Drillis and Contini 1966, as Winter, "Biomechanics and Motor Control of Human Movement", lists them. The rest
pose is a T-pose, y up, looking along +z.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

import numpy as np

from kinema.constants import LARGEST_FLOAT64, LONGEST_FRAME, SHORTEST_FRAME
from kinema.errors import FileError, listed
from kinema.io import numpy_files
from kinema.io.numpy_files import is_npz as detect
from kinema.io.source import Source
from kinema.math import arrays
from kinema.model.character import Character
from kinema.model.clip import Clip, Track
from kinema.model.pose import Pose
from kinema.model.skeleton import Skeleton

STATURE = 1.7
"""Metres: between the means of women and men."""

ORIGIN = {22: -0.23, 24: -0.23, 52: -0.23, 55: -0.35}
"""Metres along y from the model's origin, which `trans` moves, to the pelvis, by the number of joints."""

_MIDDLE = (
    ("pelvis", "", (0.0, 0.555, 0.0)),
    ("spine1", "pelvis", (0.0, 0.62, -0.01)),
    ("spine2", "spine1", (0.0, 0.69, -0.01)),
    ("spine3", "spine2", (0.0, 0.73, 0.0)),
    ("neck", "spine3", (0.0, 0.85, -0.015)),
    ("head", "neck", (0.0, 0.9, 0.0)),
)
"""Name, parent, and position in shares of stature; heights of hip, knee, ankle and shoulder are the source's."""

_LEFT = (
    ("hip", "pelvis", (0.05, 0.53, 0.0)),
    ("knee", "hip", (0.05, 0.285, 0.0)),
    ("ankle", "knee", (0.05, 0.039, -0.012)),
    ("foot", "ankle", (0.055, 0.008, 0.065)),
    ("collar", "spine3", (0.045, 0.815, -0.01)),
    ("shoulder", "collar", (0.115, 0.818, -0.015)),
    ("elbow", "shoulder", (0.301, 0.818, -0.02)),
    ("wrist", "elbow", (0.447, 0.818, -0.015)),
    ("hand", "wrist", (0.5, 0.815, -0.01)),
)

_FINGERS = {
    "index": (0.503, 0.816, 0.0),
    "middle": (0.506, 0.817, -0.014),
    "pinky": (0.495, 0.812, -0.038),
    "ring": (0.501, 0.815, -0.027),
    "thumb": (0.465, 0.808, 0.004),
}
"""Where the first joint of each finger is; the others follow at the lengths of phalanges, straight on."""

_PHALANX = {"thumb": (0.013, -0.004, 0.012)}
_OTHER_PHALANX = (0.017, 0.0, 0.0)

_FACE = (
    ("jaw", "head", (0.0, 0.9, 0.01)),
    ("left_eye_smplhf", "head", (0.018, 0.935, 0.045)),
    ("right_eye_smplhf", "head", (-0.018, 0.935, 0.045)),
)

_ORDER = (
    *("pelvis", "left_hip", "right_hip", "spine1", "left_knee", "right_knee", "spine2", "left_ankle", "right_ankle"),
    *("spine3", "left_foot", "right_foot", "neck", "left_collar", "right_collar", "head", "left_shoulder"),
    *("right_shoulder", "left_elbow", "right_elbow", "left_wrist", "right_wrist"),
)
"""The 22 joints that all bodies begin with."""


__all__ = ["LARGEST_FILE", "SmplSource", "decode", "detect", "motion_of"]

LARGEST_FILE = 256 * 2**20
"""Bytes of a file: an hour of 55 joints at 120 frames per second is half of it."""

MOST_FRAMES = 1_000_000
"""Two hours at 120 frames per second."""

_FPS = 30.0
"""Frames per second of a file that does not say: pose estimators work on video."""

_COUNTS = (55, 52, 24, 22)

_WHOLE = ("poses", "pose", "smpl_poses", "fullpose", "full_pose")

_PARTS = (
    ("root_orient", "global_orient"),
    ("pose_body", "body_pose"),
    ("pose_jaw", "jaw_pose"),
    ("pose_eye", "eye_pose"),
    ("pose_hand", "hand_pose"),
)

_TRANSLATION = ("trans", "transl", "smpl_trans", "translation")

_RATES = ("mocap_framerate", "mocap_frame_rate", "fps", "frame_rate", "framerate")

_SURE = 0.5
"""Mean height of the trunk's direction, 0 to 1, along an axis that counts as up. Whoever lies all the time has less."""

_UPRIGHT = arrays.from_axis_angle(np.array((1.0, 0.0, 0.0)), np.array(-0.5 * np.pi))
"""From z up to y up."""


def joint_names(count: int) -> tuple[str, ...]:
    """Return the joints of a body with 22, 24, 52 or 55 of them, in the order of their rotations."""
    if count == 22:
        return _ORDER
    if count == 24:
        return (*_ORDER, "left_hand", "right_hand")
    fingers = [f"{side}_{finger}{k}" for side in ("left", "right") for finger in _FINGERS for k in (1, 2, 3)]
    return (*_ORDER, *(name for name, _, _ in _FACE if count == 55), *fingers)


def average_person(count: int) -> Skeleton:
    """Return the average person with so many joints, standing on y = 0."""
    parent, at = _tree()
    known = joint_names(count)
    index = {name: i for i, name in enumerate(known)}
    parents = [index.get(parent[name], -1) for name in known]
    places = np.array([at[name] for name in known]) * STATURE
    offsets = places - np.where(np.array(parents)[:, np.newaxis] < 0, 0.0, places[parents])
    return Skeleton(known, parents, Pose(offsets, np.tile((0.0, 0.0, 0.0, 1.0), (count, 1))))


def _tree() -> tuple[dict[str, str], dict[str, Any]]:
    """Return the parent and the position of every joint there is."""
    parent = {name: above for name, above, _ in (*_MIDDLE, *_FACE)}
    at = {name: np.array(place) for name, _, place in (*_MIDDLE, *_FACE)}
    middle = set(at)
    for side, mirror in (("left", 1.0), ("right", -1.0)):
        across = np.array((mirror, 1.0, 1.0))
        for name, above, place in _LEFT:
            parent[f"{side}_{name}"] = above if above in middle else f"{side}_{above}"
            at[f"{side}_{name}"] = np.array(place) * across
        for finger, first in _FINGERS.items():
            above = f"{side}_wrist"
            for k in range(3):
                name = f"{side}_{finger}{k + 1}"
                parent[name] = above
                at[name] = (np.array(first) + k * np.array(_PHALANX.get(finger, _OTHER_PHALANX))) * across
                above = name
    return parent, at


@dataclass(eq=False, kw_only=True)
class SmplSource(Source):
    """What an SMPL file says beside the motion."""

    gender: str = "neutral"
    betas: Any = None
    """Coefficients of the body's shape; None if the file has none. They need a model, so bones do not follow them."""
    fps: float = _FPS
    up: str = "y"
    """The axis that was up in the file."""
    offset: Any = None
    """(3,): from `trans` to the pelvis."""


def decode(data: bytes, name: str, folder: Path | None, max_bytes: int) -> Character:
    """Read the body and the clip of a file; both are named after it. folder: unused."""
    stored = numpy_files.read_npz(data, name)

    def fail(problem: str) -> NoReturn:
        raise FileError(problem, name)

    vectors = _rotation_vectors(stored, name)
    frames, count = vectors.shape[:2]
    trans = _first(stored, _TRANSLATION)
    moved = np.zeros((frames, 3)) if trans is None else numpy_files.numbers(stored[trans], name, trans)
    if moved.shape != (frames, 3):
        fail(f"array {trans!r} has the shape {moved.shape}; expected ({frames}, 3)")
    if not (np.abs(moved) <= LARGEST_FLOAT64).all():
        fail(f"array {trans!r} has numbers that are not finite, or beyond {LARGEST_FLOAT64:g}")
    source = SmplSource(gender=_text(stored.get("gender")), betas=stored.get("betas"), offset=np.zeros(3))
    source.problems.append("bones are those of an average person: the shape in the file needs a model that is not here")
    rate = _first(stored, _RATES)
    if rate is None:
        source.problems.append(f"the file does not say its frame rate; {_FPS:g} is taken")
    elif stored[rate].size == 1:
        source.fps = float(numpy_files.numbers(stored[rate], name, rate).ravel()[0])
    if not SHORTEST_FRAME <= 1.0 / (source.fps or np.inf) <= LONGEST_FRAME:
        fail(f"the rate is {source.fps:g} frames per second")
    angle = np.linalg.norm(vectors, axis=-1)
    axis = vectors / np.where(angle > 0.0, angle, 1.0)[..., np.newaxis]
    rotations = arrays.from_axis_angle(axis, angle)
    source.offset = np.array((0.0, ORIGIN[count], 0.0))
    positions = moved + source.offset
    source.up = _up(rotations[:, 0], source.problems)
    if source.up == "z":
        positions = arrays.rotate(_UPRIGHT, positions)
        rotations[:, 0] = arrays.mul(_UPRIGHT, rotations[:, 0])
    skeleton = average_person(count)
    times = np.arange(frames) / source.fps
    tracks = [Track(j, "rotation", times, arrays.continuous(rotations[:, j])) for j in range(count)]
    if trans is not None:
        tracks.append(Track(0, "translation", times, positions))
    title = Path(name).stem
    clip = Clip(title, skeleton, tracks, duration=float(times[-1]))
    return Character(skeleton, {title: clip}, name=title, source=source)


def motion_of(character: Character, clip: Clip, times: Any, fps: float) -> dict[str, Any]:
    """Return the arrays of an SMPL file for a clip of a character that was loaded from one."""
    source: SmplSource = character.source
    pose = clip.sample(times).astype(np.float64)
    rotations, positions = pose.rotations.copy(), pose.translations[:, 0]
    if source.up == "z":
        rotations[:, 0] = arrays.mul(arrays.conj(_UPRIGHT), rotations[:, 0])
        positions = arrays.rotate(arrays.conj(_UPRIGHT), positions)
    rotations = np.where(rotations[..., 3:] < 0.0, -rotations, rotations)
    sine = np.linalg.norm(rotations[..., :3], axis=-1, keepdims=True)
    angle = 2.0 * np.arctan2(sine, rotations[..., 3:])
    vectors = rotations[..., :3] / np.where(sine > 0.0, sine, 1.0) * angle
    betas = np.zeros(16) if source.betas is None else source.betas
    made = {"poses": vectors.reshape(len(times), -1), "trans": positions - source.offset, "betas": betas}
    return made | {"gender": source.gender, "mocap_framerate": fps}


def _first(stored: dict[str, Any], names: tuple[str, ...]) -> str | None:
    return next((name for name in names if name in stored), None)


def _text(array: Any) -> str:
    if array is None or array.size != 1 or array.dtype.kind not in "US":
        return "neutral"
    value = array.ravel()[0]
    return value.decode("utf-8", "replace")[:20] if isinstance(value, bytes) else str(value)[:20]


def _rotation_vectors(stored: dict[str, Any], name: str) -> Any:
    """Return the rotation vectors of all frames, (T, joints, 3)."""
    whole = _first(stored, _WHOLE)
    if whole is not None:
        parts = [numpy_files.numbers(stored[whole], name, whole)]
    else:
        found = [each for each in (_first(stored, names) for names in _PARTS) if each is not None]
        if _first(stored, _PARTS[1]) is None:
            has = listed(stored)
            raise FileError(f"no SMPL motion ('poses') in it: it has {has}; km.load_points reads points", name)
        parts = [numpy_files.numbers(stored[each], name, each) for each in found]
    frames = len(parts[0]) if parts[0].ndim else 0
    if any(part.ndim < 2 or len(part) != frames for part in parts) or not 0 < frames <= MOST_FRAMES:
        raise FileError(f"poses have the shapes {[part.shape for part in parts]}; expected (frames, 3 x joints)", name)
    if whole is None and _first(stored, _PARTS[0]) is None:
        parts.insert(0, np.zeros((frames, 3)))
    numbers = np.concatenate([part.reshape(frames, -1) for part in parts], axis=1)
    count = next((count for count in _COUNTS if count * 3 == numbers.shape[1]), None)
    if count is None and numbers.shape[1] == 69:  # SMPL's 23 without the root.
        count, numbers = 24, np.concatenate([np.zeros((frames, 3)), numbers], axis=1)
    if count is None:
        raise FileError(f"poses have {numbers.shape[1]} numbers a frame; SMPL bodies have 66, 72, 156 or 165", name)
    usable = (np.abs(numbers) <= LARGEST_FLOAT64).all(axis=1)
    if not usable.all():
        raise FileError(f"frame {int(np.argmin(usable))}: poses are not finite, or beyond {LARGEST_FLOAT64:g}", name)
    return numbers.reshape(frames, count, 3)


def _up(roots: Any, problems: list[str]) -> str:
    """Find which axis of the file is up by the direction of the trunk; AMASS has z."""
    height = np.abs(arrays.rotate(roots, np.array((0.0, 1.0, 0.0))).mean(axis=0))
    up = "y" if height[1] > height[2] else "z"
    if max(height[1], height[2]) < _SURE:
        up = "z"
        problems.append("the body hardly stands, so up is taken to be z, as in AMASS")
    elif up == "z":
        problems.append("the file has z up, by the direction of the trunk; it was rotated to y up")
    return up
