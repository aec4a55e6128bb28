"""What commands share: a file with the user's word on its roles, and how mistakes are told."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import typer

if TYPE_CHECKING:
    from kinema.character import Character


def loaded(file: Path, roles: Path | None, role: list[str]) -> Character:
    """The character of a file. roles: a TOML file that says which joint is what; role: the same in words, over it."""
    from kinema.io.files import load
    from kinema.roles import Overrides, parse_override, read_overrides

    said = Overrides() if roles is None else read_overrides(roles)
    for word in role:
        said = parse_override(word).over(said)
    return load(file, roles=said)


@contextmanager
def told(command: str) -> Iterator[None]:
    """Mistakes in what was asked for, and files that cannot be used, in one line; the command ends with 2."""
    from kinema.errors import KinemaError

    try:
        yield
    except (KinemaError, OSError) as wrong:
        plain = "".join(c if c.isprintable() else repr(c)[1:-1] for c in str(wrong))
        typer.secho(f"kinema {command}: {plain}", fg="red", err=True)
        raise typer.Exit(2) from None
