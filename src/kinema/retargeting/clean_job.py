"""`CleanOrder` and `CheckOrder`: clean the clips of one file, or say what is wrong with them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, ClassVar

from kinema.io import files, formats
from kinema.io.gltf.document import Document
from kinema.jobs.order import Order, Progress, choose_clips, encode_clips, named_beside, with_clips
from kinema.model.character import Character
from kinema.model.clip import Clip
from kinema.retargeting.clean import LIMITS, Fault, check, clean
from kinema.roles import Overrides


@dataclass(frozen=True, kw_only=True, eq=False)
class CleanOrder(Order):
    """Clean clips of every file. In a glTF file the clean clips take the places of the old ones, or stand beside."""

    settings: Mapping[str, Any] = field(default_factory=dict)
    """Of `clean`."""
    clips: tuple[str, ...] = ()
    """Names, or patterns such as "Walk*"; empty: all clips of the file."""
    beside: bool = False
    """Whether to keep the old clips, too, and add the clean ones as "Walk clean"."""
    roles: Overrides | None = None
    """Roles that override those that are found."""
    status: ClassVar[str] = "cleaned"

    def make(self, data: bytes, name: str, kind: str, report: dict[str, Any], progress: Progress) -> bytes:
        character, chosen = self._chosen(data, name, formats.writer(kind).one_clip)
        report["clips"], made = [], dict[str, Clip]()
        for number, clip in enumerate(chosen):
            new, found = clean(character, clip, report=True, **self.settings)
            if self.beside and new is not clip:
                new = named_beside(new, character, list(made.values()), f"{clip.name} clean")
            made[clip.name] = new
            figures = {"before": as_json(found.before), "after": as_json(found.after)}
            report["clips"].append(
                {"clip": clip.name, "name": new.name, "changed": found.changed, **figures, "warnings": found.warnings}
            )
            progress((number + 1) / len(chosen))
        return encode_clips(kind, self._with(character, made), list(made.values()), None)

    def _chosen(self, data: bytes, name: str, one: bool) -> tuple[Character, list[Clip]]:
        """Load a file, and choose its clips."""
        character = files.load_bytes(data, Path(name).name, roles=self.roles)
        wanted = self.clips or (() if one and len(character.clips) != 1 else tuple(character.clips))
        return character, choose_clips(character, wanted)

    def _with(self, character: Character, made: Mapping[str, Clip]) -> Character:
        """The character with its clean clips."""
        if self.beside:
            return with_clips(character, list(made.values()))
        clips = {name: made.get(name, clip) for name, clip in character.clips.items()}
        source = character.source
        if isinstance(source, Document):
            source = source.with_clips(list(clips.values()))
        return replace(character, clips=clips, source=source)


class CheckOrder(CleanOrder):
    """Say what is wrong with clips of every file; nothing is written."""

    status: ClassVar[str] = "checked"
    writes: ClassVar[bool] = False

    def make(self, data: bytes, name: str, kind: str, report: dict[str, Any], progress: Progress) -> bytes:
        character, chosen = self._chosen(data, name, False)
        report["clips"], report["limits"] = [], LIMITS
        for clip in chosen:
            found = check(character, clip, loop=self.settings.get("loop"))
            wrong = [name for name, fault in found.items() if fault.amount > LIMITS[name]]
            report["clips"].append({"clip": clip.name, "faults": as_json(found), "wrong": wrong})
        return b""


def as_json(faults: Mapping[str, Fault]) -> dict[str, dict[str, float]]:
    """Faults by name, ready for JSON."""
    return {name: {"amount": round(fault.amount, 6), "at": round(fault.at, 4)} for name, fault in faults.items()}
