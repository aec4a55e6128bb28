"""`FitOrder`: fit a character to the points of one file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, ClassVar

from kinema.errors import FileError
from kinema.fitting.fit import fit
from kinema.fitting.layouts import NAMES, Layout, layout_of, layout_of_names
from kinema.fitting.report import FitReport
from kinema.io.points import PointTake, load_points_bytes
from kinema.jobs.order import OntoOrder, Progress, encode_clips, named_beside, with_clips
from kinema.model.character import Character
from kinema.model.clip import Clip

FPS = 30.0
"""Frames a second of files that do not say."""


@dataclass(frozen=True, kw_only=True, eq=False)
class FitOrder(OntoOrder):
    """Fit one character to the points of every file, and add the clips to its file."""

    layout: str | None = None
    """Default: what the file says."""
    settings: Mapping[str, Any] = field(default_factory=dict)
    """Of `fit`."""
    person: int | None = None
    """Number of the only person of each file, from 1; None: all of them."""
    own_skeleton: bool = False
    """Write the person's own skeleton instead of the character."""
    status: ClassVar[str] = "fitted"

    def make(self, data: bytes, name: str, kind: str, report: dict[str, Any], progress: Progress) -> bytes:
        """Return the character's file with a clip of each person in a file of points."""
        takes = load_points_bytes(data, Path(name).name)
        if self.person is not None:
            if self.person > len(takes):
                raise FileError(f"person {self.person} of {len(takes)} is asked for", name)
            takes = takes[self.person - 1 : self.person]
        target, made, people = self.character(), list[Clip](), list[Character]()
        report["clips"] = []
        for number, take in enumerate(takes):
            clip, found = fit_take(target, take, self.layout, self.settings, name)
            made.append(named_beside(clip, target, made, take.name))
            frames = len(take.points)
            report["clips"].append({**found.figures(), "name": made[-1].name, "frames": frames, "fps": made[-1].fps})
            report["clips"][-1]["fps_assumed"] = not take.fps and self.settings.get("fps") is None
            people.append(found.person)
            progress((number + 1) / len(takes))
        if self.own_skeleton:
            if len(people) > 1:
                raise FileError(f"there are {len(people)} people; choose one with --person", name)
            return encode_clips(kind, people[0], list(people[0].clips.values()), None)
        return encode_clips(kind, with_clips(target, made), made, None)


def fit_take(
    target: Character, take: PointTake, layout: str | Layout | None, settings: Mapping[str, Any], file: str
) -> tuple[Clip, FitReport]:
    """Fit a character to a take of a file. Settings go before what the file says."""
    known = {"fps": take.fps or FPS, "unit": take.unit, "confidence": take.confidence}
    known |= {name: value for name, value in settings.items() if value is not None}
    clip, report = fit(target, take.points, layout=layout_of_take(take, layout, file), report=True, **known)
    return clip, replace(report, warnings=(*take.notes, *report.warnings))


def layout_of_take(take: PointTake, layout: str | Layout | None, file: str) -> Layout:
    """Return the layout that is asked for, or that a file says it has."""
    chosen = layout or take.layout or layout_of_names(take.names)
    if chosen is None:
        raise FileError(f"it does not say which point is which; give --layout: {', '.join(NAMES)}", file)
    return layout_of(chosen, take.points.shape[1], take.names)
