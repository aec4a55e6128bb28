"""When and where the feet of a clip land next, for every moment of it: what `Feet` predicts while `Play` plays.

The clip is read once, when it is first played: which feet stand in it, as `Feet` itself would find, and where each one
comes down next. A foot that swings then knows its landing from its first step on, however uneven the steps are. This
holds while the character moves as the clip does. Where a game moves it in another way, as for clips that walk in place,
`Feet` goes by what it has learnt of the last step.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from kinema.compile.jit import batch, kernel, like
from kinema.compile.records import REAL, Record, kernel_views
from kinema.math import arrays, spring, vec, xform
from kinema.math.rows import load3, load_matrix, load_origin, store3
from kinema.model.clip import Clip
from kinema.model.root_motion import Root
from kinema.motion.contacts import SHORTEST, contacts_of, stand_one_by_one
from kinema.motion.footholds import floor_drift
from kinema.motion.runs import without_noise
from kinema.motion.soles import BALL, HEEL, TIP, sole_motion, sole_points
from kinema.motion.travel import travel_of, without_slip
from kinema.stages.feet.clip_foot import CONTACT_SWITCH
from kinema.stages.feet.foot_contact import SHORTEST_SWING
from kinema.stages.feet.foot_records import LEAVES, NO_OVERRIDE
from kinema.stages.legs.ground_contact import SWINGING, floor_of
from kinema.stages.play import Playing
from kinema.stages.stage import Crowd, FrameContext

RATE = 120.0
"""Frames a second in which a clip is read, at least."""

CHUNK = 1024
"""Frames whose joints are computed at once: of a long clip only hips and soles are kept."""

IN_PLACE_GOES, FEWEST_FRAMES = 0.1, 8
"""Leg lengths between the first and the last hips of a walk in place, at most; and frames that show one."""

SHORTEST_CLIP = 1e-6
"""Seconds of a clip that is longer than a pose."""

TIP_ALONE, TOE_OFF = 0.03, 0.1
"""Leg lengths of heel and ball above the floor from which a foot stands on its tip only; and seconds of that, at the
end of a contact, which are its lift-off: toes that hang over the edge of a step then would be dragged through it."""

FARTHEST_LANDING = 2.0
"""Leg lengths from the hips to a landing, at most: where a clip begins anew elsewhere, its next landing is no step."""

MATCHING_SPEED = 0.25
"""Leg lengths a second by which the hips move otherwise than in the clip, at most, for what the clip does to count."""

DRIFT_HALF_LIFE = 0.1
"""Seconds over which that is averaged."""

MATCHES_AGAIN = 0.8
"""Share of that below which hips that moved otherwise count as moving as in the clip again."""

TELEPORT_SPEED = 20.0
"""Leg lengths a second: hips that move faster than that, beyond the clip, were set elsewhere."""

LANDING = Record(
    contact=np.int8,  # 1 if it stands, LEAVES if it is about to lift off and touches with its tip only, else 0
    left=REAL,  # seconds until it lands; infinite if it does not
    swing=REAL,  # seconds from the ground to the ground
    way=(REAL, 3),  # from the hips in that frame to the ball as it stands
    from_hips=(REAL, 3),  # from the hips as it lands to the ball
    heading=(REAL, 3),  # from heel to tip as it stands, across up, unit
    low=REAL,  # metres of its lowest point above the floor in that frame
)
"""The next landing of a foot, seen from a frame of its clip, in the character's own space."""


class LandingTable(NamedTuple):
    """The landings of one clip. F frames, L legs."""

    landings: Any
    """(F, L) LANDING."""
    velocity: Any
    """(F, 3): of the hips, metres a second, in the character's own space."""
    rate: float
    """Frames a second."""
    keeps: bool
    """Whether the motion of the root stays in the pose, so that a loop jumps back where it begins anew."""


