"""The records that FABRIK, CCD and their finish work on: many chains side by side, one per lane.

A field of a lane record ends in an axis of lanes: `joint.position[c, k]` is coordinate c of the joint in lane k. With
`CHAIN_LANES` lanes the loops over lanes become vector code; with one lane the same functions solve a single chain, on
the CPU and in a GPU's thread. The number of lanes is part of the type, so nothing has to be passed along.

In a lane the root is the origin and the chain's bones add up to 1.
"""

from __future__ import annotations

from functools import cache
from typing import Any, NamedTuple

import numpy as np

from kinema.compile.jit import allocator, record_array
from kinema.compile.records import REAL, Record
from kinema.constants import CHAIN_LANES

NO_CHAIN = -1
"""The chain of an idle lane."""


@cache
def joint_record(lanes: int) -> Record:
    """One joint of every lane."""
    return Record(
        position=(REAL, (3, lanes)),
        length=(REAL, lanes),  # of the bone that ends at the joint
        best=(REAL, (3, lanes)),  # position in the best pose of this attempt
        axis=(REAL, (3, lanes)),  # of the bone that starts here: its hinge axis, or its direction if it has no hinge
        edge=(REAL, (3, lanes)),  # rotating that bone about this axis leaves its limit; zero away from the limit
        rotation=(REAL, (4, lanes)),  # what a CCD pass rotates that bone by; from the bone before to it, for limits
    )


@cache
def group_record(lanes: int) -> Record:
    """The chains that lie side by side: where they should go and how far they have come."""
    return Record(
        goal=(REAL, (3, lanes)),
        whole=(REAL, lanes),  # sum of the bones, metres: the unit of everything else here
        tolerance=(REAL, lanes),  # distance from the goal that ends the work
        miss=(REAL, lanes),  # distance of the tip from the goal
        nearest=(REAL, lanes),  # the smallest miss of this attempt's finish
        to_beat=(REAL, lanes),  # the miss that a finish pass must improve on
        stalled=(np.int64, lanes),  # passes since it last did
        passes=(np.int64, lanes),
        cap=(np.int64, lanes),  # passes after which the chain leaves the lane
        chain=(np.int64, lanes),  # index in the batch, or NO_CHAIN
    )


@cache
def scratch_record(lanes: int) -> Record:
    """What a chain is measured by before its first pass, in metres, and what a pass carries from joint to joint."""
    return Record(
        longest=(REAL, lanes),  # bone
        shortest=(REAL, lanes),  # bone
        distance=(REAL, lanes),  # of the target from the root
        off_target=(REAL, lanes),  # distance of the tip from the target
        share=(REAL, lanes),  # what lengths are multiplied by
        aside=(REAL, lanes),  # largest squared distance of a joint from the line to the goal, in chain lengths
        parent=(REAL, (3, lanes)),  # direction of the bone before
        frame=(REAL, (4, lanes)),  # rotation collected from the root on
        previous=(REAL, (3, lanes)),  # where the joint was before the pass
        to_end=(REAL, (3, lanes)),  # way from the joint to the end of the chain
        end=(REAL, (3, lanes)),  # where the end was before the pass
        jj_diagonal=(REAL, (3, lanes)),  # of J J^T
        jj_off=(REAL, (3, lanes)),  # xy, xz and yz of J J^T
        solution=(REAL, (3, lanes)),  # of J J^T y = miss
        rotation=(REAL, (3, lanes)),  # rotation vector collected from the root on
    )


SETTINGS = Record(
    straight=(REAL, 3),  # direction that the first bone's limit is relative to
    tolerance=REAL,  # distance that counts as reached, in chain lengths
    tolerance_m=REAL,  # the same in metres; the two are added
    floor=REAL,  # miss, in chain lengths, below which no other start would do better
    edge_slack=REAL,  # sine of the angle within which a bone counts as at its limit
    cos_half_step=REAL,  # of half the largest rotation of a joint in a CCD pass
    sin_half_step=REAL,
    planar=np.bool_,
    has_pole=np.bool_,
    has_hinges=np.bool_,  # among the limits
    limited=np.bool_,  # whether bones have limits; the table is then not None
    capped=np.bool_,  # whether the caller gave the number of passes
    main_passes=np.int64,
    finish_passes=np.int64,
    attempts=np.int64,
    budget=np.int64,  # passes in all
)
"""What is the same for every chain of a call."""

OUTCOME = Record(
    error=REAL,  # metres from the end to the target
    length=REAL,  # sum of the bones, metres
    iterations=np.int64,
    attempts=np.int64,
    shortest=REAL,  # bone, metres
    trouble=np.int64,  # flags of `notices`
    next_retry=np.int64,  # the chain that tries again after this one, or NO_CHAIN
    reached=np.bool_,
)
"""What is known of one chain besides its joints."""

QUEUE = Record(
    fresh=np.int64,  # the next chain that no lane has had yet
    retry=np.int64,  # the next chain that tries again, or NO_CHAIN
)
"""Which chains come next."""


class Workspace(NamedTuple):
    """The lanes that passes run on."""

    chain: Any
    """(N,) joint records."""
    group: Any
    """(1,) group record."""
    scratch: Any
    """(1,) scratch record."""


class ChainProblem(NamedTuple):
    """The chains of a call."""

    source: Any
    """(count, N, 3): the joints that came in."""
    targets: Any
    """(count or 1, 3)"""
    poles: Any
    """(count or 1, 3). Without poles any vectors, so that the CPU compiles one kernel for both; the GPU, whose threads
    would keep registers for the unused pole, passes None."""
    table: Any
    """(N-1,) limit records, or None: then nothing about limits is compiled."""
    settings: Any
    """(1,) settings record."""


class Answer(NamedTuple):
    """Where results go."""

    joints: Any
    """(count, N, 3)"""
    outcomes: Any
    """(count,) outcome records."""


joints_of_one, group_of_one, scratch_of_one = (
    record_array(record(1)) for record in (joint_record, group_record, scratch_record)
)
queue_of_lanes = record_array(QUEUE)
joints_of_lanes, group_of_lanes, scratch_of_lanes = (
    record_array(record(CHAIN_LANES)) for record in (joint_record, group_record, scratch_record)
)


@allocator
def one_lane(joints, x):
    """The workspace of a single chain, in the precision of x."""
    return Workspace(joints_of_one(joints, x), group_of_one(1, x), scratch_of_one(1, x))


@allocator
def many_lanes(joints, x):
    """The workspace of CHAIN_LANES chains side by side, in the precision of x."""
    return Workspace(joints_of_lanes(joints, x), group_of_lanes(1, x), scratch_of_lanes(1, x))
