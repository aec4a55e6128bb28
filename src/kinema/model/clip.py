"""`Clip`: an animation of a skeleton, as keys over time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kinema import validation
from kinema.compile.threads import in_chunks
from kinema.constants import ROUNDING_ROTATION, THREADS_FROM_POSES
from kinema.errors import InputError, counted
from kinema.model.blend_shapes import ShapeTrack
from kinema.model.pose import Pose, flat_rows, unit_rotations
from kinema.model.root_motion import Root, RootMotion
from kinema.model.sampling import INTERPOLATIONS, PATHS, Channel, Tables, sample_rows, still, tables
from kinema.model.skeleton import Joint, Skeleton
from kinema.validation import Reals

EVENT_PASSES = 4
"""Most times that one step reports the same event, so that a long pause does not play a thousand footsteps."""

Path = Literal["translation", "rotation", "scale"]
Interpolation = Literal["STEP", "LINEAR", "CUBICSPLINE"]


@dataclass(frozen=True, eq=False)
class Track:
    """Keys of one property of one joint, relative to its parent.

    Parameters
    ----------
    joint
        Name or index.
    path
        "translation", "rotation" or "scale".
    times
        (K,), seconds: increasing, none negative.
    values
        (K, 3), for rotations (K, 4). With "CUBICSPLINE" (K, 3, n): incoming tangent, value, outgoing tangent; tangents
        are per second.
    interpolation
        "STEP" holds each key until the next, "LINEAR" interpolates (rotations take the shorter way), "CUBICSPLINE"
        follows the tangents, as in glTF.

    Examples
    --------
    >>> track = km.Track("hips", "translation", times=(0, 1), values=((0, 1, 0), (0, 1, 2)))
    """

    joint: Joint
    path: Path
    times: Any
    values: Any
    interpolation: Interpolation = "LINEAR"

    def __post_init__(self) -> None:
        where = f"track of joint {self.joint!r}"
        validation.choice(f"{where}: path", self.path, PATHS)
        where = f"{where}, {self.path}"
        validation.choice(f"{where}: interpolation", self.interpolation, INTERPOLATIONS)
        times = validation.increasing(f"{where}: times", self.times)
        object.__setattr__(self, "times", times)
        object.__setattr__(self, "values", self._checked_values(f"{where}: values", len(times)))

    def __repr__(self) -> str:
        return f"Track({self.joint!r}, {self.path!r}, {counted(len(self.times), 'key')}, {self.interpolation})"

    @classmethod
    def of(cls, joint: int, path: Path, times: Reals, values: Reals, interpolation: Interpolation = "LINEAR") -> Track:
        """Make a track of arrays that are already checked and are not changed afterwards; tracks may share them."""
        track = object.__new__(cls)
        track.__dict__.update(joint=joint, path=path, times=times, values=values, interpolation=interpolation)
        return track

    def channel(self) -> Channel:
        """Return the track as a `Channel`. Its joint must be an index."""
        path, mode = list(PATHS).index(self.path), INTERPOLATIONS[self.interpolation]
        return Channel(int(self.joint), path, mode, self.times, self.values)

    def _checked_values(self, name: str, keys: int) -> Any:
        width, cubic = PATHS[self.path], self.interpolation == "CUBICSPLINE"
        values = validation.vectors(name, self.values, width, validation.precision(self.values))
        shape = (keys, 3, width) if cubic else (keys, width)
        if values.shape != shape:
            raise InputError(f"{name} must have shape {shape}, for {counted(keys, 'key')}; got {values.shape}")
        if self.path == "rotation":
            unit = unit_rotations(name, values[:, 1] if cubic else values, values.dtype.type)
            values = values if cubic else unit
        return values.copy() if values is self.values else values


@dataclass(frozen=True)
class Event:
    """Something that happens at a moment of a clip, such as a footstep.

    Parameters
    ----------
    time
        Seconds from the start of the clip.
    name
        Name of the event.

    Examples
    --------
    >>> event = km.Event(0.25, "footstep")
    """

    time: float
    name: str

    def __post_init__(self) -> None:
        object.__setattr__(self, "time", validation.number(f"event {self.name!r}: time", self.time, 0.0))


@dataclass(frozen=True, eq=False)
class Clip:
    """A named animation.

    Joints without a track stay at rest. Before its first and after its last key, a track holds that key.

    Parameters
    ----------
    name
        Name of the clip.
    skeleton
        The skeleton that it animates.
    tracks
        At most one per joint and path. Their joints are stored as indices.
    duration
        Seconds. None: until the last key.
    events
        In any order, none after the end.
    shapes
        What it does to the blend shapes of skins: at most one track per shape.

    Examples
    --------
    >>> person = km.load("person.glb")
    >>> nod = km.Track("head", "rotation", times=(0, 0.5), values=((0, 0, 0, 1), (0.2, 0, 0, 0.98)))
    >>> clip = km.Clip("nod", person.skeleton, [nod])
    >>> clip.duration
    0.5
    """

    name: str
    skeleton: Skeleton = field(repr=False)
    tracks: Sequence[Track] = field(repr=False)
    duration: float | None = None
    events: Sequence[Event] = ()
    shapes: Sequence[ShapeTrack] = field(default=(), repr=False)

    def __post_init__(self) -> None:
        where = f"clip {self.name!r}: "
        validation.instance(f"{where}skeleton", self.skeleton, Skeleton)
        given = validation.sequence(f"{where}tracks", self.tracks, "tracks")
        for i, track in enumerate(given):
            validation.instance(f"{where}tracks[{i}]", track, Track)
        tracks = tuple(self._indexed(track) for track in given)
        self._check_unique(tracks)
        shapes = validation.sequence(f"{where}shapes", self.shapes, "tracks of shapes")
        for i, shape in enumerate(shapes):
            validation.instance(f"{where}shapes[{i}]", shape, ShapeTrack)
        if len({shape.shape for shape in shapes}) < len(shapes):
            raise InputError(f"{where}shapes has two tracks of one shape; allowed is one")
        last = max((float(track.times[-1]) for track in (*tracks, *shapes)), default=0.0)
        duration = validation.number(f"{where}duration", last if self.duration is None else self.duration, 0.0)
        events = validation.sequence(f"{where}events", self.events, "events")
        for i, event in enumerate(events):
            validation.instance(f"{where}events[{i}]", event, Event)
        events = tuple(sorted(events, key=lambda event: event.time))
        if events and events[-1].time > duration:
            raise InputError(f"{where}{events[-1]} is after the end, {duration:g}")
        for name, value in (
            ("tracks", tracks),
            ("duration", duration),
            ("events", events),
            ("shapes", shapes),
            ("_tables", {}),
        ):
            object.__setattr__(self, name, value)

    def _indexed(self, track: Track) -> Track:
        """Return the track with its joint as an index."""
        joint = self.skeleton.index(track.joint)
        return track if type(track.joint) is int else replace(track, joint=joint)

    def _check_unique(self, tracks: tuple[Track, ...]) -> None:
        seen: set[tuple[Any, str]] = set()
        for track in tracks:
            if (track.joint, track.path) in seen:
                joint = self.skeleton.names[int(track.joint)]
                raise InputError(f"clip {self.name!r} has two tracks for the {track.path} of {joint!r}; allowed is one")
            seen.add((track.joint, track.path))

    @property
    def fps(self) -> float:
        """Keys per second of the track with the most keys; 0 for a clip without motion."""
        track = max(self.tracks, key=lambda track: len(track.times), default=None)
        if track is None or len(track.times) < 2:
            return 0.0
        return float((len(track.times) - 1) / (track.times[-1] - track.times[0]))

    # --- poses -------------------------------------------------------------------------------------------------

    def sample(self, t: ArrayLike, loop: bool = False) -> Pose:
        """Return the pose at a time, or a batch of poses of the shape of t.

        t: seconds, clamped to the clip, or looped.
        """
        times = validation.real("t", t).astype(np.float64)
        validation.check_finite("t", times)
        out = self._poses(self.wrapped(times.reshape(-1), validation.flag("loop", loop)), self.skeleton.rest.precision)
        moved, rotated, scaled = (array.reshape(*times.shape, *array.shape[1:]) for array in out)
        return Pose.of(moved, rotated, scaled, names=self.skeleton.names)

    def _poses(self, times: Any, dtype: Any) -> list[Any]:
        """Sample translations, rotations and scales, (n, J, 3|4|3), at times within the clip."""
        out = [np.empty((times.size, *array.shape), dtype) for array in self.skeleton.rest.arrays()]
        self.sample_into(np.arange(times.size), times, *out)
        return out

    def sample_into(self, rows: NDArray[np.int64], times: Reals, t: Reals, r: Reals, s: Reals) -> None:
        """Write the poses of some rows of t, r, s, (N, J, 3|4|3). times: (rows,), within the clip, float64."""
        known, poses = self.tables(t.dtype.type), flat_rows(t, r, s)
        in_chunks(
            lambda first, last: sample_rows(rows[first:last], times[first:last], known, poses),
            rows.size,
            THREADS_FROM_POSES,
        )

    def tables(self, dtype: type[np.floating]) -> Tables:
        """Return the tables that `sample_pose` reads, in this precision. Cached."""
        made: dict[Any, Tables] = self._tables  # type: ignore[attr-defined]
        if dtype not in made:
            made[dtype] = tables(self.skeleton.rest, [track.channel() for track in self.tracks], dtype)
        return made[dtype]

    def wrapped(self, times: ArrayLike, loop: bool) -> Reals:
        """Map times into the clip: clamped, or modulo the duration."""
        return self.passes(times, loop)[1]

    def passes(self, times: ArrayLike, loop: bool) -> tuple[Reals, Reals]:
        """Return the number of whole passes before each time, and the seconds into the current one."""
        if not loop or not self.duration:
            return np.zeros(np.shape(times)), np.clip(times, 0.0, self.duration)
        since = np.mod(times, self.duration)
        since = np.where(since >= self.duration, 0.0, since)  # np.mod rounds times just below 0 up to the duration.
        return np.rint((times - since) / self.duration), since

    def shape_weights(self, t: ArrayLike, loop: bool = False) -> dict[str, Reals]:
        """Return the weights of the blend shapes that the clip animates, as `Skin.deform` takes them.

        t: seconds, (...), clamped to the clip, or looped.
        """
        times = validation.real("t", t).astype(np.float64)
        validation.check_finite("t", times)
        times = self.wrapped(times, validation.flag("loop", loop))
        return {track.shape: track.at(times) for track in self.shapes}

    # --- events ------------------------------------------------------------------------------------------------

    def events_between(self, t0: float, t1: float, loop: bool = False) -> tuple[Event, ...]:
        """Return the events from t0 (excluded) to t1 (included), in the order in which they are passed.

        t1 may be before t0. In a loop the end is the start of the next pass. An event is reported at most EVENT_PASSES
        times.
        """
        ends, loop = (validation.number("t0", t0), validation.number("t1", t1)), validation.flag("loop", loop)
        ahead = ends[1] >= ends[0]
        low, high = sorted((self._events_until(np.array(end), loop, ahead) for end in ends), key=lambda c: c.tolist())
        found = []
        for k, event in enumerate(self.events):
            first, last = int(low[k]), int(high[k])
            kept = (
                range(max(first, last - EVENT_PASSES), last) if ahead else range(first, min(last, first + EVENT_PASSES))
            )
            found += [(each, float(self.wrapped(event.time, loop)), k) for each in kept]
        return tuple(self.events[k] for _, _, k in sorted(found, reverse=not ahead))

    def passes_events(self, t0: Reals, t1: Reals, loop: bool) -> NDArray[np.bool_]:
        """Return whether `events_between` would find any event, (...)."""
        ahead = self._events_until(t0, loop, True) < self._events_until(t1, loop, True)
        backwards = self._events_until(t0, loop, False) > self._events_until(t1, loop, False)
        return np.where(t1 >= t0, ahead.any(axis=-1), backwards.any(axis=-1))

    def _events_until(self, times: Any, loop: bool, included: bool) -> Any:
        """Count how often each event has occurred until a time, (..., events), the time itself included or not.

        Counting whole passes ensures that rounding neither drops nor repeats an event between two steps.
        """
        passes, since = (np.asarray(x)[..., np.newaxis] for x in self.passes(times, loop))
        at = self.wrapped(np.array([event.time for event in self.events]), loop)
        return passes + ((at <= since) if included else (at < since))

    # --- root motion -------------------------------------------------------------------------------------------

    def root_motion(
        self,
        t0: ArrayLike,
        t1: ArrayLike,
        loop: bool = False,
        *,
        joint: Joint | None = None,
        up: ArrayLike = (0.0, 1.0, 0.0),
    ) -> RootMotion:
        """Return the motion of the root over the ground from t0 to t1 (seconds, shapes that broadcast).

        The motion is relative to the root's position and heading at t0. In a loop, each pass continues from the end of
        the last one. joint: the root. Default: the highest joint that the clip moves. up: perpendicular to the ground.
        """
        given = [validation.real(name, t).astype(np.float64) for name, t in (("t0", t0), ("t1", t1))]
        for name, each in zip(("t0", "t1"), given, strict=True):
            validation.check_finite(name, each)
        validation.batch_shape({"t0": given[0], "t1": given[1]}, {"t0": 0, "t1": 0})
        times, loop = np.broadcast_arrays(*given), validation.flag("loop", loop)
        root = Root(self.skeleton, self.root if joint is None else self.skeleton.index(joint), up)
        (passes0, since0), (passes1, since1) = (self.passes(each.reshape(-1), loop) for each in times)
        rows, dtype = np.arange(since0.size), self.skeleton.rest.precision
        before, after = (root.transforms(rows, *self._poses(since, dtype)) for since in (since0, since1))
        travel = root.travels(before, after, passes1 - passes0, self.root_ends(root, dtype))
        return RootMotion(travel[:, :3].reshape(*times[0].shape, 3), travel[:, 3].reshape(times[0].shape)[()])

    def root_ends(self, root: Root, dtype: type[np.floating]) -> Reals:
        """Return the root's ground transforms at the start and the end of the clip, (2, 4)."""
        return root.transforms(np.arange(2), *self._poses(np.array((0.0, self.duration)), dtype))

    @property
    def root(self) -> int:
        """The highest joint that the clip moves; joint 0 if it moves none."""
        moved = [
            int(track.joint) for track in self.tracks if track.path == "translation" and not still(track.channel())
        ]
        return min(moved, default=0)

    def in_place(self, *, joint: Joint | None = None, up: ArrayLike = (0.0, 1.0, 0.0)) -> Clip:
        """Return the clip without its travel: the root stays above its rest position, but rotates, rises and falls.

        joint, up: as in `root_motion`. Raises InputError if the clip moves a joint above the root.
        """
        at = self.root if joint is None else self.skeleton.index(joint)
        for track in self.tracks:
            if track.joint != at and track.joint in self.skeleton.above([at]) and not still(track.channel()):
                names = self.skeleton.names
                raise InputError(
                    f"clip {self.name!r} moves {names[int(track.joint)]!r}, above its root {names[at]!r}; "
                    "give the joint that travels"
                )
        flat, shift = self._flattening(at, np.array(validation.axis("up", up)))

        def flattened(track: Track) -> Track:
            if track.joint != at or track.path != "translation":
                return track
            values = track.values @ flat.T
            if track.interpolation == "CUBICSPLINE":
                values[:, 1] += shift
            else:
                values += shift
            return replace(track, values=values.astype(track.values.dtype))

        return replace(self, tracks=[flattened(track) for track in self.tracks])

    def _flattening(self, joint: int, up: Any) -> tuple[Any, Any]:
        """Return the map that moves a joint's translation above its rest position: a matrix (3, 3) and a shift (3,)."""
        parent = self.skeleton.parents[joint]
        above = self.skeleton.world(self.sample(0.0))[parent] if parent >= 0 else np.eye(4)
        away = (np.eye(3) - np.outer(up, up)) @ above[:3, :3]
        inverse = np.linalg.pinv(above[:3, :3].astype(np.float64))
        rest = self.skeleton.rest_world[joint, :3, 3]
        return np.eye(3) - inverse @ away, inverse @ (np.eye(3) - np.outer(up, up)) @ (rest - above[:3, 3])

    # --- other clips -------------------------------------------------------------------------------------------

    @classmethod
    def from_poses(
        cls,
        name: str,
        skeleton: Skeleton,
        poses: Pose,
        *,
        fps: float = 30.0,
        times: ArrayLike | None = None,
        closed: bool = False,
        events: Sequence[Event] = (),
    ) -> Clip:
        """Make a clip of a batch of poses, (K,), at `fps` poses per second or at these times, linear between them.

        closed: repeat the first pose at the end, so that a loop has no gap. Joints that stay at rest get no track,
        joints that do not move get one key.
        """
        validation.instance("skeleton", skeleton, Skeleton)
        skeleton.check(poses)
        if len(poses.shape) != 1 or not poses.shape[0]:
            raise InputError(f"poses must be a batch of shape (K,), one or more; got {poses.shape}")
        rate, closed = validation.number("fps", fps, 0.0), validation.flag("closed", closed)
        if times is None and rate == 0.0:
            raise InputError("fps is 0; allowed are finite numbers above 0")
        at = np.arange(poses.shape[0]) / rate if times is None else validation.increasing("times", times)
        if at.shape != poses.shape:
            raise InputError(f"times must be {poses.shape[0]}, one for each pose; got {at.shape}")
        if closed:
            poses = poses[[*range(poses.shape[0]), 0]]
            at = np.append(at, at[-1] + (1.0 / rate if times is None else at[-1] - at[-2] if at.size > 1 else 1.0))
        tracks = []
        for path, values, rest in zip(PATHS, poses.arrays(), skeleton.rest.arrays(), strict=True):
            for joint in range(len(skeleton)):
                keys = _moved_keys(values[:, joint], rest[joint])
                if keys:
                    tracks.append(Track(joint, path, at[:keys], values[:keys, joint]))  # type: ignore[arg-type]
        return cls(name, skeleton, tracks, float(at[-1]), events)

    def mirrored(self, pairs: Mapping[str, str] | None = None) -> Clip:
        """Mirror the clip across the plane x = 0, see `Skeleton.mirrored`. The new clip is linear between all keys.

        pairs: as in `Skeleton.mirrored`.
        """
        times = np.unique(np.concatenate([np.zeros(1), *(track.times for track in self.tracks)]))
        poses = self.skeleton.mirrored(self.sample(times), pairs)
        clip = Clip.from_poses(self.name, self.skeleton, poses, times=times)
        return replace(clip, duration=self.duration, events=self.events)


def _moved_keys(values: Any, rest: Any) -> int:
    """Return how many keys a track of these values needs: none if it stays at rest, one if it does not move."""
    within = np.finfo(values.dtype).eps * ROUNDING_ROTATION * max(1.0, float(np.abs(rest).max()))
    for keys, (still_at, way) in enumerate(((rest, (1, -1)), (values[0], (1,)))):
        if any((np.abs(values - sign * still_at) <= within).all() for sign in way[: 1 if rest.size < 4 else 2]):
            return keys
    return len(values)
