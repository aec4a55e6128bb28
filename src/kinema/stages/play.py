"""`Play`: plays a character's clips and crossfades between them."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import KW_ONLY, dataclass
from functools import cached_property
from types import MappingProxyType
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kinema import validation
from kinema.compile.jit import allocating_batch, kernel, like
from kinema.compile.records import REAL, Record, kernel_views
from kinema.constants import LANES
from kinema.errors import InputError
from kinema.math import quat, vec, xform
from kinema.math.arrays import Mask
from kinema.math.rows import load3, load_matrix, store_matrix
from kinema.model import root_motion
from kinema.model.character import chosen_clip
from kinema.model.clip import Clip
from kinema.model.pose import LocalTransforms
from kinema.model.root_motion import Root
from kinema.model.sampling import Tables, sample_pose
from kinema.model.skeleton import Joint
from kinema.stages.blending import kept, mix_back, numbers
from kinema.stages.inertia import FADE_PROBE, Inertia, JointMotion, Transforms
from kinema.stages.stage import Crowd, FrameContext, Rows, Stage, StageState

PLAYBACK = Record(
    clip_index=np.int64,
    time=np.float64,
    speed=np.float64,
    loop=bool,
    start=np.float64,
    stop=np.float64,
    passes=np.float64,
    ended=bool,
    done=bool,
    started=bool,
    changed=bool,
    moves=bool,
    root=(REAL, 4),
)
"""The playback of one character: the clip's number among those in use, seconds into it, speed.

start, stop: the time range of the last frame, seconds, not wrapped. passes: how often it passed the end of the loop.
ended: there is nothing more to play. done: ended, and not a loop. started: a frame was shown. changed: a setting
changed since. moves: the next frame differs from this one. root: the ground transform of its root, see `root_motion`.
"""


@kernel
def wrapped(time, duration, loop):
    """The number of whole passes before a time, and the seconds into the current one, as in `Clip.passes`."""
    if not loop or duration == 0.0:
        return 0.0, min(max(time, 0.0), duration)
    since = time % duration
    if since >= duration:  # The modulo rounds times just below 0 up to the duration.
        since = 0.0
    return math.floor((time - since) / duration + 0.5), since


@kernel
def advance(playback, duration, dt):
    """Advance a playback by dt. duration: of its clip, seconds."""
    p = playback
    p.start = p.time
    p.stop = p.time + p.speed * dt
    p.passes, p.time = wrapped(p.stop, duration, p.loop)
    at_end = p.time >= duration if p.speed >= 0.0 else p.time <= 0.0
    p.done = at_end and not p.loop
    p.ended = duration == 0.0 if p.loop else at_end
    p.started, p.changed = True, False
    p.moves = p.speed != 0.0 and not p.ended


@kernel
def extract_root(clip, playback, pose, transform, weight):
    """Remove the root's motion from a pose, and move the character by it, relative to its own transform."""
    root = clip.root[0]
    up = load3(root.up)
    zero, one = like(weight, 0.0), like(weight, 1.0)
    before, after = root_motion.load_ground(playback.root), root_motion.root_transform(root, clip.parents, pose)
    ends = root_motion.load_ground(clip.ends[0]), root_motion.load_ground(clip.ends[1])
    offset, yaw = root_motion.travel(before, after, playback.passes, ends, up)
    root_motion.remove_transform(root, clip.parents, after, pose)
    root_motion.store_ground(playback.root, after)
    offset, yaw = vec.scale(offset, weight), yaw * weight
    if yaw != zero or offset[0] != zero or offset[1] != zero or offset[2] != zero:
        way = xform.matrix((offset, quat.from_axis_angle(up, yaw), (one, one, one)))
        store_matrix(transform, xform.mul(load_matrix(transform), way))


class PlayedClip(NamedTuple):
    """A clip as kernels read it."""

    tables: Tables
    root: Any
    """(1,) `root_motion.ROOT`."""
    ends: Any
    """(2, 4): the root's ground transforms at the ends of the clip."""
    parents: Any
    """(J,): the parents of the joints."""
    duration: float
    """Seconds."""
    extracts: bool
    """Whether the root's motion moves the characters."""


