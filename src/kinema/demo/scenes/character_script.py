"""The character scene as a script: its pose as it is, then the stages to go on with."""

from __future__ import annotations

import numpy as np

from kinema.demo.scenes import grounds
from kinema.demo.scenes.script_text import digits, pose_lines, printed_joints
from kinema.demo.scenes.walker import Walker
from kinema.math import arrays
from kinema.solvers.body.targets import Effector
from kinema.stages.layers import Breathing


def script(walker: Walker) -> str:
    """Write a script that computes `world`, (J, 4, 4), the joints' matrices as they are on the screen."""
    parts = ['"""A character as it is on the screen: `pose`, and `world`, the matrices of its joints."""', ""]
    parts += ["from dataclasses import replace", ""] if _has_own_floor(walker) else []
    parts += ["import numpy as np", "", "import kinema as km", "from kinema import demo", ""]
    parts += [*_character(walker), ""]
    parts += pose_lines("character", walker.character.skeleton, walker.pose, walker.frame.transform)
    parts += [*printed_joints("character"), "", "# To go on from here: the same stages on the same ground."]
    parts += [*grounds.script_of(walker.ground, walker.actor.size), *_floor(walker), *_stages(walker)]
    return "\n".join([*parts, *_targets(walker), "frame = animator.update(1 / 60)  # Once per frame.", ""])


def _character(walker: Walker) -> list[str]:
    actor = walker.actor
    if not actor.file:
        return [f"character = demo.{actor.name}()"]
    return [f"character = km.load({actor.file!r})  # The file that was dropped on the page."]


def _floor(walker: Walker) -> list[str]:
    if not _has_own_floor(walker):
        return []
    return [f"character = replace(character, rig=replace(character.rig, floor={walker.motion.floor:.6g}))"]


def _has_own_floor(walker: Walker) -> bool:
    """Return whether the clip was made on another floor than the character's own."""
    rig = walker.actor.character.rig
    return rig is not None and rig.floor != walker.motion.floor


def _stages(walker: Walker) -> list[str]:
    """Return the stages with their weights. Clip and breathing start at their current time."""
    lines = []
    for stage in walker.stages():
        kind = type(stage).__name__
        weight = walker.weights[kind.lower()]
        settings = [] if weight == 1.0 else [f"weight={weight:g}"]
        if kind == "Play":
            settings = [repr(walker.clip), f"time={walker.time:.6g}", f"speed={walker.speed:g}", *settings]
            settings += ['root_motion="extract"'] if walker.motion.extract else []
            settings += [f"root={walker.actor.root!r}"] if walker.motion.extract and walker.actor.root else []
        elif isinstance(stage, Breathing):
            settings.append(f"phase={walker.clock * stage.rate % 1.0:.4g}")
        lines.append(f"    km.{kind}({', '.join(settings)}),")
    place = np.asarray(walker.frame.transform, float)
    return [
        "stages = [",
        *lines,
        "]",
        "animator = km.Animator(character, stages, ground=ground)",
        f"animator.set_transform({digits(place[:3, 3])}, {digits(arrays.from_matrix(place[:3, :3]))})",
    ]


def _targets(walker: Walker) -> list[str]:
    """Return the targets of the body and of the gaze."""
    transform, lines = np.asarray(walker.frame.transform, float), []
    gaze, wanted = walker.held.gaze(transform), walker.held.effectors(transform, walker.margin)
    if gaze is not None:
        lines.append(f"animator.look_at({digits(gaze)})")
    if wanted:
        texts = [f"    {_effector(walker, effector)}," for effector in wanted]
        lines += ["animator['body'].set(", *texts, ")"]
    return lines


def _effector(walker: Walker, effector: Effector) -> str:
    """Return an effector as a script writes it: what differs from the defaults."""
    joint = effector.joint if isinstance(effector.joint, str) else walker.character.skeleton.names[int(effector.joint)]
    parts = [repr(joint)]
    for name in ("position", "rotation", "offset"):
        value = getattr(effector, name)
        if value is not None and (name != "offset" or np.any(value)):
            parts.append(f"{name}={digits(value)}")
    parts += [f"balance={effector.balance:.6g}"] if effector.balance is not None else []
    parts += [f"priority={effector.priority}"] if effector.priority else []
    parts += ["pin=True"] if effector.pin else []
    return f"km.Effector({', '.join(parts)})"
