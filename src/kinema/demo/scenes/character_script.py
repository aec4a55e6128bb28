"""The character scene as a script: its pose as it is, then the stages to go on with."""

import numpy as np

from kinema.demo.scenes import grounds
from kinema.demo.scenes.borrowed_motion import BorrowedMotion
from kinema.demo.scenes.script_text import digits, pose_lines, printed_joints
from kinema.demo.scenes.walker import Walker
from kinema.fitting.layouts import NAMES
from kinema.math import arrays
from kinema.solvers.body.targets import Effector
from kinema.stages.layers import Breathing

FADE = 20
"""Frames in which the script goes over from the copied pose to its own: what feet and body remember is not in it."""


def script(walker: Walker, motion: BorrowedMotion | None = None) -> str:
    """Write a script that computes `world`, (J, 4, 4), the joints' matrices as they are on the screen, and goes on.

    motion: of another body, that the walker plays.
    """
    parts = ['"""A character as it is on the screen: `pose`, and `world`, the matrices of its joints."""', ""]
    parts += ["from dataclasses import replace", ""] if _has_own_floor(walker) or motion else []
    parts += ["import numpy as np", "", "import kinema as km", "from kinema import demo", ""]
    parts += [*_character(walker), *([] if motion is None else _motion(walker, motion)), ""]
    parts += pose_lines("character", walker.character.skeleton, walker.pose, walker.frame.transform)
    parts += [*printed_joints("character"), "", "# To go on from here: the same stages on the same ground."]
    parts += [*grounds.script_of(walker.ground, walker.actor.size), *_floor(walker), *_stages(walker)]
    return "\n".join([*parts, *_bends(walker), *_targets(walker), *_loop(walker), ""])


def _character(walker: Walker) -> list[str]:
    actor = walker.actor
    if not actor.file:
        return [f"character = demo.{actor.name}()"]
    return [f"character = km.load({actor.file!r})  # The file that was dropped on the page."]


def _motion(walker: Walker, motion: BorrowedMotion) -> list[str]:
    """Return lines that put the motion of another body onto the character."""
    given = {"joints": motion.joints, **motion.touch}
    settings = "".join(f", {name}={value!r}" for name, value in given.items() if value)
    made = [
        f"source = km.load({motion.file!r})  # The motion that was dropped on the page.",
        f"clip = km.retarget(source, {motion.clip!r}, character{settings})",
    ]
    if motion.seen is not None:
        layout = repr(motion.seen.name) if motion.seen.name in NAMES else repr(list(motion.seen.roles))
        made = [
            f"take = km.load_points({motion.file!r})[{motion.person}]  # The points that were dropped on the page.",
            "known = {'confidence': take.confidence, 'fps': take.fps or 30.0, 'unit': take.unit}",
            f"clip, report = km.fit(character, take.points, layout={layout}, report=True, **known)",
            *([f"clip = km.retarget(report.person, clip.name, character{settings})"] if settings else []),
        ]
    return [
        *made,
        f"clip = replace(clip, name={walker.clip!r})",
        f"character = replace(character, clips=character.clips | {{{walker.clip!r}: clip}})",
    ]


def _bends(walker: Walker) -> list[str]:
    """Return lines for limbs that bend the other way."""
    if not walker.layers.bent and not walker.layers.turned:
        return []
    limbs = [list(limb) for limb in walker.layers.bent.values()]
    turned = {joint: np.round(rotation, 6).tolist() for joint, rotation in walker.layers.turned.items()}
    return [
        "from kinema.demo.scenes.pose_layers import BendStage, TurnStage, bend_other_way, turn_all",
        "",
        "",
        "def bend(pose, time, dt):",
        f"    for limb in {limbs}:",
        "        pose = bend_other_way(character.skeleton, pose, limb)",
        "    return pose",
        "",
        "",
        "def turn(pose, time, dt):",
        f"    return turn_all(pose, {turned})",
        "",
        "",
        "over = [BendStage(bend, phase=0.0), TurnStage(turn, phase=0.0)]",
        "animator = km.Animator(character, [*stages, *over], ground=ground)",
        _placed(walker),
    ]


def _loop(walker: Walker) -> list[str]:
    """Return lines that go on for a second, from the copied pose."""
    look, pull = "    animator.look_at(gaze(transform + step))", "    animator['body'].set(*targets(transform + step))"
    held = [look] * (walker.held.gaze(np.eye(4)) is not None)
    held += [pull] * bool(walker.held.effectors(np.eye(4), walker.margin))
    return [
        "step = np.zeros((4, 4))  # How far the character moves in a frame: what is held moves along.",
        f"for n in range({3 * FADE}):  # The first frame is the copied pose; what feet remember of before fades in.",
        *held,
        "    frame = animator.update(1 / 60 if n else 0)",
        "    if n == 0:",
        "        offset = transform - frame.transform",
        f"    fade = max(1 - n / {FADE}, 0.0)",
        "    now = (frame.transform + fade * offset) @ character.skeleton.world(frame.pose.blend(pose, fade))",
        "    step = frame.transform - transform if n else step",
        "    transform = frame.transform",
    ]


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
    return ["stages = [", *lines, "]", "animator = km.Animator(character, stages, ground=ground)", _placed(walker)]


def _placed(walker: Walker) -> str:
    place = np.asarray(walker.frame.transform, float)
    return f"animator.set_transform({digits(place[:3, 3])}, {digits(arrays.from_matrix(place[:3, :3]))})"


def _targets(walker: Walker) -> list[str]:
    """Return functions that give the targets of the body and of the gaze, which travel with the character."""
    own, lines = np.eye(4), []
    gaze, wanted = walker.held.gaze(own), walker.held.effectors(own, walker.margin)
    if gaze is not None:
        lines += ["", "", "def gaze(transform):", f"    return transform[:3, :3] @ {digits(gaze)} + transform[:3, 3]"]
    if wanted:
        texts = [f"        {_effector(walker, effector)}," for effector in wanted]
        lines += ["", "", "def targets(transform):  # What is held, in the character's own space."]
        lines += ["    turn, place = transform[:3, :3], transform[:3, 3]", "    return [", *texts, "    ]"]
    return [*lines, "", ""] if lines else []


def _effector(walker: Walker, effector: Effector) -> str:
    """Return an effector as a script writes it: what differs from the defaults."""
    joint = effector.joint if isinstance(effector.joint, str) else walker.character.skeleton.names[int(effector.joint)]
    parts = [repr(joint)]
    for name in ("position", "rotation", "offset"):
        value = getattr(effector, name)
        if value is None or (name == "offset" and not np.any(value)):
            continue
        if name == "position":
            parts.append(f"position=turn @ {digits(value)} + place")
        elif name == "rotation":
            parts.append(f"rotation=km.quat.mul(km.quat.from_matrix(turn), {digits(value)})")
        else:
            parts.append(f"{name}={digits(value)}")
    parts += [f"balance={effector.balance:.6g}"] if effector.balance is not None else []
    parts += [f"priority={effector.priority}"] if effector.priority else []
    parts += ["pin=True"] if effector.pin else []
    return f"km.Effector({', '.join(parts)})"
