"""MuJoCo: characters as capsules in the user scene of its viewer and renderer."""

from collections.abc import Callable
from typing import Any

import numpy as np

from kinema.bridges.surface import GREY, Z_UP
from kinema.errors import InputError
from kinema.stages.animator import Animator, Frame

WIDTH = 0.025
"""Radius of a bone, as a share of the length of a leg; metres of a character without legs."""


def add(scene: Any, animator: Animator) -> Callable[[Frame], None]:
    """Draw the bones of an animator's characters into a `mujoco.MjvScene`: the `user_scn` of a viewer, or the `scene`
    of a `Renderer` after `update_scene`. Returns a function that shows a frame. MuJoCo's z axis points up.

    A scene of a renderer is built anew by `update_scene`: add to it after each call.
    """
    import mujoco

    character = animator.character
    parents = np.asarray(character.skeleton.parents)
    # Without the bones from the origin of the file to the hips.
    above = range(len(parents)) if character.rig is None else character.skeleton.below([character.rig.hips])
    children = np.flatnonzero(np.isin(parents, np.asarray(above)))
    count, first = animator.count or 1, int(scene.ngeom)
    if first + count * len(children) > scene.maxgeom:
        raise InputError(
            f"the scene has room for {scene.maxgeom - first} more shapes; {count * len(children)} bones are to be drawn"
        )
    radius = WIDTH * (character.rig.leg_length if character.rig is not None and character.rig.legs else 1.0)
    colour, capsule = np.array((*GREY, 1.0), np.float32), mujoco.mjtGeom.mjGEOM_CAPSULE

    def show(frame: Frame) -> None:
        joints = np.asarray(frame.world, np.float64)[..., :3, 3].reshape(count, -1, 3) @ Z_UP.T
        starts, ends = joints[:, parents[children]].reshape(-1, 3), joints[:, children].reshape(-1, 3)
        scene.ngeom = first + len(starts)
        for k, (start, end) in enumerate(zip(starts, ends, strict=True)):
            shape = scene.geoms[first + k]
            mujoco.mjv_initGeom(shape, capsule, np.zeros(3), np.zeros(3), np.zeros(9), colour)
            mujoco.mjv_connector(shape, capsule, radius, start, end)

    return show
