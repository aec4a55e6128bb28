"""The command line. Nothing heavy is imported until a command runs, so `--help` answers at once."""

from __future__ import annotations

import typer

from kinema.cli.bake import bake
from kinema.cli.bench import bench
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
        from kinema.version import __version__

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
def play(
    scene: str = typer.Argument("planar", help="The scene to open first."),
    host: str = typer.Option("127.0.0.1", help="The address to listen at; anything but loopback is seen by others."),
    port: int = typer.Option(None, min=1, max=65535, help="The port; if it is taken, the next free one."),
    browser: bool = typer.Option(True, "--browser/--no-browser", help="Open the page in the browser."),
) -> None:
    """Open the playground: drag limbs, arms and characters, and copy what you see as Python."""
    from kinema.errors import InputError

    try:
        from kinema.playground.server import play as serve
    except ModuleNotFoundError as missing:
        typer.echo(f'The playground needs {missing.name}: pip install "kinema[play]"', err=True)
        raise typer.Exit(1) from missing
    try:
        serve(scene, host, port, browser)
    except InputError as problem:
        typer.echo(f"{str(problem)[:1].upper()}{str(problem)[1:]}.", err=True)
        raise typer.Exit(2) from problem


app.command()(bake)
app.command()(bench)
app.command()(info)
app.command()(render)


def main() -> None:
    """The entry point."""
    app()
