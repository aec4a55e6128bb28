"""Try a wheel as a new user does: `python -m tests.wheel dist`.

The wheel is installed into an empty environment. The checks run in an empty folder with an empty cache and no compiler
or Node on the PATH, and fail if anything had to be compiled. The seconds of each first call are printed. Every block of
README and docs and every example in a docstring is one of the checks.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import venv
from pathlib import Path
from time import perf_counter

DOCUMENTS = Path(__file__).resolve().parent / "documents.py"
FIRST_CALLS = {
    "import": "import kinema",
    "two_bone": "import kinema as km; km.two_bone((0, 0, 0), (0.5, 0.5, 0.2), (0.5, 0.5), pole=(0, 0, 1))",
    "fabrik": "import kinema as km; km.fabrik([[0, 0, 0], [0, 1, 0], [0, 2, 0], [0, 3, 0]], (1, 1, 1))",
    "character frame": """
import kinema as km
from kinema import demo
stages = [km.Play("walk"), km.Feet(), km.Head()]
animator = km.Animator(demo.humanoid(), stages, ground=km.Plane())
animator.look_at((1, 1.5, 3))
animator.update(1 / 60).palette
""",
}
COMMANDS = {
    "kinema --help": ["--help"],
    "kinema sample": ["sample", "person.glb"],
    "kinema info": ["info", "person.glb"],
    "kinema bake": ["bake", "person.glb", "-o", "baked.glb", "--clip", "walk", "--ground", "slope:10"],
}


def main(folder: Path) -> None:
    wheels = sorted(folder.glob("*.whl"))
    if len(wheels) != 1:
        sys.exit(f"{folder} must hold one wheel, found {len(wheels)}")
    if "none-any" in wheels[0].name:
        sys.exit(f"{wheels[0].name} is for any platform: it has no kernels")
    print(f"{wheels[0].name}: {wheels[0].stat().st_size / 1e6:.1f} MB")
    with tempfile.TemporaryDirectory() as temporary:
        home = Path(temporary)
        venv.create(home / "venv", with_pip=True)
        python = home / "venv" / ("Scripts" if os.name == "nt" else "bin") / "python"
        subprocess.run([python, "-m", "pip", "install", "--quiet", wheels[0].resolve()], check=True)
        work = home / "work"
        work.mkdir()
        for name, code in FIRST_CALLS.items():
            _timed(name, [python, "-c", code], work)
        for name, arguments in COMMANDS.items():
            _timed(name, [python, "-m", "kinema", *arguments], work)
        shutil.copy(DOCUMENTS, work)  # Away from the other tests, some of which have names of the standard library.
        _timed("what we document", [python, DOCUMENTS.name, DOCUMENTS.parents[1]], work)
        compiled = sorted(path.name for path in (work / "cache").rglob("*.nbc"))
        if compiled:
            sys.exit(f"{len(compiled)} kernels were not in the wheel: {', '.join(compiled[:12])}")
        print("nothing was compiled")


def _timed(name: str, command: list[object], work: Path) -> None:
    """Run a command twice, cold file cache and warm, and print the seconds of each."""
    bare = {"PATH": "", "HOME": str(work), "XDG_CACHE_HOME": str(work / "cache"), "LOCALAPPDATA": str(work / "cache")}
    seconds = []
    for attempt in range(2):
        extra = (
            ["--force"] if attempt and command[-1] != "--help" and ("sample" in command or "bake" in command) else []
        )
        start = perf_counter()
        process = subprocess.run([*map(str, command), *extra], env=bare, cwd=work, capture_output=True, text=True)
        seconds.append(perf_counter() - start)
        if process.returncode:
            sys.exit(f"{name} failed:\n{process.stderr[-2000:]}")
    print(f"{name:<18} {seconds[0]:6.2f} s, again {seconds[1]:6.2f} s")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
