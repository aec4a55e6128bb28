"""ikpy: ten hinges alternating about X and Z, which reach everywhere and are its fastest form of such a chain.

Two hinges a bone take it more than twice as long, its other optimiser four times, links without precompiled
matrices seven times. No `tol` meets every target: 1e-3 meets 97 in a hundred, its default 99 in half as long again.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.machine import installed
from benchmarks.peers.base import OneByOne
from benchmarks.problems import Chains

AXES = ((1, 0, 0), (0, 0, 1))
OPTIMISER_TOLERANCE = 1e-4


class Ikpy(OneByOne):
    name = "ikpy"

    def available(self) -> bool:
        return installed("ikpy") is not None

    def version(self) -> str | None:
        return installed("ikpy")

    def prepare(self, problem: Chains) -> None:
        self._chain = chain = _build(problem.bones, problem.length)
        self._inputs = list(problem.target)
        straight = np.zeros(problem.bones + 2)
        self._call = lambda target: chain.inverse_kinematics(target, initial_position=straight, tol=OPTIMISER_TOLERANCE)

    def joints(self) -> Any:
        # The first frame is the world's, at the same position as the first joint.
        frames = [self._chain.forward_kinematics(pose, full_kinematics=True)[1:] for pose in self._answers]
        return [[frame[:3, 3] for frame in each] for each in frames]


def _build(bones: int, length: float) -> Any:
    from ikpy.chain import Chain
    from ikpy.link import OriginLink, URDFLink

    def link(name: str, along: float, **joint: Any) -> Any:
        return URDFLink(name, origin_translation=(0, along, 0), origin_orientation=(0, 0, 0), **joint)

    hinges = [link(f"bone{i}", length if i else 0.0, rotation=AXES[i % 2]) for i in range(bones)]
    tip = link("tip", length, rotation=None, joint_type="fixed")
    return Chain([OriginLink(), *hinges, tip], active_links_mask=[False, *[True] * bones, False])
