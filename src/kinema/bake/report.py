"""What came of a bake: `Baked`, and its figures as a table and as JSON."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np

from kinema.metrics import PARTS, Metrics
from kinema.model.clip import Clip
from kinema.model.rig import Rig
from kinema.roles import unit


@dataclass(frozen=True, eq=False)
class Baked:
    """A new clip and its figures."""

    clip: Clip
    """The new clip."""
    before: Metrics
    """Figures of the clip as it was, moved by its travel, its floor kept at the height of the ground below its
    hips."""
    after: Metrics
    """Figures of the new clip as it plays, between its keys too, with the same plants."""
    dt: float
    """Seconds from sample to sample of the figures."""
    fps: float
    """Keys a second, where none were added."""
    keys: int
    """Number of keys."""
    leg: float
    """Mean length of a leg, in the file's unit."""
    in_place: bool
    """Whether the clip walked in place."""
    travels: bool
    """Whether its planted feet move it."""
    speed: float
    """Speed of the travel that its feet ask for, in the file's unit a second."""
    strides: float
    """How long the way of the character is on this ground, as a share of its way in the clip."""
    climbed: float
    """Difference between high and low ground under the hips, in the file's unit."""
    problems: tuple[str, ...]
    """What is doubtful about the result or falls short, as sentences."""


# --- figures ----------------------------------------------------------------------------------------------------


class MotionFigure(NamedTuple):
    """One figure of a motion: how it is called in JSON and in a table, what it is measured in, how it is found. None:
    there is nothing to measure, which is not the same as nothing wrong.
    """

    key: str
    label: str
    unit: Literal["length", "degrees", "count", "ratio"]
    of: Callable[[Metrics], float | None]


FIGURES = (
    MotionFigure(
        "planted_depth", "planted sole below the ground", "length", lambda m: _largest(m.penetration, _standing(m))
    ),
    MotionFigure("planted_hover", "planted sole above the ground", "length", lambda m: _largest(m.hover, _standing(m))),
    MotionFigure("depth", "any sole below the ground", "length", lambda m: _largest(m.penetration, _over_ground(m))),
    MotionFigure("shin_depth", "shin below the ground", "length", lambda m: m.worst_shin),
    MotionFigure("slide", "farthest slide of a planted foot", "length", lambda m: _largest(m.slide, _standing(m))),
    MotionFigure("mean_slide", "mean slide of a step", "length", lambda m: _mean_slide(m)),
    MotionFigure("swivel", "largest swivel of a planted foot", "degrees", lambda m: float(np.degrees(m.worst_yaw))),
    MotionFigure("steps", "steps", "count", lambda m: float(m.steps.slide.size)),
    MotionFigure(
        "rotation", "largest rotation of a joint in 1/60 s", "degrees", lambda m: float(np.degrees(m.worst_rotation))
    ),
    MotionFigure("beyond", "the same beyond the clip", "degrees", lambda m: float(np.degrees(m.worst_beyond))),
    MotionFigure("knee_flips", "knee flips", "count", lambda m: float(m.knee_flips)),
    MotionFigure("jerk_ratio", "jerk of ankles against the clip", "ratio", lambda m: m.jerk_ratio),
    MotionFigure(
        "no_ground", "planted sole points without ground", "count", lambda m: float((m.missed * m.planted).sum())
    ),
    MotionFigure("reach_error", "farthest from a target", "length", lambda m: m.worst_reach),
)


def clip_report(clip: str, baked: Baked) -> dict[str, Any]:
    """What there is to say of one clip, ready for JSON. Lengths are in the file's unit, and in leg lengths."""
    return {
        "clip": clip,
        "name": baked.clip.name,
        "frames": baked.keys,
        "fps": round(baked.fps, 3),
        "leg_length": baked.leg,
        "in_place": baked.in_place,
        "travels": baked.travels,
        "feet_speed": baked.speed,
        "strides": round(baked.strides, 4),
        "before": _figures(baked.before, baked.leg),
        "after": _figures(baked.after, baked.leg),
        "problems": list(baked.problems),
    }


def rig_report(rig: Rig | None) -> dict[str, Any] | None:
    """Which joints were taken for what, by name, and how sure that is."""
    if rig is None:
        return None
    names = rig.skeleton.names
    return {
        "hips": names[int(rig.hips)],
        "head": None if rig.head is None else names[int(rig.head)],
        "eyes": [names[int(joint)] for joint in rig.eyes],
        "legs": {leg.name: [names[int(joint)] for joint in leg.joints] for leg in rig.legs},
        "arms": {arm.name: [names[int(joint)] for joint in arm.joints] for arm in rig.arms},
        "unit": unit(rig).name,
        "confidence": {role: round(float(sure), 3) for role, sure in rig.confidence.items()},
        "doubts": list(rig.doubts),
    }


def rows(clip: dict[str, Any]) -> list[tuple[str, str, str]]:
    """Rows of a table for people from a clip's report: what, before, after. Lengths are in hundredths of a leg."""
    before, after = clip["before"], clip["after"]
    shown = [figure for figure in FIGURES if figure.key in after]
    return [(figure.label, _shown(figure, before), _shown(figure, after)) for figure in shown]


def _figures(metrics: Metrics, leg: float) -> dict[str, Any]:
    found = [figure for figure in FIGURES if figure.key != "reach_error" or metrics.reach is not None]
    values: dict[str, Any] = {figure.key: figure.of(metrics) for figure in found}
    lengths = {figure.key: values[figure.key] for figure in found if figure.unit == "length"}
    values["in_leg_lengths"] = {key: None if length is None else length / leg for key, length in lengths.items()}
    return values


def _shown(figure: MotionFigure, values: dict[str, Any]) -> str:
    if values[figure.key] is None:
        return "n/a"
    if figure.unit == "length":
        return f"{100 * values['in_leg_lengths'][figure.key]:.2f} %"
    if figure.unit == "ratio":
        return f"{values[figure.key]:.2f}"
    return f"{values[figure.key]:.0f}" if figure.unit == "count" else f"{values[figure.key]:.1f}°"


def _over_ground(metrics: Metrics) -> Any:
    """(F, L): whether there is ground for any point of a sole."""
    return metrics.missed < len(PARTS)


def _standing(metrics: Metrics) -> Any:
    """(F, L): whether a foot stands where there is ground."""
    return metrics.planted & _over_ground(metrics)


def _largest(values: Any, measured: Any) -> float | None:
    return float(values[measured].max()) if measured.any() else None


def _mean_slide(metrics: Metrics) -> float | None:
    return float(np.mean(metrics.steps.slide)) if _standing(metrics).any() else None
