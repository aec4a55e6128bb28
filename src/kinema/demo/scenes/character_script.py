"""The character scene as a script: the last second again, with the current settings and handles."""

from __future__ import annotations

from typing import Any

import numpy as np

from kinema.behaviours.layers import Breathing
from kinema.demo.scenes import grounds
from kinema.demo.scenes.walker import Walker
from kinema.math import arrays

TICK = 1 / 60
"""Seconds per frame of the script, about."""
NOTHING = 1e-6
"""Fraction of the largest number below which a number is written as 0."""
STRAIGHT = 1e-3
"""Radians per second below which a walk counts as straight."""


def script(walker: Walker) -> str:
    """Write a script that ends with `world`, (J, 4, 4), the joints' matrices."""
    turn = _turn(walker)
    parts = ['"""A character on uneven ground, the last second: `world` holds the matrices of its joints."""', ""]
    parts += ["from dataclasses import replace", ""] if _has_own_floor(walker) else []
    parts += ["import numpy as np", "", "import kinema as km", "from kinema import demo"]
    parts += ["from kinema.math import arrays", ""] if turn else [""]
    parts += [*_character(walker), *grounds.script_of(walker.ground, walker.actor.size), "", *_stages(walker), ""]
    parts += [*_frames(walker, turn), *_feet(walker), ""]
    parts += ["for name, place in zip(character.skeleton.names, world[:, :3, 3], strict=True):"]
    parts += ['    print(f"{name}:", np.round(place, 3).tolist())', ""]
    return "\n".join(parts)


def _character(walker: Walker) -> list[str]:
    actor = walker.actor
    if not actor.file:
        return [f"character = demo.{actor.name}()"]
    lines = [f"character = km.load({actor.file!r})  # The file that was dropped on the page."]
    if _has_own_floor(walker):
        lines.append(f"character = replace(character, rig=replace(character.rig, floor={walker.motion.floor:.6g}))")
    return lines


def _has_own_floor(walker: Walker) -> bool:
    """Return whether the clip was made on another floor than the character's own."""
    rig = walker.actor.character.rig
    return rig is not None and rig.floor != walker.motion.floor


def _stages(walker: Walker) -> list[str]:
    """Return the stages with their weights; the clip starts where it was a second ago."""
    lines = []
    for stage in walker.stages():
        kind = type(stage).__name__
        weight = walker.weights[kind.lower()]
        settings = [] if weight == 1.0 else [f"weight={weight:g}"]
        if kind == "Play":
            settings = [repr(walker.clip), f"time={walker.past[0].time:.6g}", f"speed={walker.speed:g}", *settings]
            settings += ['root_motion="extract"'] if walker.motion.extract else []
            settings += [f"root={walker.actor.root!r}"] if walker.motion.extract and walker.actor.root else []
        elif isinstance(stage, Breathing):
            settings.append(f"phase={walker.past[0].clock * stage.rate % 1.0:.4g}")
        elif kind == "Eyes":
            settings += ["saccade_size=0", "blink_interval=(0, 0)"]
        lines.append(f"    km.{kind}({', '.join(settings)}),")
    return ["stages = [", *lines, "]", "animator = km.Animator(character, stages, ground=ground)"]


def _turn(walker: Walker) -> float:
    """Radians a second about up, over the last second; 0 where it goes straight on."""
    first, last = (walker.past[k].transform[:3, :3] for k in (0, -1))
    away = last @ first.T
    turn = float(np.arctan2(away[0, 2], away[2, 2])) / max(_seconds(walker), TICK)
    return turn if abs(turn) > STRAIGHT else 0.0


def _seconds(walker: Walker) -> float:
    return float(sum(moment.dt for moment in list(walker.past)[1:]))


def _frames(walker: Walker, turn: float) -> list[str]:
    """A second of frames, from where it was."""
    start, ticks = np.array(walker.past[0].transform), round(_seconds(walker) / TICK)
    dt = _seconds(walker) / ticks if ticks else TICK
    if not walker.feet_work:  # Then nothing keeps it on the ground while it walks.
        start[:3, 3] += (walker.past[-1].transform[1, 3] - start[1, 3]) * np.array((0.0, 1.0, 0.0))
    lines = [f"rotation = {_numbers(arrays.from_matrix(start[:3, :3]))}"]
    lines += [f"animator.set_transform({_numbers(start[:3, 3])}, rotation)", "frame = animator.update(0.0)"]
    lines.append(f"for _ in range({ticks}):")
    lines += [f"    {line}" for line in (*_going_on(walker, turn, dt), *_holding(walker))]
    return [*lines, f"    frame = animator.update({dt:.6g})", "world = frame.world"]


def _going_on(walker: Walker, turn: float, dt: float) -> list[str]:
    """What moves it besides its clip: the bend of its way, and the feet of a clip that walks in place."""
    lines = [f"rotation = arrays.mul(arrays.from_axis_angle((0, 1, 0), {turn * dt:.6g}), rotation)"] if turn else []
    speed = walker.motion.speed * walker.speed
    if not turn and not speed:
        return lines
    step = f" + frame.transform[:3, :3] @ {_numbers(walker.motion.ahead * speed * dt)}" if speed else ""
    return [*lines, f"animator.set_transform(frame.transform[:3, 3]{step}, rotation)"]


def _holding(walker: Walker) -> list[str]:
    """What hands and gaze are held to, seen from the character."""
    lines = []
    for handle, at in walker.held.places.items():
        grip = walker.held.grips[handle]
        point = f"frame.transform[:3, :3] @ {_numbers(at)} + frame.transform[:3, 3]"
        if grip.kind == "hand":
            lines.append(f"animator['hands'].reach({grip.limb!r}, {point})")
        elif grip.kind == "gaze":
            lines.append(f"animator.look_at({point})")
    return lines


def _feet(walker: Walker) -> list[str]:
    """Feet that are held, after all else."""
    rig, names = walker.character.rig, walker.character.skeleton.names
    feet = [walker.held.grips[handle] for handle in walker.held.places if walker.held.grips[handle].kind == "foot"]
    if rig is None or not feet:
        return []
    lines = ["pose = frame.pose"]
    for grip in feet:
        joints = [names[int(joint)] for joint in rig.leg(grip.limb).joints]
        goal = f"km.Goal({_numbers(walker.held.places[grip.handle])}, weight={walker.weights['feet']:g})"
        lines.append(f"pose, _ = km.solve(character.skeleton, pose, {joints!r}, {goal})")
    return [*lines, "world = frame.transform @ character.skeleton.world(pose)"]


def _numbers(values: Any) -> str:
    """As a script has them: what is nothing beside the largest is 0."""
    numbers = np.asarray(values, float)
    numbers = np.where(np.abs(numbers) < NOTHING * np.abs(numbers).max(), 0.0, numbers)
    return "(" + ", ".join(f"{x:.6g}" for x in numbers.tolist()) + ")"
