"""`Scene`: the base class of the playground's scenes, and the controls they can have.

A scene is a seeded object without a screen, so that tests and benchmarks run the same code as the page. Time passes in
`step`; user input arrives through `set`, `drag`, `drop` and `key`; `frame` returns what to draw.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np

from kinema.errors import InputError

# --- controls ----------------------------------------------------------------------------------------------------
# Controls with the same `group` follow each other in the panel under that heading.


@dataclass(frozen=True)
class BasicControl:
    """What all controls have. Setting one without a value does something: a button triggers its action."""

    name: str
    label: str
    group: str = field(default="", kw_only=True)

    def checked(self, value: Any) -> Any:
        """Return a value from outside as it is kept. Raises InputError if it is not allowed."""
        return None

    def refused(self, value: Any, allowed: str) -> InputError:
        """Return the error for a value that is not allowed."""
        return InputError(f"{self.name} is {value!r:.40}; allowed are {allowed}")


@dataclass(frozen=True)
class Slider(BasicControl):
    """A number within a range."""

    value: float
    low: float
    high: float
    step: float
    unit: str = ""
    kind: Literal["slider"] = "slider"

    def checked(self, value: Any) -> float:
        if isinstance(value, bool) or not isinstance(value, (int, float)) or not self.low <= value <= self.high:
            raise self.refused(value, f"numbers from {self.low:g} to {self.high:g}")
        return float(value)


@dataclass(frozen=True)
class Switch(BasicControl):
    """On or off."""

    value: bool
    kind: Literal["switch"] = "switch"

    def checked(self, value: Any) -> bool:
        if not isinstance(value, bool):
            raise self.refused(value, "true and false")
        return value


@dataclass(frozen=True)
class Choice(BasicControl):
    """One of several options, by name."""

    value: str
    options: tuple[str, ...]
    labels: tuple[str, ...] = ()
    """The options as the page shows them; by default as they are."""
    kind: Literal["choice"] = "choice"

    def checked(self, value: Any) -> str:
        if value not in self.options:
            raise self.refused(value, ", ".join(self.options))
        return str(value)


@dataclass(frozen=True)
class Button(BasicControl):
    """An action."""

    value: None = None
    kind: Literal["button"] = "button"


@dataclass(frozen=True)
class Download(BasicControl):
    """A file to download, under the name that `Scene.give` takes."""

    file: str
    value: None = None
    kind: Literal["download"] = "download"


Control = Slider | Switch | Choice | Button | Download

FileJob = Callable[[Callable[[float], None]], bytes]
"""Produces a file. Calls its argument with the share that is done, 0 to 1."""


class SceneStatus(NamedTuple):
    """How well the scene's chains reach their targets."""

    error: float
    """Largest distance from the end of a chain to its target, in the scene's unit."""
    reached: int
    """Number of chains at their target."""
    total: int
    """Number of chains."""


INTRODUCED = ("name", "title", "about", "unit", "help", "hint", "keys", "takes", "steers")
"""Attributes of a scene that the page shows before it is opened."""


# --- the scene ---------------------------------------------------------------------------------------------------


