"""The code that we document: Python blocks of README and docs, and examples in docstrings.

`python documents.py FOLDER` runs all of it with whatever kinema that Python has; FOLDER is the root of the repository.
It needs nothing else of the repository, so that it can try an installed wheel. Files that examples open are written to
the current folder.
"""

from __future__ import annotations

import doctest
import inspect
import re
import sys
from pathlib import Path
from typing import Any


def documents(root: Path) -> list[Path]:
    """Return README and every page of the docs."""
    return [root / "README.md", *sorted((root / "docs").glob("*.md"))]


def python_blocks(document: Path) -> list[str]:
    return re.findall(r"```python\n(.*?)```", document.read_text(encoding="utf-8"), re.S)


def run_blocks(document: Path) -> None:
    """Run all blocks of a document in one session, as a reader would type them one after the other."""
    names: dict[str, Any] = {}
    for block in python_blocks(document):
        exec(compile(block, document.name, "exec"), names)


def run_examples(name: str) -> int:
    """Run the examples in the docstring of a public name and those of its members. Returns how many failed."""
    import numpy as np

    import kinema as km

    item = getattr(km, name)
    finder = doctest.DocTestFinder(recurse=inspect.isclass(item))
    tests = finder.find(item, name, globs={"km": km, "np": np})
    return sum(doctest.DocTestRunner(optionflags=doctest.ELLIPSIS).run(test).failed for test in tests)


SAMPLES = ("person.glb", "capture.bvh", "stairs.glb", "webcam.json")
"""Files that documents open, as `kinema sample` writes them."""


def write_samples(folder: Path) -> None:
    """Write the files that examples open."""
    from kinema.demo.samples import write

    write(SAMPLES, folder, force=True)


def run_all(root: Path) -> None:
    """Run every block and every example, in an empty folder."""
    import kinema as km

    write_samples(Path())
    for document in documents(root):
        run_blocks(document)
    failed = [name for name in km.__all__ if callable(getattr(km, name)) and run_examples(name)]
    if failed:
        sys.exit(f"examples of {', '.join(failed)} fail")


if __name__ == "__main__":
    run_all(Path(sys.argv[1]))
