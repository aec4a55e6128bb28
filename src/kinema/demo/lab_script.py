"""The lab as a script."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from kinema.demo.lab import Lab


def script(lab: Lab) -> str:
    """The script that solves the lab's problem with every solver, and prints the error pass by pass."""
    bones, degrees = int(lab.values["bones"]), lab.values["limit"]
    limits = f"[km.Cone(np.radians({degrees:g}))] * {bones}" if degrees < 180 else "None"
    target = ", ".join(f"{x:g}" for x in np.round(lab.target, 5).tolist())
    return f'''"""One chain, one target, every solver: poses and the error pass by pass. Metres, y up."""

import numpy as np

import kinema as km

rest = np.zeros(({bones + 1}, 3))
rest[:, 1] = np.linspace(0, 1, {bones + 1})
target = np.array(({target}))
limits = {limits}

joints = {{}}
for solver in (km.fabrik, km.ccd):
    solved = solver(rest, target, limits=limits)
    joints[solver.__name__] = solved.joints
    errors = [float(solver(rest, target, limits=limits, max_iterations=n).error) for n in range(1, 25)]
    print(f"{{solver.__name__}}: error {{solved.error:.2e}} m after {{solved.iterations}} passes")
    print("  pass by pass:", " ".join(f"{{error:.1e}}" for error in errors))

joints["compensating"], state = rest, None
for frame in range(120):  # It walks there, ten steps a frame.
    walked = km.compensating(joints["compensating"], target, state, dt=1 / 60)
    joints["compensating"], state = walked.joints, walked.state
print(f"compensating: error {{walked.error:.2e}} m after 120 frames")
'''
