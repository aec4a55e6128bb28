"""`BakeOrder`: bake the clips of one file."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from kinema.bake.baking import bake
from kinema.bake.grounds import GroundSpec, build_for
from kinema.bake.report import Baked, clip_report, rig_report
from kinema.bake.settings import BakeSettings
from kinema.errors import InputError, KinemaError
from kinema.io import files
from kinema.jobs.order import Order, Progress, choose_clips, encode_clips, named_beside, with_clips
from kinema.model.character import Character
from kinema.model.clip import Clip
from kinema.model.pose import Pose
from kinema.model.rig import Rig
from kinema.roles import Overrides
from kinema.roles.shared_soles import Soles, share, with_shared

MOST_SHARED = 40
"""Files that are looked at for soles that takes of one skeleton share: more show nothing new."""

LEAST_REST = 1.0
"""Seconds that the rest pose is baked for, at least: hands that reach and heads that turn are there from the start."""

LEAST_CLIMBED = 0.01
"""Leg lengths that the ground under the hips differs in height, at least, where a bake met more than level ground."""


@dataclass(frozen=True, kw_only=True, eq=False)
class BakeOrder(Order):
    """Bake clips of every file."""

    settings: BakeSettings
    """Without the ground, which is built where the work is done."""
    ground: GroundSpec | None = None
    clips: tuple[str, ...] = ()
    """Names, or patterns such as "Walk*"; empty: the only clip of the file."""
    roles: Overrides | None = None
    """Roles that override those that are found."""
    soles: Soles = field(default_factory=dict)
    """Soles of skeletons that several files share."""
    status: ClassVar[str] = "baked"

    def informed(self, files: Iterable[tuple[str, bytes]]) -> BakeOrder:
        """Return the order with the soles that takes of one skeleton share: those of files without skins."""
        return replace(self, soles=share(self._rigs(islice(files, MOST_SHARED))))

    def _rigs(self, given: Iterable[tuple[str, bytes]]) -> Iterator[Rig]:
        for name, data in given:
            with suppress(KinemaError):
                character = files.load_bytes(data, Path(name).name, roles=self.roles)
                if character.rig is not None and not character.skins:
                    yield character.rig

    def make(self, data: bytes, name: str, kind: str, report: dict[str, Any], progress: Progress) -> bytes:
        """Bake the clips of a file and add them to it."""
        character = files.load_bytes(data, Path(name).name, roles=self.roles)
        if character.rig is not None and not character.skins:
            character = replace(character, rig=with_shared(character.rig, self.soles))
        rig = character.rig
        report["rig"] = rig_report(rig)
        chosen = self._chosen(character)
        report["clips"] = []
        made: list[Clip] = []
        settings, spec = self.settings, self.ground
        if spec is not None:
            spec, ground = build_for(spec, rig)
            settings = replace(settings, ground=ground)
            if settings.heading is None:
                settings = replace(settings, heading=spec.heading)
        for number, clip in enumerate(chosen):
            part = partial(_progress, progress, number, len(chosen))
            baked = bake(character, clip, settings, progress=part)
            if spec is not None:
                _check_ground_is_there(baked)
                baked = replace(baked, problems=(*_ground_problems(spec, baked), *baked.problems))
            made.append(named_beside(baked.clip, character, made))
            report["clips"].append({**clip_report(clip.name, baked), "name": made[-1].name})
        return encode_clips(kind, with_clips(character, made), made, settings.fps)

    def _chosen(self, character: Character) -> list[Clip]:
        """The clips that match; the rest pose, where a file without clips has targets."""
        if character.clips:
            return choose_clips(character, self.clips)
        if self.settings.goals or self.settings.look_at is not None:
            return [rest_clip(character, self.settings)]
        raise InputError(f"there are no clips in {character.name}; its rest pose takes --pull, --reach and --look-at")


def _progress(progress: Callable[[float], None], number: int, count: int, share: float) -> None:
    """Report the finished share of one clip as a share of all of them."""
    progress((number + share) / count)


def rest_clip(character: Character, settings: BakeSettings) -> Clip:
    """The rest pose as a clip that lasts as long as the targets move, and a second at least."""
    targets = [*settings.goals.values(), *([] if settings.look_at is None else [settings.look_at])]
    times = np.array((0.0, max(LEAST_REST, *(float(target.times[-1]) for target in targets))))
    rest = [np.repeat(array[np.newaxis], 2, axis=0) for array in character.skeleton.rest.arrays()]
    return Clip.from_poses("rest pose", character.skeleton, Pose.of(*rest), times=times)


def _check_ground_is_there(baked: Baked) -> None:
    missed = baked.after.missed[baked.after.planted]
    if missed.size and missed.all():
        raise InputError("no planted foot finds the ground within reach: it lies elsewhere; move the clip with --at")


def _ground_problems(spec: GroundSpec, baked: Baked) -> Iterator[str]:
    """Describe what is odd about a ground for a character, and whether it met the ground at all."""
    yield from spec.doubts(baked.leg)
    if not spec.is_level and baked.climbed < LEAST_CLIMBED * baked.leg:
        yield (
            "the character stays on level ground and never meets what rises or falls there: try --heading, --at, "
            "--travel or more --loops"
        )