@kernel
def step_drift(body, hips, velocity, restarts, up, length, dt):
    """Average how the hips move otherwise than in the clip. Returns whether they move as in the clip.

    velocity: of the hips in the clip, world space. restarts: whether the clip began anew, with its motion in the pose.
    length: of a leg, metres.
    """
    zero = like(dt, 0.0)
    if body.pelvis.fresh:
        store3(body.drift, (zero, zero, zero))
        body.drifts, body.matches = False, True
        return True
    if (dt > zero) & (not restarts):
        moved = vec.scale(vec.sub(hips, load3(body.hips)), like(dt, 1.0) / dt)
        drift = vec.reject(vec.sub(moved, velocity), up)
        if vec.length(drift) > length * like(dt, TELEPORT_SPEED):
            return False
        left = spring.decay(like(dt, DRIFT_HALF_LIFE), dt) if body.drifts else zero
        drift = vec.add(drift, vec.scale(vec.sub(load3(body.drift), drift), left))
        store3(body.drift, drift)
        body.drifts = True
    bound = like(dt, MATCHING_SPEED) * (like(dt, 1.0) if body.matches else like(dt, MATCHES_AGAIN))
    body.matches = vec.length(load3(body.drift)) < length * bound
    return body.matches


@kernel
def predict_landing(foot, now, since, speed, hips, drift, m):
    """Set the next landing of a foot, as it is seen from the nearest frame of its clip.

    since: seconds of the clip since that. speed: of the playback. hips: where they were then. m: the character's
    matrix.
    """
    foot.in_clip.contact, foot.in_clip.table_low, foot.in_clip.paused = now.contact, now.low, speed <= like(speed, 0.0)
    if foot.in_clip.paused:
        # Where time stands still, a foot that is low stands.
        foot.in_clip.contact = now.contact if now.contact == 1 else NO_OVERRIDE
        return
    foot.landing.predicted = (now.contact != 1) & math.isfinite(now.left)
    if foot.landing.predicted:
        left = max(now.left - since, like(since, 0.0)) / speed
        lands = vec.add(hips, xform.linear(m, load3(now.way)))
        store3(foot.landing.point, vec.add(lands, vec.scale(drift, left)))
        store3(foot.landing.heading, vec.unit_or(xform.linear(m, load3(now.heading)), load3(foot.heading)))
        store3(foot.landing.learnt, load3(now.from_hips))
        foot.swing.seconds = now.swing / speed
        if foot.contact == SWINGING:
            foot.swing.since = foot.swing.seconds - left


@kernel
def predict_character(records, i, table, playback, unblended, at, transform, dt):
    """Set what the feet of one character do next, as the clip that it plays has it.

    unblended: whether the pose is the clip's and nothing else. at: where the hips are. transform: (12,).
    """
    body, m, up = records.bodies[i], load_matrix(transform), floor_of(records.settings[0].contact, transform).up
    last, speed = table.velocity.shape[0] - 1, like(dt, playback.speed)
    passed = playback.time * table.rate
    n = min(max(int(passed + 0.5), 0), last)
    since = like(dt, (passed - n) / table.rate)
    clip_velocity = xform.linear(m, load3(table.velocity[n]))
    velocity, then = vec.scale(clip_velocity, speed), vec.sub(at, vec.scale(clip_velocity, since))
    restarts = (playback.passes != 0) & table.keeps
    ended = playback.ended & (not playback.loop)
    velocity = vec.scale(velocity, like(dt, 0.0) if ended else like(dt, 1.0))
    matches = step_drift(body, at, velocity, restarts, up, records.soles[0].length, dt)
    matches = matches & unblended & (speed >= like(dt, 0.0))
    for leg in range(records.soles.size):
        foot = records.feet[i, leg]
        if foot.landing.given | (not matches):
            foot.in_clip.contact, foot.landing.predicted, foot.in_clip.paused = NO_OVERRIDE, False, False
            continue
        predict_landing(foot, table.landings[n, leg], since, speed, then, load3(body.drift), m)


