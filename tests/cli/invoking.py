"""Call `kinema` inside this process, with standard output and standard error apart."""

from inspect import signature

from typer.testing import CliRunner

from kinema.cli import app

APART = {"mix_stderr": False} if "mix_stderr" in signature(CliRunner).parameters else {}
"""click below 8.2 mixes both streams unless it is told not to."""


def invoke(*arguments):
    return CliRunner(**APART).invoke(app, [str(argument) for argument in arguments])
