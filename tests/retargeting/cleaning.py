"""How well `clean` works, judged with plain NumPy: own soles, own contacts, own jerk.

`python -m tests.retargeting.cleaning` damages takes and clips of rigs in seven ways, cleans them and prints medians.
The files that the motion suite puts aside are held out: their figures count on their own. `--json` writes the table of
docs/clean.md.
"""

from __future__ import annotations

import argparse
import json
from itertools import pairwise
from typing import Any

import numpy as np

import kinema as km
from benchmarks import provenance
from tests import problems
from tests.assets import FOLDER
from tests.motion.cases import all_names, loaded
from tests.motion.table import ROOT, with_table
from tests.retargeting import damage

RESULTS, DOCUMENT = ROOT / "benchmarks" / "results" / "cleaning.json", ROOT / "docs" / "clean.md"
BEGIN, END = "<!-- table: make cleaning -->", "<!-- end of the table -->"

LOW, SLOW, SHORTEST = 0.02, 0.2, 0.1
"""Leg lengths above its lowest, leg lengths a second, and seconds for which a point of a sole stands."""


SHOWN = ("slide_before", "slide_after", "p95_after", "worst_after", "hover_before", "hover_after", "moved", "again")

THICKNESS = 0.02
"""Leg lengths of the sole below the lowest joint of a foot."""


class Seen:
    """A clip in the axes of its body (x left, y up, z ahead), in leg lengths above the character's floor."""

    def __init__(self, character: Any, clip: Any, times: Any) -> None:
        self.rig = rig = character.rig
        start = min((float(track.times[0]) for track in clip.tracks), default=0.0)
        poses = clip.sample(start + times)
        up, ahead = np.array(rig.up), np.array(rig.forward)
        axes = np.stack((np.cross(up, ahead), up, ahead), -1)
        world = character.skeleton.world(poses.astype(np.float64))
        self.dt = float(times[1] - times[0])
        self.leg = rig.leg_length
        self.at = world[..., :3, 3] @ axes / self.leg
        self.feet = soles(rig, world) @ axes / self.leg
        self.low = self.lowest(world) @ up / self.leg - rig.floor / self.leg

    def lowest(self, world: Any) -> Any:
        """(F, L, 3, 3): heel, ball and tip, for heights alone."""
        found = []
        for leg in self.rig.legs:
            joints, offsets = self.rig.sole_points(leg)
            points = [world[:, j, :3, :3] @ o + world[:, j, :3, 3] for j, o in zip(joints, offsets, strict=True)]
            found.append(np.stack(points, 1))
        return np.stack(found, 1)


def soles(rig: Any, world: Any) -> Any:
    """(F, L, 2, 3): the points of the floor below ankle and ball as the character stands, moving with the foot."""
    feet, up = [], np.array(rig.up)
    ends = [joint for leg in rig.legs for joint in (leg.joints[-1], leg.toe) if joint is not None]
    floor = min(float(rig.standing_world[int(joint), :3, 3] @ up) for joint in ends) - THICKNESS * rig.leg_length
    for leg in rig.legs:
        points = []
        for joint in (int(leg.joints[-1]), int(leg.joints[-1] if leg.toe is None else leg.toe)):
            stance = rig.standing_world[joint].astype(np.float64)
            below = stance[:3, 3] - up * (stance[:3, 3] @ up - floor)
            offset = np.linalg.inv(stance) @ np.append(below, 1.0)
            points.append((world[:, joint] @ offset)[:, :3])
        feet.append(np.stack(points, 1))
    return np.stack(feet, 1)


def contacts(seen: Seen) -> list[tuple[int, int, int, int]]:
    """Foot, point, first and last frame of everything that stands: low above its own lowest, and slow."""
    above = seen.feet[..., 1] - np.quantile(seen.feet[..., 1], 0.03, axis=0)
    speed = np.linalg.norm(np.gradient(seen.feet, seen.dt, axis=0)[..., [0, 2]], axis=-1)
    stands = (above < LOW) & (speed < SLOW)
    found = []
    for foot in range(stands.shape[1]):
        for point in range(stands.shape[2]):
            edges = np.flatnonzero(np.diff(np.pad(stands[:, foot, point].astype(int), 1))).reshape(-1, 2)
            found += [(foot, point, a, b) for a, b in edges.tolist() if b - a >= max(3, SHORTEST / seen.dt)]
    return found


def slides(seen: Seen, where: Any) -> Any:
    """(C,): how far each point gets from its median along the floor while it stands, leg lengths."""
    found = []
    for foot, point, a, b in where:
        at = seen.feet[a:b, foot, point][:, [0, 2]]
        found.append(float(np.linalg.norm(at - np.median(at, 0), axis=-1).max()))
    return np.array(found or [0.0])


def hovers(seen: Seen, where: Any) -> Any:
    """(C,): how far the median height of each standing point is from the floor, leg lengths."""
    return np.array([abs(float(np.median(seen.low[a:b, foot].min(-1)))) for foot, _, a, b in where] or [0.0])


def jerk(seen: Seen) -> float:
    """Mean jerk of the directions of thighs and shins."""
    ways = []
    for leg in seen.rig.legs:
        joints = [int(joint) for joint in leg.joints]
        for a, b in pairwise(joints):
            way = seen.at[:, b] - seen.at[:, a]
            ways.append(way / np.maximum(np.linalg.norm(way, axis=-1, keepdims=True), 1e-12))
    return float(np.linalg.norm(np.diff(np.stack(ways, 1), 3, axis=0), axis=-1).mean())