@batch
def predict_landings(rows, records, table, playbacks, unblended, hips, frame, dt):
    """Set what the feet of these characters do next, as the clip that they play has it. hips: the joint."""
    for k in range(rows.size):
        i = rows[k]
        at, transform = load_origin(frame.world[i, hips]), frame.transform[i, 0]
        predict_character(records, i, table, playbacks[i], unblended[i], at, transform, dt)


# --- tables -----------------------------------------------------------------------------------------------------------


class ClipLandings:
    """The tables of all clips that a crowd plays, made when they are first played."""

    def __init__(self, crowd: Crowd, lengths: Any, plant_height: float, plant_speed: float) -> None:
        """lengths: (L,), of the legs, metres. plant_height, plant_speed: see `Feet`."""
        self._crowd, self._lengths = crowd, np.asarray(lengths, np.float64)
        self._height, self._speed = plant_height, plant_speed
        self._tables: dict[tuple[int, int, bool], LandingTable] = {}
        self._read_from: list[Any] = []  # Kept, so that no other clip gets the identity of one.

    def update(self, context: FrameContext, records: Any, frame: Any, dt: Any) -> None:
        """Set what the feet of the frame's rows do next."""
        playing = context.published(Playing)
        if playing is None:
            if self._tables:
                _forget(context.rows, records)
            return
        hips = int(self._crowd.rig.hips)
        for which, loop, rows in _groups(playing, context.rows):
            clip, root = playing.clips[which], playing.roots[which]
            table = self.table(clip, root, loop)
            context.run(
                predict_landings, records, table, playing.playbacks, playing.unblended, hips, frame, dt, rows=rows
            )

    def table(self, clip: Clip, root: Root | None, loop: bool) -> LandingTable:
        """Return the landings of a clip, read when it is first asked for. root: whose motion is extracted, or None."""
        table = self._tables.get((id(clip), id(root), loop))
        if table is None:
            table = self._tables[id(clip), id(root), loop] = self._read(clip, root, loop)
            self._read_from += [clip, root]
        return table

    def _read(self, clip: Clip, root: Root | None, loop: bool) -> LandingTable:
        """Read the landings of a clip."""
        duration = float(clip.duration or 0.0)
        duration = duration if duration > SHORTEST_CLIP else 0.0
        count = max(math.ceil(duration * RATE - 1e-6), 1)
        rate = count / duration if duration > 0.0 else RATE
        hips, soles, ground = self._sample(clip, root, np.arange(count + 1) / rate)
        moves = self._travel(hips, soles, rate, loop)
        hips, soles, ground = _moved_each(hips, moves), _moved_each(soles, moves), moves @ ground
        first = 0
        if loop and duration > 0.0:
            one_pass = ground[-1] @ np.linalg.inv(ground[0])
            passes = np.linalg.inv(one_pass), np.eye(4), one_pass
            hips, soles = (
                np.concatenate([_moved(part[: count if k < 2 else None], m) for k, m in enumerate(passes)])
                for part in (hips, soles)
            )
            first = count
        contacts = self._contacts(soles, hips, rate)
        velocity = np.gradient(hips, 1.0 / rate, axis=0) if len(hips) > 1 else np.zeros_like(hips)
        own = slice(first, first + count + 1)
        inverse = np.linalg.inv(ground)[:, :3, :3]
        landings = LANDING.zeros((count + 1, len(self._lengths)), self._crowd.precision)
        self._fill(landings, contacts, hips, soles, rate, first)
        landings.way = np.einsum("frc,flc->flr", inverse, landings.way)
        landings.heading = np.einsum("frc,flc->flr", inverse, landings.heading)
        landings.from_hips = np.einsum("frc,flc->flr", inverse, landings.from_hips)
        velocity = np.einsum("frc,fc->fr", inverse, velocity[own]).astype(self._crowd.precision)
        return LandingTable(kernel_views(landings)[0], velocity, rate, root is None)

    def _sample(self, clip: Clip, root: Root | None, times: Any) -> tuple[Any, Any, Any]:
        """Positions of the hips, (F, 3), and of the soles' points, (F, L, 3, 3), in the clip's own space; and the
        ground transforms, (F, 4, 4), that are taken out of it.
        """
        rig, hips, soles, grounds = self._crowd.rig, [], [], []
        for first in range(0, len(times), CHUNK):
            pose = clip.sample(times[first : first + CHUNK])
            world = rig.skeleton.world(pose).astype(np.float64)
            hips.append(world[:, rig.hips, :3, 3].copy())
            soles.append(sole_points(rig, world))
            grounds.append(_grounds(root, pose, rig.up))
        return np.concatenate(hips), np.concatenate(soles), np.concatenate(grounds)

    def _travel(self, hips: Any, soles: Any, rate: float, loop: bool) -> Any:
        """(F, 4, 4): how the feet of a walk in place move the character, as a game will; no motion for all others."""
        rig, none = self._crowd.rig, np.tile(np.eye(4), (len(hips), 1, 1))
        stays = np.linalg.norm(hips[-1] - hips[0]) < IN_PLACE_GOES * rig.leg_length
        if len(hips) < FEWEST_FRAMES or not stays:
            return none
        travel = travel_of(rig, soles, 1.0 / rate, closed=loop)
        if not travel.needed:
            return none
        return without_slip(rig, soles, 1.0 / rate, travel).transforms(rig.up, 1.0 / rate)

    def _contacts(self, soles: Any, hips: Any, rate: float) -> Any:
        """(F, L): which feet stand (1), leave (LEAVES) or are in the air (0). They stand where a point is low and slow
        for long enough, over a floor that may drift: as a bake finds them.
        """
        rig = self._crowd.rig
        motion = sole_motion(rig, soles, 1.0 / rate)
        drift = floor_drift(motion, hips, 1.0 / rate)
        heights = motion.heights - drift[:, np.newaxis, np.newaxis]
        motion = motion._replace(heights=heights)
        touches = np.where(heights[..., HEEL] < heights[..., BALL] - CONTACT_SWITCH, HEEL, BALL)
        ends = np.minimum(heights[..., HEEL], heights[..., BALL])
        touches = np.where(heights[..., TIP] < ends - CONTACT_SWITCH, TIP, touches)
        across = motion.velocity - (motion.velocity @ motion.up)[..., np.newaxis] * motion.up
        speeds = np.linalg.norm(across, axis=-1) / motion.legs[:, np.newaxis]
        speed = np.take_along_axis(speeds, touches[..., np.newaxis], axis=-1)[..., 0]
        stands = stand_one_by_one(heights.min(axis=-1), speed, self._height, self._speed)
        if self._height > 0.0 and self._speed > 0.0:
            stands |= contacts_of(rig, motion, hips, 1.0 / rate)[1]
        stands = without_noise(stands, SHORTEST_SWING * rate, SHORTEST * rate)
        on_tip = (touches == TIP) & (ends > TIP_ALONE)
        return np.where(_toe_off(stands, on_tip, TOE_OFF * rate), LEAVES, stands)

    def _fill(self, landings: Any, contacts: Any, hips: Any, soles: Any, rate: float, first: int) -> None:
        """Fill in the landings of the frames from `first` on, in the clip's own space."""
        stands, count, never = contacts == 1, len(landings), len(contacts)
        up, frames = np.array(self._crowd.rig.up, np.float64), np.arange(never)[:, np.newaxis]
        lands = np.minimum.accumulate(np.where(stands, frames, never)[::-1])[::-1]
        left = np.maximum.accumulate(np.where(stands, frames, -1))
        ahead = soles[:, :, TIP] - soles[:, :, HEEL]
        balls = standing_vectors(stands, soles[:, :, BALL])
        headings = arrays.unit(standing_vectors(stands, ahead - (ahead @ up)[..., np.newaxis] * up))
        mine = slice(first, first + count)
        at = np.minimum(lands[mine], never - 1), np.arange(stands.shape[1])
        way = balls[at] - hips[mine, np.newaxis]
        far = np.linalg.norm(way, axis=-1) > FARTHEST_LANDING * self._lengths
        landings.contact = contacts[mine]
        landings.left = np.where((lands[mine] < never) & ~far, (lands[mine] - frames[mine]) / rate, np.inf)
        landings.swing = (lands[mine] - np.maximum(left[mine], 0)) / rate
        landings.way, landings.heading = way, headings[at]
        landings.from_hips = balls[at] - hips[at[0]]
        landings.low = (soles @ up).min(axis=-1)[mine] - self._crowd.rig.floor


