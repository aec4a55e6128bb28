"""three.js's CCDIKSolver, in a Node that stays running; `threejs_ccd.mjs` is the other half.

Needs `node` on the path and KINEMA_NODE_MODULES, the folder that holds node_modules with `three` in it.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.problems import Chains

PASSES = 1000
"""Most passes over the chain: with fewer, targets are missed (one in three with 30, one in eight with 100)."""


class ThreeJs:
    name = "three.js"
    _node: subprocess.Popen[str] | None = None

    def available(self) -> bool:
        return shutil.which("node") is not None and self.version() is not None

    def version(self) -> str | None:
        folder = os.environ.get("KINEMA_NODE_MODULES")
        package = Path(folder or ".") / "node_modules" / "three" / "package.json"
        return str(json.loads(package.read_text())["version"]) if folder and package.is_file() else None

    def prepare(self, problem: Chains) -> None:
        script = str(Path(__file__).with_name("threejs_ccd.mjs"))
        command = ["node", script, os.environ["KINEMA_NODE_MODULES"]]
        self._node = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self._pipes: Any = self._node.stdin, self._node.stdout
        self._request = json.dumps(
            {
                "bones": problem.bones,
                "length": problem.length,
                "tolerance": problem.tolerance * problem.length * problem.bones,
                "passes": PASSES,
                "targets": problem.target.tolist(),
            }
        )

    def solve(self) -> float:
        """Node does the timing, so sending and receiving do not count."""
        to_node, from_node = self._pipes
        to_node.write(self._request + "\n")
        to_node.flush()
        self._answer = json.loads(from_node.readline())
        return float(self._answer["seconds"])

    def joints(self) -> Any:
        return np.array(self._answer["joints"], np.float64)

    def __del__(self) -> None:
        if self._node is not None:
            self._pipes[0].close()  # Which ends it.
            self._node.wait(timeout=10)
