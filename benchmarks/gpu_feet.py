"""`Feet` on a CUDA GPU: one thread per character, running the step functions that the CPU runs.

`python -m benchmarks.gpu_feet [--count N]` walks a crowd over a height field. The CPU plays the clip and steps the
feet of the first characters. The device gets the same poses, copied as often as its characters need, and does all that
`Feet` does in a frame: world matrices of legs and feet, straight toes, rays, contacts, footholds, pelvis, legs. The
records are those of `Feet`, in the same layout.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date
from functools import cache
from pathlib import Path
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np
from numba import from_dtype

import kinema as km
from benchmarks import machine
from benchmarks.provenance import made
from kinema.compile.jit import kernel
from kinema.demo import humanoid
from kinema.math.rows import load3
from kinema.solvers.joints import FrameArrays, character_pose, update_matrix
from kinema.stages.feet.character_step import prepare_character, step_character
from kinema.stages.feet.feet import FeetState
from kinema.stages.feet.foot_rays import AHEAD, AHEAD_RAYS, PROFILE, RAYS
from kinema.stages.feet.foot_records import FeetRecords
from kinema.stages.legs.ground_contact import FOOT_SAMPLES, HIT, keep_hit
from kinema.stages.stage import Crowd, FrameContext, Stage, StageState
from kinema.world.height_field import meet_height_field
from kinema.world.rays import Ray, point_along, unit_direction

COUNT = 1_000_000
COMPARED = 10_000
"""Characters that the CPU steps too."""

FRAMES = 90
"""Frames at 60 a second: by the last third, every foot has learned how long it swings."""

DT = 1 / 60
THREADS = 256
"""Threads a block. Measured on an H200: 32, 64 and 128 take 26%, 21% and 9% longer, 320 and 384 as long."""


# --- the device ------------------------------------------------------------------------------------------------


@kernel
def cast_run(rays, number, hits, first, count, down, ground):
    """Cast so many rays, from `number` on, and store what they hit from `first` on. Returns the number after them."""
    unit = unit_direction(down)
    for n in range(count):
        origin = load3(rays[number + n])
        cast = Ray((float(origin[0]), float(origin[1]), float(origin[2])), unit, ground.distance)
        met = meet_height_field(cast, ground.grid)
        found = met.found and met.distance > 0.0
        keep_hit(hits[first + n], found, point_along(cast, met.distance), met.normal, ground.largest)
    return number + count


@kernel
def cast_rays(records, i, rays, hits, ground):
    """Cast the rays of one character, (R, 3), at a height field, and store what they hit, (R,) HIT.

    This is what `gather_rays`, the cast and `take_hits` do for many.
    """
    legs, down = records.soles.size, load3(records.bodies[i].down)
    number = cast_run(rays, 0, hits, legs * RAYS, 1, down, ground)
    for leg in range(legs):
        foot, first = records.feet[i, leg], leg * RAYS
        if foot.rays.due:
            number = cast_run(rays, number, hits, first, FOOT_SAMPLES, down, ground)
            if foot.rays.ahead:
                number = cast_run(rays, number, hits, first + AHEAD, AHEAD_RAYS, down, ground)
            if foot.rays.at_landing:
                number = cast_run(rays, number, hits, first + PROFILE, RAYS - PROFILE, down, ground)


class DeviceGround(NamedTuple):
    """A height field on the device."""

    grid: Any
    """Its `HeightGrid`."""
    distance: Any
    """Metres that rays go down."""
    largest: Any
    """The largest number that counts as a hit's."""


class FeetOnDevice(NamedTuple):
    """What is the same in every frame."""

    records: FeetRecords
    solver: Any
    skeleton: Any
    ground: DeviceGround


@cache
def feet_kernel(legs: int, real: Any) -> Any:
    """Return the kernel for characters with so many legs: a thread's rays and hits lie in its own memory.

    It takes 168 registers, so a multiprocessor holds 12 warps. With 128 or 96 it is no faster: what it waits for are
    records that lie side by side character by character, not field by field, and threads whose feet are in other phases
    of their step.
    """
    cuda = _cuda()
    real_type, hit_type = from_dtype(np.dtype(real)), from_dtype(HIT.dtype(real))
    count = legs * RAYS + 1

    @cuda.jit
    def step(feet, frame, dt):
        i = cuda.grid(1)
        if i >= frame.world.shape[0]:
            return
        rays, hits = cuda.local.array((count, 3), real_type), cuda.local.array(count, hit_type)
        pose = character_pose(frame, i)
        for n in range(feet.skeleton.joints.size):
            update_matrix(pose, feet.skeleton.joints[n].joint, feet.skeleton.joints[n].parent)
        prepare_character(feet.records, i, rays, pose, feet.skeleton.hips, dt)
        cast_rays(feet.records, i, rays, hits, feet.ground)
        step_character(feet.records, feet.solver, feet.skeleton, i, hits, pose, dt)

    return step


