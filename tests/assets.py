"""Real files that are not part of the repository: they lie beside it, with their licences."""

from pathlib import Path

from tests.missing import missing

FOLDER = Path(__file__).resolve().parents[2] / "shared" / "assets"


def asset(path):
    """A file by its path in the folder of assets. Without it the test is skipped, or fails where required."""
    file = FOLDER / path
    if not file.exists():
        missing("assets", path)
    return file
