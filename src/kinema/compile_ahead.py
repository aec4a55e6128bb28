"""`warmup`: compile kernels ahead of their first use, in as many processes as there are cores."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from kinema.compile import kernel_cache
from kinema.compile.threads import thread_count
from kinema.errors import InputError

_PRECISIONS = {"float64": np.float64, "float32": np.float32}

_FIRST_STEP = 5
"""Frames of 0.1 s in which a walker lifts a foot: the kernels that plan a swing run only then."""


def _jobs(dtype: Any) -> dict[str, Callable[[], Any]]:
    """One small call for everything there is to compile, by name."""
    from kinema.model import limits
    from kinema.solvers.chain.chain_solvers import CHAIN_SOLVERS
    from kinema.solvers.chain.compensating import compensating
    from kinema.solvers.chain.constrain import constrain
    from kinema.solvers.limb.aim import aim
    from kinema.solvers.limb.bone_rotations import bone_rotations
    from kinema.solvers.limb.drawing import draw_limb
    from kinema.solvers.limb.look_at import look_at
    from kinema.solvers.limb.two_bone import two_bone
    from kinema.solvers.limb.two_bone_2d import two_bone_2d
    from kinema.solvers.limb.two_bone_rotations import two_bone_rotations
    from kinema.stages.legs.leg_placement import solve_foot

    stages = {part: partial(_frames, dtype, listed) for part, listed in _stages().items()}
    characters: dict[str, Callable[[], Any]] = {"solve": lambda: _solve(dtype), **stages}
    if dtype == np.float64:  # The full body, rays, balls and smoothing are in double precision alone.
        characters |= {"full body": _full_body, "grounds": _casts, "balls": _balls, "smoothing": _smoothing}
        characters["walkers in the plane"] = _walker_2d
        characters["retargeting"], characters["fitting"] = _retarget, _fit
    many = np.zeros((256, 3), dtype)
    many[:, 1] = 1.0
    joints = np.zeros((4, 3), dtype)
    joints[:, 1] = np.arange(4)
    chains = np.tile(joints, (32, 1, 1))
    target = np.array((1.0, 1.0, 0.5), dtype)
    nearby = np.array((1.0, 2.0, 0.5), dtype)  # Within reach inside the limits: a warmup warns of nothing.
    world = np.tile(np.eye(4, dtype=dtype), (3, 1, 1))
    world[:, 1, 3] = np.arange(3)
    cones = [limits.Cone(1.0)] * 3
    planar, lengths = np.array((1.0, 0.5), dtype), np.ones(2, dtype)
    return {
        "two_bone_2d": lambda: (
            two_bone_2d(np.zeros(2, dtype), planar, lengths),
            two_bone_2d(np.zeros((2, 2), dtype), planar, lengths),
            draw_limb((0, 0), planar, lengths),
        ),
        "two_bone": lambda: two_bone(joints[0], target, lengths),
        "two_bone in batches": lambda: two_bone(many, target, lengths),
        "two_bone_rotations": lambda: two_bone_rotations(world, target),
        **{name: partial(solve, joints, target) for name, solve in CHAIN_SOLVERS.items()},
        "rotations": lambda: bone_rotations(joints, (0.0, 1.0, 0.0)),
        **{f"{name} in batches": partial(solve, chains, target) for name, solve in CHAIN_SOLVERS.items()},
        "chains with limits": lambda: (
            *(solve(some, nearby, limits=cones) for solve in CHAIN_SOLVERS.values() for some in (joints, chains)),
            constrain(joints, cones),
        ),
        "legs": lambda: solve_foot(joints[3], joints[1], joints[1], lengths),
        "leg placement": lambda: _leg_placement(dtype),
        "looks": lambda: _looks(dtype),
        "skins": lambda: _skin(dtype),
        "validation": lambda: _validation(dtype),
        "compensating": lambda: compensating(joints, target),
        "look_at": lambda: look_at(joints[0], target),
        "aim": lambda: aim(world[0], target),
        "limits": lambda: limits.Cone(1.0).project(np.array((0.0, 0.0, 0.0, 1.0), dtype)),
        **characters,
    }


def job(name: str) -> Callable[[], Any]:
    """Return a job of the manifest by its part and precision, such as "feet, float32"."""
    part, _, precision = name.rpartition(", ")
    return _jobs(_PRECISIONS[precision])[part]


def _solve(dtype: Any) -> None:
    """A limb, a chain, and one with limits."""
    from kinema.model.limits import Cone
    from kinema.model.pose import Pose
    from kinema.model.skeleton import Skeleton
    from kinema.solvers.goal.goal import solve
    from kinema.solvers.goal.goal_task import Goal
    from kinema.solvers.goal.matrices import apply_to_matrices

    up, rotations = (
        np.tile(np.array((0.0, 1.0, 0.0), dtype), (5, 1)),
        np.tile(np.array((0.0, 0.0, 0.0, 1.0), dtype), (5, 1)),
    )
    rest = Pose(up, rotations)
    goal = Goal(np.array((1.0, 2.0, 0.5), dtype), rotation=rotations[0])
    skeleton = Skeleton(list("abcde"), range(-1, 4), rest)
    solve(skeleton, rest.blend(rest, 0.5), ("a", "b", "c"), goal)
    solve(skeleton, rest.add(rest.difference(rest)), skeleton.chain("a", "e"), goal)
    limited = Skeleton(list("abcde"), range(-1, 4), rest, limits=[Cone(0.8)] * 5)
    solve(limited, rest, limited.chain("a", "e"), Goal(np.array((1.5, 3.5, 0.5), dtype)))
    limited.palette(rest)
    # Two goals, one of them by half: what is beyond its weight is blended back.
    solve(skeleton, rest, [("a", "b", "c"), ("c", "d", "e")], [replace(goal, weight=0.5), goal])
    for solver, axis in (("two_bone", (1.0, 0.0, 0.0)), ("ccd", None)):
        apply_to_matrices(skeleton.world(rest), (0, 1, 2), goal, solver=solver, axis=axis)


def _leg_placement(dtype: Any) -> None:
    """Two legs from numbers on a floor."""
    from kinema.stages.legs.leg_placement import LegPlacement
    from kinema.world.plane import Plane

    legs = LegPlacement(hip_height=0.9, thigh=0.45, shin=0.42, foot_offset=0.08).start()
    pelvis, left, right = np.array(((0.0, 0.9, 0.0), (0.1, 0.0, 0.0), (-0.1, 0.0, 0.0)), dtype)
    legs.update(pelvis, left, right, Plane(), 0.1)


def _looks(dtype: Any) -> None:
    """A head and eyes without an animator."""
    from kinema.stages.gaze.eye_look import EyeLook
    from kinema.stages.gaze.head_look import HeadLook

    head, point = np.eye(4, dtype=dtype), np.array((0.2, 0.1, 2.0), dtype)
    HeadLook().start().update(head[:3, 3], point, 0.1)
    EyeLook(left_eye_offset=(0.03, 0.08, 0.1), right_eye_offset=(-0.03, 0.08, 0.1)).start().update(head, point, 0.1)


def _validation(dtype: Any) -> None:
    """Arrays that can be written and read-only ones, which numba takes for another type."""
    from kinema.validation import any_unusable

    for writeable in (True, False):
        array = np.ones(3, dtype)
        array.flags.writeable = writeable
        any_unusable(array)


def _full_body() -> None:
    """A hand that is pulled, inside limits, from rest and from the frame before."""
    from kinema.model.limits import Cone
    from kinema.model.pose import Pose
    from kinema.model.skeleton import Skeleton
    from kinema.solvers.body.full_body import FullBody
    from kinema.solvers.body.targets import Effector

    rest = Pose(np.tile((0.0, 1.0, 0.0), (4, 1)), np.tile((0.0, 0.0, 0.0, 1.0), (4, 1)))
    body, pull = FullBody(Skeleton(list("abcd"), range(-1, 3), rest, [Cone(1.0)] * 4)), [Effector("d", (1.0, 2.0, 0.5))]
    frame, _ = body.solve(rest, pull)
    body.solve(rest, pull, warm=frame)


def _casts() -> None:
    """A ray at every shape."""
    from kinema.world.embree import MeshBox, clip_rays
    from kinema.world.height_field import HeightField
    from kinema.world.plane import Plane
    from kinema.world.rays import checked
    from kinema.world.sphere import Sphere
    from kinema.world.terrain import PIECE, STONE, Terrain
    from kinema.world.triangle_mesh import TriangleMesh
    from kinema.world.voxel_grid import VoxelGrid

    corners = ((-1.0, 0.0, -1.0), (0.0, 0.0, 1.0), (1.0, 0.0, -1.0))
    filled = np.ones((2, 1, 2), bool)
    mesh = TriangleMesh(corners, [(0, 1, 2)], accelerator="kernel")
    terrain = Terrain(np.zeros(1, PIECE), np.zeros(0, STONE), 1.0)
    terrain.height_and_normal(0.0, 0.0)
    hill, blocks = HeightField(np.zeros((3, 3)), (-1, -1)), VoxelGrid(filled, (-1, -1, -1))
    for ground in (Plane(), Sphere(), hill, blocks, mesh, terrain):
        ground.cast(np.array((0.0, 1.0, 0.0)), np.array(((0.0, -1.0, 0.0), (0.1, -1.0, 0.0))), 2.0)
    rays, _, _ = checked(np.zeros((1, 3)), np.ones((1, 3)), 1.0)
    clip_rays(rays, np.zeros(1, np.int64), MeshBox((0.0, 0.0, 0.0), (1.0, 1.0, 1.0), 1.0))  # Embree may be absent.


def _skin(dtype: Any) -> None:
    from kinema.model.skin import Skin

    corner, all_of_it = np.zeros((1, 4), int), ((1.0, 0.0, 0.0, 0.0),)
    skin = Skin(np.zeros((1, 3)), np.zeros((0, 3), int), corner, all_of_it, ((0.0, 1.0, 0.0),))
    skin.deform(np.zeros((1, 3, 4), dtype))


def _walker_2d() -> None:
    from kinema.planar.walker_2d import Walker2D

    Walker2D().update(0.1, 0.0)


def _balls() -> None:
    """A ball that falls."""
    from kinema.physics import Balls, Room, step

    step(Room((-1, 0, -1), (1, 1, 1)), Balls([[0, 0.5, 0]], radii=0.1), 0.01)


def _retarget() -> None:
    """A walk of our humanoid onto another skeleton, and the twist joints of a skeleton that has some."""
    from kinema.compile.records import kernel_views
    from kinema.demo import humanoid
    from kinema.retargeting.live import Retargeter
    from kinema.retargeting.retarget import retarget
    from kinema.retargeting.twists import TWIST, spread_frames

    person = humanoid()
    retarget(person, person.clips["walk"], person, mirror=True)
    Retargeter(person, person).update(person.skeleton.rest)
    rotations = person.skeleton.rest.rotations[np.newaxis].astype(np.float64)
    spread_frames(0, 1, kernel_views(TWIST.zeros(0, np.float64))[0], person.skeleton.parents, rotations)


def _fit() -> None:
    """A few points onto our humanoid, at once and as they arrive."""
    from kinema.demo import humanoid
    from kinema.fitting.fit import fit
    from kinema.fitting.live import Fitter

    person = humanoid()
    trunk = {"left_shoulder": (0.2, 1.4, 0), "right_shoulder": (-0.2, 1.4, 0), "left_hip": (0.1, 0.9, 0)}
    rest = {"right_hip": (-0.1, 0.9, 0), "left_knee": (0.1, 0.5, 0), "left_ankle": (0.1, 0.1, 0)}
    points = trunk | rest | {"neck": (0, 1.5, 0), "head": (0, 1.6, 0)}
    words, still = tuple(points), np.array(tuple(points.values()), np.float64)
    fit(person, np.repeat(still[np.newaxis], 9, 0), layout=words, polish=True)
    Fitter(person, words).update(still)


def _smoothing() -> None:
    """A path that is smoothed."""
    from kinema.math.smoothing import smooth

    smooth(np.zeros((4, 1)), np.ones(4), 1.0)


def _stages() -> dict[str, list[Any]]:
    """Every stage with settings that use all of its kernels, by part."""
    import kinema as km

    return {
        "feet": [km.Play("walk"), km.Feet(weight=0.5)],
        "hands": [km.Hands()],
        "weapons": [km.Aim(joint="hand_r", grip="left")],
        "clips": [
            km.Play("walk", root_motion="extract"),
            km.Breathing(),
            km.Sway(),
            km.Recoil(),
            km.Layer(lambda pose, t, dt: pose),
        ],
        "gaze": [km.Head(), km.Eyes()],
        "locomotion": [km.Locomotion(weight=0.5)],
        "tails": [
            km.Tail(chains=[("hips", "spine_1")]),
            km.Springs(springs=[km.Spring(joints=("hips", "spine_1"), tip=0.1)]),
            km.Constraints(constraints=[km.Constraint(joint="hand_l", source="hand_r", kind="roll")]),
        ],
        "body": [km.Body()],
    }


def _frames(dtype: Any, stages: list[Any]) -> None:
    """A few frames of our humanoid with these stages, each asked for what it can do."""
    from kinema.solvers.body.targets import Effector
    from kinema.stages.animator import Animator
    from kinema.world.height_field import HeightField

    animator = Animator(_person(dtype), stages, ground=HeightField(np.zeros((3, 3)), (-5, -5), 5.0))
    asked: dict[str, Callable[[Any], Any]] = {
        "recoil": lambda state: state.kick(1.0),
        "hands": lambda state: (state.reach("left", (0.3, 1.2, 0.4)), state.grip("left", "right")),
        "aim": lambda state: state.aim_at((0.0, 1.4, 5.0)),
        "head": lambda state: state.look_at((1.0, 1.4, 5.0)),
        "eyes": lambda state: state.look_at((1.0, 1.4, 5.0)),
        "locomotion": lambda state: state.walk((0.0, 0.0, 1.0)),
        "body": lambda state: state.set(Effector("left_hand", (0.3, 1.2, 0.4))),
    }
    for name in animator.stages:
        if name in asked:
            asked[name](animator[name])
    animator.update(0.1)
    if "play" in animator.stages:
        animator["play"].play("run")
        _clip(animator.character.clips["walk"])
    animator.update(0.1).palette  # noqa: B018
    if "locomotion" in animator.stages:
        for _ in range(_FIRST_STEP):
            animator.update(0.1)


def _clip(clip: Any) -> None:
    """What is computed from a clip without an animator."""
    clip.root_motion(0.0, clip.duration)
    clip.skeleton.world(clip.sample([0.0, clip.duration]))


def _person(dtype: Any) -> Any:
    """Our humanoid, which is in single precision, in this one: characters from files are in double."""
    from kinema.demo import humanoid
    from kinema.model.character import Character
    from kinema.model.skeleton import Skeleton

    person = humanoid()
    skeleton = Skeleton(person.skeleton.names, person.skeleton.parents, person.skeleton.rest.astype(dtype))
    clips = {name: replace(clip, skeleton=skeleton) for name, clip in person.clips.items()}
    assert person.rig is not None
    return Character(skeleton, clips, replace(person.rig, skeleton=skeleton))


# --- in several processes ---------------------------------------------------------------------------------------------


def warmup(*parts: str, progress: bool = True) -> float:
    """Compile kernels ahead of their first use, or load the ones that an earlier run compiled.

    Never needed: a kernel that was not compiled ahead is compiled when it is first called. A wheel ships its kernels,
    so this only loads them.

    Parameters
    ----------
    parts
        What to compile, such as `"two_bone"` or `"feet"`; everything if none is named.
    progress
        Write a progress line to standard error.

    Returns
    -------
    float
        The seconds it took.

    Raises
    ------
    InputError
        For an unknown part; the message lists the known ones.

    Examples
    --------
    >>> km.warmup("two_bone", "fabrik", progress=False)  # doctest: +SKIP
    0.41
    """
    start = time.perf_counter()
    jobs = {f"{name}, {p}": job for p, dtype in _PRECISIONS.items() for name, job in _jobs(dtype).items()}
    jobs = _selected(jobs, parts)
    with kernel_cache.silent(), _ProgressLine(len(jobs) if progress and sys.stderr is not None else 0) as line:
        processes = min(thread_count(), len(jobs)) if _can_start_python() else 1
        _compile_all(jobs, processes - 1, line.advance)
    return time.perf_counter() - start


def _selected(jobs: dict[str, Callable[[], Any]], parts: Sequence[str]) -> dict[str, Callable[[], Any]]:
    """The jobs of some parts, all of them if none is named."""
    known = {name.rpartition(", ")[0] for name in jobs}
    for part in parts:
        if part not in known:
            raise InputError(f"part is {part!r:.60}; allowed are {', '.join(map(repr, sorted(known)))}")
    return {name: job for name, job in jobs.items() if not parts or name.rpartition(", ")[0] in parts}


def _can_start_python() -> bool:
    """Whether `sys.executable` is a Python interpreter: in a frozen or embedding program it is that program."""
    if getattr(sys, "frozen", False) or not sys.executable:
        return False
    return Path(sys.executable).stem.lower().startswith(("python", "pypy"))


def _compile_all(jobs: dict[str, Callable[[], Any]], helpers: int, done: Callable[[str], None]) -> None:
    """Compile in this process and in some helpers at once, then load here what the helpers have compiled.

    numba compiles one function at a time in each process. What a helper fails to compile is compiled here.
    """
    own, *others = _shares(jobs, helpers + 1)
    running = [process for share in others if (process := _start_helper(share))]
    try:
        for name in own:
            jobs[name]()
            done(name)
        for process in running:
            process.wait()
    finally:  # After an interrupt, say.
        for process in running:
            process.kill()
            process.wait()
    for share in others:
        for name in share:
            jobs[name]()
            done(name)


_HEAVIEST = (
    "feet",
    "locomotion",
    "fabrik in batches",
    "chains with limits",
    "fabrik",
    "solve",
    "hands",
    "gaze",
    "clips",
)
"""The parts that take longest, longest first."""


def _shares(names: Iterable[str], processes: int) -> list[list[str]]:
    """Deal jobs to processes: jobs of one precision, which share kernels, to the same ones, the long jobs first."""
    shares: list[list[str]] = [[] for _ in range(processes)]
    heavy_first = sorted(names, key=lambda name: [*_HEAVIEST, name.partition(",")[0]].index(name.partition(",")[0]))
    for k, precision in enumerate(_PRECISIONS):
        takers = shares[k :: len(_PRECISIONS)] or shares
        for i, name in enumerate(name for name in heavy_first if name.endswith(precision)):
            takers[i % len(takers)].append(name)
    return shares


def _start_helper(names: Sequence[str]) -> subprocess.Popen[bytes] | None:
    """Start a process that compiles these jobs. None where no process can be started."""
    nowhere = subprocess.DEVNULL
    try:
        return subprocess.Popen([sys.executable, "-c", _HELPER, *names], stdin=nowhere, stdout=nowhere, stderr=nowhere)
    except OSError:
        return None


_HELPER = "from kinema.compile_ahead import _help; _help()"


def _help() -> None:
    """Run as a helper: compile each job named on the command line."""
    for job in sys.argv[1:]:
        name, precision = job.rsplit(", ", 1)
        _jobs(_PRECISIONS[precision])[name]()


class _ProgressLine:
    """One line on standard error, rewritten after each job. count: jobs in all; 0 for no line."""

    def __init__(self, count: int) -> None:
        self._count, self._done, self._start = count, 0, time.perf_counter()

    def __enter__(self) -> _ProgressLine:
        self._write("")
        return self

    def advance(self, name: str) -> None:
        """Count a job as done."""
        self._done += 1
        self._write(name)

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if self._count:
            seconds = time.perf_counter() - self._start
            sys.stderr.write(f" in {seconds:.1f} s\n" if kind is None else f" stopped after {seconds:.1f} s\n")

    def _write(self, name: str) -> None:
        if self._count:
            bar = "#" * (20 * self._done // self._count)
            sys.stderr.write(f"\rkinema: compiling [{bar:<20}] {self._done}/{self._count} {name:<32}")
            sys.stderr.flush()
