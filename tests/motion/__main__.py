"""`python -m tests.motion`: bake, judge, print the table, keep the figures and draw the worst."""

from __future__ import annotations

import argparse
import fnmatch
import json
import os
import time
from pathlib import Path
from typing import Any

import numpy as np
from benchmarks.provenance import made

from tests.motion.cases import GROUNDS, LONGEST, CaseName, all_names, case_of
from tests.motion.figures import BARS, Figures
from tests.motion.judging import run
from tests.motion.split import GIVEN, SPLITS

ROOT = Path(__file__).resolve().parents[2]
RESULTS = ROOT / "benchmarks" / "results" / "motion.json"
PICTURES = ROOT / "build" / "motion"
SHOWN = ("hover", "penetration", "slide", "beyond", "lifted", "jerk", "shin", "raised", "steps")
PERCENT = ("hover", "penetration", "slide", "lifted", "shin", "raised")
WORST = 10
"""Bakes that are listed and drawn."""

LIFTED = 0.15
"""Leg lengths that hips are off their height above the ground, from which on a bake has to warn of it."""

KEEPS = 0.9
"""Share of the contacts of a clip, by their speed alone, that a bake finds where it keeps them."""

POSES, FEWEST_POSES = 7, 3
"""Poses of a picture, and how few of them that fit onto the ground make one without it."""


def main() -> None:
    options = _options()
    began = time.perf_counter()
    os.environ["NUMBA_NUM_THREADS"] = "1"
    wanted = [name for name in all_names() if fnmatch.fnmatch(name.name, options.only)]
    wanted = [name for name in wanted if options.split in ("both", name.split)]
    grounds = [ground for ground in GROUNDS if fnmatch.fnmatch(ground, options.ground)]
    found = run(wanted, grounds, options.jobs)
    summary = {split: _summary(found, split) for split in SPLITS}
    for split, table in summary.items():
        if table:
            print(_table(split, table), _warnings(table["all"]), sep="\n")
    open_rows = [row for row in found if row["split"] == (GIVEN if options.split == "both" else options.split)]
    print(_worst(open_rows))
    if not options.no_pictures:
        _draw(open_rows, wanted)
    if options.json:
        _keep(options.json, summary, found)
    print(f"{len(found)} bakes in {time.perf_counter() - began:.0f} s")


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.motion", description=__doc__)
    parser.add_argument("--only", default="*", help="names of clips, as in 'cmu/0*' or 'Fox/*'")
    parser.add_argument("--ground", default="*", help=f"one of {', '.join(GROUNDS)}, or a pattern")
    split = "what is put aside is counted but not listed, unless it is asked for alone"
    parser.add_argument("--split", choices=("both", *SPLITS), default="both", help=split)
    parser.add_argument("--jobs", type=int, default=2, help="processes")
    parser.add_argument("--no-pictures", action="store_true", help="do not draw the worst")
    parser.add_argument("--json", type=Path, help=f"where to keep the figures, as in {RESULTS.relative_to(ROOT)}")
    return parser.parse_args()


# --- reporting -------------------------------------------------------------------------------------------------


def _summary(rows: list[dict[str, Any]], split: str) -> dict[str, Any]:
    """By ground: how many, the share that is clean (takes, rigs and all), median and worst of each figure."""
    table: dict[str, Any] = {}
    mine = [row for row in rows if row["split"] == split]
    for ground in (*GROUNDS, "all"):
        part = [row for row in mine if ground in ("all", row["ground"])]
        if not part:
            continue
        takes = [row["clean"] for row in part if row["name"].startswith("cmu/")]
        rigs = [row["clean"] for row in part if not row["name"].startswith("cmu/")]
        measured = [row for row in part if "error" not in row]
        table[ground] = {
            "count": len(part),
            "clean": float(np.mean([row["clean"] for row in part])),
            "clean_takes": float(np.mean(takes)) if takes else None,
            "clean_rigs": float(np.mean(rigs)) if rigs else None,
            "flips": int(sum(row["flips"] for row in measured)),
            "failed": len(part) - len(measured),
        }
        table[ground] |= _warned(measured)
        jerks = [row["jerk"] for row in measured if row["name"].startswith("cmu/")]
        table[ground]["jerk_takes"] = float(np.median(jerks)) if jerks else None
        for key in SHOWN if measured else ():
            values = [row[key] for row in measured]
            table[ground][key] = {"median": float(np.median(values)), "worst": float(np.max(values))}
    return table


