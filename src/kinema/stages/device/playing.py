"""`Play` on the GPU: clips of a character in one set of tables, their playback, and crossfades between them."""

from __future__ import annotations

from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numba import cuda, float32, float64

from kinema import validation
from kinema.compile.jit import kernel
from kinema.compile.records import Record
from kinema.constants import LANES
from kinema.errors import InputError
from kinema.model import root_motion
from kinema.model.pose import LocalTransforms
from kinema.model.sampling import Tables, sample_pose
from kinema.solvers.gpu.cuda import device_jit
from kinema.solvers.gpu.thread_memory import own_words
from kinema.stages.device.inputs import choose, numbers
from kinema.stages.device.tiles import (
    COPYING,
    REAL,
    THREADS,
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
    tiles_for,
    words_of,
)
from kinema.stages.inertia import (
    FADE,
    FADE_HALF_LIVES,
    FADE_OVER,
    FADE_PROBE,
    JointMotion,
    Transforms,
    response_of_one,
    run_out_joint,
    take_difference,
)
from kinema.stages.play import NO_EVENTS, PLAYBACK, Play, PlayedClip, PlayReport, advance, extract_root, wrapped
from kinema.stages.stage import Crowd

REGISTERS = 80
"""Registers of a thread that plays, at most."""

SWITCHING = 264
"""Blocks of one warp that switch characters to other clips: each has room for four poses of its characters."""

OFFSETS = 18
"""Numbers of a joint's offset, as in `inertia.OFFSET`."""

PLAYER = Record(playback=PLAYBACK, fade=FADE)
"""The playback of one character, and its crossfade."""

CLIP = Record(first_group=np.int64, groups=np.int64, duration=np.float64)
"""A clip: its groups of tracks among those of all clips."""


class ClipTables(NamedTuple):
    """The keys of all clips in use. C clips, J joints."""

    clips: Any
    """(C,) CLIP."""
    base: LocalTransforms
    """(C * J * 3|4|3,): the poses without the moving tracks."""
    key_times: Any
    groups: Any
    joints: Any
    near: Any
    values: Any
    """The last five as in `sampling.Tables`, of all clips."""
    roots: Any
    """(C,) `root_motion.ROOT`."""
    ends: Any
    """(C, 2, 4): the roots' ground transforms at the ends of the clips."""
    parents: Any
    """(J,)."""


class JointOffset(NamedTuple):
    """The offset of a joint: rows of three numbers, as the fields of `inertia.OFFSET`."""

    translation: Any
    rotation: Any
    scale: Any
    translation_rate: Any
    rotation_rate: Any
    scale_rate: Any


class ClipChange(NamedTuple):
    """What characters are to play: one number for all, or one each."""

    clips: Any
    times: Any
    speeds: Any
    keeps_time: bool
    """Whether those that already play that clip go on."""
    loop: bool
    fade: float
    """Seconds."""


class Scratch(NamedTuple):
    """Room for four poses of the characters of each block, as rows and joint by joint, in the same memory."""

    rows: LocalTransforms
    """(blocks * 4, J * 3|4|3, 32)."""
    joints: LocalTransforms
    """(blocks * 4, J, 3|4|3, 32)."""


# --- kernels ---------------------------------------------------------------------------------------------------


@kernel
def tables_of(tables, which):
    """The `Tables` of one clip."""
    clip, joints = tables.clips[which], tables.parents.size
    t, r = slice(3 * joints * which, 3 * joints * (which + 1)), slice(4 * joints * which, 4 * joints * (which + 1))
    groups = tables.groups[clip.first_group : clip.first_group + clip.groups]
    base = tables.base
    return Tables(base.t[t], base.r[r], base.s[t], tables.key_times, groups, tables.joints, tables.near, tables.values)


@kernel
def pose_row(poses, tile, lane):
    """The local transforms of one character, flat rows in its tile."""
    return LocalTransforms(poses.t[tile, :, lane], poses.r[tile, :, lane], poses.s[tile, :, lane])


@kernel
def joint_offset(offsets, tile, j, lane):
    """The offset of joint j of one character."""
    at = offsets[tile, OFFSETS * j : OFFSETS * (j + 1), lane]
    return JointOffset(at[0:3], at[3:6], at[6:9], at[9:12], at[12:15], at[15:18])


@kernel
def joint_of(poses, pose, j, lane):
    """One joint's local transform in a pose of `Scratch`, as `Transforms` of one character."""
    one = slice(pose, pose + 1)
    return Transforms(
        poses.t[one, j : j + 1, :, lane], poses.r[one, j : j + 1, :, lane], poses.s[one, j : j + 1, :, lane]
    )


