"""One file: its bytes in, the bytes of the new file and a report out. The same wherever it runs: in this process, in
another one, or on a machine of a cluster that shares no disk with this one.
"""

from __future__ import annotations

import fnmatch
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

from kinema.bake.baking import bake
from kinema.bake.grounds import GroundPlan
from kinema.bake.report import clip_report, rig_report
from kinema.bake.settings import Settings
from kinema.character import Character
from kinema.clip import Clip
from kinema.errors import FileError, InputError, KinemaError
from kinema.io import files, names
from kinema.roles import Overrides


@dataclass(frozen=True, eq=False)
class Order:
    """What is to be done to every file.

    settings: without their ground, which is built where the work is done. clips: names, or patterns such as "Walk*";
    none: the only one there is. roles: which joint is what, over what is found. fingerprint: the same for the same
    order, and for no other.
    """

    settings: Settings
    ground: GroundPlan | None = None
    clips: tuple[str, ...] = ()
    roles: Overrides | None = None
    fingerprint: str = ""


@dataclass(frozen=True, eq=False)
class Outcome:
    """What became of a file. data: the new file; None if it failed. report: ready for JSON."""

    data: bytes | None
    report: dict[str, Any]


def bake_file(
    data: bytes, name: str, kind: str, order: Order, progress: Callable[[float], None] = lambda share: None
) -> Outcome:
    """Bake the clips of a file. name: of the file that data came from. kind: ending of the new one, ".glb" or ".bvh".

    Never raises for what is wrong with the file: the report says so.
    """
    began = time.perf_counter()
    report: dict[str, Any] = {"file": name, "status": "failed"}
    try:
        made = _baked(data, name, kind, order, report, progress)
        report["status"] = "baked"
    except KinemaError as wrong:
        made, report["problem"] = None, problem_of(wrong, name)
    except Exception as wrong:  # A file that stops the others helps nobody; the report names what happened.
        made, report["problem"] = None, f"{type(wrong).__name__}: {wrong}"
    report["seconds"] = round(time.perf_counter() - began, 3)
    return Outcome(made, report)


def problem_of(wrong: KinemaError, name: str) -> str:
    """What is wrong with a file, told of it by its name: which is not said twice."""
    if not isinstance(wrong, FileError) or Path(wrong.file).name != Path(name).name:
        return str(wrong)
    return wrong.problem if wrong.line is None else f"line {wrong.line}: {wrong.problem}"


def _baked(data: bytes, name: str, kind: str, order: Order, report: dict[str, Any], progress: Any) -> bytes:
    character = files.load_bytes(data, Path(name).name, roles=order.roles)
    report["rig"] = rig_report(character.rig)
    chosen = _chosen(character, order.clips)
    report["clips"] = []
    made: list[Clip] = []
    settings = replace(order.settings, ground=_ground(order, character))
    for number, clip in enumerate(chosen):
        part = partial(_progress, progress, number, len(chosen))
        baked = bake(character, clip, settings, progress=part)
        taken = [*character.clips, *(other.name for other in made)]
        made.append(replace(baked.clip, name=names.unique([*taken, baked.clip.name])[-1]))
        report["clips"].append({**clip_report(clip.name, baked), "name": made[-1].name})
    character = replace(character, clips=character.clips | {clip.name: clip for clip in made})
    return _encoded(kind, character, made, settings.fps)


def _progress(progress: Callable[[float], None], number: int, count: int, share: float) -> None:
    """Pass on how much of a clip is done, as a share of all of them."""
    progress((number + share) / count)


def _encoded(kind: str, character: Character, made: list[Clip], fps: float | None) -> bytes:
    if kind == ".glb":
        return b"".join(files.encode(kind, character))
    if len(made) > 1:
        raise InputError(f"a .bvh file holds one clip, and {len(made)} were asked for")
    return b"".join(files.encode(kind, character, clip=made[0], fps=fps))


def _chosen(character: Character, patterns: tuple[str, ...]) -> list[Clip]:
    """The clips that are meant, in the file's order."""
    clips = character.clips
    if not patterns:
        if len(clips) != 1:
            raise InputError(f"which clip of {character.name}? There are {names.listed(clips)}")
        return list(clips.values())
    for pattern in patterns:
        if not any(_matches(name, pattern) for name in clips):
            raise InputError(f"there is no clip {pattern!r} in {character.name}; {names.suggestion(pattern, clips)}")
    return [clip for name, clip in clips.items() if any(_matches(name, pattern) for pattern in patterns)]


def _matches(name: str, pattern: str) -> bool:
    """Whether a clip's name is meant: itself, or what a pattern matches; a name may hold a pattern's signs."""
    return name == pattern or fnmatch.fnmatchcase(name, pattern)


def _ground(order: Order, character: Character) -> Any:
    if order.ground is None:
        return None
    return _built(order.ground, (0.0, 1.0, 0.0) if character.rig is None else tuple(character.rig.up))


@lru_cache(maxsize=2)
def _built(plan: GroundPlan, up: tuple[float, ...]) -> Any:
    """A ground, built once for all files of a process that stand on it."""
    return plan.build(up)
