"""`ConvertOrder`: write a character in another format, unit or direction of up, or parts of its clips."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from kinema.errors import InputError
from kinema.io import files, formats
from kinema.io.gltf.document import Document
from kinema.jobs.order import Order, Progress, choose_clips, encode_clips
from kinema.math import arrays
from kinema.model.blend_shapes import ShapeTrack
from kinema.model.character import Character
from kinema.model.clip import Clip, Event, Track
from kinema.model.limits import Slider
from kinema.model.pose import Pose
from kinema.model.skeleton import Skeleton
from kinema.roles import unit
from kinema.roles.unit import SYMBOLS

FPS = 30.0
"""Frames a second of a part of a clip that has no rate of its own."""

LEAST_SURE = 0.6
"""How sure the unit of a file must be, 0 to 1, to be converted to another."""

UPS = {"y": (0.0, 1.0, 0.0), "z": (0.0, 0.0, 1.0)}
"""Directions of up that may be asked for."""


@dataclass(frozen=True, kw_only=True, eq=False)
class ConvertOrder(Order):
    """Write every file in another format."""

    clips: tuple[str, ...] = ()
    """Names or patterns of the clips to keep; empty: all of them."""
    start: float | None = None
    """Second at which the clips begin; None: at their beginning."""
    end: float | None = None
    """Second at which the clips end; None: at their end."""
    fps: float | None = None
    """Frames a second of the clips; None: their own keys, or for a part of a clip its own rate."""
    unit: str | None = None
    """Unit of the new file, a key of `SYMBOLS`; None: that of the old one."""
    up: str | None = None
    """Direction of up in the new file, a key of `UPS`; None: as in the old one."""
    status: ClassVar[str] = "converted"

    def make(self, data: bytes, name: str, kind: str, report: dict[str, Any], progress: Progress) -> bytes:
        moved = self.unit is not None or self.up is not None
        character = files.load_bytes(data, Path(name).name, rig=moved)
        format = formats.writer(kind)
        one = format.one_clip and len(character.clips) > 1
        chosen = choose_clips(character, self.clips) if self.clips or one else list(character.clips.values())
        if format.one_clip and len(chosen) > 1:
            raise InputError(f"a {kind} file holds one clip, and --clip matches {len(chosen)}")
        if moved:
            character = self._moved(character)
            chosen = [character.clips[clip.name] for clip in chosen]
        if self.start is not None or self.end is not None or (self.fps is not None and not format.one_clip):
            chosen = [self._part(clip) for clip in chosen]
        character = replace(character, clips={clip.name: clip for clip in chosen})
        if isinstance(character.source, Document):
            character = replace(character, source=character.source.with_clips(chosen))
        report["clips"] = [clip.name for clip in chosen]
        report["joints"], report["skins"] = len(character.skeleton), len(character.skins)
        if not chosen:
            return b"".join(files.encode(kind, character))
        return encode_clips(kind, character, chosen, self.fps)

    def _part(self, clip: Clip) -> Clip:
        """Return a clip from `start` to `end`, at `fps`."""
        last = float(clip.duration or 0.0)
        start = 0.0 if self.start is None else self.start
        end = last if self.end is None else min(self.end, last)
        if not 0.0 <= start < end:
            raise InputError(
                f"--start and --end give {start:g} to {end:g} seconds of clip {clip.name!r}, which is {last:g} seconds "
                "long"
            )
        rate = self.fps or clip.fps or FPS
        times = np.arange(max(round((end - start) * rate), 1) + 1) / rate
        at = np.minimum(start + times, end)
        poses = clip.sample(at)
        events = [Event(event.time - start, event.name) for event in clip.events if start <= event.time <= end]
        events = [event for event in events if event.time <= times[-1]]
        part = Clip.from_poses(clip.name, clip.skeleton, poses, times=times, events=events)
        return replace(part, shapes=[ShapeTrack(each.shape, times, each.at(at)) for each in clip.shapes])

    def _moved(self, character: Character) -> Character:
        """Return a character in the unit and with the up that are asked for."""
        rig, told = character.rig, character.source is not None and character.source.metric
        if rig is None and not told:
            raise InputError("its unit and its up are not known: no body was recognised; leave out --unit and --up")
        size, rotation = 1.0, np.array((0.0, 0.0, 0.0, 1.0))
        if self.unit is not None:
            found = unit(rig) if rig is not None else None
            if found is not None and found.sure < LEAST_SURE and not told:
                raise InputError(f"its unit is not clear (perhaps {found.name}), so it cannot be converted to another")
            size = (found.metres if found is not None and found.sure >= LEAST_SURE else 1.0) / SYMBOLS[self.unit]
        if self.up is not None:
            rotation = arrays.swing(np.array(UPS["y"] if rig is None else rig.up), np.array(UPS[self.up]))
        if size == 1.0 and rotation[3] == 1.0:
            return character
        return scaled_and_rotated(character, size, rotation)


def scaled_and_rotated(character: Character, size: float, rotation: Any) -> Character:
    """Return a character with all lengths multiplied and everything rotated about the origin, as a new file.

    rotation: (4,). The source is dropped: a glTF file cannot be added to in another unit.
    """
    old = character.skeleton
    roots = old.parents < 0
    whole = np.eye(4)
    whole[:3, :3] = arrays.to_matrix(rotation) * size
    bind = np.tile(np.eye(4), (len(old), 1, 1))
    bind[:, :3] = np.asarray(old.inverse_bind, np.float64)[:, :3]
    bind = np.diag((size, size, size, 1.0)) @ bind @ np.linalg.inv(whole)

    def moved(pose: Pose) -> Pose:
        translations = pose.translations.astype(np.float64) * size
        rotations = pose.rotations.astype(np.float64).copy()
        translations[..., roots, :] = arrays.rotate(rotation, translations[..., roots, :])
        rotations[..., roots, :] = arrays.mul(rotation, rotations[..., roots, :])
        return Pose.of(translations, rotations, pose.scales.astype(np.float64)).astype(pose.precision)

    limits = [
        replace(each, low=each.low * size, high=each.high * size) if isinstance(each, Slider) else each
        for each in old.limits
    ]
    skeleton = Skeleton(old.names, old.parents, moved(old.rest), limits, bind.astype(old.rest.precision))

    def track(each: Track) -> Track:
        values = each.values.astype(np.float64)
        if each.path == "translation":
            values = values * size
        if roots[int(each.joint)] and each.path != "scale":
            values = arrays.rotate(rotation, values) if each.path == "translation" else arrays.mul(rotation, values)
        return replace(each, values=values.astype(each.values.dtype))

    clips = {
        name: replace(clip, skeleton=skeleton, tracks=[track(each) for each in clip.tracks])
        for name, clip in character.clips.items()
    }
    skins = []
    for skin in character.skins:
        vertices = skin.vertices.astype(np.float64) @ whole[:3, :3].T
        normals = arrays.rotate(rotation, skin.normals.astype(np.float64))
        rebind = skin.rebind
        if rebind is not None:  # Conjugated: it acts between the vertices and the palette.
            full = np.tile(np.eye(4), (len(rebind), 1, 1))
            full[:, :3] = rebind
            rebind = (whole @ full @ np.linalg.inv(whole))[:, :3].astype(skin.rebind.dtype)
        shapes = [replace(shape, offsets=shape.offsets @ whole[:3, :3].T) for shape in skin.shapes]
        skins.append(replace(skin, vertices=vertices, normals=normals, rebind=rebind, shapes=shapes))
    return Character(skeleton, clips, None, skins, character.name)
