"""The frames of a loop, with as much of its neighbours as it takes for feet to go on across the seam."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from kinema.bake.clip_frames import ClipFrames

MARGIN = 0.5
"""Seconds of the passes before and after a loop that are computed, beyond the contacts across its seam: feet are eased
over 0.12 s, and smoothed over less."""


def with_neighbours(found: ClipFrames) -> ClipFrames:
    """Return a pass of a loop with the end of the pass before it as its lead-in, the beginning of the next one, and its
    own last pose at the very end: a clip that travels begins anew where the next pass goes on.

    A loop without a closing frame ends a key before the next pass begins; the frames between are those of the lead-in.
    """
    lead, count, frames = found.lead, found.one_pass, len(found.times)
    if not count:
        return found
    last = frames - 1 - lead
    every = np.arange(count)
    within = np.where(every > last, every - count, every) + lead
    held, planted = (_periodic(each[within], each[:lead]) for each in (found.held, found.planted))
    margin = min(count, _across_seam(held) + round(MARGIN / found.dt))
    passes, which = np.divmod(np.arange(-margin, count + margin), count)
    next_pass = found.transforms[frames - 2] @ np.linalg.inv(found.transforms[frames - 2 - count])
    starts = [np.linalg.inv(next_pass), np.eye(4), next_pass, next_pass @ next_pass]
    moved = np.array(starts)[passes + 1 + (which > last)] @ found.transforms[within[which]]
    return replace(
        found,
        times=(np.arange(len(which) + 1) - margin) * found.dt,
        poses=found.poses[np.append(within[which], frames - 1)],
        transforms=np.concatenate([moved, found.transforms[-1:]]),
        planted=planted[np.append(which, last % count)],
        held=held[np.append(which, last % count)],
        placed=found.placed[np.append(within[which], frames - 1)],
        lead=margin,
        one_pass=last,
    )


def _periodic(own: Any, before: Any) -> Any:
    """(count, L): contacts of a pass. At its end those of the pass before are known better: they go on."""
    known = len(before) // 2
    return np.concatenate([own[: len(own) - known], before[len(before) - known :]])


def _across_seam(held: Any) -> int:
    """Frames of the longest contact across the seam of a loop, (count, L), on either side of it."""
    across = held[:, held[0] & held[-1]]
    if not across.size:
        return 0
    ends = [np.where(each.all(axis=0), len(each), np.argmin(each, axis=0)) for each in (across, across[::-1])]
    return int(np.max(ends))
