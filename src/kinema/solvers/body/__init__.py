"""The step that the full-body solver and `solve` share: damped Gauss-Newton on joint rotations, in the dual.

With S the mobility of the joints, J the Jacobian of the effectors and r their residuals, one step solves

    (J S J^T + D) l = r - J w_ref,    w = w_ref + S J^T l

for the rotations w of all joints at once. w_ref leads back to the reference pose, and D is the compliance of the
effectors. The system has one row per wanted number, three for a position and three for a rotation, however many joints
there are. J is never stored: two sweeps over the tree, wrenches up and twists down, multiply by J S J^T.

- `records`: what is known about joints, effectors and rows.
- `joints`: forward kinematics, mobility inside limits, applying a step.
- `rows`: effectors as rows of the system.
- `system`: sweeps, matrix, Cholesky.
- `descent`: the step, the loop over steps, and the loop over characters.

Everything is computed in float64, in units of the body's size around its centre.
"""
