"""`kinema warmup`: compile kernels ahead of their first use."""

import sys
from typing import Annotated

import typer

from kinema.cli.errors import one_line_errors

EXAMPLES = """kinema warmup
kinema warmup two_bone feet"""

_INTERRUPTED = 130
"""Exit status after Ctrl-C."""


def warmup(parts: Annotated[list[str] | None, typer.Argument(help="Parts to compile. Default: all.")] = None) -> None:
    """Compile kernels now instead of at their first use. Needed at most once per environment."""
    try:
        with one_line_errors("warmup"):
            from kinema.compile_ahead import warmup as compile_parts

            seconds = compile_parts(*(parts or ()), progress=sys.stderr.isatty())
    except KeyboardInterrupt:
        typer.echo("\nInterrupted. What is compiled so far is kept; the rest compiles at its first use.", err=True)
        raise typer.Exit(_INTERRUPTED) from None
    typer.echo(f"{', '.join(parts) if parts else 'Everything'}: compiled ({seconds:.1f} s).")