@cache
def repeat_kernel() -> Any:
    """Return the kernel that fills an array with copies of a shorter one, both flat."""
    cuda = _cuda()

    @cuda.jit
    def repeat(source, target):
        k = cuda.grid(1)
        if k < target.size:
            target[k] = source[k % source.size]

    return repeat


class DeviceCrowd:
    """The feet of many characters on the device, which walk as those of a smaller crowd on the CPU do."""

    def __init__(self, state: FeetState, ground: km.HeightField, count: int) -> None:
        self._cuda = _cuda()
        crowd = state.crowd
        self._copies = -(-count // crowd.count)
        real: Any = crowd.precision
        self._real = real
        records, solver = state._records, state._solver.records
        none = records._replace(rays=np.zeros(1, np.int8), hits=np.zeros(1, np.int8))
        each = {name: self._repeated(getattr(none, name), count) for name in ("bodies", "feet", "targets", "eases")}
        solver = solver._replace(states=self._repeated(solver.states, count))
        self.feet = FeetOnDevice(
            self._moved(none._replace(**each)),
            self._moved(solver),
            self._moved(state._skeleton),
            DeviceGround(self._moved(ground._shape), float(state._rays.reaches[0]), state._largest),
        )
        joints = len(crowd.skeleton)
        shapes = ((joints, 3), (joints, 4), (joints, 3), (joints, 12), (1, 12))
        arrays: list[Any] = [self._cuda.device_array((count, *shape), self._real) for shape in shapes]
        t, r, s, world, transform = arrays
        self.frame = FrameArrays(t, r, s, world, transform, self._cuda.to_device(np.ones(count, self._real)))
        self._step = feet_kernel(len(state.legs), self._real)

    def set_pose(self, pose: RecordedPose) -> None:
        """Give every character the local pose and the transform of one on the CPU."""
        for name in ("t", "r", "s", "transform"):
            source, target = getattr(pose, name), getattr(self.frame, name)
            on_device = self._cuda.to_device(source.reshape(-1))
            repeat_kernel()[-(-target.size // 256), 256](on_device, target.reshape(target.size))

    def step(self) -> float:
        """Step all feet by a frame. Returns the seconds it took."""
        self._cuda.synchronize()
        start = perf_counter()
        count = self.frame.world.shape[0]
        threads = min(THREADS, count)
        self._step[-(-count // threads), threads](self.feet, self.frame, self._real(DT))
        self._cuda.synchronize()
        return perf_counter() - start

    def _repeated(self, array: Any, count: int) -> Any:
        return np.tile(array, (self._copies, *[1] * (array.ndim - 1)))[:count]

    def _moved(self, value: Any) -> Any:
        """Return a tuple with its arrays on the device."""
        if isinstance(value, np.ndarray):
            return self._cuda.to_device(np.ascontiguousarray(value))
        if isinstance(value, tuple) and hasattr(value, "_fields"):
            return type(value)(*(self._moved(part) for part in value))
        return value


def _cuda() -> Any:
    """numba.cuda, or a clear error."""
    from kinema.solvers.gpu.cuda import _cuda as checked

    return checked()


# --- the CPU ---------------------------------------------------------------------------------------------------


class RecordedPose(NamedTuple):
    """Local transforms, (N, J, ...), and the characters' transforms, (N, 1, 12), as `Feet` is given them."""

    t: Any
    r: Any
    s: Any
    transform: Any


@dataclass(frozen=True, kw_only=True)
class PoseRecorder(Stage):
    """Keep a copy of the pose right before the feet are stepped."""

    order = 19

    def start(self, crowd: Crowd) -> RecorderState:
        return RecorderState(crowd)


class RecorderState(StageState):
    """The pose of the newest frame."""

    pose: RecordedPose

    def __init__(self, crowd: Crowd) -> None:
        self._awake = np.ones(crowd.count, bool)

    def awake(self, dt: float) -> Any:
        return self._awake

    def update(self, context: FrameContext) -> None:
        context._published.clear()  # The device does not know what plays: feet go by their last step on both.
        self.pose = RecordedPose(*(array.copy() for array in (context.t, context.r, context.s, context.transform)))


class Walk(NamedTuple):
    """A crowd on the CPU, and the ground it walks on."""

    animator: km.Animator
    ground: km.HeightField


def walking_crowd(count: int) -> Walk:
    """Make a crowd that walks over gentle hills, each character at another phase of its walk."""
    draw = np.random.default_rng(0)
    along = np.arange(400)
    hills = km.HeightField(0.15 * np.sin(0.31 * along[:, None]) * np.cos(0.23 * along), (-100.0, -100.0), 0.5)
    stages = [km.Play("walk", root_motion="extract"), PoseRecorder(), km.Feet()]
    animator = km.Animator(humanoid(), stages, ground=hills, count=count)
    where = draw.uniform((-90.0, 0.0, -90.0), (90.0, 0.0, 60.0), (count, 3))
    animator.set_transform(where.astype(np.float32))
    animator["play"].play("walk", fade=0.0, time=draw.uniform(0.0, 1.0, count))
    return Walk(animator, hills)


# --- measuring -------------------------------------------------------------------------------------------------


class Differences(NamedTuple):
    """How far joints are from where the CPU has them, metres."""

    median: float
    largest: float
    different: float
    """Share of the characters with a joint more than a millimetre away."""


def difference(crowd: DeviceCrowd, world: Any, joints: Any) -> Differences:
    """Compare the matrices of these joints with those of the CPU, (N, J, 4, 4)."""
    on_device: Any = crowd.frame.world[: len(world)]
    ours = on_device.copy_to_host()[:, joints, 3::4]
    away = np.linalg.norm(ours - world[:, joints][..., :3, 3], axis=-1).max(axis=1)
    return Differences(float(np.median(away)), float(away.max()), float((away > 1e-3).mean()))


class Walked(NamedTuple):
    """What a crowd on the device took, next to one on the CPU, in the last third of its frames."""

    characters: int
    milliseconds: float
    """Median of a frame on the device."""
    best_milliseconds: float
    cpu_microseconds_a_character: float
    differences: list[Differences]
    """From the CPU, frame by frame."""


def run(count: int, compared: int, frames: int, tell: Callable[[str], None] = print) -> Walked:
    """Walk a crowd on the device next to a smaller one on the CPU."""
    compared = min(compared, count)
    animator, ground = walking_crowd(compared)
    state = animator["feet"]
    crowd, joints = DeviceCrowd(state, ground, count), state._updated
    differences, on_device, on_cpu = [], [], []
    for n in range(frames):
        frame = animator.update(DT)
        crowd.set_pose(animator["poserecorder"].pose)
        on_device.append(crowd.step())
        on_cpu.append(frame.timings["feet"] / 1e3)
        differences.append(difference(crowd, frame.world, joints))
        if n % 10 == 9 or n == frames - 1:
            tell(
                f"frame {n + 1}: device {on_device[-1] * 1e3:.3f} ms for {count:,}, "
                f"CPU {on_cpu[-1] * 1e3:.1f} ms for {compared:,}; {differences[-1]}"
            )
    steady = slice(-max(frames // 3, 1), None)
    device, cpu = float(np.median(on_device[steady])), float(np.median(on_cpu[steady]))
    walked = Walked(count, device * 1e3, min(on_device[steady]) * 1e3, cpu / compared * 1e6, differences)
    tell(
        f"feet on a height field, {count:,} characters: {walked.milliseconds:.3f} ms a frame "
        f"({device / count * 1e9:.2f} ns a character), best {walked.best_milliseconds:.3f} ms; "
        f"CPU {walked.cpu_microseconds_a_character:.2f} us a character"
    )
    return walked


def main(arguments: list[str] | None = None) -> None:
    """Measure, show, write."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.gpu_feet", description=__doc__)
    parser.add_argument("--count", type=int, default=COUNT, help="characters on the device")
    parser.add_argument("--compared", type=int, default=COMPARED, help="characters that the CPU steps too")
    parser.add_argument("--frames", type=int, default=FRAMES)
    parser.add_argument("--json", type=Path, metavar="FILE", help="where the figures go")
    options = parser.parse_args(arguments)
    walked = run(options.count, options.compared, options.frames)
    if options.json is not None:
        name = _cuda().get_current_device().name
        this = {"gpu": name.decode() if isinstance(name, bytes) else name, **machine.describe()}
        content = {
            "machine": this,
            "date": date.today().isoformat(),
            "made": made("nvidia-h200-feet.json"),
            **walked._asdict(),
        }
        content["differences"] = walked.differences[-1]._asdict()
        options.json.write_text(json.dumps(content, indent=2) + "\n")


if __name__ == "__main__":
    main()
