"""Offer to convert a file of a format that is not read, where a converter is installed."""

import subprocess
import sys
from pathlib import Path

import typer


def offer_conversion(file: Path) -> Path:
    """Return the file to read: this one, or the .glb that it is converted to if the user agrees.

    Asks only at a terminal. Elsewhere the error about the format names the command. Raises FileError if the converter
    fails.
    """
    from kinema.errors import FileError
    from kinema.io.other_formats import conversion, convertible

    other, target = convertible(file), file.with_suffix(".glb")
    if other is None or not file.is_file() or not _at_a_terminal():
        return file
    command = conversion(file, other)
    if command is None or target.exists():
        return file
    if not typer.confirm(f"{file} is {other.name}. Convert it to {target} with {command[0]}?", err=True):
        return file
    run = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    if run.returncode or not target.is_file():
        last = (run.stderr.strip() or run.stdout.strip() or f"status {run.returncode}").splitlines()[-1]
        raise FileError(f"{command[0]} could not convert it: {last:.200}", file.name)
    return target


def _at_a_terminal() -> bool:
    return sys.stdin.isatty() and sys.stderr.isatty()
