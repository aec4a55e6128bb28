"""Commands whose options are the fields of a dataclass, and the options that several commands share."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import MISSING, dataclass, field, fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar, get_type_hints

import typer

if TYPE_CHECKING:
    from kinema.bake.grounds import GroundSpec
    from kinema.model.character import Character
    from kinema.roles import Overrides

Options = TypeVar("Options")


def panel(name: str | None) -> Callable[..., Any]:
    """Return what makes an option in one panel of the help.

    It takes the option's text, its names, its default (MISSING for one that must be given), and what else Typer takes.
    """

    def option(text: str, *names: str, default: Any = None, default_factory: Any = MISSING, **more: Any) -> Any:
        default = default if default_factory is MISSING else MISSING
        metadata = {"typer": typer.Option(*names, help=text, rich_help_panel=name, **more)}
        return field(default=default, default_factory=default_factory, metadata=metadata)

    return option


def argument(text: str, **defaults: Any) -> Any:
    """Make an argument of a command from its text and the default of its field."""
    return field(metadata={"typer": typer.Argument(help=text)}, **defaults)


option = panel(None)


_ground, _roles = panel("Ground"), panel("Roles")


def command(options: type[Options], run: Callable[[Options], None]) -> Callable[..., None]:
    """Make a Typer command of a function that takes its options as one dataclass.

    options: a dataclass whose fields are options and arguments. run: the command; its docstring is the help.
    """
    hints = get_type_hints(options)
    # The command's own options come first in its help, shared ones after them.
    ordered = sorted(fields(options), key=lambda each: each.name not in options.__annotations__)  # type: ignore[arg-type]

    def call(**given: Any) -> None:
        run(options(**given))

    parameters = []
    for each in ordered:
        default = inspect.Parameter.empty if each.default is MISSING else each.default
        default = default if each.default_factory is MISSING else each.default_factory()
        hints[each.name] = Annotated[hints[each.name], each.metadata["typer"]]
        parameters.append(
            inspect.Parameter(each.name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=hints[each.name])
        )
    call.__name__, call.__doc__, call.__annotations__ = run.__name__, run.__doc__, hints
    call.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    return call


@dataclass(frozen=True, kw_only=True)
class GroundOptions:
    """The options that describe the ground."""

    ground: str | None = _ground(
        "A height, slope:DEGREES, stairs:RISE,RUN[,COUNT], a mesh (.glb) or a height map (.npy, .png). Slopes "
        "and stairs rise towards +Z, stairs from z = 0 on; negative ones go down."
    )
    ground_size: str | None = _ground("Extent of a height map.", metavar="X,Z")
    ground_height: str | None = _ground("Lowest and highest point of a height map.", metavar="LOW,HIGH")

    ground_unit: str = _ground(
        "Unit of all lengths of the ground. Default: that of the character's file.",
        metavar="m|cm|mm|dm|ft|in",
        default="",
    )

    def parsed_ground(self) -> GroundSpec | None:
        """The ground that the options describe; None without `--ground`."""
        from kinema.bake.grounds import parse

        size = None if self.ground_size is None else parse_numbers("--ground-size", self.ground_size, 2)
        heights = None if self.ground_height is None else parse_numbers("--ground-height", self.ground_height, 2)
        if self.ground is None:
            return None
        return parse(self.ground, size, heights, self.ground_unit)


@dataclass(frozen=True, kw_only=True)
class RoleOptions:
    """The options that name the roles of joints."""

    role: list[str] = _roles(
        "Name the joints of a role: head=Bip01_Head, leg.left=thigh_l,calf_l,foot_l. Repeatable.",
        metavar="ROLE=JOINT,...",
        default_factory=list,
    )
    roles: Path | None = _roles("A file with roles.", metavar="TOML")

    def overrides(self) -> Overrides:
        """The roles that are given; `--role` takes precedence over `--roles`."""
        from kinema.roles import Overrides, parse_override, read_overrides

        given = Overrides() if self.roles is None else read_overrides(self.roles)
        for text in self.role:
            given = parse_override(text).over(given)
        return given

    def load(self, file: Path) -> Character:
        """Load a character with these roles."""
        from kinema.io.files import load

        return load(file, roles=self.overrides())


def parse_numbers(name: str, text: str, *counts: int) -> Any:
    """Parse numbers with commas between them. name: of the option, for the error. counts: how many are allowed."""
    import math

    from kinema.errors import InputError

    try:
        numbers = tuple(float(cell) for cell in text.split(","))
    except ValueError:
        numbers = ()
    if len(numbers) not in counts or not all(math.isfinite(number) for number in numbers):
        allowed = " or ".join(map(str, counts))
        example = ",".join("123"[: counts[0]])
        raise InputError(f"{name} is {text!r:.60}; expected {allowed} numbers, such as {example}")
    return numbers
