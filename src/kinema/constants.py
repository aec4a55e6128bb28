"""Tolerances and sizes that several modules share, each with its unit and its reason.

Constants that tune one behaviour are at the top of its module.
"""

# --- validation ------------------------------------------------------------------------------------------------

LARGEST_FLOAT64 = 1e100
"""Largest magnitude accepted in float64: its cube is still finite, so no product in a kernel overflows."""

LARGEST_FLOAT32 = 1e17
"""Largest magnitude accepted in float32, whose largest number is 3e38: squares are finite."""

TOLERANCE = 1e-4
"""Default distance from the target that counts as reached, as a fraction of the chain's length."""

AIM_TOLERANCE = 1e-3
"""Default angle from the target that counts as aimed at it, radians: a hand's width at a hundred metres."""

MAX_JOINTS = 64
"""Longest chain. A GPU thread keeps its chain in local memory of this size."""

# --- vectors ---------------------------------------------------------------------------------------------------

TINY = 1e-30
"""Squared length below which a vector has no direction. Chains are scaled to length 1 first; the smallest normal
float32 is 1e-38."""

# --- springs ---------------------------------------------------------------------------------------------------

LN2 = 0.6931471805599453
"""Natural logarithm of 2: converts a half-life to a decay rate."""

CRITICAL_HALF = 1.6783469900166605
"""The y at which (1 + y) exp(-y) is one half: a critically damped spring's rate times its half-life."""

SHORTEST_HALF_LIFE = 1e-6
"""Seconds. Shorter half-lives take effect at once: no frame is that short, and the rate would overflow float32."""


POLE_FADE_HINTED = 0.02
"""Sine of the angle between the pole and the line to the target, below which the bend direction blends to the hint or
the animated pose. About one degree: wide enough to pass through smoothly at walking speed."""

STRAIGHT = 1e-6
"""Sine of the bend below which a limb counts as straight: its bend plane is rounding noise in float32."""

# --- long chains -----------------------------------------------------------------------------------------------

MARGIN = 0.999
"""Solvers stop a little inside the tolerance, so that the last rounding into world space cannot push it out."""

ROUNDING_ROTATION = 8.0
"""Rounding error of a quaternion's components, in ulps of 1: a rotation this far outside a limit counts as inside."""

ROUNDING = 64.0
"""Error, in ulps of 1, below which a solve from another start cannot do better."""

FARTHEST = 4.0
"""A limited chain's target is moved to at most this many chain lengths: the pose stays the same, and no square
overflows."""

# --- batches ---------------------------------------------------------------------------------------------------

TILE = 128
"""Chains that the closed-form solvers solve side by side. Measured: 64 and 256 are slower (loop overhead; cache)."""

LANES = 16
"""Tracks of a clip that are sampled side by side: two AVX2 vectors of float32."""

CHAIN_LANES = 32
"""Chains that the iterative solvers solve side by side: four AVX2 vectors of float32. Every joint waits for the one
before it, so a pass needs that many to keep the units for division and square root busy."""

THREADS_FROM_CLOSED_FORM = 131_072
"""Batch size from which threads pay for closed-form solvers. Measured on 2 cores, where waking threads takes 0.2 ms: 2
threads are even at 65,536 limbs and 1.8 times as fast at 262,144."""

THREADS_FROM_ITERATIVE = 4_096
"""Batch size from which threads pay for iterative solvers: 0.7 times as fast at 1,024 chains of 10 bones, 1.3 times at
4,096."""

THREADS_FROM_POSES = 1_024
"""Batch size from which threads pay for work per character: a pose of 60 joints takes a microsecond or more."""

# --- feet ------------------------------------------------------------------------------------------------------

TELEPORT = 1.0
"""Leg lengths per frame above which a foot's motion counts as a teleport: state of the last frame is dropped."""

AT_REST = 1e-6
"""Distance (leg lengths, or radians) below which an eased value counts as arrived, so that characters come to rest."""

# --- frames ----------------------------------------------------------------------------------------------------

SHORTEST_FRAME = 1e-6
"""Seconds. No capture is faster, and its frame rate is finite."""

LONGEST_FRAME = 1e6
"""Seconds (11 days). A longer frame time means a broken file."""

# --- metrics ---------------------------------------------------------------------------------------------------

PLANTED_SPEED = 0.4
"""Leg lengths per second below which a foot can be planted. Captured feet swing at 3 to 4 and stand at 0.1."""

# --- balls -----------------------------------------------------------------------------------------------------

LONGEST_STEP = 1e6
"""Seconds (11 days). Longest step: its square times the largest gravity is still finite."""
