"""`kinema retarget`: convert options to an order and carry it out."""

import math
from pathlib import Path
from typing import Any

from kinema.bake.grounds import GroundSpec, build_for
from kinema.cli.conversion_offer import offer_conversion
from kinema.cli.file_reports import print_clips
from kinema.cli.many_files import run_files
from kinema.cli.options import RoleOptions, parse_numbers
from kinema.cli.retarget import FLOORS, RetargetOptions
from kinema.errors import InputError
from kinema.io import atomic, formats
from kinema.jobs.order import choose_clips, read_packed
from kinema.retargeting.job import RetargetOrder
from kinema.retargeting.joint_map import read_map, write_map


def run(options: RetargetOptions) -> int:
    """Run the command. Returns how many of several files failed; raises the problem of an only file."""
    order = order_of(options)
    only = _only_file(options)
    if options.save_map is not None:
        _save_map(options, order, only)
    kind = formats.detect(order.target[: formats.HEAD], order.target_name, options.onto.parent).output
    failed = run_files(options, options.files, order, print_retargeted, kind)
    if options.strip is not None and not failed:
        _draw(options, order, only)
    return failed


def order_of(options: RetargetOptions) -> RetargetOrder:
    """Parse the options and read every file that they name."""
    onto = offer_conversion(options.onto)
    floor, ground = _ground(options)
    settings: dict[str, Any] = {
        "contacts": options.contacts,
        "lock": options.lock,
        "ground": floor,
        "hands": options.hands,
        "arm_space": options.arm_space,
        "scale": options.scale,
        "facing": "keep" if options.facing is None else math.radians(options.facing),
        "at": parse_numbers("--at", options.at, 2, 3),
        "mirror": options.mirror,
        "fps": options.fps,
        "joints": {} if options.map is None else read_map(options.map),
    }
    named = [options.onto, options.ground, options.roles, options.onto_roles, options.map]
    order = RetargetOrder(
        target=read_packed(onto),
        target_name=onto.name,
        settings=settings,
        ground=ground,
        clips=tuple(options.clip),
        name=options.name,
        source_roles=options.overrides(),
        target_roles=RoleOptions(role=options.onto_role, roles=options.onto_roles).overrides(),
        fingerprint=options.fingerprint(named),
    )
    order.character()  # A character that cannot be read is one problem, not one of every file.
    return order


def _ground(options: RetargetOptions) -> tuple[str, GroundSpec | None]:
    """What becomes of the heights of footholds, and the ground that the result is baked onto."""
    if options.ground in FLOORS:
        return str(options.ground), None
    try:
        return "auto", options.parsed_ground()
    except InputError as problem:
        raise InputError(f"{problem}; or {', '.join(FLOORS)}") from None


def _only_file(options: RetargetOptions) -> Path | None:
    """The motion of a command about one; raises InputError where an option needs one and there are more."""
    only = Path(options.files[0]) if len(options.files) == 1 and Path(options.files[0]).is_file() else None
    for name, given in (("--strip", options.strip), ("--save-map", options.save_map)):
        if given is not None and only is None:
            raise InputError(f"{name} takes one motion file; got {', '.join(options.files)[:60]}")
        if given is not None and given.exists() and not options.force:
            raise InputError(f"{given} exists; --force replaces it")
    if options.strip is not None and options.strip.suffix.lower() != ".png":
        raise InputError(f"--strip is {str(options.strip)!r:.60}; expected a name that ends in .png")
    return only


def _save_map(options: RetargetOptions, order: RetargetOrder, only: Path | None) -> None:
    from kinema.retargeting.retarget import find_matches

    assert only is not None
    assert options.save_map is not None
    source = options.load(only)
    atomic.write(options.save_map, [write_map(find_matches(source, order.character(), options.mirror)).encode()])


def _draw(options: RetargetOptions, order: RetargetOrder, only: Path | None) -> None:
    """Draw the motion and the result, one below the other."""
    from kinema.io import files, images
    from kinema.retargeting.picture import draw_both

    assert only is not None
    assert options.strip is not None
    source = options.load(only)
    written = next(options.output.glob(f"{only.stem}.*")) if options.output.is_dir() else options.output
    made = files.load(written, roles=order.target_roles)
    clip = choose_clips(source, options.clip)[0]
    ground = None if order.ground is None else build_for(order.ground, made.rig)[1]
    new = made.clips[list(made.clips)[-1]] if options.name is None else made.clips[options.name]
    atomic.write(options.strip, [images.png_bytes(draw_both(source, clip, made, new, ground))])


def print_retargeted(report: dict[str, Any]) -> None:
    """Print what became of a motion."""
    print_clips(
        report,
        lambda clip: (
            f"{report['file']}: {clip['clip']} → {clip['name']}: {clip['frames']} frames at {clip['fps']:g} fps, "
            f"{len(clip['joints'])} joints follow, {clip['contacts']} contacts, "
            f"feet slide {clip['slide'][0]:.1%} of a leg before and {clip['slide'][1]:.1%} after"
        ),
    )