def _forget(rows: Any, records: Any) -> None:
    """Drop what the feet of these characters were predicted to do."""
    records.bodies["drifts"][rows] = False
    feet = records.feet
    feet["in_clip"]["contact"][rows], feet["in_clip"]["paused"][rows] = NO_OVERRIDE, False
    feet["landing"]["predicted"][rows] = False


def _groups(playing: Playing, rows: Any) -> Any:
    """Rows that play the same clip in the same way: its number, whether it is a loop, the rows."""
    if not rows.size:
        return
    clips, loops = playing.playbacks["clip_index"][rows], playing.playbacks["loop"][rows]
    if rows.size == 1 or ((clips == clips[0]).all() and (loops == loops[0]).all()):
        yield int(clips[0]), bool(loops[0]), rows
        return
    for which in np.unique(clips):
        for loop in (False, True):
            part = rows[(clips == which) & (loops == loop)]
            if part.size:
                yield int(which), loop, part


def _grounds(root: Root | None, pose: Any, up: Any) -> Any:
    """(F, 4, 4): the ground transforms that `Play` takes out of the poses of a clip, (F,); nothing if it keeps them."""
    grounds = np.tile(np.eye(4), (pose.shape[0], 1, 1))
    if root is not None:
        rows = root.transforms(np.arange(len(grounds)), *pose.arrays())
        grounds[:, :3, :3] = arrays.to_matrix(arrays.from_axis_angle(np.array(up, np.float64), rows[:, 3]))
        grounds[:, :3, 3] = rows[:, :3]
    return grounds


