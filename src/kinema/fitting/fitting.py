"""`Fitting`: the points of one person on their way to a character.

1. Read the points by their layout (`take`) and find which way is up (`axes`).
2. Clean them: swapped sides, gaps, noise, lengths of bones (`cleaning`).
3. Make a person of them who stands as the character does (`person`), and find rotations (`rotations`).
4. Transfer them as any other motion (`kinema.retargeting`): directions, the path of the hips, and feet that stand. A
   character that has the person's proportions is moved to where the points are before (`polish`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from kinema import validation
from kinema.bake.clip_frames import ClipFrames
from kinema.errors import counted, listed
from kinema.fitting.axes import OF_LEG, UPS, Axes, find_axes, height_of
from kinema.fitting.cleaning import Cleaned, clean_points
from kinema.fitting.gaps import fill_gaps
from kinema.fitting.layouts import LIMBS, SIDES, Layout
from kinema.fitting.lifting import Camera, lift
from kinema.fitting.person import Person, Stance, limb_bones, make_person, pose_of, stance_of
from kinema.fitting.polish import is_captured
from kinema.fitting.polish import polish as polish_poses
from kinema.fitting.report import FitReport
from kinema.fitting.rotations import Footing, body_rotations, flat_slopes, showing
from kinema.fitting.standing import standing_parts
from kinema.fitting.swaps import find_swaps, swap_sides
from kinema.fitting.take import Take
from kinema.fitting.travel import find_travel, is_centred
from kinema.model.character import Character
from kinema.model.clip import Clip
from kinema.model.pose import Pose
from kinema.motion.soles import BALL, HEEL, TIP
from kinema.retargeting.matching import match
from kinema.retargeting.motion import Motion
from kinema.retargeting.parts import Body
from kinema.retargeting.placed import Placed
from kinema.retargeting.report import RetargetReport
from kinema.retargeting.retarget import rig_of, standing_bodies, with_handles
from kinema.retargeting.transfer import tables, transfer

UNITS = (1.0, 0.01, 0.001, 100.0, 1000.0, 0.0254, 1.0 / 0.0254)
"""Units of the character per unit of the points that files are likely to have."""

SAME_UNIT = 0.05
"""How far the ratio of lengths may be from such a unit for it to be taken."""

LEG = 0.86
"""Metres from hip to ankle of a person whose size no camera shows."""

DEPTH = 4.0
"""Deviation of depth that was lifted, relative to that of the picture."""

SHORTEST = 1e-3
"""Metres below which a bone counts as not seen: then it is as long as the character's."""

FLOOR = 0.05
"""Quantile of the height of ankles that stand."""

LONG_GAP = 1.0
"""Seconds of a gap from which on it is told."""

ROUGH = 0.04
"""Metres of noise from which on it is told."""


@dataclass(frozen=True, kw_only=True)
class FitSettings:
    """What `fit` is asked for."""

    fps: float = 30.0
    depth: float | None = None
    cutoff: float | None = None
    unswap: bool = True
    lengths: str = "estimate"
    polish: bool | None = None
    contacts: bool = True
    up: str | None = None
    unit: float | None = None
    camera: Camera | None = None
    name: str = "fitted"

    def checked(self) -> FitSettings:
        """Return the settings; raise InputError for those out of range."""
        validation.choice("lengths", self.lengths, ("estimate", "keep"))
        validation.choice("up", self.up, UPS, optional=True)
        if self.camera is not None:
            validation.instance("camera", self.camera, Camera)
        return replace(
            self,
            depth=None if self.depth is None else validation.number("depth", self.depth, 1.0, 1e3),
            cutoff=None if self.cutoff is None else validation.number("cutoff", self.cutoff, 0.1, 1e3),
            unit=None if self.unit is None else validation.number("unit", self.unit, 1e-9, 1e9),
            unswap=validation.flag("unswap", self.unswap),
            polish=None if self.polish is None else validation.flag("polish", self.polish),
            contacts=validation.flag("contacts", self.contacts),
        )


