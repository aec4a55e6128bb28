"""`RetargetOrder`: move the clips of one motion file onto a character."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, ClassVar

from kinema.bake.grounds import GroundSpec
from kinema.bake.report import rig_report
from kinema.io import files
from kinema.jobs.order import OntoOrder, Progress, choose_clips, encode_clips, named_beside, with_clips
from kinema.model.clip import Clip
from kinema.retargeting.retarget import retarget
from kinema.roles import Overrides


@dataclass(frozen=True, kw_only=True, eq=False)
class RetargetOrder(OntoOrder):
    """Move clips of every file onto one character, and add them to its file."""

    settings: Mapping[str, Any] = field(default_factory=dict)
    """Of `retarget`."""
    ground: GroundSpec | None = None
    """What the result is baked onto."""
    clips: tuple[str, ...] = ()
    """Names, or patterns such as "Walk*"; empty: the only clip of the file."""
    name: str | None = None
    """Name of the new clip. Default: that of the file's clip."""
    source_roles: Overrides | None = None
    """Roles that override those that are found."""
    status: ClassVar[str] = "retargeted"

    def make(self, data: bytes, name: str, kind: str, report: dict[str, Any], progress: Progress) -> bytes:
        """Return the character's file with the clips of a motion file."""
        source = files.load_bytes(data, Path(name).name, roles=self.source_roles)
        target = self.character()
        report |= {"source_rig": rig_report(source.rig), "rig": rig_report(target.rig), "clips": []}
        settings = dict(self.settings)
        if self.ground is not None:
            settings["ground"] = self.ground
        chosen, made = choose_clips(source, self.clips), list[Clip]()
        for number, clip in enumerate(chosen):
            new, found = retarget(source, clip, target, report=True, **settings)
            made.append(named_beside(new, target, made, self.name or clip.name))
            frames = round(float(new.duration or 0.0) * new.fps) + 1
            figures = {**asdict(found), "clip": clip.name, "name": made[-1].name, "frames": frames, "fps": new.fps}
            report["clips"].append(figures)
            progress((number + 1) / len(chosen))
        return encode_clips(kind, with_clips(target, made), made, self.settings.get("fps"))
