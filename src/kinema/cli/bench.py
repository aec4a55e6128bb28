"""`kinema bench`: run the benchmarks, which are part of the source tree and not of the wheel."""

import sys
from importlib import import_module
from pathlib import Path

import typer

from kinema.cli.errors import UNUSABLE

EXAMPLES = """Examples:

kinema bench --quick --only chains

kinema bench --json results/

kinema bench --plot pictures/"""

SETTINGS = {"ignore_unknown_options": True, "allow_extra_args": True, "allow_interspersed_args": False}

ELSEWHERE = (
    "kinema bench: the benchmarks are not part of an installed package, but of Kinema's source tree. Get a clone or "
    "the source distribution, and run `kinema bench` or `python -m benchmarks` in its root"
)


def bench(context: typer.Context) -> None:
    """Measure this machine and the installed peer libraries, in a clone.

    Runs `benchmarks` of the source tree that Kinema is installed from, or of the current folder. Options:
    `python -m benchmarks --help`.
    """
    root = source_tree()
    if root is None:
        typer.secho(ELSEWHERE, fg="red", file=sys.stderr)
        raise typer.Exit(UNUSABLE)
    if str(root) not in sys.path:
        sys.path.insert(0, str(root))
    command = typer.main.get_command(import_module("benchmarks.__main__").app)
    raise typer.Exit(command.main(context.args, prog_name="kinema bench", standalone_mode=False) or 0)


def source_tree() -> Path | None:
    """Return the root of Kinema's source tree: that of this package, or the current folder; None if neither is one."""
    for root in (Path(__file__).resolve().parents[3], Path.cwd()):
        if (root / "benchmarks" / "sections.py").is_file() and (root / "src" / "kinema").is_dir():
            return root
    return None
