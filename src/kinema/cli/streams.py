"""Output that never fails for lack of a character, whatever the encoding of the terminal or pipe."""

from __future__ import annotations

import codecs
import sys

_ASCII = {"→": "->", "↳": "`-", "°": " deg", "…": "..."}
"""What the commands print beyond ASCII, and what to print instead where it cannot be encoded."""

_HANDLER = "kinema.ascii"


def use_safe_streams() -> None:
    """Make stdout and stderr replace characters that they cannot encode: "->" for an arrow, "?" for the unknown."""
    codecs.register_error(_HANDLER, _replace)
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors=_HANDLER)


def _replace(problem: UnicodeError) -> tuple[str, int]:
    if not isinstance(problem, UnicodeEncodeError):
        raise problem
    unknown = problem.object[problem.start : problem.end]
    return "".join(_ASCII.get(c, "?") for c in unknown), problem.end