@allocating_batch
def play_clip(rows, playbacks, clip, poses, transforms, weights, dt):
    """Advance these characters, which all play one clip, by dt, and write their poses.

    poses: flat `LocalTransforms`. transforms: (N, 1, 12), of the characters. weights: (N,).
    """
    tile = np.empty(4 * LANES, poses.t.dtype)
    for n in range(rows.size):
        i = rows[n]
        advance(playbacks[i], clip.duration, dt)
        pose = LocalTransforms(poses.t[i], poses.r[i], poses.s[i])
        sample_pose(clip.tables, playbacks[i].time, tile, pose)
        if clip.extracts:
            extract_root(clip, playbacks[i], pose, transforms[i, 0], weights[i])


NO_EVENTS: Mapping[int, tuple[str, ...]] = MappingProxyType({})


class PlayReport(NamedTuple):
    """What `Play` did in a frame. N characters."""

    clips: tuple[str, ...]
    """Names of the clips in use."""
    clip: NDArray[np.int64]
    """(N,): which of them each character plays."""
    time: NDArray[np.float64]
    """(N,): seconds into it."""
    done: Mask
    """(N,): whether it has come to its end; a loop never does."""
    events: Mapping[int, tuple[str, ...]]
    """Names of the events passed in this frame, by character. Characters that passed none are left out."""


@dataclass(frozen=True)
class Play(Stage):
    """Play a clip of the character, and crossfade to others without a jump (`PlayState.play`).

    At weights below 1 the clip is blended with the pose that the frame starts from: the one given to `Animator.update`,
    or the rest pose.

    Examples
    --------
    >>> animator = km.Animator(km.load("person.glb"), [km.Play("walk", speed=1.2)])
    >>> frame = animator.update(1 / 60)
    """

    clip: str
    """The clip's name."""
    _: KW_ONLY
    loop: bool = True
    """Start again at the end; otherwise hold the last pose."""
    speed: float = 1.0
    """Factor on the clip's own speed; negative plays backwards."""
    time: ArrayLike = 0.0
    """Seconds into the clip to start at, one for all or one each. Give a crowd different ones."""
    fade: float = 0.2
    """Seconds that a crossfade to another clip takes."""
    root_motion: Literal["keep", "extract"] = "keep"
    """"keep" leaves the root's motion in the pose; "extract" takes it out and moves the character by it."""
    root: Joint | None = None
    """The joint whose motion that is. Default: in each clip the highest joint that moves."""

    order: ClassVar[int] = 0
    replaces_pose: ClassVar[bool] = True

    def start(self, crowd: Crowd) -> PlayState:
        return PlayState(self, crowd)


class Playing(NamedTuple):
    """What characters play in a frame, for stages that look ahead. N characters."""

    clips: list[Clip]
    """The clips in use."""
    roots: list[Root | None]
    """The root of each whose motion is extracted; None where it is kept."""
    playbacks: Any
    """(N,) PLAYBACK."""
    unblended: Any
    """(N,): whether the pose of a character is that of its clip, without a crossfade, at full weight."""


class _Used(NamedTuple):
    """A clip in use, with its root."""

    clip: Clip
    root: Root
    played: PlayedClip