@kernel
def other_time(playback, duration):
    """The time of a clip a moment earlier, or later if it has just begun, and which: 1, -1, or 0 if it stands."""
    way = 0.0 if playback.ended else playback.speed * FADE_PROBE
    before, after = playback.time - way, playback.time + way
    if before >= 0.0 and before <= duration:
        return before, 1.0
    if after >= 0.0 and after <= duration:
        return after, -1.0
    return playback.time, 0.0


@kernel
def change_playback(playback, duration, which, time, speed, loop):
    """Set what a character plays."""
    p = playback
    p.clip_index, p.speed, p.loop, p.changed, p.moves = which, speed, loop, True, True
    _, p.time = wrapped(time, duration, loop)
    at_end = p.time >= duration if speed >= 0.0 else p.time <= 0.0
    p.ended = duration == 0.0 if loop else at_end


@cache
def play_kernel(extracts: bool) -> Any:
    """The kernel that advances characters by a frame. extracts: whether roots move them."""
    layout = record_type(PLAYER)
    words_needed, buffer = words_of(layout), 2 * LANES

    @device_jit(REGISTERS, exact=True)
    def play(chosen, players, tiles, offsets, fades, tables, dt):
        """offsets: (tiles, J * 18, 32), if any character fades."""
        i = row_of(chosen, cuda.grid(1))
        if i < 0:
            return
        words, room = own_words(words_needed), own_words(buffer).view(np.float32)
        own, tile, lane = words.view(layout)[0], i // TILE, i % TILE
        load_words(players, i, words)
        which = own.playback.clip_index
        pose, duration = pose_row(tiles, tile, lane), tables.clips[which].duration
        advance(own.playback, duration, dt)
        sample_pose(tables_of(tables, which), own.playback.time, room, pose)
        if extracts:
            clip = PlayedClip(
                tables_of(tables, which), tables.roots[which : which + 1], tables.ends[which], tables.parents, 0.0, True
            )
            extract_root(clip, own.playback, pose, tiles.transform[tile, :, lane], float32(1.0))
        if fades and own.fade.left > 0.0:
            own.fade.left = max(own.fade.left - dt, 0.0)
            if own.fade.left > 0.0:
                spring_of_one = response_of_one(own.fade.half_life, float32(dt))
                for j in range(tables.parents.size):
                    t, r, s = pose.t[3 * j : 3 * j + 3], pose.r[4 * j : 4 * j + 4], pose.s[3 * j : 3 * j + 3]
                    run_out_joint(joint_offset(offsets, tile, j, lane), spring_of_one, t, r, s)
        store_words(players, i, words)

    return play


