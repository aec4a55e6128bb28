"""Which joint follows which, as a TOML file that people correct: `"LeftArm" = "upperarm_l"`, target first."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Mapping
from pathlib import Path

from kinema.errors import FileError

LARGEST_MAP = 1_000_000
"""Most bytes of such a file."""

HEAD = """# The joint of the character on the left follows the joint of the motion on the right.
# Change a name to let it follow another joint; "" leaves the joint as the character's stance has it.
"""


def write_map(joints: Mapping[str, str]) -> str:
    """Return the text of a map: joints of the source by those of the target."""
    lines = [f"{json.dumps(target)} = {json.dumps(source)}" for target, source in joints.items()]
    return HEAD + "\n".join(lines) + "\n"


def read_map(path: Path) -> dict[str, str]:
    """Read a map. Raise FileError for what is none."""
    try:
        if path.stat().st_size > LARGEST_MAP:
            raise FileError(f"the map is larger than {LARGEST_MAP:,} bytes", str(path))
        found = tomllib.loads(path.read_text("utf-8"))
    except OSError as problem:
        raise FileError(f"the map cannot be read: {problem.strerror}", str(path)) from None
    except (UnicodeDecodeError, tomllib.TOMLDecodeError) as problem:
        raise FileError(f"the map is no TOML: {problem}", str(path)) from None
    for name, value in found.items():
        if not isinstance(value, str):
            raise FileError(
                f'{name} is {value!r:.40}; expected the name of a joint, such as {name} = "Hips"', str(path)
            )
    return found
