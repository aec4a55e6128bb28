"""Bake one file: bytes in, the bytes of the new file and a report out.

It runs the same in this process, in another one, or on a machine of a cluster that shares no disk with this one.
"""

from __future__ import annotations

import fnmatch
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from kinema.bake.baking import bake
from kinema.bake.grounds import GroundSpec, build_for
from kinema.bake.report import Baked, clip_report, rig_report
from kinema.bake.settings import BakeSettings
from kinema.errors import FileError, InputError, KinemaError, listed, suggestion
from kinema.io import files, formats, names
from kinema.model.character import Character
from kinema.model.clip import Clip
from kinema.model.pose import Pose
from kinema.roles import Overrides

LEAST_REST = 1.0
"""Seconds that the rest pose is baked for, at least: hands that reach and heads that turn are there from the start."""

LEAST_CLIMBED = 0.01
"""Leg lengths that the ground under the hips differs in height, at least, where a bake met more than level ground."""


@dataclass(frozen=True, eq=False)
class Order:
    """What to do to every file."""

    settings: BakeSettings
    """Without the ground, which is built where the work is done."""
    ground: GroundSpec | None = None
    clips: tuple[str, ...] = ()
    """Names, or patterns such as "Walk*"; empty: the only clip of the file."""
    roles: Overrides | None = None
    """Roles that override those that are found."""
    fingerprint: str = ""
    """Equal for equal orders only."""


@dataclass(frozen=True, eq=False)
class Outcome:
    """The result of baking a file."""

    data: bytes | None
    """The new file; None if it failed."""
    report: dict[str, Any]
    """Ready for JSON."""


def bake_file(
    data: bytes, name: str, kind: str, order: Order, progress: Callable[[float], None] = lambda share: None
) -> Outcome:
    """Bake the clips of a file. Problems with the file are not raised, but reported.

    data: the file's bytes. name: its name. kind: suffix of the new file, such as ".glb". progress: called with the
    finished share, 0 to 1.
    """
    began = time.perf_counter()
    report: dict[str, Any] = {"file": name, "status": "failed"}
    try:
        made = _baked(data, name, kind, order, report, progress)
        report["status"] = "baked"
    except KinemaError as problem:
        made, report["problem"] = None, problem_of(problem, name)
    except Exception as problem:  # One file must not stop the others; the report names what happened.
        made, report["problem"] = None, f"{type(problem).__name__}: {problem}"
    report["seconds"] = round(time.perf_counter() - began, 3)
    return Outcome(made, report)


def problem_of(problem: KinemaError, name: str) -> str:
    """Describe a problem with a file without repeating the file's name, which the report has."""
    if not isinstance(problem, FileError) or Path(problem.file).name != Path(name).name:
        return str(problem)
    return problem.problem if problem.line is None else f"line {problem.line}: {problem.problem}"


def _baked(data: bytes, name: str, kind: str, order: Order, report: dict[str, Any], progress: Any) -> bytes:
    character = files.load_bytes(data, Path(name).name, roles=order.roles)
    rig = character.rig
    report["rig"] = rig_report(rig)
    chosen = _chosen(character, order)
    report["clips"] = []
    made: list[Clip] = []
    settings, spec = order.settings, order.ground
    if spec is not None:
        spec, ground = build_for(spec, rig)
        settings = replace(settings, ground=ground)
        if settings.heading is None:
            settings = replace(settings, heading=spec.heading)
    for number, clip in enumerate(chosen):
        part = partial(_progress, progress, number, len(chosen))
        baked = bake(character, clip, settings, progress=part)
        if spec is not None:
            baked = replace(baked, problems=(*_ground_problems(spec, baked), *baked.problems))
        taken = [*character.clips, *(other.name for other in made)]
        made.append(replace(baked.clip, name=names.unique([*taken, baked.clip.name])[-1]))
        report["clips"].append({**clip_report(clip.name, baked), "name": made[-1].name})
    character = replace(character, clips=character.clips | {clip.name: clip for clip in made})
    return _encoded(kind, character, made, settings.fps)


def _progress(progress: Callable[[float], None], number: int, count: int, share: float) -> None:
    """Report the finished share of one clip as a share of all of them."""
    progress((number + share) / count)


def _encoded(kind: str, character: Character, made: list[Clip], fps: float | None) -> bytes:
    if not formats.writer(kind).one_clip:
        return b"".join(files.encode(kind, character))
    if len(made) > 1:
        raise InputError(f"a {kind} file holds one clip, and {len(made)} were asked for")
    return b"".join(files.encode(kind, character, clip=made[0], fps=fps))


def _chosen(character: Character, order: Order) -> list[Clip]:
    """The clips that match, in the file's order; the rest pose, where a file without clips has targets."""
    clips, patterns = character.clips, order.clips
    if not clips and (order.settings.goals or order.settings.look_at is not None):
        return [rest_clip(character, order.settings)]
    if not clips:
        raise InputError(f"there are no clips in {character.name}; its rest pose takes --pull, --reach and --look-at")
    if not patterns:
        if len(clips) != 1:
            raise InputError(f"choose a clip of {character.name} with --clip; there are {listed(clips)}")
        return list(clips.values())
    for pattern in patterns:
        if not any(_matches(name, pattern) for name in clips):
            raise InputError(f"there is no clip {pattern!r} in {character.name}; {suggestion(pattern, clips)}")
    return [clip for name, clip in clips.items() if any(_matches(name, pattern) for pattern in patterns)]


def _matches(name: str, pattern: str) -> bool:
    """Whether a name equals or matches a pattern; a name may contain wildcard characters itself."""
    return name == pattern or fnmatch.fnmatchcase(name, pattern)


def rest_clip(character: Character, settings: BakeSettings) -> Clip:
    """The rest pose as a clip that lasts as long as the targets move, and a second at least."""
    targets = [*settings.goals.values(), *([] if settings.look_at is None else [settings.look_at])]
    times = np.array((0.0, max(LEAST_REST, *(float(target.times[-1]) for target in targets))))
    rest = [np.repeat(array[np.newaxis], 2, axis=0) for array in character.skeleton.rest.arrays()]
    return Clip.from_poses("rest pose", character.skeleton, Pose.of(*rest), times=times)


def _ground_problems(spec: GroundSpec, baked: Baked) -> Iterator[str]:
    """Describe what is odd about a ground for a character, and whether it met the ground at all."""
    yield from spec.doubts(baked.leg)
    if not spec.is_level and baked.climbed < LEAST_CLIMBED * baked.leg:
        yield (
            "the character stays on level ground and never meets what rises or falls there: try --heading, --at, "
            "--travel or more --loops"
        )
