"""The scenes of the playground, as objects without a screen, so that tests and benchmarks run the same code.

`registry` lists the scenes, `scene` says what each of them has: controls, `step`, `frame`, and a script that computes
what is seen.

- `planar`, `arm`, `lab`, `crowd`: limbs and chains,
- `character`: a character on uneven ground, with `actor` (who), `walker` (its walk), `held` (what a user drags),
- `creature`: procedural steps and tentacles.
"""
