"""Every tolerance and tuning number, with its unit and its reason. No module holds a bare one.

Those of files, roles, baking and the playground lie in a `constants.py` of these packages: no kernel is made of them.
"""

# --- the public edge -------------------------------------------------------------------------------------------

LARGEST_FLOAT64 = 1e100
"""Largest magnitude accepted in float64: its cube still has an exponent, so no product in a kernel overflows."""

LARGEST_FLOAT32 = 1e17
"""The same for float32, whose squares end at 3e38."""

TOLERANCE = 1e-4
"""Default distance from the target that counts as there, as a fraction of the chain's length."""

AIM_TOLERANCE = 1e-3
"""Default angle from the target that counts as aimed at it, radians: a hand's width at a hundred metres."""

MAX_JOINTS = 64
"""Longest chain. A GPU thread keeps its chain in local memory of this size."""

# --- vectors ---------------------------------------------------------------------------------------------------

TINY = 1e-30
"""Squared length below which a vector has no direction. Chains are scaled to length 1 first; float32 ends at 1e-38."""

SIDE_SWITCH = 0.01
"""Squared share of x and y in a unit vector below which it counts as running along z (about 6 degrees)."""

# --- springs ---------------------------------------------------------------------------------------------------

LN2 = 0.6931471805599453
"""Natural logarithm of 2: what turns a half-life into a decay rate."""

CRITICAL_HALF = 1.6783469900166605
"""Where (1 + y) exp(-y) is one half: a critically damped spring's rate times its half-life."""

SHORTEST_HALF_LIFE = 1e-6
"""Seconds. A shorter one means at once: no frame is that short, and its rate would overflow float32."""

# --- two bones -------------------------------------------------------------------------------------------------

POLE_FADE = 1e-3
"""Sine of the angle between pole and reach line below which the pole fades out, when there is nothing better to
fade to: small, because a pole is meant to be obeyed; not zero, because its direction is noise there."""

POLE_FADE_HINTED = 0.02
"""The same when a hint (or the animated pose) says where to go: about one degree, wide enough to pass at a walk."""

STRAIGHT = 1e-6
"""Sine of the bend below which a limb counts as straight: its bend plane is rounding noise in float32."""

# --- long chains -----------------------------------------------------------------------------------------------

DAMPING = 0.1
"""Levenberg's damping as a multiple of the squared error: vanishes at the target, so the end is quadratic."""

DAMPING_FLOOR = 1e-9
"""Keeps the 3x3 system solvable on a straight chain, in float32 too. In chain lengths, squared."""

STALL_PASSES = 6
"""Finish passes without a better error after which a chain has stalled."""

STALL_SHARE = 0.9
"""An error counts as better below this share of the best one."""

MARGIN = 0.999
"""Solvers stop a little inside the tolerance, so that the last rounding into world space cannot push it out."""

ROUNDING_TURN = 8.0
"""Rounding of a rotation's numbers, in units of the last place of 1: within it a rotation counts as allowed."""

ROUNDING = 64.0
"""Error, in units of the last place of 1, below which no other start would do better."""

FARTHEST = 4.0
"""A limited chain's target is pulled in to this many chain lengths: no pose differs, and no square overflows."""

# --- skeletons -------------------------------------------------------------------------------------------------

MOST_KNOWN = 1_024
"""Things a skeleton remembers to have worked out, chains above all. More mean that they are no longer asked for."""

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

POINT_SOLE = 0.02
"""Leg lengths from heel to tip below which a foot is a point, and one ray finds its ground."""

STEP_JOINS = 0.4
"""Share of the distance at which a foot lifts from which it goes along with its group: they swing together, in time."""

STEP_JOINS_UNTIL = 0.3
"""Share of a swing after which nobody joins in any more: the other group is waiting."""

STEP_FIRST = 0.6
"""Share of the distance at which a foot lifts that is enough for the first step of one who has stood."""

STOOD_LONG = 10.0
"""Swings after which the last step is long ago; a standing creature's is."""

STEP_URGENT = 1.3
"""Times the distance at which a foot lifts from which it does not wait for its beat any more, only for the others to be
down."""

FASTEST_WALK = 0.85
"""Share of the speed at which feet would swing without a pause that is walked at most: what is left is for detours."""

LIMIT_STRIDES = 2.0
"""Strides from its rest place beyond which no planted foot is left behind: the body waits."""

BRAKE_FROM = 0.7
"""Share of what a leg can bear from which the body slows down, so that it does not run into its end."""

SWING_RISES = 0.4
"""Share of a swing in which a foot rises: early, so that it is above a step's edge when it comes there."""

SWING_ARRIVES = 0.1
"""Share of a swing in which a foot only comes down: it does not scrape the ground."""