def lifted(take: Take, character: Character, settings: FitSettings) -> Take:
    """Return a take of one camera with depth, in metres of a person with the character's proportions."""
    assert settings.camera is not None
    at = stance_of(character).at
    size = LEG / rig_of("character", character).leg_length
    middle = 0.5 * (at["left_shoulder"] + at["right_shoulder"])
    pairs = [*limb_bones(), ("left_shoulder", "right_shoulder"), ("left_hip", "right_hip")]
    lengths = {(a, b): max(float(np.linalg.norm(at[b] - at[a])) * size, 1e-3) for a, b in pairs}
    lengths["pelvis", "shoulders"] = max(float(np.linalg.norm(middle - at["pelvis"])) * size, 1e-3)
    points, weights = take.points, take.weights
    swapped = find_swaps(points, take.pairs) if settings.unswap else np.zeros(len(points), bool)
    points, weights = (swap_sides(each, take.pairs, swapped) for each in (points, weights[..., np.newaxis]))
    filled = fill_gaps(points, take.columns, take.fps)[..., :2]
    made = lift(filled, take.columns, lengths, settings.camera, take.fps)
    return Take(np.where(weights > 0, made, np.nan), weights[..., 0], take.roles, take.fps)


@dataclass(frozen=True, eq=False)
class Fitting:
    """One person's points on their way to a character."""

    character: Character
    layout: Layout
    settings: FitSettings
    take: Take

    @cached_property
    def axes(self) -> Axes:
        return find_axes(self.take, self.settings.up, self.settings.unit)

    @cached_property
    def stance(self) -> Stance:
        return stance_of(self.character)

    @cached_property
    def cleaned(self) -> Cleaned:
        """The points of one body, in the file's axes and unit."""
        settings = self.settings
        own: dict[tuple[str, str], float] = {}
        if settings.lengths == "keep":
            size = 1.0 / self.axes.unit * _unit_of(self.stance, self._measured)
            own = {(a, b): float(np.linalg.norm(self.stance.at[b] - self.stance.at[a])) * size for a, b in limb_bones()}
        return clean_points(self.take, settings.depth, settings.cutoff, settings.unswap, own)

    @cached_property
    def _measured(self) -> Mapping[tuple[str, str], float]:
        """Lengths of the person's bones, metres, as measured."""
        settings = self.settings
        found = clean_points(self.take, settings.depth, settings.cutoff, settings.unswap, {}).lengths
        return {pair: length * self.axes.unit for pair, length in found.items()}

    @cached_property
    def at(self) -> dict[str, Any]:
        """(T, 3) by role word: left, up and ahead, metres. Points around the hips are moved to where the body goes."""
        turn = self.axes.turn.T * self.axes.unit
        found = {role: value @ turn for role, value in self.cleaned.take.by_role().items()}
        if not self.centred:
            return found
        travel = find_travel(found, self.leg, self.settings.fps)
        return {role: value + travel for role, value in found.items()}

    @cached_property
    def centred(self) -> bool:
        """Whether the points are given around the hips."""
        turn = self.axes.turn.T * self.axes.unit
        return is_centred({role: value @ turn for role, value in self.cleaned.take.by_role().items()}, self.leg)

    @cached_property
    def leg(self) -> float:
        """Length of the person's legs, metres; without legs, as long as they usually are for the trunk."""
        return height_of(self.take) * self.axes.unit / OF_LEG

    @cached_property
    def lengths(self) -> dict[tuple[str, str], float]:
        """Of the person's bones and trunk, metres."""
        found = {pair: length * self.axes.unit for pair, length in self.cleaned.lengths.items()}
        at = self.at
        shoulders = 0.5 * (at["left_shoulder"] + at["right_shoulder"])
        trunk = {
            ("pelvis", "shoulders"): shoulders - 0.5 * (at["left_hip"] + at["right_hip"]),
            ("left_shoulder", "right_shoulder"): at["left_shoulder"] - at["right_shoulder"],
        }
        found |= {pair: float(np.median(np.linalg.norm(way, axis=-1))) for pair, way in trunk.items()}
        return {pair: length for pair, length in found.items() if length > SHORTEST}

    @cached_property
    def captured(self) -> bool:
        """Whether the character has the person's proportions."""
        return is_captured(self.lengths, self.stance.at)

    @cached_property
    def scale(self) -> float:
        """Units of the character per metre of the person."""
        scale = 1.0 / _unit_of(self.stance, self.lengths)
        ratios = [unit / self.axes.unit for unit in UNITS]
        near = [ratio for ratio in ratios if abs(scale / ratio - 1.0) < SAME_UNIT]
        return near[0] if self.captured and near else scale

    @property
    def absolute(self) -> bool:
        """Whether the points may be in the space of the character."""
        return not self.centred and any(self.scale == unit / self.axes.unit for unit in UNITS)

    @property
    def floor(self) -> float:
        """Height of what becomes the floor of the character, metres."""
        keeps = self.captured and self.absolute and not self.settings.contacts
        return self.stance.body.rig.floor / self.scale if keeps else self.seen_floor

    @cached_property
    def seen_floor(self) -> float:
        """Height of what feet stand on, metres."""
        rig, at = self.stance.body.rig, self.at
        ankles = [at[f"{leg.name}_ankle"][:, 1] for leg in rig.legs if f"{leg.name}_ankle" in at]
        if not ankles:
            return 0.0
        return float(np.quantile(np.min(ankles, axis=0), FLOOR)) - self.stance.body.ankle_height / self.scale

    @cached_property
    def footing(self) -> Footing:
        """How the person's feet stand, metres."""
        slopes = {} if self.captured else flat_slopes(self.at, self.leg)
        return Footing(self.seen_floor + self.stance.body.ankle_height / self.scale, self.leg, slopes)

    @cached_property
    def person(self) -> Person:
        hands = any(f"{side}_index_2" in self.at for side in SIDES)
        return make_person(self.stance, self.lengths, self.floor, hands)

    @cached_property
    def poses(self) -> Pose:
        """(T,): of the person."""
        at = self.at
        rotations = body_rotations(at, self.stance, self.settings.fps, self.footing)
        return pose_of(self.person, rotations, 0.5 * (at["left_hip"] + at["right_hip"]))

    @cached_property
    def times(self) -> Any:
        return np.arange(len(self.take.points)) / self.settings.fps

    @cached_property
    def clip(self) -> Clip:
        """Of the person."""
        return Clip.from_poses(self.settings.name, self.person.character.skeleton, self.poses, times=self.times)

    def transferred(self) -> Pose:
        """(T,): of the character, by directions and the path of the hips."""
        source, target = standing_bodies(self.person.character, self.character)
        return transfer(tables(source, target, match(source, target), self.scale), self.poses, target)

    def polished(self) -> Pose:
        """(T,): of the character, moved to where the points are."""
        body, size = self.stance.body, self.axes.unit * self.scale
        lift = np.array((0.0, body.rig.floor - self.floor * self.scale, 0.0))
        at = {role: (value * self.scale + lift) @ body.axes.T for role, value in self.at.items()}
        carried = self.cleaned.take.points[:, len(self.cleaned.take.columns) :]
        extra = (carried @ self.axes.turn.T * size + lift) @ body.axes.T
        return polish_poses(body, self.transferred(), at, self.take.offsets, extra)

    def run(self) -> tuple[Clip, RetargetReport | None]:
        """Make the clip."""
        polishes = self.captured if self.settings.polish is None else self.settings.polish
        polished = self.polished() if polishes or self.take.offsets else None
        stands = self.settings.contacts and self.stance.body.rig.legs and len(self.times) > 1
        if not stands:
            return self._clip(self.transferred() if polished is None else polished), None
        motion = self.motion(polished)
        done = motion.on_feet(True)
        return self._clip(with_handles(self.stance.body.rig, done.poses)), motion.report(done, False)

    def motion(self, posed: Pose | None) -> Motion:
        """Prepare the person's motion for the character. posed: of the character, None for the directions of limbs."""
        person, (source, target) = self.person, standing_bodies(self.person.character, self.character)
        held, stays = standing_parts(self.foot_points(source), self.leg, 1.0 / self.settings.fps)
        frames = ClipFrames.of_poses(person.rig, self.times, self.poses, held)
        both = person.character, self.character
        return Motion(frames, source, target, False, self.scale, None, both, 0.0, 0.0, False, posed, stays)

    def foot_points(self, source: Body) -> Any:
        """(T, L, 2, 3): heel and ball of each foot, as seen where they are; metres, heights above the floor."""
        still = np.broadcast_to(np.eye(4), (len(self.times), 4, 4))
        points = Placed(source.rig, self.poses, still).soles(source).points[:, :, :TIP].copy()
        for k, leg in enumerate(source.rig.legs):
            for part, roles in ((HEEL, ("heel",)), (BALL, ("ball", "toe"))):
                seen = [self.at[role] for name in roles if (role := f"{leg.name}_{name}") in self.at]
                if seen:
                    points[:, k, part] = seen[0] - (0.0, self.floor, 0.0)
        return points

    def report(self, feet: RetargetReport | None) -> FitReport:
        """Describe what was found and done."""
        cleaned, unit = self.cleaned, self.axes.unit
        person = replace(self.person.character, clips={self.clip.name: self.clip})
        noise = tuple(float(each) * unit for each in cleaned.noise)
        return FitReport(
            layout=self.layout.name,
            up=self.axes.up,
            unit=unit,
            scale=self.scale,
            captured=self.captured,
            lengths={" to ".join(pair): length for pair, length in self.lengths.items()},
            noise=(noise[0], noise[1], noise[2]),
            cutoffs={role: float(cleaned.cutoffs[k]) for role, k in cleaned.take.columns.items()},
            swapped=tuple(np.flatnonzero(cleaned.swapped).tolist()),
            gaps=cleaned.gaps,
            errors={role: float(cleaned.errors[k]) * unit for role, k in cleaned.take.columns.items()},
            missing=self.missing,
            contacts=0 if feet is None else feet.contacts,
            feet=feet,
            warnings=self.warnings(feet),
            person=person,
        )

    @cached_property
    def missing(self) -> tuple[str, ...]:
        """Parts of the body that no point shows."""
        parts = {
            "head": ("left_ear", "left_eye", "head", "head_top"),
            **{
                f"{side} {part}": tuple(f"{side}_{name}" for name in names)
                for side in SIDES
                for part, names in (
                    ("arm", ("elbow",)),
                    ("forearm", ("wrist",)),
                    ("hand", ("index_1", "hand", "middle_1")),
                    ("leg", ("knee",)),
                    ("shin", ("ankle",)),
                    ("foot", ("toe", "ball")),
                )
            },
        }
        shown = showing(self.take.columns)
        return tuple(part for part, roles in parts.items() if not any(role in shown for role in roles))

    def warnings(self, feet: RetargetReport | None) -> tuple[str, ...]:
        """Say what is doubtful about the result or falls short."""
        return (*self.axes.doubts, *self._warnings(), *(feet.warnings if feet is not None else ()))

    def _warnings(self) -> Iterator[str]:
        cleaned = self.cleaned
        long = {role: seconds for role, (_, seconds) in cleaned.gaps.items() if seconds >= LONG_GAP}
        if long:
            worst = max(long, key=lambda role: long[role])
            seen = f"{counted(len(long), 'point')} not seen for over {LONG_GAP:g} s"
            yield f"{seen}, {worst} for {long[worst]:.1f} s: a guess there"
        noise = float(np.max(cleaned.noise)) * self.axes.unit
        if noise > ROUGH:
            yield f"the points are rough: {noise * 100:.0f} cm of noise"
        if cleaned.swapped.any():
            yield f"left and right were swapped back in {counted(int(cleaned.swapped.sum()), 'frame')}"
        limbs = [part for part in self.missing if part.endswith(("arm", "leg", "shin"))]
        if limbs:
            yield f"no points of {listed(limbs)}: they follow what they hang on"
        if any(f"{side} foot" in self.missing and f"{side} shin" not in self.missing for side in SIDES):
            yield "no points of toes: feet are flat on the floor, and otherwise a guess"
        if self.centred:
            yield "the points are given around the hips: the way of the body is a guess by its feet"
        if self.settings.camera is not None:
            yield "points of one camera in the plane: depth is a guess by the lengths of bones"

    def _clip(self, poses: Pose) -> Clip:
        skeleton = self.character.skeleton
        return Clip.from_poses(self.settings.name, skeleton, poses.astype(skeleton.rest.precision), times=self.times)


def _unit_of(stance: Stance, lengths: Mapping[tuple[str, str], float]) -> float:
    """Metres of the person per unit of the character, by the bones of legs, or else by those of arms."""
    for words in ("leg", "arm"):
        pairs = [
            (a, b)
            for side in SIDES
            for a, b in zip(LIMBS[f"{side}_{words}"], LIMBS[f"{side}_{words}"][1:], strict=False)
        ]
        known = [pair for pair in pairs if pair in lengths]
        own, theirs = (
            sum(lengths[pair] for pair in known),
            sum(float(np.linalg.norm(stance.at[b] - stance.at[a])) for a, b in known),
        )
        if own > 0 and theirs > 0:
            return own / theirs
    middle = 0.5 * (stance.at["left_shoulder"] + stance.at["right_shoulder"]) - stance.at["pelvis"]
    theirs = float(np.linalg.norm(middle))
    own = lengths.get(("pelvis", "shoulders"), 0.0)
    return own / theirs if own > 0 and theirs > 0 else LEG / stance.body.rig.leg_length