@cache
def switch_kernel(extracts: bool) -> Any:
    """The kernel that switches characters to other clips."""
    layout = record_type(PLAYER)
    words_needed, buffer = words_of(layout), 2 * LANES

    @kernel
    def sample_into(tables, playback, time, room, pose):
        """Sample the clip of a character into a pose without root motion. Returns its root's ground transform."""
        which = playback.clip_index
        sample_pose(tables_of(tables, which), time, room, pose)
        ground = root_motion.load_ground(playback.root)
        if extracts:
            ground = root_motion.root_transform(tables.roots[which], tables.parents, pose)
            root_motion.remove_transform(tables.roots[which], tables.parents, ground, pose)
        return ground

    @cuda.jit
    def switch(chosen, players, offsets, scratch, tables, change, blended, unusable):
        words, room = own_words(words_needed), own_words(buffer).view(np.float32)
        steps = own_words(1).view(np.float32)
        own, lane, first = words.view(layout)[0], cuda.threadIdx.x, 4 * cuda.blockIdx.x
        playback = own.playback
        for k in range(cuda.grid(1), chosen.size, cuda.gridsize(1)):
            i = row_of(chosen, k)
            which = change.clips[k if change.clips.size > 1 else 0]
            time = float64(change.times[k if change.times.size > 1 else 0])
            speed = float64(change.speeds[k if change.speeds.size > 1 else 0])
            if i < 0 or i >= players.shape[0] * TILE:
                continue
            if which < 0 or which >= tables.clips.size or not (abs(time) < 1e9 and abs(speed) < 1e6):
                cuda.atomic.add(unusable, 0, 1)
                continue
            load_words(players, i, words)
            stays = playback.started and playback.clip_index == which and change.keeps_time
            fades = playback.started and (not stays) and change.fade > 0.0 and blended
            if fades:
                other, step = other_time(playback, tables.clips[playback.clip_index].duration)
                steps[0] = step
                sample_into(tables, playback, playback.time, room, pose_row(scratch.rows, first, lane))
                sample_into(tables, playback, other, room, pose_row(scratch.rows, first + 1, lane))
            change_playback(
                playback, tables.clips[which].duration, which, playback.time if stays else time, speed, change.loop
            )
            ground = sample_into(tables, playback, playback.time, room, pose_row(scratch.rows, first + 2, lane))
            root_motion.store_ground(playback.root, ground)
            if fades:
                other, step = other_time(playback, tables.clips[which].duration)
                steps[1] = step
                sample_into(tables, playback, other, room, pose_row(scratch.rows, first + 3, lane))
                for j in range(tables.parents.size):
                    offset = joint_offset(offsets, i // TILE, j, i % TILE)
                    if own.fade.left <= 0.0:
                        for n in range(OFFSETS):
                            offsets[i // TILE, OFFSETS * j + n, i % TILE] = float32(0.0)
                    poses = scratch.joints
                    old = JointMotion(joint_of(poses, first, j, lane), joint_of(poses, first + 1, j, lane), steps[0:1])
                    new = JointMotion(
                        joint_of(poses, first + 2, j, lane), joint_of(poses, first + 3, j, lane), steps[1:2]
                    )
                    take_difference(old, new, offset, 0, 0)
                own.fade.half_life, own.fade.left = change.fade / FADE_HALF_LIVES, change.fade * FADE_OVER
            elif not stays:
                own.fade.left = 0.0
            store_words(players, i, words)

    return switch


@cache
def report_kernel() -> Any:
    """The kernel that writes what characters play."""
    layout = record_type(PLAYER)
    words_needed = words_of(layout)

    @cuda.jit
    def report(players, clip, time, done):
        i = cuda.grid(1)
        if i < clip.size:
            words = own_words(words_needed)
            own = words.view(layout)[0]
            load_words(players, i, words)
            clip[i], time[i], done[i] = own.playback.clip_index, own.playback.time, own.playback.done

    return report


# --- the stage -------------------------------------------------------------------------------------------------


class DevicePlay:
    """Which clip every character plays, and where in it. `players` are (tiles, words, 32) of `PLAYER`."""

    def __init__(self, settings: Play, crowd: Crowd, one: Crowd, unusable: Any) -> None:
        """one: a crowd of one, whose state on the CPU this one starts with."""
        validation.number("play: weight", settings.weight, 1.0, 1.0)
        self._crowd, self._settings, self._unusable = crowd, settings, unusable
        self._one: Any = Play(
            settings.clip,
            loop=settings.loop,
            speed=settings.speed,
            root_motion=settings.root_motion,
            root=settings.root,
        ).start(one)
        self.extracts = settings.root_motion == "extract"
        player = np.zeros(1, PLAYER.dtype(REAL))
        player["playback"] = self._one._playbacks
        self.players = tiled_records(crowd.count, player)
        self._offsets: Any = None
        self._shown = False
        self.changes = 0
        """How often the arrays that its kernel takes were replaced."""
        self._load()
        if np.ndim(settings.time) or validation.on_gpu(settings.time) or settings.time:
            self.play(settings.clip, time=settings.time)

    def _load(self) -> None:
        """Put the clips in use into one set of tables, on the device."""
        used = self._one._used
        self.names = tuple(found.clip.name for found in used)
        self.clips = [found.clip for found in used]
        self.roots = list(self._one._roots)
        self.tables = moved(_joined([found.played for found in used]))
        self.changes += 1

    # --- switching ---------------------------------------------------------------------------------------------

    def load(self, *names: str) -> None:
        """Get clips ready, so that `names` has them all, and `play` can take their numbers from an array."""
        before = len(self.names)
        for name in names:
            self._one._use(name)
        if len(self._one._used) != before:
            self._load()

    def play(
        self,
        name: Any,
        fade: float | None = None,
        rows: Any = None,
        time: Any = None,
        speed: Any = None,
        loop: bool | None = None,
    ) -> None:
        """Crossfade to a clip, from the pose shown now and the speed at which it moves.

        Parameters
        ----------
        name
            The clip's name; or, to give each character its own, numbers of clips among `names`, (n,) whole numbers on
            the device or the host. `load` gets clips ready.
        fade
            Seconds the crossfade takes. Default: as in the settings, like `speed` and `loop`.
        rows
            Which characters, as indices or a mask, or indices on the device; all of them for None.
        time, speed
            Seconds into the clip to start at, and the factor on its speed: one, or one for each of the rows, on either
            side.
        loop
            Whether to start again at the end.
        """
        chosen = choose(rows, self._crowd)
        seconds = validation.number("fade", self._settings.fade if fade is None else fade, 0.0)
        repeat = bool(self._settings.loop if loop is None else loop)
        which = self._numbers_of(name, chosen)
        times = numbers("time", 0.0 if time is None else time, chosen.size)
        speeds = numbers("speed", self._settings.speed if speed is None else speed, chosen.size)
        if not chosen.size:
            return
        if seconds > 0.0 and self._offsets is None and self._shown:
            shape = tiles_for(self._crowd.count), OFFSETS * len(self._crowd.skeleton), TILE
            self._offsets = cuda.device_array(shape, REAL)
            self.changes += 1
        fades = self._offsets is not None and seconds > 0.0
        grid = min(blocks(TILE, chosen.size), SWITCHING)
        offsets = self._offsets if self._offsets is not None else _nothing()
        change = ClipChange(which, times, speeds, time is None, repeat, seconds)
        switch_kernel(self.extracts)[grid, TILE](
            chosen, self.players, offsets, self._scratch(grid), self.tables, change, fades, self._unusable
        )

    def _numbers_of(self, name: Any, chosen: Chosen) -> Any:
        """The numbers of clips, on the device."""
        if isinstance(name, str):
            self.load(name)
            return cuda.to_device(np.array([self._one._use(name)]))
        if validation.on_gpu(name):
            from kinema.solvers.gpu.cuda import on_device

            found = on_device("name", name, (), np.int64)
            array, shape = found.wrapped(), found.shape
        else:
            host = validation.whole_numbers("name", name)
            if host.size and not (host.min() >= 0 and host.max() < len(self.names)):
                raise InputError(f"name has {host.min()} to {host.max()}; there are {len(self.names)} clips in `names`")
            array, shape = cuda.to_device(host.astype(np.int64)), host.shape
        if shape not in ((1,), (chosen.size,)) or np.dtype(array.dtype).kind not in "iu":
            raise InputError(f"name must be a clip's name or whole numbers, ({chosen.size},); got {shape}")
        return array

    def _scratch(self, grid: int) -> Scratch:
        joints, sizes = len(self._crowd.skeleton), (3, 4, 3)
        flat = [cuda.device_array((grid * 4, joints * size, TILE), REAL) for size in sizes]
        shaped = [array.reshape(grid * 4, joints, size, TILE) for array, size in zip(flat, sizes, strict=True)]
        return Scratch(LocalTransforms(*flat), LocalTransforms(*shaped))

    # --- frames ------------------------------------------------------------------------------------------------

    def step(self, chosen: Chosen, tiles: PoseTiles, dt: float, stream: Any = 0) -> None:
        """Advance these characters by dt, and write their poses."""
        fades = self._offsets is not None
        offsets = self._offsets if fades else _nothing()
        grid = blocks(THREADS, chosen.size), THREADS, stream
        play_kernel(self.extracts)[grid](chosen, self.players, tiles, offsets, fades, self.tables, dt)
        self._shown = True

    def report(self) -> PlayReport:
        """What every character plays, on the device. Events are not reported there."""
        from kinema.stages.device.device_view import DeviceView

        arrays = [cuda.device_array(self._crowd.count, kind) for kind in (np.int64, np.float64, np.bool_)]
        report_kernel()[blocks(COPYING, self._crowd.count), COPYING](self.players, *arrays)
        clip, time, done = (DeviceView(array) for array in arrays)
        return PlayReport(self.names, clip, time, done, NO_EVENTS)  # type: ignore[arg-type]


@cache
def _nothing() -> Any:
    """Offsets of nobody."""
    return cuda.device_array((1, 1, TILE), REAL)


def _joined(played: list[PlayedClip]) -> ClipTables:
    """The tables of all clips, one after the other."""
    clips: Any = np.zeros(len(played), CLIP.dtype(REAL))
    groups: list[Any] = []
    starts = dict.fromkeys(("key_times", "joints", "near", "values"), 0)
    for n, clip in enumerate(played):
        tables = clip.tables
        own = tables.groups.copy()
        clips[n]["first_group"], clips[n]["groups"] = sum(len(part) for part in groups), own.size
        clips[n]["duration"] = clip.duration
        for field, where in zip(("first_time", "first_joint", "first_mark", "first_value"), starts, strict=True):
            own[field] += starts[where]
            starts[where] += getattr(tables, where).size
        groups.append(own)
    every = [clip.tables for clip in played]
    base = LocalTransforms(*(np.concatenate([getattr(t, f"base_{part}") for t in every]) for part in "trs"))
    joined = (_concatenated([getattr(tables, where) for tables in every]) for where in starts)
    key_times, joints, near, values = joined
    return ClipTables(
        clips,
        base,
        key_times,
        _concatenated(groups),
        joints,
        near,
        values,
        np.concatenate([np.asarray(clip.root) for clip in played]),
        np.array([clip.ends for clip in played], REAL),
        played[0].parents,
    )


def _concatenated(parts: list[Any]) -> Any:
    """Arrays one after the other; a zero where there is nothing at all, since no array on the device is empty."""
    whole = np.concatenate(parts)
    return whole if whole.size else np.zeros(1, whole.dtype)
