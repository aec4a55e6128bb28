"""`python -m tests.retargeting`: move every motion onto every body, judge, print the table and keep the figures."""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

from benchmarks.provenance import made

from tests.retargeting.suite import BODIES, RESULTS, ROOT, SHOWN, STUBBY, held_out, motions, run, summary


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.retargeting", description=__doc__)
    parser.add_argument("--jobs", type=int, default=2, help="processes")
    parser.add_argument("--json", type=Path, help=f"where to keep the figures, as in {RESULTS.relative_to(ROOT)}")
    options = parser.parse_args()
    os.environ["NUMBA_NUM_THREADS"], os.environ["KINEMA_THREADS"] = "1", "1"
    aside = held_out(motions()) | held_out(BODIES)
    listed = [(motion, body) for motion in motions() for body in BODIES]
    with ProcessPoolExecutor(options.jobs, multiprocessing.get_context("spawn")) as pool:
        rows = list(pool.map(run, listed, chunksize=len(BODIES)))
    parts = {
        "tuned": [row for row in rows if not {row["motion"], row["body"]} & aside],
        "held-out": [row for row in rows if {row["motion"], row["body"]} & aside],
    }
    parts["people"] = [row for row in rows if row["body"] not in STUBBY]
    parts["stubby"] = [row for row in rows if row["body"] in STUBBY]
    tables = {name: summary(part) for name, part in parts.items()}
    for name, table in tables.items():
        print(
            f"{name}: {table['pairs']} pairs, {table['failed']} failed, {table['frames_a_second']:.0f} frames a second"
        )
        for figure in SHOWN:
            if figure in table:
                print(f"  {figure:10s}" + "".join(f" {kind} {value:8.3f}" for kind, value in table[figure].items()))
        print("  pairs over the bar: " + ", ".join(f"{name} {count}" for name, count in table["over the bar"].items()))
        print(f"  pairs over any bar: {table['wrong']}, without a warning {table['wrong without a word']}")
    worst = sorted((row for row in parts["tuned"] if "limbs" in row), key=lambda row: -row["limbs_p95"])[:10]
    for row in worst:
        print(f"  {row['motion']} on {row['body']}: " + ", ".join(f"{n} {row[n]:.2f}" for n in SHOWN if n in row))
    if options.json:
        rounded = [{k: round(v, 4) if isinstance(v, float) else v for k, v in row.items()} for row in rows]
        lines = ",\n  ".join(json.dumps(row) for row in rounded)
        head = json.dumps({"made": made("retargeting.json"), "summary": tables}, default=float)
        options.json.write_text(f'{head[:-1]}, "rows": [\n  {lines}\n]}}\n', encoding="utf-8")


if __name__ == "__main__":
    main()
