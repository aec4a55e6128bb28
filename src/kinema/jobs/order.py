"""`Order`: what a command does to every file. Bytes go in, the bytes of the new file and a report come out.

An order is carried out the same in this process, in another one, or on a machine of a cluster that shares no disk with
this one. To add a command for many files, subclass `Order` and give it to `jobs.many.run_many`.
"""

from __future__ import annotations

import fnmatch
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any, ClassVar

from kinema.errors import FileError, InputError, KinemaError, listed, suggestion
from kinema.io import files, formats, names
from kinema.model.character import Character
from kinema.model.clip import Clip
from kinema.roles import Overrides

Progress = Callable[[float], None]
"""Called with the finished share of a file, 0 to 1."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Order(ABC):
    """What to do to every file. Orders are pickled to travel to other processes."""

    fingerprint: str = ""
    """Equal for equal orders only."""
    status: ClassVar[str]
    """What a file is when it is done, such as "baked"."""
    writes: ClassVar[bool] = True
    """Whether there are new files; an order without any only reports."""

    def informed(self, files: Iterable[tuple[str, bytes]]) -> Order:
        """Return the order with what several files show together. files: their names and bytes, read as needed."""
        return self

    @abstractmethod
    def make(self, data: bytes, name: str, kind: str, report: dict[str, Any], progress: Progress) -> bytes:
        """Return the bytes of the new file. Raise KinemaError for a problem with the file.

        data: the file's bytes. name: its name. kind: suffix of the new file, such as ".glb". report: add what there is
        to say, ready for JSON.
        """


@dataclass(frozen=True, kw_only=True, eq=False)
class OntoOrder(Order):
    """Make one character move as each file says, and add the clips to the character's own file."""

    target: bytes
    """The character's file."""
    target_name: str
    target_roles: Overrides | None = None
    """Roles that override those that are found."""

    def character(self) -> Character:
        """Load the character; once for all files of a process."""
        return _loaded(self.target, self.target_name, self.target_roles)


@lru_cache(maxsize=1)
def _loaded(data: bytes, name: str, roles: Overrides | None) -> Character:
    return files.load_bytes(data, name, roles=roles)


def read_packed(path: Path) -> bytes:
    """Read a character's file, with what it keeps in files beside it."""
    try:
        data = path.read_bytes()
        return formats.detect(data, path.name, path.parent).packed(data, path)
    except OSError as problem:
        raise FileError(f"the file cannot be read: {problem.strerror}", str(path)) from None


@dataclass(frozen=True, eq=False)
class Outcome:
    """What became of a file."""

    data: bytes | None
    """The new file; None if it failed."""
    report: dict[str, Any]
    """Ready for JSON: "file", "status", "seconds", and what the order adds; "problem" if it failed."""


def run_order(data: bytes, name: str, kind: str, order: Order, progress: Progress = lambda share: None) -> Outcome:
    """Carry out an order for one file. Problems with the file are not raised, but reported."""
    began = time.perf_counter()
    report: dict[str, Any] = {"file": name, "status": "failed"}
    made: bytes | None = None
    try:
        made = order.make(data, name, kind, report, progress)
        report["status"] = order.status
    except KinemaError as problem:
        report["problem"] = problem_of(problem, name)
    except Exception as problem:  # One file must not stop the others; the report names what happened.
        report["problem"] = f"{type(problem).__name__}: {problem}"
    report["seconds"] = round(time.perf_counter() - began, 3)
    return Outcome(made, report)


def problem_of(problem: KinemaError, name: str) -> str:
    """Describe a problem with a file without repeating the file's name, which the report has."""
    if not isinstance(problem, FileError) or Path(problem.file).name != Path(name).name:
        return str(problem)
    return problem.problem if problem.line is None else f"line {problem.line}: {problem.problem}"


def choose_clips(character: Character, patterns: Sequence[str]) -> list[Clip]:
    """Return the clips that match names or patterns such as "Walk*", in the file's order; without any, the only one."""
    clips = character.clips
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


def named_beside(clip: Clip, character: Character, made: Sequence[Clip], name: str | None = None) -> Clip:
    """Return a clip, under a name by default its own, with a number where the character or a new clip has that name."""
    taken = [*character.clips, *(other.name for other in made)]
    return replace(clip, name=names.unique([*taken, name or clip.name])[-1])


def with_clips(character: Character, made: Sequence[Clip]) -> Character:
    """Return a character with new clips."""
    return replace(character, clips=character.clips | {clip.name: clip for clip in made})


def encode_clips(kind: str, character: Character, made: Sequence[Clip], fps: float | None) -> bytes:
    """Return the bytes of a file of this kind that holds a character and its new clips."""
    if not formats.writer(kind).one_clip:
        return b"".join(files.encode(kind, character))
    if len(made) > 1:
        raise InputError(f"a {kind} file holds one clip, and {len(made)} were asked for")
    return b"".join(files.encode(kind, character, clip=made[0], fps=fps))
