"""Real files that are not part of the repository: they lie beside it, with their licences."""

import os
from pathlib import Path

import pytest

FOLDER = Path(__file__).resolve().parents[2] / "shared" / "assets"


def asset(path):
    """A file by its path in the folder of assets. Without the folder the test is skipped, where skipping is allowed."""
    file = FOLDER / path
    if not file.exists():
        needed = [name for name in ("KINEMA_ASSETS_REQUIRED", "CI") if os.environ.get(name)]
        if needed:
            pytest.fail(f"{file} is not there, and {needed[0]} is set")
        pytest.skip(f"no {path} beside the repository")
    return file
