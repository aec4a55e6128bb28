"""Report errors on one line, the same way for every command."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager

import typer

FAILED = 1
"""Exit status if some of several files failed."""

UNUSABLE = 2
"""Exit status for a wrong option or a file that cannot be used."""


@contextmanager
def one_line_errors(command: str) -> Iterator[None]:
    """Print user errors as one line on stderr, with exit status 2."""
    from kinema.errors import KinemaError

    try:
        yield
    except KinemaError as problem:
        message = str(problem)
    except OSError as problem:
        message = f"{problem.filename}: {problem.strerror}" if problem.filename else str(problem)
    else:
        return
    plain = "".join(c if c.isprintable() else repr(c)[1:-1] for c in message)
    # With err=True, click would write UTF-8 where the encoding is ASCII.
    typer.secho(f"kinema {command}: {plain}", fg="red", file=sys.stderr)
    raise typer.Exit(UNUSABLE) from None