def _moved_each(points: Any, matrices: Any) -> Any:
    """Points of each frame, (F, ..., 3), moved by its matrix, (F, 4, 4)."""
    flat = points.reshape(len(points), -1, 3)
    return (flat @ matrices[:, :3, :3].swapaxes(1, 2) + matrices[:, np.newaxis, :3, 3]).reshape(points.shape)


def _moved(points: Any, matrix: Any) -> Any:
    """Points, (..., 3), moved by a matrix, (4, 4)."""
    return points @ matrix[:3, :3].T + matrix[:3, 3]


def _toe_off(stands: Any, on_tip: Any, longest: float) -> Any:
    """(F, L): the frames at the end of a contact in which only the tip touches, if they are few."""
    leaves, on_tip = np.zeros_like(stands), on_tip & stands
    for leg in range(stands.shape[1]):
        for stop in np.flatnonzero(stands[:-1, leg] & ~stands[1:, leg]) + 1:
            first = max(stop - math.ceil(longest), 0)
            others = np.flatnonzero(~on_tip[first:stop, leg])
            start = first + others[-1] + 1 if others.size else stop
            # A contact that is on the tip throughout is no lift-off.
            leaves[start:stop, leg] = stop - start < longest and start > 0 and stands[start - 1, leg]
    return leaves


def standing_vectors(stands: Any, vectors: Any) -> Any:
    """(F, L, 3): in frames in which a foot stands, what a vector is in most of that contact: a ball gets to where it
    stands only after the heel has landed.
    """
    standing = vectors.copy()
    for leg in range(stands.shape[1]):
        edges = np.diff(np.pad(stands[:, leg], 1).astype(np.int8))
        for start, stop in zip(np.flatnonzero(edges == 1), np.flatnonzero(edges == -1), strict=True):
            standing[start:stop, leg] = np.median(vectors[start:stop, leg], axis=0)
    return standing
