"""`Feet` on the GPU: a thread steps all feet of its character, by the kernels that the CPU runs.

A frame of a thread: its records and the joints of its legs come to its own memory; matrices, landings of the clip,
rays, casts, feet, pelvis and legs follow; records, rotations and the transform go back.
"""

from __future__ import annotations

from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numba import cuda, float32

from kinema.compile.jit import like
from kinema.compile.records import Record, kernel_views
from kinema.errors import DeviceError
from kinema.math.rows import load3, load_origin
from kinema.solvers.gpu.cuda import device_jit
from kinema.solvers.gpu.thread_memory import own_words
from kinema.solvers.joints import update_matrix
from kinema.stages.device.device_view import DeviceView
from kinema.stages.device.ground_casting import caster, device_ground, list_rays
from kinema.stages.device.joint_subset import (
    JointSubset,
    load_joints,
    pose_in,
    pose_record,
    store_rotations,
    store_translation,
)
from kinema.stages.device.playing import PLAYER, DevicePlay
from kinema.stages.device.tiles import (
    COPYING,
    REAL,
    TILE,
    Chosen,
    PoseTiles,
    blocks,
    load_words,
    moved,
    record_type,
    row_of,
    store_words,
    tiled_records,
    words_of,
)
from kinema.stages.feet.character_step import (
    BodyJoints,
    prepare_character,
    step_hips,
    step_leg_target,
    step_legs,
    step_transform,
)
from kinema.stages.feet.clip_landings import ClipLandings, LandingTable, predict_character
from kinema.stages.feet.feet import Feet, FeetReport
from kinema.stages.feet.foot_rays import RAYS, first_leg
from kinema.stages.feet.foot_records import BODY, FOOT, FeetRecords
from kinema.stages.feet.leg_easing import LEG_EASE
from kinema.stages.legs.ground_contact import HIT, PLANTED
from kinema.stages.legs.leg_solver import LEG_STATE, LegRecords
from kinema.stages.legs.pelvis import FOOT_TARGET
from kinema.stages.slot import NO_WEIGHT
from kinema.stages.stage import Crowd

THREADS = 128
"""Threads a block."""

REGISTERS = 96
"""Registers of a thread, at most: a multiprocessor then holds 20 warps. Measured on an H200: with 80 and 128 registers
the kernel takes 3% and 5% longer, with 255 40%."""

SPAN = Record(first=np.int64, frames=np.int64, rate=np.float64)
"""Where the landings of a clip lie among those of all clips, and their frames a second."""


class Landings(NamedTuple):
    """The landings of all clips in use. C clips, F frames of all of them, L legs."""

    spans: Any
    """(C * 2,) SPAN: of each clip played once, and as a loop."""
    landings: Any
    """(F, L) `clip_landings.LANDING`."""
    velocity: Any
    """(F, 3)."""
    keeps: bool
    """As in `LandingTable`."""


class FeetOnDevice(NamedTuple):
    """What is the same for all characters and in every frame."""

    records: FeetRecords
    """Those of characters are replaced by a thread's own."""
    solver: LegRecords
    body: BodyJoints
    joints: Any
    """(K,): the joints in a thread's own memory."""
    parents: Any
    """(K,): their parents among these."""
    ground: Any
    """`DeviceGround`."""


def character_record(legs: int, path: int) -> Record:
    """The records of one character with so many legs, whose paths have so many joints."""
    return Record(
        bodies=(BODY, 1),
        feet=(FOOT, (1, legs)),
        targets=(FOOT_TARGET, (1, legs)),
        eases=(LEG_EASE, (1, path)),
        legs=(LEG_STATE, (1, legs)),
    )


def work_record(legs: int, joints: int) -> Record:
    """What a thread works on beside the records of its character: its joints, its rays, and the hits of one leg."""
    rays = legs * RAYS + 1
    return Record(pose=pose_record(joints), rays=(REAL, (rays, 3)), hits=(HIT, RAYS), slots=(np.uint8, RAYS))


# --- kernels ---------------------------------------------------------------------------------------------------


class Build(NamedTuple):
    """What feet are compiled for: what a build does not have takes no part in its kernel."""

    legs: int
    path: int
    """How many joints the paths of all legs have."""
    joints: int
    """How many joints a thread keeps."""
    ground: type
    plays: bool
    """Whether clips are played."""
    follow: bool
    inside: bool
    folds: bool
    """The last three as in `Feet` and `LegRecords`."""


