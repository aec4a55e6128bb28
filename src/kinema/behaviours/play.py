"""Playing clips: where each character is in its clip, and how it gets from one to the next."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping
from dataclasses import KW_ONLY, dataclass
from functools import cached_property
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from kinema import validation
from kinema._jit import batch, like
from kinema.behaviours.blending import chosen, kept, mix_back, numbers
from kinema.behaviours.inertia import Inertia, Motion
from kinema.behaviours.stage import Crowd, FrameContext, LocalEdit, Stage, StageState
from kinema.clip import Clip
from kinema.constants import FADE_PROBE
from kinema.errors import InputError
from kinema.math import quat, xform
from kinema.root_motion import Root
from kinema.skeleton import Joint, matrix_at, store_matrix


@batch
def move_places(rows, weights, travels, up, place):
    """Move characters by travels, (rows, 4), seen from where they stand."""
    zero, one = like(up[0], 0.0), like(up[0], 1.0)
    for n in range(rows.size):
        i = rows[n]
        yaw = travels[n, 3] * weights[i]
        at = (travels[n, 0] * weights[i], travels[n, 1] * weights[i], travels[n, 2] * weights[i])
        if yaw != zero or at[0] != zero or at[1] != zero or at[2] != zero:
            turn = quat.from_axis_angle((up[0], up[1], up[2]), yaw)
            way = xform.matrix((at, turn, (one, one, one)))
            store_matrix(place, i, 0, xform.mul(matrix_at(place, i, 0), way))


class PlayReport(NamedTuple):
    """What `Play` says of a frame."""

    clips: tuple[str, ...]
    """The clips in use, by name."""
    clip: Any
    """(characters,): which of them each character plays."""
    time: Any
    """(characters,): seconds into it."""
    done: Any
    """(characters,): whether it has come to its end; a loop never does."""
    events: Mapping[int, tuple[str, ...]]
    """Events passed in this frame, by character, for those who passed one."""


@dataclass(frozen=True)
class Play(Stage):
    """Plays a clip of the character, and switches between clips without a jump (`PlayState.play`).

    clip: by name. loop: start again at the end, or hold it. speed: 1 as made, negative backwards. time: where in the
    clip to start, seconds, one for all or one each: give a crowd different ones. fade: seconds a switch takes.
    root_motion: "keep" leaves the root's way in the pose; "extract" takes it out and moves the character by it.
    root: the joint whose way that is; in each clip the highest one that moves, if not given.
    """

    clip: str
    _: KW_ONLY
    loop: bool = True
    speed: float = 1.0
    time: Any = 0.0
    fade: float = 0.2
    root_motion: Literal["keep", "extract"] = "keep"
    root: Joint | None = None

    order: ClassVar[int] = 0
    replaces_pose: ClassVar[bool] = True

    def start(self, body: Crowd) -> PlayState:
        return PlayState(self, body)


class PlayState(StageState):
    """Which clip every character plays, and where in it."""

    def __init__(self, settings: Play, body: Crowd) -> None:
        if settings.root_motion not in ("keep", "extract"):
            raise InputError(f"root_motion is {settings.root_motion!r}; allowed are 'keep' and 'extract'")
        validation.number("fade", settings.fade, 0.0)
        self._settings = settings
        self._body = body
        self._clips: list[Clip] = []
        self._roots: list[tuple[Root, Any]] = []
        up = (0.0, 1.0, 0.0) if body.character.rig is None else body.rig.up
        self._up = np.array(validation.axis("up", up))
        self._playing = body.zeros(dtype=np.int64)
        self._time = body.zeros(dtype=np.float64)
        self._speed = body.zeros(dtype=np.float64)
        self._loop = body.zeros(dtype=bool)
        self._place = body.zeros(4)
        self._inertia = Inertia(body.count, len(body.skeleton), body.precision)
        self._shown = body.zeros(dtype=bool)
        self._set = body.zeros(dtype=bool)
        self.play(settings.clip, time=settings.time)

    # --- switching ---------------------------------------------------------------------------------------------

    def play(
        self,
        name: str,
        fade: float | None = None,
        rows: Any = None,
        time: ArrayLike | None = None,
        speed: ArrayLike | None = None,
        loop: bool | None = None,
    ) -> None:
        """Go over to another clip, from what is shown now, with the speed it moves at now.

        rows: who, by index or as a mask; everyone if not given. time: where in the clip to start, seconds; if not
        given, at 0, and who plays this clip already goes on where they are. fade, speed, loop: as in the settings if
        not given. time and speed: one, or one for each of the rows.
        """
        rows = chosen(rows, self._body.count)
        seconds = validation.number("fade", self._settings.fade if fade is None else fade, 0.0)
        speeds = numbers("speed", self._settings.speed if speed is None else speed, rows.size)
        times = numbers("time", 0.0 if time is None else time, rows.size)
        repeat = bool(self._settings.loop if loop is None else loop)
        which = self._use(name)
        if time is None:
            stays = self._shown[rows] & (self._playing[rows] == which)
            times = np.where(stays, self._time[rows], times)
        else:
            stays = np.zeros(rows.size, bool)
        times = self._clips[which].wrapped(times, repeat)
        fading = ~stays & self._shown[rows] & (seconds > 0.0)
        old = self._motion(rows[fading])  # Before anything changes.
        self._playing[rows], self._time[rows], self._speed[rows], self._loop[rows] = which, times, speeds, repeat
        self._set[rows] = True
        if fading.any():
            self._inertia.switch(rows[fading], old, self._motion(rows[fading]), seconds)
        self._inertia.stop(rows[~stays & ~fading])
        if self._extracts:
            self._place[rows] = self._sample(rows, self._time[rows])[1]

    def _use(self, name: str) -> int:
        """The number of a clip among those in use."""
        for i, clip in enumerate(self._clips):
            if clip is self._body.character.clips.get(name):
                return i
        clip = _named(name, self._body)
        self._clips.append(clip)
        joint = clip.root if self._settings.root is None else self._body.skeleton.index(self._settings.root)
        root = Root(self._body.skeleton, joint, self._up)
        ends = clip.root_ends(root, self._body.precision) if self._extracts else None
        self._roots.append((root, ends))
        return len(self._clips) - 1

    @property
    def _extracts(self) -> bool:
        return self._settings.root_motion == "extract"

    # --- frames ------------------------------------------------------------------------------------------------

    def awake(self, dt: float) -> Any:
        moves = (dt * self._speed != 0.0) & ~self._ended()
        return self._set | moves | (self._inertia.active & (dt > 0.0))

    def update(self, context: FrameContext) -> PlayReport:
        rows = context.rows
        before = kept(context, rows)
        spans: list[tuple[Clip, Any, Any, Any, bool]] = []
        with context.edit() as local:
            for clip, (root, ends), loop, part in self._groups(rows):
                start = self._time[part]
                stop = start + self._speed[part] * context.dt
                passes, self._time[part] = clip.passes(stop, loop)
                clip.sample_into(part, self._time[part], local.t, local.r, local.s)
                if clip.events:
                    spans.append((clip, part, start, stop, loop))
                if self._extracts:
                    self._extract(context, local, root, ends, part, passes)
            self._inertia.apply(rows, context.dt, local.t, local.r, local.s)
            mix_back(context, before, local)
        self._shown[rows] = True
        self._set[rows] = False
        names = tuple(clip.name for clip in self._clips)
        return PlayReport(names, self._playing.copy(), self._time.copy(), self._ended() & ~self._loop, Passed(spans))

    def _extract(self, context: FrameContext, local: LocalEdit, root: Root, ends: Any, rows: Any, passes: Any) -> None:
        """Take the root's way out of the pose, and move the character by it."""
        places = root.places_of(rows, local.t, local.r, local.s)
        travels = root.travels(self._place[rows], places, passes, ends)
        root.take_out(rows, places, local.t, local.r, local.s)
        self._place[rows] = places
        with context.edit_transform() as edit:
            move_places(rows, context.weights, travels, self._up.astype(self._body.precision), edit.transform)

    def _groups(self, rows: Any) -> Iterator[tuple[Clip, tuple[Root, Any], bool, Any]]:
        """Rows that play the same clip the same way."""
        kinds = 2 * self._playing[rows] + self._loop[rows]
        for kind in range(2 * len(self._clips)):
            part = rows[kinds == kind]
            if part.size:
                yield self._clips[kind >> 1], self._roots[kind >> 1], bool(kind & 1), part

    def _ended(self) -> Any:
        """(characters,): whether there is nothing more to play."""
        end = np.array([clip.duration for clip in self._clips])[self._playing]
        ahead = np.where(self._speed >= 0.0, self._time >= end, self._time <= 0.0)
        return np.where(self._loop, end == 0.0, ahead)

    # --- motions -----------------------------------------------------------------------------------------------

    def _motion(self, rows: Any) -> Motion:
        """Where the clips of some characters are, and a probe's time before; after, where a clip has just begun."""
        now = self._time[rows]
        way = np.where(self._ended()[rows], 0.0, self._speed[rows] * FADE_PROBE)
        end = np.array([clip.duration for clip in self._clips])[self._playing[rows]]
        before, after = ((t >= 0.0) & (t <= end) for t in (now - way, now + way))
        step = np.where(before, 1.0, np.where(after, -1.0, 0.0))
        dtype = self._body.precision
        return Motion(self._sample(rows, now)[0], self._sample(rows, now - step * way)[0], step.astype(dtype))

    def _sample(self, rows: Any, times: Any) -> tuple[Any, Any]:
        """(n, J, 10): the clips of some characters at some times, and the places of their roots, (n, 4)."""
        dtype, rest = self._body.precision, self._body.skeleton.rest
        t, r, s = (np.empty((rows.size, *array.shape), dtype) for array in rest.arrays())
        places = np.zeros((rows.size, 4), dtype)
        position = np.full(self._body.count, -1)
        position[rows] = np.arange(rows.size)
        for clip, (root, _), _, part in self._groups(rows):
            at = position[part]
            clip.sample_into(at, times[at], t, r, s)
            if self._extracts:
                places[at] = root.places_of(at, t, r, s)
                root.take_out(at, places[at], t, r, s)
        return np.concatenate((t, r, s), axis=-1), places


