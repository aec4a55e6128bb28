"""`python -m tests.motion.rates`: play every clip through `Feet` at four frame rates, judge what a game would show,
keep the figures and write the table of docs/feet.md.
"""

from __future__ import annotations

import argparse
import fnmatch
import json
import logging
import multiprocessing
import os
import time
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
from benchmarks.provenance import made

from tests.motion.cases import GROUNDS, CaseName, all_names, case_of
from tests.motion.figures import measure_play
from tests.motion.playing import RATES, play
from tests.motion.split import SPLITS
from tests.motion.table import ROOT, TITLES, with_table

RESULTS = ROOT / "benchmarks" / "results" / "motion_rates.json"
DOCUMENT = ROOT / "docs" / "feet.md"
BEGIN, END = "<!-- rates: python -m tests.motion.rates -->", "<!-- end of the rates -->"
"""The lines between which the table stands."""

SHOWN = ("hover", "penetration", "slide", "beyond", "jerk")


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.motion.rates", description=__doc__)
    parser.add_argument("--only", default="*", help="names of clips, as in 'cmu/0*' or 'Fox/*'")
    parser.add_argument("--ground", default="*", help=f"one of {', '.join(GROUNDS)}, or a pattern")
    parser.add_argument("--jobs", type=int, default=2, help="processes")
    parser.add_argument("--json", type=Path, help=f"where to keep the figures, as in {RESULTS.relative_to(ROOT)}")
    options = parser.parse_args()
    began = time.perf_counter()
    os.environ["NUMBA_NUM_THREADS"] = "1"
    names = [name for name in all_names() if fnmatch.fnmatch(name.name, options.only)]
    grounds = [ground for ground in GROUNDS if fnmatch.fnmatch(ground, options.ground)]
    with ProcessPoolExecutor(options.jobs, multiprocessing.get_context("spawn")) as pool:
        rows = [row for found in pool.map(judge, names, [grounds] * len(names)) for row in found]
    summary = summary_of(rows)
    print(table(summary))
    print(f"{len(rows)} runs in {time.perf_counter() - began:.0f} s")
    if options.json:
        kept = json.loads(options.json.read_text(encoding="utf-8")) if options.json.exists() else {}
        kept |= {"made": made(RESULTS.name), "summary": summary}  # What was measured before stays.
        options.json.write_text(json.dumps(kept, indent=1) + "\n", encoding="utf-8")
        if options.json.resolve() == RESULTS:
            DOCUMENT.write_text(with_table(DOCUMENT, BEGIN, END, table(summary)), encoding="utf-8")


def judge(name: CaseName, grounds: list[str]) -> list[dict[str, Any]]:
    """Play a clip on these grounds at all rates. Returns a row for each run."""
    logging.disable(logging.WARNING)  # Feet that cannot reach their ground are what is counted here.
    rows = []
    for ground in grounds:
        case = case_of(name, ground)
        for rate in RATES:  # At 240 Hz every second frame is judged.
            figures = measure_play(case, play(case, rate))
            rows.append(
                {"name": name.name, "split": name.split, "ground": ground, "rate": rate, "clean": figures.clean}
                | {key: getattr(figures, key) for key in (*SHOWN, "flips")}
            )
    return rows


def summary_of(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """By split, ground and rate: how many runs, the share that is clean, flips, median and ninth decile of figures."""
    found: dict[str, Any] = {}
    for split in SPLITS:
        for ground in (*GROUNDS, "all"):
            for rate in RATES:
                part = [row for row in rows if row["split"] == split and row["rate"] == rate]
                part = [row for row in part if ground in ("all", row["ground"])]
                if part:
                    found.setdefault(split, {}).setdefault(ground, {})[str(rate)] = _figures(part)
    return found


def _figures(rows: list[dict[str, Any]]) -> dict[str, Any]:
    takes = [row["clean"] for row in rows if row["name"].startswith("cmu/")]
    figures: dict[str, Any] = {
        "count": len(rows),
        "clean": round(float(np.mean([row["clean"] for row in rows])), 4),
        "clean_takes": round(float(np.mean(takes)), 4) if takes else None,
        "flips": sum(row["flips"] for row in rows),
    }
    for key in SHOWN:
        values = [row[key] for row in rows]
        figures[key] = [round(float(np.quantile(values, share)), 4) for share in (0.5, 0.9)]
    return figures


def table(summary: dict[str, Any]) -> str:
    """Share that is clean by ground and rate, in brackets of takes alone, given / aside; then the median jerk."""
    lines = ["| ground | " + " | ".join(f"{rate} Hz" for rate in RATES) + " | jerk |", "| --- |" + " --- |" * 5]
    for ground, title in TITLES.items():
        both = [summary[split][ground] for split in SPLITS if ground in summary.get(split, {})]
        if both:
            cells = [" / ".join(_share(part[str(rate)]) for part in both) for rate in RATES]
            jerks = [part[str(rate)]["jerk"][0] for part in both for rate in RATES]
            jerk = f"{min(jerks):.2f} to {max(jerks):.2f}"
            lines.append(f"| {title} | {' | '.join(cells)} | {jerk} |")
    return "\n".join(lines)


def _share(figures: dict[str, Any]) -> str:
    takes = figures["clean_takes"]
    return f"{figures['clean']:.0%}" + ("" if takes is None else f" ({takes:.0%})")


if __name__ == "__main__":
    main()