@cache
def feet_kernel(build: Build) -> Any:
    """The kernel that steps the feet of characters of one build."""
    legs, path, joints, kind, plays, follow, inside, folds = build
    layout, player_layout = record_type(character_record(legs, path)), record_type(PLAYER)
    work_layout = record_type(work_record(legs, joints))
    words_needed, player_words, work_words = (words_of(each) for each in (layout, player_layout, work_layout))
    cast_rays = caster(kind)

    @device_jit(REGISTERS, exact=True)
    def step(chosen, states, players, landings, tiles, weights, feet, dt):
        i = row_of(chosen, cuda.grid(1))
        words, player = own_words(words_needed), own_words(player_words)
        own, playing = words.view(layout)[0], player.view(player_layout)[0]
        work = own_words(work_words).view(work_layout)[0]
        rays, hits, slots = work.rays, work.hits, work.slots
        known = i >= 0 and i < weights.size
        weight = weights[i] if known else float32(0.0)
        serves = weight > float32(NO_WEIGHT)
        pose = pose_in(work.pose, weight)
        each, solver = feet.records, feet.solver
        records = FeetRecords(
            each.settings, each.soles, each.legs, own.bodies, own.feet, own.targets, rays, own.eases, hits
        )
        solver = LegRecords(
            solver.chains,
            solver.path,
            own.legs,
            solver.limits,
            solver.bones,
            solver.rest,
            solver.rounding,
            inside,
            folds,
        )
        body = BodyJoints(feet.body.hips, feet.body.parent, feet.body.joints, follow)
        if known:
            load_words(states, i, words)
            if not serves:
                own.bodies[0].pelvis.fresh = own.bodies[0].pelvis.moving = True
        # The warps of a block wait for each other between the steps: they then share the code in the instruction cache.
        if serves:
            load_joints(tiles, i, feet.joints, pose)
            for k in range(joints):
                update_matrix(pose, k, feet.parents[k])
            if plays:
                load_words(players, i, player)
                span = landings.spans[2 * playing.playback.clip_index + (1 if playing.playback.loop else 0)]
                part = slice(span.first, span.first + span.frames)
                table = LandingTable(landings.landings[part], landings.velocity[part], span.rate, landings.keeps)
                unblended, at = playing.fade.left <= 0.0, load_origin(pose.world[body.hips])
                predict_character(records, 0, table, playing.playback, unblended, at, pose.transform, dt)
        cuda.syncthreads()
        leg, first, count, down = 0, 0, 1, load3(own.bodies[0].down)
        if serves:
            prepare_character(records, 0, rays, pose, body.hips, dt)
            leg, down, slots[0] = first_leg(records, 0), load3(own.bodies[0].down), 0
        # First the ray under the hips, then leg by leg, so that what its rays hit is still near when its foot needs it.
        for k in range(legs + 1):
            cuda.syncthreads()
            if serves:
                if k > 0:
                    count = list_rays(own.feet[0, leg], slots)
                cast_rays(down, rays[first : first + count], slots, hits, feet.ground)
                first += count
            cuda.syncthreads()
            if serves:
                if k == 0:
                    step_transform(records, body, 0, hits[0], pose, dt)
                else:
                    step_leg_target(records, 0, leg, hits, pose, dt)
                    leg = (leg + 1) % legs
        cuda.syncthreads()
        if serves:
            step_hips(records, body, 0, pose, dt)
            step_legs(records, solver, 0, pose, dt)
            store_rotations(tiles, i, feet.joints, pose)
            store_translation(tiles, i, feet.joints, body.hips, pose)
            if follow:
                for c in range(12):
                    tiles.transform[i // TILE, c, i % TILE] = pose.transform[c]
        if known:
            store_words(states, i, words)

    return step


@cache
def report_kernel(legs: int, path: int) -> Any:
    """The kernel that writes what feet do."""
    layout = record_type(character_record(legs, path))
    words_needed = words_of(layout)

    @cuda.jit
    def report(states, found):
        i = cuda.grid(1)
        if i < found.pelvis.size:
            words = own_words(words_needed)
            own = words.view(layout)[0]
            load_words(states, i, words)
            found.pelvis[i] = own.bodies[0].pelvis.shift
            for leg in range(legs):
                foot, target, solved = own.feet[0, leg], own.targets[0, leg], own.legs[0, leg]
                found.planted[i, leg] = target.contact == PLANTED
                for c in range(3):
                    found.normal[i, leg, c] = foot.tilt[c]
                found.height[i, leg], found.limited[i, leg] = foot.height, solved.limited
                found.error[i, leg] = solved.error + like(target.short, target.short)

    return report


# --- the stage -------------------------------------------------------------------------------------------------


class DeviceFeet:
    """The feet of every character, from frame to frame. `states` are (tiles, words, 32) of `character_record`."""

    def __init__(self, settings: Feet, crowd: Crowd, one: Crowd, ground: Any, play: DevicePlay | None) -> None:
        """one: a crowd of one, whose state on the CPU this one starts with."""
        if settings.levels:
            raise DeviceError(
                "Feet(levels=...) is not available on a GPU; update distant characters less often (rows=)"
            )
        self._crowd, self._play = crowd, play
        state: Any = settings.start(one)
        self._legs, self._path = len(state.legs), state._solver.records.path.size
        record = np.zeros(1, character_record(self._legs, self._path).dtype(REAL))
        for name in ("bodies", "feet", "targets", "eases"):
            record[name][0] = np.asarray(getattr(state._records, name))[0]
        record["legs"][0] = np.asarray(state._solver.records.states)[0]
        record["bodies"]["pelvis"]["fresh"] = True
        self.states = tiled_records(crowd.count, record)
        self._subset = JointSubset(crowd.skeleton, state._updated)
        self._fixed = _fixed(state, self._subset)
        self._distance = float(state._rays.reaches[0])
        self._reader = ClipLandings(
            one, [leg.length for leg in state.legs], settings.plant_height, settings.plant_speed
        )
        self._landings: Any = None
        self._read = 0
        self.set_ground(ground)

    def set_ground(self, ground: Any) -> None:
        """Set what feet stand on."""
        self._kind = type(ground)
        self._feet = self._fixed._replace(ground=device_ground(ground, self._distance))

    def prepare(self) -> bool:
        """Read the landings of clips that are new. Returns whether there were any."""
        if self._landings is not None and (self._play is None or len(self._play.clips) == self._read):
            return False
        self._landings = moved(self._all_landings())
        return True

    def step(self, chosen: Chosen, tiles: PoseTiles, weights: Any, dt: float, stream: Any = 0) -> None:
        """Step the feet of these characters by a frame."""
        play = self._play
        solver, joints = self._feet.solver, self._subset.joints.size
        build = Build(
            self._legs,
            self._path,
            joints,
            self._kind,
            play is not None,
            self._feet.body.follow,
            solver.inside,
            solver.folds,
        )
        players = self.states if play is None else play.players
        feet_kernel(build)[blocks(THREADS, chosen.size), THREADS, stream](
            chosen, self.states, players, self._landings, tiles, weights, self._feet, REAL(dt)
        )

    def report(self) -> FeetReport:
        """What the feet do, on the device."""
        count, legs = self._crowd.count, self._legs
        shapes: dict[str, Any] = {
            "planted": ((count, legs), np.bool_),
            "normal": ((count, legs, 3), REAL),
            "height": ((count, legs), REAL),
            "pelvis": ((count,), REAL),
            "error": ((count, legs), REAL),
            "limited": ((count, legs), np.bool_),
        }
        found = FeetReport(**{name: cuda.device_array(shape, kind) for name, (shape, kind) in shapes.items()})
        report_kernel(legs, self._path)[blocks(COPYING, count), COPYING](self.states, found)
        return FeetReport(*(DeviceView(array) for array in found))

    def _all_landings(self) -> Landings:
        """The landings of the clips in use."""
        play = self._play
        clips = [] if play is None else list(zip(play.clips, play.roots, strict=True))
        self._read = len(clips)
        tables = [self._reader.table(clip, root, loop) for clip, root in clips for loop in (False, True)]
        spans, first = np.zeros(max(len(tables), 1), SPAN.dtype(REAL)), 0
        for span, table in zip(spans, tables, strict=False):
            span["first"], span["frames"], span["rate"] = first, len(table.velocity), table.rate
            first += len(table.velocity)
        if not tables:
            return Landings(spans, np.zeros((1, self._legs)), np.zeros((1, 3), REAL), True)
        landings = np.concatenate([np.asarray(table.landings) for table in tables])
        return Landings(spans, landings, np.concatenate([table.velocity for table in tables]), tables[0].keeps)


def _fixed(state: Any, subset: JointSubset) -> FeetOnDevice:
    """What is the same for all characters, with joints numbered as in the subset, on the device; without a ground."""
    records, solver, body = state._records, state._solver.records, state._skeleton
    soles = records.soles.copy()
    soles["joints"], soles["toes_parent"] = subset.number(soles["joints"]), subset.number(soles["toes_parent"])
    none = np.zeros(1, REAL)
    fixed = FeetRecords(
        records.settings,
        kernel_views(soles)[0],
        subset.renumbered(records.legs, "thigh", "knee", "ankle"),
        *([none] * 6),
    )
    solver = solver._replace(
        chains=subset.renumbered(solver.chains, "thigh", "knee", "ankle", "toe"),
        path=subset.renumbered(solver.path, "joint", "parent", "above", "below"),
        states=none,
        limits=solver.limits[subset.joints],
        bones=solver.bones[subset.joints],
        rest=solver.rest[subset.joints],
    )
    hips, above = (int(subset.number(joint)) for joint in (body.hips, body.parent))
    body = BodyJoints(hips, above, subset.renumbered(body.joints, "joint", "parent"), body.follow)
    return moved(FeetOnDevice(fixed, solver, body, subset.joints, subset.parents, None))