def judge(character: Any, truth: Any, hurt: Any, made: Any, times: Any) -> dict[str, float]:
    """Figures before and after. Contacts are those of the undamaged motion."""
    true, before, after = (Seen(character, clip, times) for clip in (truth, hurt, made))
    where = contacts(true)
    found = {"contacts": float(len(where))}
    for name, seen in (("true", true), ("before", before), ("after", after)):
        far = slides(seen, where)
        found |= {f"slide_{name}": far.mean(), f"p95_{name}": np.quantile(far, 0.95), f"worst_{name}": far.max()}
        found[f"hover_{name}"] = hovers(seen, where).max()
    found["jerk"] = jerk(after) / max(jerk(before), 1e-9)
    found["jerk_true"] = jerk(after) / max(jerk(true), 1e-9)
    found["moved"] = float(np.linalg.norm(after.at - before.at, axis=-1).max())
    return {name: float(value) for name, value in found.items()}


def case(character: Any, clip: Any, kind: Any, seed: int) -> dict[str, Any]:
    """Damage a clip, clean it, clean it again."""
    motion = damage.Motion(character, clip)
    truth = motion.clip()
    kind(motion, problems.generator(seed))
    hurt = motion.clip() if kind is not damage.untouched else truth
    made, report = km.clean(character, hurt, report=True)
    again = km.clean(character, made)
    row: dict[str, Any] = judge(character, truth, hurt, made, motion.times)
    row["again"] = judge(character, truth, made, again, motion.times)["moved"]
    row["wrong"], row["warnings"] = list(report.wrong), list(report.warnings)
    return row


def measured(split: str, options: argparse.Namespace) -> list[dict[str, Any]]:
    """Return the figures of every clip of a split with every damage."""
    rows = []
    names = [name for name in all_names() if options.only in name.name and name.split == split]
    for number, name in enumerate(names[:: options.every]):
        character = loaded(str(FOLDER / name.file))
        clip = character.clips[name.clip] if name.clip else next(iter(character.clips.values()))
        if clip.fps * float(clip.duration or 0.0) < 10:
            continue
        for kind in damage.DAMAGES:
            if options.damage in kind.__name__:
                row = {"name": name.name, "damage": kind.__name__, **case(character, clip, kind, number)}
                rows.append(row)
                if options.rows:
                    shown = {k: round(v, 4) for k, v in row.items() if isinstance(v, float)}
                    print(row["name"], row["damage"], shown, row["wrong"], row["warnings"][:3], flush=True)
    return rows


def summary_of(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """Return medians over all clips with contacts, by damage: of lengths in percent of a leg, and of the jerk."""
    found = {}
    for kind in damage.DAMAGES:
        own = [row for row in rows if row["damage"] == kind.__name__ and row["contacts"]]
        if own:
            lengths = {key: round(100 * float(np.median([row[key] for row in own])), 2) for key in SHOWN}
            jerk = round(float(np.median([row["jerk"] for row in own])), 2)
            found[kind.__name__] = {"clips": len(own), **lengths, "jerk": jerk}
    return found


TITLES = {
    "untouched": "nothing",
    "drift": "the body drifts by 4% of a leg a second",
    "noise": "the root shakes by 0.8% of a leg",
    "skate": "the body wanders, as in generated motion",
    "pops": "four joints are off by 25 to 60° for a key or two",
    "sunken": "the floor is 4% of a leg too low or too high",
    "slope": "the floor is tilted by 4°",
}
HEAD = """| damage | slide, given | aside | hover, given | aside | jerk, given / aside |
| --- | --- | --- | --- | --- | --- |
"""


def table(summary: dict[str, Any]) -> str:
    """The table of docs/clean.md: before and after, in percent of a leg."""
    text = HEAD
    for name, title in TITLES.items():
        both = [summary[split][name] for split in ("given", "aside")]
        cells = [
            f"{row[f'{key}_before']:.1f} → {row[f'{key}_after']:.1f}" for key in ("slide", "hover") for row in both
        ]
        text += f"| {title} | {' | '.join(cells)} | {both[0]['jerk']:.2f} / {both[1]['jerk']:.2f} |\n"
    return text


def page() -> str:
    """docs/clean.md with the committed figures."""
    return with_table(DOCUMENT, BEGIN, END, table(json.loads(RESULTS.read_text("utf-8"))["summary"]))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="", help="Part of the names of files to take.")
    parser.add_argument("--damage", default="", help="Only this damage.")
    parser.add_argument("--every", type=int, default=3, help="Take one clip of so many.")
    parser.add_argument("--json", action="store_true", help="Commit the figures, and write the table of docs/clean.md.")
    parser.add_argument("--rows", action="store_true")
    options = parser.parse_args()
    summary = {}
    for split in ("given", "aside"):
        summary[split] = summary_of(measured(split, options))
        for name, row in summary[split].items():
            print(split, name, *(f"{key} {value:g}" for key, value in row.items()), flush=True)
    if options.json:
        content = {"made": provenance.made(RESULTS.name), "summary": summary}
        RESULTS.write_text(json.dumps(content, indent=1) + "\n", "utf-8")
        DOCUMENT.write_text(page(), "utf-8")


if __name__ == "__main__":
    main()