class PlayState(StageState):
    """Which clip every character plays, and where in it."""

    def __init__(self, settings: Play, crowd: Crowd) -> None:
        if settings.root_motion not in ("keep", "extract"):
            raise InputError(f"root_motion is {settings.root_motion!r}; allowed are 'keep' and 'extract'")
        validation.number("fade", settings.fade, 0.0)
        self._settings, self._crowd = settings, crowd
        self._extracts = settings.root_motion == "extract"
        self._used: list[_Used] = []
        self._names: tuple[str, ...] = ()
        self._durations = np.zeros(0)
        self._any_events = False
        up = (0.0, 1.0, 0.0) if crowd.character.rig is None else crowd.rig.up
        self._up = np.array(validation.axis("up", up))
        (self._playbacks,) = kernel_views(PLAYBACK.zeros(crowd.count, crowd.precision))
        self._inertia = Inertia(crowd)
        self._clips: list[Clip] = []
        self._roots: list[Root | None] = []
        self._all = np.ones(crowd.count, bool)
        self.play(settings.clip, time=settings.time)

    # --- switching ---------------------------------------------------------------------------------------------

    def play(
        self,
        name: str,
        fade: float | None = None,
        rows: Rows = None,
        time: ArrayLike | None = None,
        speed: ArrayLike | None = None,
        loop: bool | None = None,
    ) -> None:
        """Crossfade to a clip, from the pose shown now and the speed at which it moves.

        Parameters
        ----------
        name
            The clip's name.
        fade
            Seconds the crossfade takes. Default: as in the settings, like `speed` and `loop`.
        rows
            Which characters, as indices or a mask; all of them for None.
        time
            Seconds into the clip to start at, one or one for each of the rows. Default: 0;
            characters that already play this clip continue.
        speed
            One, or one for each of the rows.
        loop
            Whether to start again at the end.
        """
        rows = self._crowd.select(rows)
        seconds = validation.number("fade", self._settings.fade if fade is None else fade, 0.0)
        speeds = numbers("speed", self._settings.speed if speed is None else speed, rows.size)
        times = numbers("time", 0.0 if time is None else time, rows.size)
        repeat = bool(self._settings.loop if loop is None else loop)
        which = self._use(name)
        p, started = self._playbacks, self._playbacks["started"][rows]
        stays = started & (p["clip_index"][rows] == which) if time is None else np.zeros(rows.size, bool)
        times = self._used[which].clip.wrapped(np.where(stays, p["time"][rows], times), repeat)
        fading = ~stays & started & (seconds > 0.0)
        old = self._motion(rows[fading])  # Before anything changes.
        for field, value in (
            ("clip_index", which),
            ("time", times),
            ("speed", speeds),
            ("loop", repeat),
            ("changed", True),
        ):
            p[field][rows] = value
        p["ended"], p["moves"][rows] = self._ended(), True
        if fading.any():
            self._inertia.switch(rows[fading], old, self._motion(rows[fading]), seconds)
        self._inertia.stop(rows[~stays & ~fading])
        if self._extracts:
            p["root"][rows] = self._sample(rows, p["time"][rows])[1]

    def _use(self, name: str) -> int:
        """Return the number of a clip among those in use."""
        for i, used in enumerate(self._used):
            if used.clip is self._crowd.character.clips.get(name):
                return i
        clip = _named(name, self._crowd)
        joint = clip.root if self._settings.root is None else self._crowd.skeleton.index(self._settings.root)
        skeleton, real = self._crowd.skeleton, self._crowd.precision
        root = Root(skeleton, joint, self._up)
        ends = clip.root_ends(root, real) if self._extracts else np.zeros((2, 4), real)
        played = PlayedClip(
            clip.tables(real), root.record(real), ends, skeleton.parents, float(clip.duration or 0.0), self._extracts
        )
        self._used.append(_Used(clip, root, played))
        self._clips.append(clip)
        self._roots.append(root if self._extracts else None)
        self._names = tuple(used.clip.name for used in self._used)
        self._durations = np.array([used.clip.duration for used in self._used])
        self._any_events = any(used.clip.events for used in self._used)
        return len(self._used) - 1

    # --- frames ------------------------------------------------------------------------------------------------

    def awake(self, dt: float) -> Any:
        awake = self._playbacks["moves" if dt > 0.0 else "changed"]
        return awake | self._inertia.active if self._inertia.any_active and dt > 0.0 else awake

    def update(self, context: FrameContext) -> PlayReport:
        rows, p = context.rows, self._playbacks
        before = kept(context, rows) if context.partial else None
        with context.edit_transform() as edit, context.edit() as local:
            for used, part in self._groups(rows):
                arrays = local.flat, edit.transform, context.weights
                context.run(play_clip, p, used.played, *arrays, context.dt, rows=part)
            self._inertia.apply(context, local)
            mix_back(context, before, local)
        if not context.partial or context.weights.max(initial=0.0) > 0.0:
            context.publish(self._playing(context))
        events = Passed(self._used, rows, p) if self._any_events else NO_EVENTS
        return PlayReport(self._names, p["clip_index"].copy(), p["time"].copy(), p["done"].copy(), events)

    def _playing(self, context: FrameContext) -> Playing:
        unblended = self._all
        if context.partial or self._inertia.any_active or context.rows.size < self._crowd.count:
            unblended = np.zeros(self._crowd.count, bool)
            unblended[context.rows] = True
            unblended &= (context.weights >= 1.0) & ~self._inertia.active
        return Playing(self._clips, self._roots, self._playbacks, unblended)

    def _groups(self, rows: Any) -> Iterator[tuple[_Used, Any]]:
        """Rows that play the same clip."""
        if len(self._used) == 1:
            yield self._used[0], rows
            return
        clips = self._playbacks["clip_index"][rows]
        for n, used in enumerate(self._used):
            part = rows[clips == n]
            if part.size:
                yield used, part

    def _ended(self) -> Any:
        """(N,): whether there is nothing more to play."""
        p = self._playbacks
        end = self._durations[p["clip_index"]]
        at_end = np.where(p["speed"] >= 0.0, p["time"] >= end, p["time"] <= 0.0)
        return np.where(p["loop"], end == 0.0, at_end)

    # --- motions -----------------------------------------------------------------------------------------------

    def _motion(self, rows: Any) -> JointMotion:
        """Sample the clips of some characters now and one probe interval earlier, or later if a clip has just begun."""
        p = self._playbacks[rows]
        way = np.where(p["ended"], 0.0, p["speed"] * FADE_PROBE)
        end = self._durations[p["clip_index"]]
        before, after = ((t >= 0.0) & (t <= end) for t in (p["time"] - way, p["time"] + way))
        step = np.where(before, 1.0, np.where(after, -1.0, 0.0))
        now, other = (self._sample(rows, times)[0] for times in (p["time"], p["time"] - step * way))
        return JointMotion(now, other, step.astype(self._crowd.precision))

    def _sample(self, rows: Any, times: Any) -> tuple[Transforms, Any]:
        """Sample the clips of some characters. Also returns their roots' ground transforms, (n, 4)."""
        dtype, rest = self._crowd.precision, self._crowd.skeleton.rest
        t, r, s = (np.empty((rows.size, *array.shape), dtype) for array in rest.arrays())
        roots = np.zeros((rows.size, 4), dtype)
        position = np.full(self._crowd.count, -1)
        position[rows] = np.arange(rows.size)
        for used, part in self._groups(rows):
            at = position[part]
            used.clip.sample_into(at, times[at], t, r, s)
            if self._extracts:
                roots[at] = used.root.transforms(at, t, r, s)
                used.root.remove(at, roots[at], t, r, s)
        return Transforms(t, r, s), roots


