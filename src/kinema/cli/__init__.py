"""The command line. Nothing heavy is imported until a command runs, so that `--help` answers at once."""

import codecs
import sys

import typer

from kinema.cli import bake, bench, clean, convert, fit, info, play, render, retarget, sample, stream, warmup
from kinema.cli.options import command

_START, _FILES, _MACHINE = "Start here", "Files", "This machine"

app = typer.Typer(
    help="Kinema: inverse kinematics for procedural animation.",
    epilog="""First steps:

kinema play

kinema sample person.glb stairs.glb

kinema bake person.glb -o out.glb --clip walk --ground stairs.glb --loops 4

kinema render out.glb -o walk.gif --clip "walk baked" --ground stairs.glb""",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _print_version(wanted: bool) -> None:
    if wanted:
        from kinema.version import __version__

        typer.echo(f"kinema {__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: bool = typer.Option(
        False, "--version", help="Show the version and exit.", is_eager=True, callback=_print_version
    ),
) -> None:
    """Options of `kinema` itself."""


for _panel, _module, _run in (
    (_START, play, play.play),
    (_START, sample, sample.sample),
    (_FILES, info, command(info.InfoOptions, info.info)),
    (_FILES, render, command(render.RenderOptions, render.render)),
    (_FILES, bake, command(bake.BakeOptions, bake.bake)),
    (_FILES, retarget, command(retarget.RetargetOptions, retarget.retarget)),
    (_FILES, fit, command(fit.FitOptions, fit.fit)),
    (_FILES, stream, command(stream.StreamOptions, stream.stream)),
    (_FILES, clean, command(clean.CleanOptions, clean.clean)),
    (_FILES, convert, command(convert.ConvertOptions, convert.convert)),
    (_MACHINE, warmup, warmup.warmup),
):
    _examples = "\n\n".join(("Examples:", *_module.EXAMPLES.splitlines()))
    app.command(rich_help_panel=_panel, epilog=_examples)(_run)
app.command(rich_help_panel=_MACHINE, epilog=bench.EXAMPLES, context_settings=bench.SETTINGS)(bench.bench)


def main() -> None:
    """Run the command line."""
    use_safe_streams()
    app(prog_name="kinema")


_ASCII = {"→": "->", "↳": "`-", "°": " deg", "…": "..."}
"""What the commands print beyond ASCII, and what to print instead where it cannot be encoded."""

_HANDLER = "kinema.ascii"


def use_safe_streams() -> None:
    """Make stdout and stderr replace characters that they cannot encode: "->" for an arrow, "?" for the unknown."""
    codecs.register_error(_HANDLER, _replace)
    for output in (sys.stdout, sys.stderr):
        if hasattr(output, "reconfigure"):
            output.reconfigure(errors=_HANDLER)


def _replace(problem: UnicodeError) -> tuple[str, int]:
    if not isinstance(problem, UnicodeEncodeError):
        raise problem
    unknown = problem.object[problem.start : problem.end]
    return "".join(_ASCII.get(c, "?") for c in unknown), problem.end