class Scene(ABC):
    """A scene. A subclass sets the class attributes and implements `step`, `frame`, `status` and `python`."""

    name: ClassVar[str]
    """Its name in addresses and on the command line."""
    title: ClassVar[str]
    """The text on its tab."""
    about: ClassVar[str]
    """One or two sentences that tell the user what to do."""
    unit: ClassVar[str]
    """Unit of its lengths: px or m."""
    by_row: ClassVar[tuple[str, ...]] = ()
    """Names of the large arrays of a frame: after an `answer`, only the rows that it changed are sent."""
    controls: tuple[Control, ...]
    """Its controls. A scene whose controls change sets its own."""
    help: ClassVar[tuple[tuple[str, str], ...]] = ()
    """Keys and pointer actions, each with what it does."""
    hint: ClassVar[tuple[str, str] | None] = None
    """A handle and what to do with it: shown beside the handle until the user drags something."""
    keys: ClassVar[tuple[tuple[str, str], ...]] = ()
    """Keys with a button on the page, each with what it does."""
    steers: ClassVar[bool] = False
    """Whether `steer` moves something."""
    unsaved: ClassVar[frozenset[str]] = frozenset()
    """Names of controls that are not part of a snapshot."""
    takes: ClassVar[tuple[str, ...]] = ()
    """Suffixes of files that can be dropped on it, such as (".glb", ".bvh")."""
    needs: ClassVar[tuple[str, ...]] = ()
    """Parts of `compile_ahead` that its first frame needs, with their precision, such as "feet, float32"."""

    def __init__(self, seed: int = 0) -> None:
        self.seed = seed
        self.draw = np.random.default_rng(seed)
        self.values: dict[str, Any] = {control.name: control.value for control in self.controls}
        self.time = 0.0
        """Seconds that have passed in it."""
        self.paused = False
        """Whether its time stands still."""
        self.input_waits: Callable[[], bool] = lambda: False
        """Returns whether the user has done something meanwhile: a long step may then leave some of its work for the
        next one."""
        self.revision = 0
        """Increases when `values`, `description` or the shapes of arrays change."""

    # User input.

    def set(self, name: str, value: Any) -> None:
        """Set a control or press a button. Raises InputError for an unknown control or a value that is not allowed."""
        named = {control.name: control for control in self.controls}
        if name not in named:
            raise InputError(f"{self.name} has no control {name!r:.40}; it has {', '.join(named) or 'none'}")
        self.values[name] = named[name].checked(value)
        self.changed(name)
        self.revision += 1

    def changed(self, name: str) -> None:  # noqa: B027  # Optional: most scenes read `values` in `step`.
        """Handle a new value of a control, or a pressed button."""

    def drag(self, handle: str, position: Sequence[float]) -> None:  # noqa: B027
        """Handle a drag of a handle to a position in the scene's space. Unknown handles are ignored."""

    def drop(self, handle: str) -> None:  # noqa: B027
        """Handle the release of a handle."""

    def grab(self, handle: str, point: Sequence[float]) -> None:  # noqa: B027
        """Make a handle of a point of a body. point: in the space of what was grabbed."""

    def rotate(self, handle: str, rotation: Sequence[float]) -> None:  # noqa: B027
        """Rotate a handle. rotation: a quaternion (4,), in the scene's space."""

    def pin(self, handle: str) -> None:  # noqa: B027
        """Keep a handle where it is, where the scene can."""

    def release(self, handle: str) -> None:  # noqa: B027
        """Give up what a dragged handle was set to, where the scene can."""

    def bend(self, handle: str) -> None:  # noqa: B027
        """Let the limb of a handle bend the other way, or as before, where the scene can."""

    def layer(self, pose: int, span: Sequence[float] | None) -> None:  # noqa: B027
        """Lay a stored pose over a part of the clip, where the scene can. span: seconds; None takes it off."""

    def follow(self, joint: str, source: str) -> None:  # noqa: B027
        """Let a joint follow another one of a motion that was taken over, where the scene can."""

    def look(self, position: Sequence[float]) -> None:  # noqa: B027
        """Look at the pointer, where the scene does."""

    def steer(self, turn: float, ahead: float) -> None:  # noqa: B027
        """Steer what walks, where the scene can. turn: to the left. ahead: forwards. Both -1 to 1; 0, 0 at the end."""

    def key(self, key: str, position: Sequence[float]) -> None:  # noqa: B027
        """Handle a key press. position: the pointer, in the scene's space."""

    def receive(self, name: str, data: bytes) -> None:
        """Handle a dropped file. The name is for display only, never a path. Raises InputError for an unusable file."""
        raise InputError(f"{self.title} takes no files")

    def receive_motion(self, name: str, data: bytes) -> None:
        """Handle a file whose motion is to go onto what is shown. Raises InputError for an unusable file."""
        raise InputError(f"{self.title} takes no motions")

    def give(self, name: str) -> bytes:
        """Return the content of one of its files: a model for the page to draw, or a download."""
        raise InputError(f"{self.title} has no file {name!r:.40}")

    def long_job(self, name: str) -> FileJob | None:
        """Return the work that produces one of its files, if that takes long; None if `give` does it at once.

        It runs in another thread while the scene goes on, so it must not read what the scene changes.
        """
        return None

    # Snapshots.

    def snapshot(self) -> dict[str, Any]:
        """Return what the user has set, as JSON values: the controls, and what `own_state` adds.

        It is what undo goes back to. What moves by itself is not part of it.
        """
        kept = {
            control.name: self.values[control.name]
            for control in self.controls
            if not isinstance(control, (Button, Download)) and control.name not in self.unsaved
        }
        return {"values": kept, "own": self.own_state()}

    def kept(self) -> dict[str, Any]:
        """Return a snapshot with what moves by itself: what a link, a file and a change of scene keep."""
        return self.snapshot() | {"motion": self.motion()}

    def restore(self, state: Any) -> None:
        """Return to what `snapshot` or `kept` returned.

        Raises InputError if it is not one of this scene; some of it may have been applied.
        """
        if not isinstance(state, dict) or not isinstance(state.get("values"), dict):
            raise InputError(f"this is not a session of {self.title}")
        own = state.get("own") or {}
        try:
            self.restore_first(state["values"], own)
            for name, value in state["values"].items():
                if name not in self.values or self.values[name] != value:
                    self.set(str(name), value)
            self.restore_own(own)
            if state.get("motion"):
                self.restore_motion(state["motion"])
        except (TypeError, KeyError, ValueError, AttributeError, IndexError) as problem:
            raise InputError(f"this session of {self.title} cannot be read: {problem}") from problem
        self.revision += 1

    def own_state(self) -> dict[str, Any]:
        """Return what the user has set besides the controls, as JSON values: handles, mostly."""
        return {}

    def restore_first(self, values: Mapping[str, Any], own: Mapping[str, Any]) -> None:  # noqa: B027
        """Restore what decides which values the controls can have, before those are set."""

    def restore_own(self, own: Mapping[str, Any]) -> None:  # noqa: B027
        """Return to what `own_state` returned. It may come from outside: check it as any other input."""

    def motion(self) -> dict[str, Any]:
        """Return what moves by itself, as JSON values: undo leaves it alone."""
        return {"time": self.time}

    def restore_motion(self, motion: Mapping[str, Any]) -> None:
        """Return to what `motion` returned. It may come from outside, too."""
        self.time = float(finite("time", [motion["time"]], 1)[0])

    def wanted_file(self, state: Any) -> str:
        """Return the name of the file that a state was made with, if the scene does not have it; "" otherwise."""
        return ""

    def motion_files(self, state: Any) -> list[str]:
        """Return the names of the files whose motions a state has on its character."""
        return []

    def _take_over(self) -> None:
        """Stop automatic motion of targets: the user has taken over."""
        if self.values.get("wander"):
            self.values["wander"] = False
            self.revision += 1

    def be_still(self) -> None:
        """Stop automatic motion, for users who prefer reduced motion."""
        self._take_over()

    def fresh(self) -> Scene:
        """Return a new scene in its initial state."""
        return type(self)(self.seed)

    # Time.

    @classmethod
    def rehearsal(cls) -> Scene:
        """Return a scene to compile kernels with: one whose steps take little time."""
        return cls()

    def rehearse(self) -> None:
        """Do once what users do, so that what it needs is compiled. All options of controls are set afterwards."""
        if self.hint is not None:
            self.drag(self.hint[0], (0.3, 0.4, 0.3))
        self.steer(0.5, 1.0)
        for advance in (self.step, self.settle, self.answer):
            advance(1 / 60)

    @abstractmethod
    def step(self, dt: float) -> None:
        """Advance the scene by dt seconds."""

    def answer(self, dt: float) -> Any:
        """Advance by dt seconds in a hurry, after a user input: what it does not concern may wait for the next `step`.

        Returns (n,): the rows that have changed of the arrays that `by_row` names; None if the whole scene has been
        advanced.
        """
        self.step(dt)

    def settle(self, dt: float) -> None:
        """Let chains follow their targets for dt seconds while the scene's own time stands still.

        The playground calls this while it is paused and the user drags handles or changes controls.
        """
        self.step(0.0)

    @abstractmethod
    def frame(self) -> dict[str, Any]:
        """Return the arrays to draw, by name."""

    def description(self) -> dict[str, Any]:
        """Return JSON values that only change with `revision`: counts, names, fixed shapes.

        "bounds" holds, by handle or by "*" for all handles, where they may be dragged: a box by its corners "low" and
        "high", or a ball by "centre" and "radius". The page keeps drags inside.
        """
        return {}

    @abstractmethod
    def status(self) -> SceneStatus:
        """Return how well the chains reach their targets."""

    @abstractmethod
    def python(self) -> str:
        """Return a script that computes the current frame with the public library."""

    @classmethod
    def introduction(cls) -> dict[str, Any]:
        """Return what the page shows of a scene before it is opened."""
        return {name: getattr(cls, name) for name in INTRODUCED}

    def panel(self) -> list[dict[str, Any]]:
        """Return the controls with their current values, as JSON values."""
        return [asdict(control) | {"value": self.values[control.name]} for control in self.controls]


def finite(name: str, values: Any, count: int) -> Any:
    """Return numbers from outside as (count,). Raises InputError for anything else."""
    try:
        given = np.array(values, float)
    except (TypeError, ValueError):
        given = np.zeros(0)
    if given.shape != (count,) or not np.isfinite(given).all():
        raise InputError(f"{name} is {values!r:.60}; {count} finite numbers are needed")
    return given


def clamped_position(position: Sequence[float], axes: int, far: float) -> Any:
    """Check a position from outside and return it as (axes,), clamped to `far` along each axis."""
    given = list(position)[:axes]
    if len(given) < axes or not all(isinstance(x, (int, float)) and math.isfinite(x) for x in given):
        raise InputError(f"position is {position!r:.60}; {axes} finite numbers are needed")
    return np.clip(np.array(given, float), -far, far)
