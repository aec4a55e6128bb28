"""Small calls that compile what the character scene needs, one per line of progress."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from kinema.demo.characters.humanoid import humanoid
from kinema.demo.scenes import grounds
from kinema.demo.scenes.actor import POSES, Actor
from kinema.demo.scenes.character_files import loaded, saved
from kinema.demo.scenes.pose_strip import PoseStrip
from kinema.demo.scenes.walker import Walker
from kinema.stages.animator import Animator
from kinema.stages.feet.feet import Feet
from kinema.stages.gaze.eyes import Eyes
from kinema.stages.gaze.head import Head
from kinema.stages.layers import Breathing
from kinema.stages.play import Play
from kinema.stages.stage import Stage

TICK = 1 / 60


def first() -> Mapping[str, Callable[[], Any]]:
    """Return what a walk over the course needs."""
    return {
        "clips": _frames,
        "breathing": lambda: _frames(Breathing()),
        "feet": lambda: _frames(Feet()),
        "gaze": lambda: _frames(Head(), Eyes()),
        "walk": lambda: _walker("course").step(TICK),
        "full body": lambda: _pulled("hand left"),
    }


def later() -> Mapping[str, Callable[[], Any]]:
    """Return what dragging, other grounds, weights and files need."""
    return {
        "dragging": _held,
        "poses": _stored,
        "blocks": lambda: _walker("voxels").step(TICK),
        "files": lambda: loaded("person.glb", saved(replace(humanoid(), skins=()))),
    }


def _frames(*stages: Stage) -> None:
    play = Play("walk", root_motion="extract", root="root")
    animator = Animator(humanoid(), [play, *stages], ground=grounds.ground_of("course", 1.0))
    for _ in range(2):
        animator.update(TICK)


def _walker(ground: str) -> Walker:
    return Walker(Actor(humanoid(), root="root"), ground, "walk", {}, speed=1.0, still=False)


def _pulled(*handles: str) -> Walker:
    walker = _walker("course")
    for handle in handles:
        walker.held.take(handle, (0.3, 0.4, 0.3))
    walker.step(TICK)
    return walker


def _stored() -> None:
    walker = _walker("level")
    strip, skeleton = PoseStrip(walker.character.skeleton), walker.character.skeleton
    for pose in (walker.pose, skeleton.mirrored(walker.pose)):
        strip.add(pose)
    walker.set_poses(strip.clip(), "walk")
    walker.play(POSES)
    walker.seek(strip.time_of(1))
    walker.steer(0.5, 1.0)
    walker.step(TICK)


def _held() -> None:
    walker = _pulled("hand left", "foot left", "gaze")
    walker.balanced = True
    walker.held.pin("hips", (0.0, 0.9, 0.0), (0.0, 0.0, 0.0, 1.0))
    for stage in ("feet", "body", "play"):
        walker.set_weight(stage, 0.5)
    walker.step(TICK)
    walker.play("run")
    walker.seek(0.2)
    walker.step(TICK)
    _ = walker.alone, walker.balance()
