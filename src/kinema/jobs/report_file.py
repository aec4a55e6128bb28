"""`ReportFile`: the figures of a run as JSON, over several runs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from kinema.errors import FileError, InputError
from kinema.io import atomic

FORMAT, VERSION = "kinema.report", 1


class ReportFile:
    """The figures of a run, as JSON.

    A report of an earlier run is replaced, and its figures of files that are skipped now are kept; any other existing
    file is replaced only with `force`. Problems with the path are raised at once, before any work is done.

    order: fingerprint of the order; figures of another order are not kept.
    """

    def __init__(self, path: Path, order: str, *, force: bool) -> None:
        if path.is_dir() or not path.parent.is_dir():
            raise InputError(f"--report is {str(path)!r}; expected a file in an existing folder")
        atomic.check_writable(path)
        self._path, self._order = path, order
        old = self._read()
        if path.exists() and old.get("format") != FORMAT and not force:
            raise InputError(f"{path} exists and is not a report of Kinema; --force replaces it")
        known = old.get("files") if old.get("order") == order else None
        entries = [entry for entry in known if isinstance(entry, dict)] if isinstance(known, list) else []
        self._known = {str(entry.get("output")): entry for entry in entries}

    def _read(self) -> dict[str, Any]:
        try:
            found = json.loads(self._path.read_bytes())
        except (OSError, ValueError, RecursionError):
            return {}
        return found if isinstance(found, dict) else {}

    def write(self, reports: list[dict[str, Any]], kinema: str, options: dict[str, Any]) -> None:
        """Write the report of each file. kinema: its version. options: the options that were given, for people."""
        files = [self._with_figures(report) if report["status"] == "skipped" else report for report in reports]
        head = {"format": FORMAT, "version": VERSION, "kinema": kinema, "order": self._order, "options": options}
        try:
            atomic.write(self._path, [json.dumps({**head, "files": files}, indent=1, default=str).encode()])
        except OSError as wrong:
            raise FileError(f"the report cannot be written: {wrong.strerror}", str(self._path)) from None

    def _with_figures(self, skipped: dict[str, Any]) -> dict[str, Any]:
        """Add the figures from when a skipped file was made."""
        return {**self._known.get(skipped["output"], {}), **skipped}
