"""Compiling everything ahead of the first frame, in as many processes as there are cores."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from kinema import edge

_PRECISIONS = {"float64": np.float64, "float32": np.float32}


def _jobs(dtype: Any) -> dict[str, Callable[[], Any]]:
    """One small call for everything there is to compile, by name."""
    from kinema import limits
    from kinema.drawing import draw_limb
    from kinema.solvers.aim import aim
    from kinema.solvers.ccd import ccd
    from kinema.solvers.compensating import compensating
    from kinema.solvers.fabrik import fabrik
    from kinema.solvers.look_at import look_at
    from kinema.solvers.two_bone import two_bone
    from kinema.solvers.two_bone_2d import two_bone_2d
    from kinema.solvers.two_bone_rotations import two_bone_rotations

    characters: dict[str, Callable[[], Any]] = {"solve": lambda: _solve(dtype)}
    if dtype == np.float32:  # Skins and files are in single precision; what is in double is compiled when it comes.
        characters |= {"grounds": _casts, "balls": _balls, "characters": _characters}
    many = np.zeros((256, 3), dtype)
    many[:, 1] = 1.0
    joints = np.zeros((4, 3), dtype)
    joints[:, 1] = np.arange(4)
    target = np.array((1.0, 1.0, 0.5), dtype)
    world = np.tile(np.eye(4, dtype=dtype), (3, 1, 1))
    world[:, 1, 3] = np.arange(3)
    planar, lengths = np.array((1.0, 0.5), dtype), np.ones(2, dtype)
    return {
        "two_bone_2d": lambda: (two_bone_2d(np.zeros(2, dtype), planar, lengths), draw_limb((0, 0), planar, lengths)),
        "two_bone": lambda: two_bone(joints[0], target, lengths),
        "two_bone in batches": lambda: two_bone(many, target, lengths),
        "two_bone_rotations": lambda: two_bone_rotations(world, target),
        "fabrik and ccd": lambda: (fabrik(joints, target), ccd(joints, target).rotations()),
        "compensating": lambda: compensating(joints, target),
        "look_at": lambda: look_at(joints[0], target),
        "aim": lambda: aim(world[0], target),
        "limits": lambda: limits.Cone(1.0).project(np.array((0.0, 0.0, 0.0, 1.0), dtype)),
        **characters,
    }


def _solve(dtype: Any) -> None:
    """A limb, a chain, and one with limits."""
    from kinema.limits import Cone
    from kinema.pose import Pose
    from kinema.skeleton import Skeleton
    from kinema.solvers.goal import Goal, solve
    from kinema.solvers.matrices import apply_to_matrices

    up, turns = (
        np.tile(np.array((0.0, 1.0, 0.0), dtype), (5, 1)),
        np.tile(np.array((0.0, 0.0, 0.0, 1.0), dtype), (5, 1)),
    )
    rest = Pose(up, turns)
    goal = Goal(np.array((1.0, 2.0, 0.5), dtype), rotation=turns[0])
    skeleton = Skeleton(list("abcde"), range(-1, 4), rest)
    solve(skeleton, rest.blend(rest, 0.5), ("a", "b", "c"), goal)
    solve(skeleton, rest.add(rest.difference(rest)), skeleton.chain("a", "e"), goal)
    limited = Skeleton(list("abcde"), range(-1, 4), rest, limits=[Cone(0.8)] * 5)
    solve(limited, rest, limited.chain("a", "e"), Goal(np.array((1.5, 3.5, 0.5), dtype)))
    limited.palette(rest)
    apply_to_matrices(skeleton.world(rest), (0, 1, 2), goal)


def _casts() -> None:
    """A ray at every shape."""
    from kinema.world.height_field import HeightField
    from kinema.world.plane import Plane
    from kinema.world.sphere import Sphere
    from kinema.world.triangle_mesh import TriangleMesh
    from kinema.world.voxel_grid import VoxelGrid

    corners = ((-1.0, 0.0, -1.0), (0.0, 0.0, 1.0), (1.0, 0.0, -1.0))
    filled = np.ones((2, 1, 2), bool)
    mesh = TriangleMesh(corners, [(0, 1, 2)], accelerator="kernel")
    for ground in (Plane(), Sphere(), HeightField(np.zeros((3, 3)), (-1, -1)), VoxelGrid(filled, (-1, -1, -1)), mesh):
        ground.cast(np.array((0.0, 1.0, 0.0)), np.array(((0.0, -1.0, 0.0), (0.1, -1.0, 0.0))), 2.0)


def _balls() -> None:
    """A ball that falls."""
    from kinema.world.balls import Balls, Room, step

    step(Room((-1, 0, -1), (1, 1, 1)), Balls([[0, 0.5, 0]], radii=0.1), 0.01)


def _characters() -> None:
    """A few frames of everything a character does."""
    from kinema.behaviours.aim import Aim
    from kinema.behaviours.eyes import Eyes
    from kinema.behaviours.feet import Feet
    from kinema.behaviours.hands import Hands
    from kinema.behaviours.head import Head
    from kinema.behaviours.layers import Breathing, Recoil, Sway
    from kinema.behaviours.play import Play
    from kinema.pipeline import Animator
    from kinema.scenes import humanoid
    from kinema.world.height_field import HeightField

    ground = HeightField(np.zeros((3, 3)), (-5, -5), 5.0)
    layers = [Breathing(), Sway(), Recoil()]
    limbs = [Feet(weight=0.5), Hands(), Aim(joint="hand_r", grip="left")]
    stages = [Play("walk", root_motion="extract"), *layers, *limbs, Head(), Eyes()]
    animator = Animator(humanoid(), stages, ground=ground)
    animator["recoil"].kick(1.0)
    animator["hands"].reach("left", (0.3, 1.2, 0.4))
    animator["aim"].aim_at((0.0, 1.4, 5.0))
    animator.look_at((1.0, 1.4, 5.0))
    animator.update(0.1)
    animator["play"].play("run")
    animator.update(0.1).palette  # noqa: B018


def _compile(precision: str) -> None:
    """What a worker does: everything for one precision."""
    for job in _jobs(_PRECISIONS[precision]).values():
        job()


def warmup(progress: bool = True) -> float:
    """Compile every solver for both precisions, or load what an earlier run compiled. Returns the seconds it took.

    The first run on a machine takes a while (tens of seconds; a line on standard error says how far it is); after
    that compiled code comes from the disk in about a second. Never needed: whatever was not compiled ahead is
    compiled when it is first called.
    """
    start = time.perf_counter()
    say = _teller(progress and sys.stderr is not None)
    jobs = {(p, name): job for p, dtype in _PRECISIONS.items() for name, job in _jobs(dtype).items()}
    say(0, len(jobs), "")
    # The compiler runs one function at a time in a process: a second process fills the disk cache with the second
    # precision meanwhile, and this one loads what it made.
    worker = None
    if edge.threads() > 1:
        worker = subprocess.Popen([sys.executable, "-c", _WORKER, "float32"], stdin=subprocess.DEVNULL)
    for done, ((precision, name), job) in enumerate(jobs.items()):
        say(done, len(jobs), f"{name}, {precision}")
        if worker is not None and precision == "float32":
            worker.wait(timeout=_LONGEST)
        job()
    seconds = time.perf_counter() - start
    say(len(jobs), len(jobs), f"in {seconds:.1f} s")
    return seconds


_WORKER = "import sys; from kinema.compile_ahead import _compile; _compile(sys.argv[1])"

_LONGEST = 600
"""Seconds a worker may take before something is plainly wrong."""


def _teller(wanted: bool) -> Callable[[int, int, str], None]:
    """Writes the progress line, or nothing."""

    def say(done: int, count: int, what: str) -> None:
        if wanted:
            bar = "#" * (20 * done // count)
            end = "\n" if done == count else ""
            sys.stderr.write(f"\rkinema: compiling [{bar:<20}] {done}/{count} {what:<32}{end}")
            sys.stderr.flush()

    return say
