"""Every tolerance and tuning number, with its unit and its reason. No module holds a bare one.

Those of files, roles, baking and the playground lie in a `constants.py` of these packages: no kernel is made of them.
"""

# --- the public edge -------------------------------------------------------------------------------------------

LARGEST_FLOAT32 = 1e17
"""The same for float32, whose squares end at 3e38."""

LARGEST_FLOAT64 = 1e100
"""Largest magnitude accepted in float64: its cube still has an exponent, so no product in a kernel overflows."""

TOLERANCE = 1e-4
"""Default distance from the target that counts as there, as a fraction of the chain's length."""

AIM_TOLERANCE = 1e-3
"""Default angle from the target that counts as aimed at it, radians: a hand's width at a hundred metres."""

MAX_JOINTS = 64
"""Longest chain. A GPU thread keeps its chain in local memory of this size."""

# --- vectors ---------------------------------------------------------------------------------------------------

TINY = 1e-30
"""Squared length below which a vector has no direction. Chains are scaled to length 1 first; float32 ends at 1e-38."""

# --- springs ---------------------------------------------------------------------------------------------------

LN2 = 0.6931471805599453
"""Natural logarithm of 2: what turns a half-life into a decay rate."""

CRITICAL_HALF = 1.6783469900166605
"""Where (1 + y) exp(-y) is one half: a critically damped spring's rate times its half-life."""

SHORTEST_HALF_LIFE = 1e-6
"""Seconds. A shorter one means at once: no frame is that short, and its rate would overflow float32."""

# --- two bones -------------------------------------------------------------------------------------------------

POLE_FADE_HINTED = 0.02
"""The same when a hint (or the animated pose) says where to go: about one degree, wide enough to pass at a walk."""

STRAIGHT = 1e-6
"""Sine of the bend below which a limb counts as straight: its bend plane is rounding noise in float32."""

# --- long chains -----------------------------------------------------------------------------------------------

MARGIN = 0.999
"""Solvers stop a little inside the tolerance, so that the last rounding into world space cannot push it out."""

ROUNDING_TURN = 8.0
"""Rounding of a rotation's numbers, in units of the last place of 1: within it a rotation counts as allowed."""

ROUNDING = 64.0
"""Error, in units of the last place of 1, below which no other start would do better."""

FARTHEST = 4.0
"""A limited chain's target is pulled in to this many chain lengths: no pose differs, and no square overflows."""

# --- skeletons -------------------------------------------------------------------------------------------------

# --- branches of a skeleton ------------------------------------------------------------------------------------

# --- the compensating-angle solver -----------------------------------------------------------------------------

# --- batches ---------------------------------------------------------------------------------------------------

TILE = 128
"""Chains solved side by side by the closed-form solvers. Measured: 64 and 256 are slower (loop ends; cache)."""

LANES = 16
"""Chains solved side by side by the iterative solvers: two AVX2 vectors of float32, enough to hide latency. Measured:
8 take 1.8 times as long a chain, 32 are no faster."""

THREADS_FROM_CLOSED_FORM = 131_072
"""Batch size from which threads pay for closed-form solvers. Measured on 2 cores, where waking threads takes 0.2 ms: 2
threads are even at 65,536 limbs and 1.8 times as fast at 262,144."""

THREADS_FROM_ITERATIVE = 4_096
"""The same for iterative solvers: 0.7 times as fast at 1,024 chains of 10 bones, 1.3 times at 4,096."""

THREADS_FROM_POSES = 1_024
"""Characters from which threads pay for what is done per character: a pose of 60 joints takes a microsecond or more."""

# --- feet ------------------------------------------------------------------------------------------------------

TELEPORT = 1.0
"""Leg lengths a foot moves within a frame that mean the character was put elsewhere: nothing is carried over."""

AT_REST = 1e-6
"""Distance (in leg lengths, or radians) below which what is eased counts as arrived: a character comes to rest."""

# --- walking by itself -----------------------------------------------------------------------------------------

# --- clips -----------------------------------------------------------------------------------------------------

# --- frames ----------------------------------------------------------------------------------------------------

SHORTEST_FRAME = 1e-6
"""Seconds. No capture is faster, and a rate of frames can be had from it."""

LONGEST_FRAME = 1e6
"""Seconds, eleven days: what is longer is a broken file, not a slow motion."""

# --- figures of quality ----------------------------------------------------------------------------------------

PLANTED_SPEED = 0.4
"""Leg lengths a second below which a sole can be planted: a foot swings at 3 to 4 and stands at 0.1, as captured."""

# --- balls -----------------------------------------------------------------------------------------------------

LONGEST_STEP = 1e6
"""Seconds (11 days). Longest step: its square times the largest gravity is still a number."""
