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
    """
    lead, count = found.lead, found.one_pass
    if not count:
        return found
    held, planted = (_periodic(each, lead, count) for each in (found.held, found.planted))
    margin = min(count, _across_seam(held) + round(MARGIN / found.dt))
    passes, which = np.divmod(np.arange(-margin, count + margin), count)
    next_pass = found.transforms[lead + count - 1] @ np.linalg.inv(found.transforms[lead - 1])
    starts = np.array([np.linalg.inv(next_pass), np.eye(4), next_pass])
    transforms = np.concatenate([starts[passes + 1] @ found.transforms[lead + which], found.transforms[-1:]])
    which = np.append(which, count)
    return replace(
        found,
        times=(np.arange(len(which)) - margin) * found.dt,
        poses=found.poses[lead + which],
        transforms=transforms,
        planted=planted[which % count],
        held=held[which % count],
        placed=found.placed[lead + which],
        lead=margin,
    )


def _periodic(contacts: Any, lead: int, count: int) -> Any:
    """(count, L): contacts of a pass. At its end those of the pass before are known better: they go on."""
    own, known = contacts[lead : lead + count].copy(), lead // 2
    own[count - known :] = contacts[lead - known : lead]
    return own


def _across_seam(held: Any) -> int:
    """Frames of the longest contact across the seam of a loop, (count, L), on either side of it."""
    across = held[:, held[0] & held[-1]]
    if not across.size:
        return 0
    ends = [np.where(each.all(axis=0), len(each), np.argmin(each, axis=0)) for each in (across, across[::-1])]
    return int(np.max(ends))
