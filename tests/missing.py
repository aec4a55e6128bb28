"""What a machine may lack: real files, a browser, other programs. Tests that need it are skipped there and counted at
the end of the run; `.ci/run` sets the variables that turn these skips into failures.
"""

import os
import re
from collections import Counter

import pytest

KINDS = {
    "assets": "real characters and takes",
    "browser": "Chromium",
    "judges": "three.js and the Khronos validator",
}
"""What may be missing, and what the summary of a run calls it."""


def variable(kind):
    """The environment variable that demands it."""
    return f"KINEMA_{kind.upper()}_REQUIRED"


def missing(kind, what):
    """Skip the test because something of a kind is not there; fail it where that kind is required."""
    if os.environ.get(variable(kind)):
        pytest.fail(f"no {kind}: {what}, and {variable(kind)} is set")
    pytest.skip(f"no {kind}: {what}")


def summary(reasons):
    """A line for each kind that tests were skipped for, from the reasons of all skipped tests."""
    found = (re.match(r"Skipped: no (\w+): ", reason) for reason in reasons)
    counts = Counter(match[1] for match in found if match and match[1] in KINDS)
    return [
        f"{count} tests skipped without {KINDS[kind]} ({variable(kind)}=1 demands them)"
        for kind, count in sorted(counts.items())
    ]
