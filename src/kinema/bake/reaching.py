"""What hands are asked to reach for, frame by frame, and whether they can."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from kinema.bake.constants import REACHED, SETTLING
from kinema.bake.settings import Settings
from kinema.rig import Rig


def targets_of(rig: Rig, world: Any, times: Any, settings: Settings) -> dict[Any, Any] | None:
    """Where hands should be, (F, 3) by joint, in a motion (F, J, 4, 4); where nothing is asked of one, where it is
    there anyway, so that it is off by nothing. None if nothing is asked of any.
    """
    targets = {}
    for name, target in settings.reach.items():
        hand = int(rig.arm(name).joints[-1])
        points = [target.at(float(t)) for t in times]
        targets[hand] = np.array([world[k, hand, :3, 3] if p is None else p for k, p in enumerate(points)])
    return targets or None


def out_of_reach(rig: Rig, world: Any, times: Any, settings: Settings) -> Iterator[str]:
    """A sentence for each hand that stops short of what it is asked for, in a motion (F, J, 4, 4)."""
    targets = targets_of(rig, world, times, settings) or {}
    for name, target in settings.reach.items():
        arm = rig.arm(name)
        length, first, last = rig.skeleton.length(arm.joints), int(arm.joints[0]), int(arm.joints[-1])
        error = np.linalg.norm(world[:, last, :3, 3] - targets[last], axis=-1)
        too_far = np.linalg.norm(world[:, first, :3, 3] - targets[last], axis=-1) > length
        # A hand that is still on its way to where its path begins is late, which is no fault of the path.
        settled = (target.times[0] <= 0.0) | (times > target.times[0] + SETTLING)
        short = np.where(too_far | settled, error, 0.0)
        worst = int(np.argmax(short))
        if short[worst] > REACHED * length:
            x, y, z = targets[last][worst]
            yield (
                f"the {name} hand cannot reach ({x:.3g}, {y:.3g}, {z:.3g}), {times[worst]:.2f} s from the start: "
                f"it stops {short[worst]:.3g} short"
            )
