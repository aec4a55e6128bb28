"""The step that the full-body solver and `solve` share: damped Gauss-Newton on joint rotations, in the dual.

With S the mobility of the joints, J the Jacobian of the effectors and r their residuals, one step solves

    (J S J^T + D) l = r - J w_ref,    w = w_ref + S J^T l

for the rotations w of all joints at once. w_ref leads back to the reference pose, and D is the compliance of the
effectors. The system has one row per wanted number, three for a position and three for a rotation, however many joints
there are. J is never stored.

- `records`: what is known about joints, effectors and rows.
- `roles`, `masses`, `sides`: what a rig says about joints: mobility, mass, which way elbows and knees bend.
- `targets`, `plan`: effectors as the user gives them, and the joints that they move, as records.
- `joints`: forward kinematics, mobility inside limits, applying a step.
- `rows`, `balance`: effectors as rows of the system.
- `system`: matrix and Cholesky factor.
- `step`: one step inside the limits.
- `descent`: from any pose to targets anywhere. `follow`: from one frame to the next.
- `solve`: one character, and the loop over characters.

Everything is computed in float64, so kernels have bare literals, and in units of the body's size around its centre.
"""
