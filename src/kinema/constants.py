"""Every tolerance and tuning number, with its unit and its reason. Nothing else in the package holds a bare one."""

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

MAIN_PASSES = 6
"""FABRIK or CCD passes before the finish takes over. Measured on 10 bones to 1e-4: 4.5 passes in all on average, where
going on with FABRIK to the end takes 9.6."""

MAIN_PASSES_LIMITED = 12
"""The same with limits, where the finish is the one that stalls."""

FINISH_PASSES = 24
"""Gauss-Newton passes, besides one a joint, before a chain counts as stalled. Without limits the 99th percentile of
all passes is 9; long chains that CCD has curled up take more to unroll."""

ATTEMPTS = 4
"""Starts tried without limits: the pose that came in, then scattered ones. The first serves all but a handful."""

ATTEMPTS_LIMITED = 16
"""Starts tried inside limits, where a stall at a limit is common."""

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

PUSH_ZONE = 1e-3
"""A chain whose joints are all this near (in chain lengths) to the line to its target cannot bend by itself."""

PUSH = 0.1
"""How far (in chain lengths) the middle of such a chain is pushed aside."""

CLOSED = 1e-5
"""Distance of a chain's end from its root, in chain lengths, below which there is no line between them."""

FARTHEST = 4.0
"""A limited chain's target is pulled in to this many chain lengths: no pose differs, and no square overflows."""

CCD_LARGEST_TURN = 0.6
"""Largest turn of one joint in one CCD pass, radians: without it the tip joints curl up and do all the work."""

CCD_LARGEST_CURL = 6.0
"""Largest sum of all joints' turns in one CCD pass, radians: a chain of 32 bones that curls up further in the first
passes is never straightened out by the finish (5% of the targets near full reach)."""

# --- the compensating-angle solver -----------------------------------------------------------------------------

COMPENSATION_BASE = 0.17453292519943295
"""10 degrees in radians: what a bone adds to its compensating angle besides the angle to the target."""

COMPENSATION_RELAX = 0.5
"""Share of a compensating angle that is left after a step."""

COMPENSATION_LARGEST = 3.141592653589793
"""A compensating angle never grows past half a turn, however near the target is."""

HOMING_ZONE = 0.5
"""Distance from the target, in chain lengths, within which the end itself is brought home, more the nearer. The balance
of pulling and backing away alone rests at 0.01 to 0.4, the more the fewer bones there are."""

TURN_RATE = 8.0
"""How fast a bone at the tip closes its angle to the target, per second."""

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

# --- clips -----------------------------------------------------------------------------------------------------

SLERP_NEAR_FLOAT32 = 0.6
"""Smallest cosine between two quaternions for which the series that slerps between keys is good to float32's rounding
(6e-8): 106 degrees from key to key. Beyond it, angles."""

SLERP_NEAR_FLOAT64 = 0.95
"""The same for float64 (6e-16): 36 degrees from key to key."""

EVENT_PASSES = 4
"""How often one step reports the same event at most: after a pause, nobody wants to hear a thousand footsteps."""

# --- playing ---------------------------------------------------------------------------------------------------

FADE_HALF_LIVES = 4.0
"""Half-lives in a fade: 1% of the way from the old movement to the new one is left at its end."""

FADE_OVER = 4.0
"""Fades after which nothing is left of one (a share of 6e-11), and the new clip is shown bit for bit."""

FADE_PROBE = 1.0 / 120.0
"""Seconds over which the speed of a clip is measured where another one takes over: half a frame."""

# --- procedural layers -----------------------------------------------------------------------------------------

INHALE = 0.3
"""How much faster than the mean lungs fill half way through breathing in: that takes 41% of a breath."""

BREATH_CHEST = 0.03
"""Radians the chest leans back with a breath of depth 1."""

BREATH_SHOULDERS = 0.02
"""Radians the shoulders rise with a breath of depth 1."""

FASTEST_RATE = 100.0
"""Most breaths or sways a second: a frame sees no more."""

DEEPEST_BREATH = 30.0
"""Deepest breath: beyond it the chest would tip over backwards."""

GOLDEN = 1.618033988749895
"""The golden ratio, which fractions approximate worst of all: waves whose rates are that far apart never meet again."""

SWAY_SECOND = 0.4
"""Share of the second, faster wave in a sway."""

SWAY_SPAN = 1000.0
"""Seconds over which the starts of characters are spread, so that no two of them sway alike."""

KICK_OVER = 1e-6
"""Share of a kick below which it is over."""

STRONGEST_KICK = 1e3
"""Strongest kick taken: a stronger one is a mistake, and float32 has to hold whatever kicks add up to."""
# --- ground ----------------------------------------------------------------------------------------------------

RAY_FAR = 1e200
"""Metres. Farther than any ray goes (they end at 1e100), and still finite when multiplied by any length."""

SMALLEST_CELL = 1e-100
"""Metres. Smallest cell of a grid: the largest coordinate divided by it is still finite."""

HEIGHT_MARGIN = 1e-6
"""Share of its height by which the box around a height field is thicker than the field: a flat one has a box too."""

RAY_PARALLEL = 1e-150
"""Smallest share of a direction along an axis that is told from none in boxes: its inverse times any coordinate is
finite, and longer than any ray times the margin of any box of 1e-34 m or more."""

BOX_ROUNDING = 1e-15
"""Share by which boxes of a tree, and spans of rays in them, are larger than computed: some roundings of float64, so
that a ray that meets a triangle meets its box."""

TREE_BINS = 16
"""Places tried for the split of a node. More change the tree little and take longer."""

TREE_LEAF = 4
"""Most triangles in a leaf."""

TREE_DEPTH = 48
"""Deepest tree, and so the room a ray needs for nodes still to visit: where uneven splits would lead deeper, they are
even."""

EMBREE_MARGIN = 1e-5
"""How much larger triangles are for Embree, in sizes of the mesh: many roundings of float32 (6e-8), which slanted rays
multiply. Rays that pass an edge within it are cast once more, without Embree."""

EMBREE_SHARPEST = 0.01
"""Sine of an angle below which a triangle's corner is not pushed out any farther: it would go on for ever."""

MARCH_STEPS = 1024
"""Most steps along a slanted ray over a function; a longer ray takes longer ones."""

MARCH_STEPS_LEAST = 8
"""Fewest: a ray shorter than a step crosses narrow things too."""

MARCH_BLOCK = 4_096
"""Points a function is asked for at once where there are fewer rays: about as many as take as long as the call."""

BISECTIONS = 53
"""Times the step that crosses a function's surface is halved: down to one rounding of float64."""

SLOPE_STEP = 1e-4
"""Metres, or share of the coordinate where that is more, to both sides for the slope of a function: wide enough for
heights that were computed in float32."""

SORTED_FROM = 2_048
"""Rays from which it pays to cast them at a mesh in the order of where they start: half the time for 100,000 rays and
triangles."""
