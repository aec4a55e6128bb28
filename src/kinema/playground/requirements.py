"""What the playground needs beyond Kinema itself."""

from __future__ import annotations

from importlib.util import find_spec

from kinema.errors import MissingPackageError

PACKAGES = ("starlette", "uvicorn", "websockets", "PIL")
INSTALL = "pip install starlette uvicorn websockets pillow"


def require() -> None:
    """Raise MissingPackageError unless every package of the extra `play` is installed."""
    missing = [name for name in PACKAGES if find_spec(name) is None]
    if missing:
        raise MissingPackageError(f"the playground needs {', '.join(missing)}: {INSTALL} (the extra `play`)")