class Passed(Mapping[int, tuple[str, ...]]):
    """Names of the events passed in a frame, by character, for those who passed one. Found when first asked for: most
    frames of most crowds nobody asks.
    """

    def __init__(self, spans: list[tuple[Clip, Any, Any, Any, bool]]) -> None:
        self._spans = spans

    @cached_property
    def _names(self) -> dict[int, tuple[str, ...]]:
        return {
            int(rows[k]): tuple(event.name for event in clip.events_between(start[k], stop[k], loop))
            for clip, rows, start, stop, loop in self._spans
            for k in np.flatnonzero(clip.passes_events(start, stop, loop))
        }

    def __getitem__(self, character: int) -> tuple[str, ...]:
        return self._names[character]

    def __iter__(self) -> Iterator[int]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)

    def __repr__(self) -> str:
        return repr(self._names)


def _named(name: str, body: Crowd) -> Clip:
    clips = body.character.clips
    if name not in clips:
        near = difflib.get_close_matches(str(name), clips, 3, 0.4)
        hint = f"did you mean {' or '.join(map(repr, near))}?" if near else f"clips are {sorted(clips)}"
        raise InputError(f"there is no clip {name!r}; {hint if clips else 'the character has none'}")
    clip = clips[name]
    if clip.skeleton is not body.skeleton and clip.skeleton.names != body.skeleton.names:
        raise InputError(f"clip {name!r} is made for another skeleton: {clip.skeleton}, not {body.skeleton}")
    return clip
