"""The command line. Nothing heavy is imported until a command runs, so `--help` answers at once."""

from __future__ import annotations

import typer

from kinema.cli.bake import bake
from kinema.cli.info import info
from kinema.cli.render import render

app = typer.Typer(
    help="Kinema: inverse kinematics for procedural animation.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)


def _print_version(wanted: bool) -> None:
    if wanted:
        from kinema import __version__

        typer.echo(f"kinema {__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: bool = typer.Option(
        False, "--version", help="Print the version and leave.", is_eager=True, callback=_print_version
    ),
) -> None:
    """What every command shares: nothing but the way to the version."""


@app.command()
def warmup() -> None:
    """Compile every solver now, so that nothing has to wait later."""
    from kinema.compile_ahead import warmup as compile_all

    seconds = compile_all()
    typer.echo(f"Everything is compiled ({seconds:.1f} s).")


@app.command()
def play() -> None:
    """Open the playground."""
    typer.echo("The playground is not part of this release yet. `make test` and the examples show what is there.")


app.command()(bake)
app.command()(info)
app.command()(render)


def main() -> None:
    """The entry point."""
    app()
