"""What a scene of the playground is: a seeded object without a screen, so that tests and benchmarks run the same thing.

Time passes in `step`, what a person does comes in by `set`, `drag`, `drop` and `key`, what there is to see goes out by
`frame`. The page draws it; nothing here knows of a page.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from kinema.errors import InputError

# --- what a person can set ---------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Slider:
    """A number between two others."""

    name: str
    label: str
    value: float
    low: float
    high: float
    step: float
    unit: str = ""
    kind: str = "slider"

    def checked(self, value: Any) -> float:
        if isinstance(value, bool) or not isinstance(value, (int, float)) or not self.low <= value <= self.high:
            raise InputError(f"{self.name} is {value!r:.40}; allowed are numbers from {self.low:g} to {self.high:g}")
        return float(value)


@dataclass(frozen=True)
class Switch:
    """On or off."""

    name: str
    label: str
    value: bool
    kind: str = "switch"

    def checked(self, value: Any) -> bool:
        if not isinstance(value, bool):
            raise InputError(f"{self.name} is {value!r:.40}; allowed are true and false")
        return value


@dataclass(frozen=True)
class Choice:
    """One of several, by name."""

    name: str
    label: str
    value: str
    options: tuple[str, ...]
    kind: str = "choice"

    def checked(self, value: Any) -> str:
        if value not in self.options:
            raise InputError(f"{self.name} is {value!r:.40}; allowed are {', '.join(self.options)}")
        return str(value)


@dataclass(frozen=True)
class Button:
    """Something to be done at once: setting it, to whatever, does it."""

    name: str
    label: str
    value: None = None
    kind: str = "button"

    def checked(self, value: Any) -> None:
        return None


@dataclass(frozen=True)
class Download:
    """A file that the scene gives, by the name that `Scene.give` knows it by."""

    name: str
    label: str
    file: str
    value: None = None
    kind: str = "download"

    def checked(self, value: Any) -> None:
        return None


Control = Slider | Switch | Choice | Button | Download


class Status(NamedTuple):
    """How well the scene's chains do."""

    error: float
    """The largest distance from an end to its target, in the scene's unit."""
    reached: int
    """Chains that are at their target."""
    total: int
    """Chains there are."""


# --- the scene ---------------------------------------------------------------------------------------------------


class Scene(ABC):
    """What every scene has. A scene of its own: the constants, then `step`, `frame`, `status` and `python`."""

    name: ClassVar[str]
    """In addresses and on the command line."""
    title: ClassVar[str]
    """On its tab."""
    about: ClassVar[str]
    """One sentence: what there is to see."""
    unit: ClassVar[str]
    """Of its lengths: px or m."""
    controls: tuple[Control, ...]
    """What can be set; a scene whose controls change has its own."""
    help: ClassVar[tuple[tuple[str, str], ...]] = ()
    """What the keyboard and the pointer do: (key, what it does)."""
    takes: ClassVar[tuple[str, ...]] = ()
    """Endings of the files that may be dropped on it: (".glb", ".bvh")."""

    def __init__(self, seed: int = 0) -> None:
        self.seed = seed
        self.draw = np.random.default_rng(seed)
        self.values: dict[str, Any] = {control.name: control.value for control in self.controls}
        self.revision = 0
        """Goes up when `values`, `description` or the arrays' shapes changed."""

    # What a person does.

    def set(self, name: str, value: Any) -> None:
        """Set a control, or press a button."""
        named = {control.name: control for control in self.controls}
        if name not in named:
            raise InputError(f"{self.name} has no control {name!r:.40}; it has {', '.join(named) or 'none'}")
        self.values[name] = named[name].checked(value)
        self.changed(name)
        self.revision += 1

    def changed(self, name: str) -> None:  # noqa: B027  # Optional: most scenes read `values` when they step.
        """A control has a new value, or a button was pressed."""

    def drag(self, handle: str, position: Sequence[float]) -> None:  # noqa: B027
        """A handle is dragged to a place in the scene's space. One that is no longer there is no mistake."""

    def drop(self, handle: str) -> None:  # noqa: B027
        """A handle is let go."""

    def key(self, key: str, position: Sequence[float]) -> None:  # noqa: B027
        """A key is pressed while the pointer is at a place in the scene's space."""

    def receive(self, name: str, data: bytes) -> None:
        """A file was dropped on it. Names are for people to read, never for paths. InputError: it cannot be used."""
        raise InputError(f"{self.title} takes no files")

    def give(self, name: str) -> bytes:
        """A file of its own: what a view draws with, or what a person keeps."""
        raise InputError(f"{self.title} has no file {name!r:.40}")

    def _take_over(self) -> None:
        """Nothing wanders by itself any more: from now on targets are where a person puts them."""
        if self.values.get("wander"):
            self.values["wander"] = False
            self.revision += 1

    def be_still(self) -> None:  # noqa: B027
        """Nothing moves by itself: somebody who asked for less motion is looking."""

    def fresh(self) -> Scene:
        """The scene as it was at first."""
        return type(self)(self.seed)

    # What happens.

    @classmethod
    def kernels(cls) -> Mapping[str, Callable[[], Any]]:
        """What has to be compiled before the first frame, by name: small calls that do it."""
        return {}

    @classmethod
    def later_kernels(cls) -> Mapping[str, Callable[[], Any]]:
        """What is needed only when a person asks for more than the first frame shows."""
        return {}

    @abstractmethod
    def step(self, dt: float) -> None:
        """dt seconds pass."""

    @abstractmethod
    def frame(self) -> dict[str, Any]:
        """What changes from tick to tick: arrays of numbers by name."""

    def description(self) -> dict[str, Any]:
        """What changes with `revision` only, as JSON has it: counts, names, fixed shapes."""
        return {}

    @abstractmethod
    def status(self) -> Status:
        """How well the chains do."""

    @abstractmethod
    def python(self) -> str:
        """A script that computes what is to be seen now, with the public library alone."""

    @classmethod
    def introduction(cls) -> dict[str, Any]:
        """What the page shows of a scene before it is opened."""
        return {
            "name": cls.name,
            "title": cls.title,
            "about": cls.about,
            "unit": cls.unit,
            "help": cls.help,
            "takes": cls.takes,
        }

    def panel(self) -> list[dict[str, Any]]:
        """The controls with their present values, as JSON has them."""
        return [asdict(control) | {"value": self.values[control.name]} for control in self.controls]


def place(position: Sequence[float], axes: int, far: float) -> Any:
    """(axes,): a position that came from outside, no farther than `far` from the origin along any axis."""
    given = list(position)[:axes]
    if len(given) < axes or not all(isinstance(x, (int, float)) and math.isfinite(x) for x in given):
        raise InputError(f"position is {position!r:.60}; {axes} finite numbers are needed")
    return np.clip(np.array(given, float), -far, far)
