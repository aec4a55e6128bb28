"""`fit`: from points to clips of a character."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Literal, overload

import numpy as np

from kinema import validation
from kinema.errors import InputError
from kinema.fitting.fitting import DEPTH, FitSettings, Fitting, lifted
from kinema.fitting.layouts import Layout, layout_of
from kinema.fitting.lifting import Camera
from kinema.fitting.report import FitReport
from kinema.fitting.take import numbers_of, read_take
from kinema.model.character import Character
from kinema.model.clip import Clip
from kinema.notices import logger
from kinema.retargeting.retarget import rig_of

MOST_PIXELS = 1e9
"""Width and height of the picture of a camera that is not given, at most."""

MOST_PEOPLE = 1_000
"""People in one call."""


@overload
def fit(
    character: Character,
    points: Any,
    *,
    layout: Any,
    confidence: Any = ...,
    fps: float = ...,
    depth: float | None = ...,
    cutoff: float | None = ...,
    unswap: bool = ...,
    lengths: Literal["estimate", "keep"] = ...,
    polish: bool | None = ...,
    contacts: bool = ...,
    up: str | None = ...,
    unit: float | None = ...,
    camera: Camera | None = ...,
    report: Literal[False] = ...,
) -> Clip: ...


@overload
def fit(
    character: Character,
    points: Any,
    *,
    layout: Any,
    confidence: Any = ...,
    fps: float = ...,
    depth: float | None = ...,
    cutoff: float | None = ...,
    unswap: bool = ...,
    lengths: Literal["estimate", "keep"] = ...,
    polish: bool | None = ...,
    contacts: bool = ...,
    up: str | None = ...,
    unit: float | None = ...,
    camera: Camera | None = ...,
    report: Literal[True],
) -> tuple[Clip, FitReport]: ...


def fit(
    character: Character,
    points: Any,
    *,
    layout: Any,
    confidence: Any = None,
    fps: float = 30.0,
    depth: float | None = None,
    cutoff: float | None = None,
    unswap: bool = True,
    lengths: Literal["estimate", "keep"] = "estimate",
    polish: bool | None = None,
    contacts: bool = True,
    up: str | None = None,
    unit: float | None = None,
    camera: Camera | None = None,
    report: bool = False,
) -> Any:
    """Make a clip of a character from points on a person: keypoints of a detector, joints of a model, or markers.

    Parameters
    ----------
    character
        The character that is to move; any body with two legs.
    points
        (T, K, 3), NaN for what is missing; any unit, any axis up. (T, K, 4): with the confidence. (T, K, 2): of one
        camera, see `camera`. A sequence of such arrays, or one axis more, for several people: clips come as a tuple.
    layout
        Which point is which: a name such as "coco17", several joined by "+", a sequence of role words ("" skips a
        point), or a mapping from a column to a role word or to a joint of the character and an offset in its space.
    confidence
        (T, K): 0 to 1, how far to trust each point; 0 for none. Default: all alike.
    fps
        Frames a second.
    depth
        Deviation of the noise of the third coordinate, relative to that of the others: points of one camera are vague
        along its view. Then bones decide depth. Default: measured.
    cutoff
        Hz that are left of the motion. Default: chosen for each point by its noise.
    unswap
        Find frames in which left and right are swapped.
    lengths
        "estimate": bones are as long as measured. "keep": they have the proportions of the character.
    polish
        Move limbs to where the points are, not only in the same directions. Default: if the character has the person's
        proportions.
    contacts
        Keep standing feet on the floor and in place.
    up
        The axis that is up: "+y", "-y", "+z" and so on. Default: found by the bodies.
    unit
        Metres of the points' unit. Default: found by the height of the person.
    camera
        The `Camera` that saw points in the plane. Default: of points of two numbers, one with a field of view of 60
        degrees.
    report
        Also return a `FitReport`. Without it, its warnings go to the logger "kinema".

    Returns
    -------
    Clip, or tuple of Clip and FitReport
        For several people a tuple of them.

    Raises
    ------
    InputError
        For arrays of other shapes, unknown layouts, and characters without a rig or with other than two legs.

    Examples
    --------
    >>> person = km.load("person.glb")
    >>> take = km.load_points("webcam.json")[0]
    >>> clip = km.fit(person, take.points, layout="mediapipe33", fps=30)
    """
    settings = FitSettings(
        fps=fps,
        depth=depth,
        cutoff=cutoff,
        unswap=unswap,
        lengths=lengths,
        polish=polish,
        contacts=contacts,
        up=up,
        unit=unit,
        camera=camera,
    ).checked()
    rig_of("character", character)
    report = validation.flag("report", report)
    people = _people(points)
    if people is None:
        return _fit_one(character, points, confidence, layout, settings, report)
    trusted: Sequence[Any] = [None] * len(people)
    if confidence is not None:
        trusted = validation.sequence("confidence", confidence, "arrays, one for each person")
    if len(trusted) != len(people):
        raise InputError(f"confidence is of {len(trusted)} people, points of {len(people)}")
    both = zip(people, trusted, strict=True)
    return tuple([_fit_one(character, *each, layout, settings, report) for each in both])


def _people(points: Any) -> list[Any] | None:
    """The points of each of several people; None for one person."""
    several = points.ndim == 4 if isinstance(points, np.ndarray) else False
    if not several and isinstance(points, Sequence) and points:
        several = all(isinstance(each, np.ndarray) and each.ndim == 3 for each in points)
    if several and len(points) > MOST_PEOPLE:
        raise InputError(f"points is of {len(points)} people; allowed are {MOST_PEOPLE}")
    return list(points) if several else None


def _fit_one(
    character: Character, points: Any, confidence: Any, layout: Any, settings: FitSettings, report: bool
) -> Clip | tuple[Clip, FitReport]:
    """Fit one person. report: also return what was found; else warn of what is doubtful."""
    array = numbers_of("points", points, "(frames, points, 2, 3 or 4)")
    if array.ndim == 3 and array.shape[-1] == 4:
        if confidence is not None:
            raise InputError("points have a fourth number, which is their confidence; leave out confidence=")
        array, confidence = array[..., :3], array[..., 3]
    names = character.skeleton.names
    known = (
        layout
        if isinstance(layout, Layout)
        else layout_of(layout, array.shape[1] if array.ndim == 3 else None, (), names)
    )
    if array.ndim == 3 and array.shape[-1] == 2:
        array, settings = _with_camera(array, settings)
    take = read_take(array, confidence, known, settings.fps)
    if settings.camera is not None:
        if known.offsets or known.mixes:
            raise InputError(f"layout {known.name!r:.60} needs points in space; those of a camera have two numbers")
        take = lifted(take, character, settings)
    fitting = Fitting(character, known, settings, take)
    clip, feet = fitting.run()
    if report:
        return clip, fitting.report(feet)
    for warning in fitting.warnings(feet):
        logger.warning("%s: %s", clip.name, warning)
    return clip


def _with_camera(points: Any, settings: FitSettings) -> tuple[Any, FitSettings]:
    """Points of one camera as those in space without depth, and settings that go with them."""
    camera = settings.camera
    if camera is None:
        seen = points[np.isfinite(points).all(-1)]
        far = seen.max(axis=0) if seen.size else np.ones(2)
        if not (far > 0.0).all() or far.max() > MOST_PIXELS:
            raise InputError(
                f"points of two numbers reach ({far[0]:g}, {far[1]:g}); without camera= they are taken for pixels from "
                f"the upper left of a picture, y down, more than 0 and up to {MOST_PIXELS:g}: turn them over if y goes "
                "up, and give camera=km.Camera(width, height) for others"
            )
        camera = Camera(1.0, 1.0) if far.max() <= 2.0 else Camera(*(max(float(each), 1e-3) for each in far))
    flat = np.concatenate((points, np.where(np.isfinite(points[..., :1]), 0.0, np.nan)), axis=-1)
    return flat, replace(
        settings,
        camera=camera,
        depth=DEPTH if settings.depth is None else settings.depth,
        up="-y" if settings.up is None else settings.up,
        unit=1.0,
        unswap=settings.unswap,
    )