class Passed(Mapping[int, tuple[str, ...]]):
    """Names of the events passed in a frame, by character. Characters that passed none are left out.

    Computed on first access: most frames never need them.
    """

    def __init__(self, used: list[_Used], rows: Any, playbacks: Any) -> None:
        self._used, self._rows, self._type = tuple(used), rows, playbacks.dtype
        self._bytes = playbacks.tobytes()  # A tenth of the time that a copy takes, field by field.

    @cached_property
    def _names(self) -> dict[int, tuple[str, ...]]:
        found = {}
        playbacks = np.frombuffer(self._bytes, self._type)
        for n, (clip, *_) in enumerate(self._used):
            if not clip.events:
                continue
            for loop in (False, True):
                p = playbacks[self._rows]
                rows = self._rows[(p["clip_index"] == n) & (p["loop"] == loop)]
                start, stop = playbacks["start"][rows], playbacks["stop"][rows]
                for k in np.flatnonzero(clip.passes_events(start, stop, loop)):
                    passed = clip.events_between(start[k], stop[k], loop)
                    found[int(rows[k])] = tuple(event.name for event in passed)
        return found

    def __getitem__(self, character: int) -> tuple[str, ...]:
        return self._names[character]

    def __iter__(self) -> Iterator[int]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)

    def __repr__(self) -> str:
        return repr(self._names)


def _named(name: str, crowd: Crowd) -> Clip:
    validation.instance("clip", name, str)
    return chosen_clip(crowd.character, name)
