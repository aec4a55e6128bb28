"""`RetargetOrder`: move the clips of one motion file onto a character."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from typing import Any, ClassVar

from kinema.bake.grounds import GroundSpec, build_for
from kinema.bake.report import rig_report
from kinema.io import files, names
from kinema.jobs.order import Order, Progress, choose_clips, encode_clips
from kinema.model.character import Character
from kinema.model.clip import Clip
from kinema.retargeting.retarget import retarget
from kinema.roles import Overrides


@dataclass(frozen=True, kw_only=True, eq=False)
class RetargetOrder(Order):
    """Move clips of every file onto one character, and add them to its file."""

    target: bytes
    """The character's file."""
    target_name: str
    settings: Mapping[str, Any] = field(default_factory=dict)
    """Of `retarget`."""
    ground: GroundSpec | None = None
    """What the result is baked onto."""
    clips: tuple[str, ...] = ()
    """Names, or patterns such as "Walk*"; empty: the only clip of the file."""
    name: str | None = None
    """Name of the new clip. Default: that of the file's clip."""
    source_roles: Overrides | None = None
    target_roles: Overrides | None = None
    """Roles that override those that are found."""
    status: ClassVar[str] = "retargeted"

    def make(self, data: bytes, name: str, kind: str, report: dict[str, Any], progress: Progress) -> bytes:
        """Return the character's file with the clips of a motion file."""
        source = files.load_bytes(data, Path(name).name, roles=self.source_roles)
        target = self.character()
        report |= {"source_rig": rig_report(source.rig), "rig": rig_report(target.rig), "clips": []}
        settings = dict(self.settings)
        if self.ground is not None:
            settings["ground"] = build_for(self.ground, target.rig)[1]
        chosen, made = choose_clips(source, self.clips), list[Clip]()
        for number, clip in enumerate(chosen):
            new, found = retarget(source, clip, target, report=True, **settings)
            taken = [*target.clips, *(other.name for other in made)]
            made.append(replace(new, name=names.unique([*taken, self.name or clip.name])[-1]))
            frames = round(float(new.duration or 0.0) * new.fps) + 1
            figures = {**asdict(found), "clip": clip.name, "name": made[-1].name, "frames": frames, "fps": new.fps}
            report["clips"].append(figures)
            progress((number + 1) / len(chosen))
        target = replace(target, clips=target.clips | {clip.name: clip for clip in made})
        return encode_clips(kind, target, made, self.settings.get("fps"))

    def character(self) -> Character:
        """Load the target; once for all files of a process."""
        return _loaded(self.target, self.target_name, self.target_roles)


@lru_cache(maxsize=1)
def _loaded(data: bytes, name: str, roles: Overrides | None) -> Character:
    return files.load_bytes(data, name, roles=roles)
