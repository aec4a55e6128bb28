"""Find states and reports by the name or the class of their stage, so that editors know what they are.

`animator["head"]` and `frame.reports["head"]` have the types of `Head` for every stage of Kinema. For a stage of your
own pass its class: `frame.reports[Lean]`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeVar, overload

import numpy as np

from kinema.stages.stage import Crowd, FrameContext

if TYPE_CHECKING:
    from kinema.solvers.body.full_body import BodyReport
    from kinema.stages.arms.hands import HandsReport, HandsState
    from kinema.stages.body import BodyState
    from kinema.stages.constraints import ConstraintsReport, ConstraintsState
    from kinema.stages.feet.feet import FeetReport, FeetState
    from kinema.stages.gaze.aim import AimReport, AimState
    from kinema.stages.gaze.eyes import EyesReport, EyesState
    from kinema.stages.gaze.head import HeadReport, HeadState
    from kinema.stages.layers import BreathingState, LayerReport, LayerState, RecoilReport, RecoilState, SwayState
    from kinema.stages.play import PlayReport, PlayState
    from kinema.stages.springs import SpringsReport, SpringsState
    from kinema.stages.tail import TailReport, TailState
    from kinema.stages.walk.locomotion import LocomotionReport, LocomotionState

State = TypeVar("State", covariant=True)
Report = TypeVar("Report", covariant=True)


class Starts(Protocol[State]):
    """The settings of a stage with this state."""

    def start(self, crowd: Crowd, /) -> State: ...


class Updates(Protocol[Report]):
    """The state of a stage with this report."""

    def update(self, context: FrameContext, /) -> Report: ...


def key_of(stage: str | type) -> str:
    """Return the name of a stage, from its name or its class."""
    return stage if isinstance(stage, str) else name_of(stage)


def name_of(kind: type) -> str:
    """Return the name of the first stage of a class: that of the class in lower case."""
    return kind.__name__.lower()


class States:
    """Reaches the states of stages: `animator["head"].look_at(point)`."""

    @overload
    def __getitem__(self, stage: Literal["play"]) -> PlayState: ...
    @overload
    def __getitem__(self, stage: Literal["breathing"]) -> BreathingState: ...
    @overload
    def __getitem__(self, stage: Literal["sway"]) -> SwayState: ...
    @overload
    def __getitem__(self, stage: Literal["recoil"]) -> RecoilState: ...
    @overload
    def __getitem__(self, stage: Literal["layer"]) -> LayerState: ...
    @overload
    def __getitem__(self, stage: Literal["feet"]) -> FeetState: ...
    @overload
    def __getitem__(self, stage: Literal["locomotion"]) -> LocomotionState: ...
    @overload
    def __getitem__(self, stage: Literal["hands"]) -> HandsState: ...
    @overload
    def __getitem__(self, stage: Literal["body"]) -> BodyState: ...
    @overload
    def __getitem__(self, stage: Literal["aim"]) -> AimState: ...
    @overload
    def __getitem__(self, stage: Literal["head"]) -> HeadState: ...
    @overload
    def __getitem__(self, stage: Literal["eyes"]) -> EyesState: ...
    @overload
    def __getitem__(self, stage: Literal["tail"]) -> TailState: ...
    @overload
    def __getitem__(self, stage: Literal["constraints"]) -> ConstraintsState: ...
    @overload
    def __getitem__(self, stage: Literal["springs"]) -> SpringsState: ...
    @overload
    def __getitem__(self, stage: type[Starts[State]]) -> State: ...
    @overload
    def __getitem__(self, stage: str) -> Any: ...
    def __getitem__(self, stage: Any) -> Any:
        """Return the state of a stage, by its name or its class."""
        return self._state(key_of(stage))

    def _state(self, name: str) -> Any:
        raise NotImplementedError


class Reports(Mapping[str, Any]):
    """What each stage reported, by its name or its class. A stage that was skipped has its last report.

    The arrays of a report are (N, ...) over the characters; those of an animator without `count` have no such axis.
    """

    def __init__(self, reports: Mapping[str, Any], single: bool) -> None:
        self._reports, self._single = reports, single

    @overload
    def __getitem__(self, stage: Literal["play"]) -> PlayReport: ...
    @overload
    def __getitem__(self, stage: Literal["breathing", "sway", "layer"]) -> LayerReport: ...
    @overload
    def __getitem__(self, stage: Literal["recoil"]) -> RecoilReport: ...
    @overload
    def __getitem__(self, stage: Literal["feet"]) -> FeetReport: ...
    @overload
    def __getitem__(self, stage: Literal["locomotion"]) -> LocomotionReport: ...
    @overload
    def __getitem__(self, stage: Literal["hands"]) -> HandsReport: ...
    @overload
    def __getitem__(self, stage: Literal["body"]) -> BodyReport: ...
    @overload
    def __getitem__(self, stage: Literal["aim"]) -> AimReport: ...
    @overload
    def __getitem__(self, stage: Literal["head"]) -> HeadReport: ...
    @overload
    def __getitem__(self, stage: Literal["eyes"]) -> EyesReport: ...
    @overload
    def __getitem__(self, stage: Literal["tail"]) -> TailReport: ...
    @overload
    def __getitem__(self, stage: Literal["constraints"]) -> ConstraintsReport: ...
    @overload
    def __getitem__(self, stage: Literal["springs"]) -> SpringsReport: ...
    @overload
    def __getitem__(self, stage: type[Starts[Updates[Report]]]) -> Report: ...
    @overload
    def __getitem__(self, stage: str) -> Any: ...
    def __getitem__(self, stage: Any) -> Any:
        name = key_of(stage)
        if name not in self._reports:
            raise KeyError(f"there is no stage {name!r}; there are {', '.join(map(repr, self._reports))}")
        report = self._reports[name]
        return of_one(report) if self._single else report

    def __iter__(self) -> Iterator[str]:
        return iter(self._reports)

    def __len__(self) -> int:
        return len(self._reports)

    def __repr__(self) -> str:
        return f"Reports({dict(self)})"


def of_one(report: Any) -> Any:
    """Return a report of one character without the axis of characters in its arrays."""
    if not hasattr(report, "_fields"):
        return report
    return report._make(field[0] if isinstance(field, np.ndarray) else field for field in report)
