"""`kinema fit`: its options. The work is done in `kinema.fitting`, imported when the command runs."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from kinema.cli.errors import FAILED, one_line_errors
from kinema.cli.many_files import ManyFilesOptions, run_files
from kinema.cli.options import RoleOptions, argument, option, panel, parse_numbers

if TYPE_CHECKING:
    from kinema.fitting.job import FitOrder

_points, _motion = panel("Points"), panel("Motion")

EXAMPLES = """kinema fit webcam.json --onto hero.glb -o hero_moves.glb
kinema fit points.npy --onto hero.glb --layout coco17 --fps 25 -o hero_moves.glb --strip compare.png
kinema fit captures/ --onto hero.glb --layout plug-in-gait -o hero/ --jobs 4 --report figures.json
kinema fit points.npy --layout smpl22 --scale-bones -o person.bvh"""


@dataclass(frozen=True, kw_only=True)
class FitOptions(RoleOptions, ManyFilesOptions):
    """The options of `kinema fit`, as they were typed."""

    files: list[str] = argument(
        "Points (.npy .npz .csv .json .trc .c3d), folders or patterns; a folder of .json frames."
    )
    onto: Path | None = option("The character that is to move.")
    layout: str | None = option("Which point is which: coco17, mediapipe33, ... Default: what the file says.")
    fps: float | None = _points("Frames per second. Default: the file's, else 30.")
    up: str | None = _points("The axis that is up. Default: found.", metavar="+y|-y|+z|...")
    unit: float | None = _points("Metres of the points' unit. Default: found.")
    depth: float | None = _points("Noise of the third coordinate, relative to the others. Default: measured.")
    camera: str | None = _points(
        "Of points in a picture: its size and the field of view.", metavar="WIDTH,HEIGHT[,DEGREES]"
    )
    person: int | None = _points("Take only this person. Default: all.", min=1)
    cutoff: float | None = _motion("Hz that are left of the motion. Default: by the noise.")
    unswap: bool = _motion("Mend swapped left and right.", default=True)
    contacts: bool = _motion("Keep standing feet on the floor and in place.", default=True)
    scale_bones: bool = _motion("Write the person's own skeleton. Needs no --onto.", "--scale-bones", default=False)
    strip: Path | None = option("Draw the person and the result, one below the other.", metavar="PNG")


def fit(options: FitOptions) -> None:
    """Make characters move as points do: keypoints of a detector, joints of a model, markers. Adds clips to the
    character's file.
    """
    with one_line_errors("fit"):
        from kinema.errors import InputError
        from kinema.io.points import POINT_SUFFIXES

        only = Path(options.files[0]) if len(options.files) == 1 and Path(options.files[0]).is_file() else None
        if options.strip is not None:
            if only is None or options.strip.suffix.lower() != ".png":
                raise InputError("--strip takes the name of a .png, for one file of points")
            if options.strip.exists() and not options.force:
                raise InputError(f"{options.strip} exists; --force replaces it")
        order = order_of(options)
        kind = ".bvh" if options.scale_bones else None
        if not options.scale_bones:
            from kinema.io import formats

            kind = formats.detect(order.target[: formats.HEAD], order.target_name).output
        with _frame_folders(options.files) as inputs:
            failed = run_files(options, inputs, order, _print_fitted, kind, POINT_SUFFIXES)
        if options.strip is not None and only is not None and not failed:
            _draw(options.strip, order, only)
    raise typer.Exit(FAILED if failed else 0)


def order_of(options: FitOptions) -> FitOrder:
    """Parse the options and read the character."""
    from kinema.errors import InputError
    from kinema.fitting.job import FitOrder
    from kinema.fitting.lifting import Camera
    from kinema.io import files
    from kinema.jobs.order import read_packed

    camera = None
    if options.camera is not None:
        numbers = parse_numbers("--camera", options.camera, 2, 3)
        camera = Camera(*numbers[:2], **({"field_of_view": math.radians(numbers[2])} if len(numbers) > 2 else {}))
    if options.onto is None and not options.scale_bones:
        raise InputError("give --onto, the character that is to move; or --scale-bones for the person's own skeleton")
    if options.onto is None:
        from kinema.demo import humanoid

        target, name = b"".join(files.encode(".glb", humanoid())), "humanoid.glb"
    else:
        target, name = read_packed(options.onto), options.onto.name
    settings = {name: getattr(options, name) for name in ("fps", "up", "unit", "depth", "cutoff", "unswap", "contacts")}
    order = FitOrder(
        target=target,
        target_name=name,
        layout=options.layout,
        settings=settings | {"camera": camera},
        person=options.person,
        own_skeleton=options.scale_bones,
        target_roles=options.overrides(),
        fingerprint=options.fingerprint([options.onto, options.roles]),
    )
    order.character()  # A character that cannot be read is one problem, not one of every file.
    return order


@contextmanager
def _frame_folders(inputs: list[str]) -> Iterator[list[str]]:
    """Give the inputs, with folders that hold a .json file for each frame as one file of points each."""
    import tempfile

    import numpy as np

    from kinema.errors import InputError
    from kinema.io.points import load_points

    with tempfile.TemporaryDirectory() as place:
        found, made = list[str](), dict[str, Path]()
        for text in inputs:
            folder = Path(text)
            frames = sorted(folder.glob("*.json"))[:1] if folder.is_dir() else []
            if not frames or len(load_points(frames[0])[0].points) > 1:
                found.append(text)
                continue
            name = folder.resolve().name
            if made.setdefault(name, folder.resolve()) != folder.resolve():
                other = made[name]
                raise InputError(f"{other} and {folder} would both be written to {name}; give them to separate runs")
            takes = load_points(folder)
            trusted = [np.ones(take.points.shape[:2]) if take.confidence is None else take.confidence for take in takes]
            path = Path(place) / f"{name}.npz"
            named: dict[str, Any] = {} if takes[0].layout is None else {"layout": np.array(takes[0].layout)}
            np.savez(path, points=np.stack([take.points for take in takes]), confidence=np.stack(trusted), **named)
            found.append(str(path))
        yield found


def _draw(strip: Path, order: FitOrder, only: Path) -> None:
    """Draw the person and the result, one below the other."""
    from kinema.fitting.job import fit_take
    from kinema.io import atomic, images
    from kinema.io.points import load_points
    from kinema.retargeting.picture import draw_both

    take = load_points(only)[0 if order.person is None else order.person - 1]
    clip, report = fit_take(order.character(), take, order.layout, order.settings, only.name)
    picture = draw_both(report.person, next(iter(report.person.clips.values())), order.character(), clip)
    atomic.write(strip, [images.png_bytes(picture)])


def _print_fitted(report: dict[str, Any]) -> None:
    """Print what became of a file."""
    from kinema.cli.file_reports import print_clips

    print_clips(
        report,
        lambda clip: (
            f"{report['file']}: {clip['name']}: {clip['frames']} frames at {clip['fps']:g} fps"
            f"{' (assumed; give --fps)' if clip['fps_assumed'] else ''}, {clip['layout']}, "
            f"up {clip['up']}, noise {max(clip['noise']) * 100:.1f} cm, {clip['contacts']} contacts, "
            f"{len(clip['swapped'])} swapped frames mended"
        ),
    )