def _warned(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """How often bakes warn of slides, how many of these nobody sees, how many slides and bodies off their height go
    without a warning; and the share of clips that go somewhere whose contacts are found.
    """
    warns, slides = [row["warns_slide"] for row in rows], [row["slide"] > BARS["slide"] for row in rows]
    kept = {row["name"]: row["contacts"] for row in rows if row["contacts"] is not None}
    lifted = [row for row in rows if row["lifted"] > LIFTED]
    return {
        "slide_warnings": sum(warns),
        "slide_warnings_false": sum(warn and not slide for warn, slide in zip(warns, slides, strict=True)),
        "slides": sum(slides),
        "slides_missed": sum(slide and not warn for warn, slide in zip(warns, slides, strict=True)),
        "off_height": len(lifted),
        "off_height_missed": sum(not row["warns_height"] for row in lifted),
        "clips_that_go": len(kept),
        "contacts_kept": float(np.mean([share >= KEEPS for share in kept.values()])) if kept else None,
    }


def _warnings(table: dict[str, Any]) -> str:
    """What `_warned` found, in lines."""
    kept = "-" if table["contacts_kept"] is None else f"{table['contacts_kept']:.0%}"
    return "\n".join(
        (
            f"slides: {table['slides']}, of these without a warning {table['slides_missed']}",
            f"warnings of slides: {table['slide_warnings']}, of these false {table['slide_warnings_false']}",
            f"bodies off their height: {table['off_height']}, of these without a warning {table['off_height_missed']}",
            f"contacts kept by {kept} of {table['clips_that_go']} clips that go somewhere",
        )
    )


def _table(split: str, table: dict[str, Any]) -> str:
    """Share clean in percent, then median / worst: lengths in percent of a leg, angles in degrees."""
    lines = [f"\n{split}: {'ground':<12}{'n':>5}{'clean':>7}{'takes':>7}{'rigs':>6}{'flips':>6}{'jerk of takes':>15}"]
    lines[0] += "".join(f"{key:>15}" for key in SHOWN)
    for ground, row in table.items():
        shares = (row["clean"], row["clean_takes"], row["clean_rigs"])
        cells = [" -" if share is None else f"{100 * share:.0f}%" for share in shares]
        line = f"{'':{len(split) + 2}}{ground:<12}{row['count']:>5}{cells[0]:>7}{cells[1]:>7}{cells[2]:>6}"
        jerk = row.get("jerk_takes")
        line += f"{row['flips']:>6}{' -' if jerk is None else format(jerk, '.2f'):>15}"
        for key in SHOWN:
            size = 100 if key in PERCENT else 1
            spread = row.get(key, {"median": np.nan, "worst": np.nan})
            cell = f"{size * spread['median']:.2f} /{size * spread['worst']:.1f}"
            line += f"{cell:>15}"
        lines.append(line + (f"  {row['failed']} failed" if row["failed"] else ""))
    return "\n".join(lines)


def _worst(rows: list[dict[str, Any]]) -> str:
    lines = ["\nthe worst:"]
    for row in _worst_rows(rows):
        if "error" in row:
            lines.append(f"  {row['name']:<40}{row['ground']:<12}{row['error']}")
            continue
        figures = Figures(**{key: row[key] for key in Figures._fields})
        broken = {key: share for key, share in figures.faults.items() if share > 1}
        told = ", ".join(f"{key} {_shown(key, getattr(figures, key))}" for key in broken)
        lines.append(f"  {row['name']:<40}{row['ground']:<12}at {row['when']:5.2f} s: {told} ({figures.joint})")
    return "\n".join(lines)


def _shown(key: str, value: float) -> str:
    return f"{100 * value:.1f}%" if key in PERCENT else f"{value:.0f}"


def _worst_rows(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return sorted((row for row in rows if not row["clean"]), key=lambda row: -row["fault"])[:WORST]


def _draw(rows: list[dict[str, Any]], names: list[CaseName]) -> None:
    """Strips of the worst, around the moment in which each is worst."""
    from kinema.bake import bake
    from kinema.io.images import png_bytes
    from kinema.render.drawing import poses_that_fit, strip
    from kinema.render.look import Look

    PICTURES.mkdir(parents=True, exist_ok=True)
    by_name = {name.name: name for name in names}
    for number, row in enumerate(row for row in _worst_rows(rows) if "error" not in row):
        case = case_of(by_name[row["name"]], row["ground"])
        clip = bake(case.character, case.clip, case.settings).clip
        span = max(row["when"] - 0.5, 0.0), min(row["when"] + 0.5, clip.duration or 0.0)
        look = Look(ground=case.ground)
        count = poses_that_fit(case.character, clip, span, POSES, look)
        if count < FEWEST_POSES:  # It stays where it is: poses side by side show more than the ground does.
            look, count = Look(), POSES
        path = PICTURES / f"{number:02}_{row['name'].replace('/', '_')}_{row['ground']}.png"
        path.write_bytes(png_bytes(strip(case.character, clip, span, count, look)))
        print(f"  {path}")


def _keep(path: Path, summary: dict[str, Any], rows: list[dict[str, Any]]) -> None:
    """Write the figures, a row per line; of what is put aside only the summary, so that it is not tuned to."""
    given = [{key: _rounded(value) for key, value in row.items()} for row in rows if row["split"] == GIVEN]
    rule = f"the first {LONGEST:g} s of each clip"
    kept = {"made": made(RESULTS.name), "rule": rule, "summary": _rounded(summary)}
    lines = ",\n".join(f"  {json.dumps(row)}" for row in given)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f'{json.dumps(kept, indent=1)[:-2]},\n "rows": [\n{lines}\n ]\n}}\n', encoding="utf-8")


def _rounded(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _rounded(each) for key, each in value.items()}
    return round(value, 4) if isinstance(value, float) and np.isfinite(value) else value


if __name__ == "__main__":
    main()
