"""Commands that work on many files: their options, and how they run, show progress, and write their reports."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import MISSING, asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kinema.cli.options import option, panel
from kinema.io.formats import READ, WRITTEN

if TYPE_CHECKING:
    from kinema.jobs.listing import Item
    from kinema.jobs.many import Runner
    from kinema.jobs.order import Order

_many = panel("Many files")

_NOT_IN_FINGERPRINT = ("files", "output", "jobs", "dask", "report", "force")
"""Options that do not change what is written into a file."""


@dataclass(frozen=True, kw_only=True)
class ManyFilesOptions:
    """The options of all commands that write new files."""

    output: Path = option(f"The new file ({' '.join(WRITTEN)}), or a folder.", "--output", "-o", default=MISSING)
    report: Path | None = option("Write all figures to this file, as JSON.")
    force: bool = option("Replace existing files.", "--force", default=False)
    jobs: int = _many("Number of parallel processes.", min=1, default=1)
    dask: str | None = _many("Run on this Dask scheduler.", metavar="ADDRESS")

    def fingerprint(self, named: Iterable[str | Path | None]) -> str:
        """Hash every option that affects the result, and those files that the options name."""
        from kinema.version import __version__

        asked = {name: value for name, value in asdict(self).items() if name not in _NOT_IN_FINGERPRINT}
        digest = hashlib.sha256(json.dumps({"kinema": __version__, **asked}, sort_keys=True, default=str).encode())
        for path in (Path(text) for text in named if text):
            if path.is_file():
                digest.update(path.read_bytes())
        return digest.hexdigest()


def run_files(
    options: ManyFilesOptions,
    files: Iterable[str],
    order: Order,
    show: Callable[[dict[str, Any]], None],
    kind: str | None = None,
    suffixes: tuple[str, ...] = READ,
) -> int:
    """Carry out an order for all files and print what became of them.

    show: prints the report of a file that is done. kind: suffix of all new files; default: by the old ones.
    suffixes: of the files to look for in folders. Returns how
    many of several files failed; raises the problem of an only file.
    """
    from kinema.cli.conversion_offer import offer_conversion
    from kinema.cli.file_reports import print_reports, print_skipped
    from kinema.errors import InputError
    from kinema.jobs.listing import ReportFile, items, skipped_formats
    from kinema.jobs.many import run_many
    from kinema.version import __version__

    found = [text if (read := offer_conversion(Path(text))) == Path(text) else str(read) for text in files]
    listed = items(found, options.output if order.writes else Path(), kind, suffixes)
    folder = _output_folder(listed, options.output) if order.writes else None
    figures = None if options.report is None else ReportFile(options.report, order.fingerprint, force=options.force)
    with _progress(len(listed)) as (share, done):
        reports = run_many(listed, order, folder, _runner(options, share), force=options.force, done=done)
    print_reports(reports, order.status, show)
    print_skipped(skipped_formats(found))
    if figures is not None:
        asked = {name: value for name, value in asdict(options).items() if value not in (None, [], False)}
        figures.write(reports, __version__, asked)
    failed = [report for report in reports if report["status"] == "failed"]
    if failed and len(reports) == 1:
        raise InputError(f"{failed[0]['file']}: {failed[0]['problem']}")
    return len(failed)


def _output_folder(listed: list[Item], output: Path) -> Path | None:
    """The folder of the new files; None if there is a single new file, whose folder must be writable."""
    from kinema.io import atomic

    if len(listed) > 1 or listed[0].output != output:
        return output
    if output.parent.is_dir():
        atomic.check_writable(output)
    return None


def _runner(options: ManyFilesOptions, share: Callable[[float], None]) -> Runner:
    from kinema.jobs.many import in_processes, on_dask, one_by_one

    if options.dask is not None:
        return on_dask(options.dask)
    return one_by_one(share) if options.jobs == 1 else in_processes(options.jobs)


@contextmanager
def _progress(count: int) -> Iterator[tuple[Callable[[float], None], Callable[[dict[str, Any]], None]]]:
    """Show a progress bar if stderr is a terminal.

    Gives two functions: one to call with the finished share of the current file, one to call after each file. Until
    the first call the bar says what a first run does: compile.
    """
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    console = Console(stderr=True)
    columns = TextColumn("{task.description}"), BarColumn(), TextColumn("{task.percentage:3.0f} %"), TimeElapsedColumn()
    finished = 0
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task("preparing (the first run compiles)", total=None)

        def show(completed: float) -> None:
            bar.update(task, completed=completed, total=count, description=f"{finished} of {count}")

        def share(part: float) -> None:
            show(finished + part)

        def done(report: dict[str, Any]) -> None:
            nonlocal finished
            finished += 1
            show(finished)

        yield share, done