SWING_WAITS = 0.2
"""Share of a swing that a foot only rises before a step up, or only comes down behind a step down."""

STEEP_STEP = 0.15
"""Leg lengths from which what rises or falls on the way of a foot is a step like that; less of it, less of the wait."""

HIGHEST_STEP = 0.5
"""Leg lengths above both ends of its way from which what a foot meets is no step but a wall."""

PATH_RAYS = 6
"""Rays along the way of a swinging foot: at a long stride, a sixth of a leg apart."""

HOLD_REACH = 0.75
"""Share of what a leg can be stretched beyond its rest that may be used up where a foot comes down: the rest is for the
body's moves until it leaves again."""

HOLD_CROUCH = 0.8
"""Share of the body's crouch that a foothold may take, for the same reason."""

STRAIN_REACH = 0.95
"""Share of what a leg can be stretched beyond its rest at which it bears no more: the rest is for a body that still
tilts when it has stopped."""

ROOM_AHEAD = 0.65
"""Share of how much farther aside than at rest a leg reaches that it uses up where a foot is put down."""

ROOM_BEHIND = 0.5
"""The same where it leaves again: less, since the body goes on while it waits its turn."""

FASTEST_FALL = 1.2
"""Leg lengths a second that a body comes down at most where a leg would lose its hold: faster is a jolt."""

LEAST_SPARE = 0.05
"""Leg lengths that every leg reaches beyond its rest: one that stands straight, far down, has no room by itself, and
would hold its body back for ever."""

DEEPEST_CROUCH = 2.0
"""Times what the body waits for that it comes down where a step has raised it, so that no planted foot loses its
hold."""

LOWEST_CROUCH = 0.3
"""Share of its height that a body comes down at most, whatever its legs are long: a spider's belly stays off the
ground."""

HOLD_EDGE = 3.0
"""Weight of a gap under the sole in judging a foothold, beside its distance from where it is wanted."""

HOLD_HEIGHT = 0.6
"""Weight of how far a foothold lies off the plane of the other feet: level ones are better."""

TRY_AGAIN = 0.06
"""Leg lengths that a foot which found no hold has to want to be elsewhere before it is tried again."""

LET_GO = 0.5
"""Half-lives of a walker's velocity in which one that was held back is half way to going on."""

ARRIVED = 0.02
"""Leg lengths from its target at which a walker is there."""

TURN_NEAR = 0.5
"""Leg lengths from its target within which a walker turns less and less: the direction to it is noise in the end."""

# --- clips -----------------------------------------------------------------------------------------------------

SLERP_NEAR_FLOAT32 = 0.6
"""Smallest cosine between two quaternions for which the series that slerps between keys is good to float32's rounding
(6e-8): 106 degrees from key to key. Beyond it, angles."""

SLERP_NEAR_FLOAT64 = 0.95
"""The same for float64 (6e-16): 36 degrees from key to key."""

EVENT_PASSES = 4
"""How often one step reports the same event at most: after a pause, nobody wants to hear a thousand footsteps."""

# --- frames ----------------------------------------------------------------------------------------------------

SHORTEST_FRAME = 1e-6
"""Seconds. No capture is faster, and a rate of frames can be had from it."""

LONGEST_FRAME = 1e6
"""Seconds, eleven days: what is longer is a broken file, not a slow motion."""

# --- figures of quality ----------------------------------------------------------------------------------------

GROUND_ABOVE = 0.5
"""How far above a sole, in leg lengths, its ground is looked for: to the knee, and not to the bridge overhead."""

GROUND_BELOW = 1.0
"""How far below, in leg lengths: a foot in the air finds the ground it will step on."""

PLANTED_HEIGHT = 0.05
"""Leg lengths above the ground below which a sole can be planted: 4 cm; a swinging foot clears 1 to 2 cm, but fast."""

PLANTED_SPEED = 0.4
"""Leg lengths a second below which a sole can be planted: a foot swings at 3 to 4 and stands at 0.1, as captured."""

PLANTED_SHORTEST = 0.06
"""Seconds. A plant, or a gap in one, that is shorter is noise: the shortest steps of a sprint last 0.08 s."""

CONTACT_BAND = 0.005
"""Leg lengths. Parts of a sole that are this near to its lowest part all count as touching: 4 mm."""

KNEE_BENT = 0.05
"""Leg lengths off the line from hip to ankle from which a knee is clearly bent: by 11 degrees."""

ALONG_FOOT = 0.5
"""Cosine with the character's forward from which ankle to toe is taken for the foot's direction: within 60 degrees."""
# --- balls -----------------------------------------------------------------------------------------------------

LONGEST_STEP = 1e6
"""Seconds (11 days). Longest step: its square times the largest gravity is still a number."""
