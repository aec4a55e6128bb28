"""Figures of quality: what a sequence of poses does to the ground it stands on, and how steadily it moves.

Frames are the first axis, characters may follow: world matrices (F, J, 4, 4) or (F, ..., J, 4, 4). Legs come in the
rig's order. Everything is computed in float64. Where the ground has a hole there is nothing to measure: such soles are
left out of every figure and counted on their own.
"""

from kinema.metrics.balance import balance as balance
from kinema.metrics.balance import mass_centre as mass_centre
from kinema.metrics.capsules import Capsules as Capsules
from kinema.metrics.capsules import capsules_of as capsules_of
from kinema.metrics.capsules import self_intersection as self_intersection
from kinema.metrics.joints import jerk as jerk
from kinema.metrics.joints import knee_flips as knee_flips
from kinema.metrics.joints import reach_error as reach_error
from kinema.metrics.joints import rotation_steps as rotation_steps
from kinema.metrics.measuring import Metrics as Metrics
from kinema.metrics.measuring import measure as measure
from kinema.metrics.sliding import Slides as Slides
from kinema.metrics.sliding import Steps as Steps
from kinema.metrics.sliding import slides as slides
from kinema.metrics.sliding import steps_of as steps_of
from kinema.metrics.soles import PARTS as PARTS
from kinema.metrics.soles import Soles as Soles
from kinema.metrics.soles import clearance as clearance
from kinema.metrics.soles import penetration as penetration
from kinema.metrics.soles import planted_from as planted_from
from kinema.metrics.soles import points_over as points_over
from kinema.metrics.soles import shin_penetration as shin_penetration
from kinema.metrics.soles import sole_points as sole_points
from kinema.metrics.soles import soles_over as soles_over
