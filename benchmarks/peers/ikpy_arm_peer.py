"""ikpy on the arm: position and rotation by its optimiser, inside limits, from one start, as it offers."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.body_problems import BodyPoses
from benchmarks.machine import installed
from benchmarks.peers.base import OneByOne
from benchmarks.peers.placo_body_peer import _angles
from kinema.math import arrays


class IkpyArm(OneByOne):
    name = "ikpy"

    def available(self) -> bool:
        return installed("ikpy") is not None

    def version(self) -> str | None:
        return installed("ikpy")

    def prepare(self, problem: BodyPoses) -> None:
        from ikpy.chain import Chain
        from ikpy.link import OriginLink, URDFLink

        rest, limits, nodes = problem.skeleton.rest, problem.hinges, problem.nodes[1:]
        links = [
            URDFLink(
                f"l{j}",
                origin_translation=rest.translations[j].astype(float),
                origin_orientation=_angles(arrays.to_matrix(rest.rotations[j].astype(float))),
                rotation=np.array((0.0, 0.0, 1.0)),
                bounds=(limits[j].low, limits[j].high),
            )
            for j in nodes
        ]
        self._chain = chain = Chain([OriginLink(), *links], active_links_mask=[False, *[True] * len(nodes)])
        self._inputs = [problem.matrices(i)[0] for i in range(problem.count)]
        start = np.zeros(len(nodes) + 1)
        self._call = lambda matrix: chain.inverse_kinematics_frame(
            matrix, initial_position=start, orientation_mode="all"
        )

    def joints(self) -> Any:
        return [[self._chain.forward_kinematics(answer)] for answer in self._answers]
