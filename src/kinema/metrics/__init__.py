"""Figures of quality: what a sequence of poses does to the ground it stands on, and how steadily it moves.

Frames are the first axis, characters may follow: world matrices (F, J, 4, 4) or (F, ..., J, 4, 4). Legs come in the
rig's order. Everything is computed in float64. Where the ground has a hole there is nothing to measure: such soles are
left out of every figure and counted on their own.
"""

from kinema.metrics.balance import balance, mass_centre
from kinema.metrics.capsules import Capsules, capsules_of, self_intersection
from kinema.metrics.joints import jerk, knee_flips, reach_error, rotation_steps
from kinema.metrics.measuring import Metrics, measure
from kinema.metrics.sliding import Slides, Steps, slides, steps_of
from kinema.metrics.soles import (
    PARTS,
    Soles,
    clearance,
    penetration,
    planted_from,
    points_over,
    shin_penetration,
    sole_points,
    soles_over,
)

__all__ = [
    "PARTS",
    "Capsules",
    "Metrics",
    "Slides",
    "Soles",
    "Steps",
    "balance",
    "capsules_of",
    "clearance",
    "jerk",
    "knee_flips",
    "mass_centre",
    "measure",
    "penetration",
    "planted_from",
    "points_over",
    "reach_error",
    "rotation_steps",
    "self_intersection",
    "shin_penetration",
    "slides",
    "sole_points",
    "soles_over",
    "steps_of",
]
