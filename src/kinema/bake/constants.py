"""The numbers of baking, each with its unit and its reason."""

DEFAULT_FPS = 30.0
"""Frames a second of clips whose keys give no rate."""

SPARSE_FPS = 20.0
"""Keys a second below which they were not made one a frame: a foot would swim from one to the next."""

SLOWEST_FPS, FASTEST_FPS = 1.0, 240.0
"""Frames a second that may be asked for, and to which a clip's own rate is held: mocap comes at up to 240."""

INNER_FPS = 60.0
"""Frames a second that are computed at least, whatever is kept: at 24 a second feet land a frame late."""

MOST_FRAMES = 36_000
"""Frames of one bake: ten minutes at 60 a second. A clip that is longer is cut into pieces by whoever has one."""

# --- travel ----------------------------------------------------------------------------------------------------

LOW_SOLE = 0.05
"""Leg lengths above the clip's floor below which a sole may be standing; the lower, the more it counts."""

FLOOR_SHARE = 0.1
"""Of all frames the share whose lowest sole is lower than the first guess of the floor: toes dip at every push-off."""

FLOOR_SHIFT = 0.15
"""Leg lengths that a clip's floor may be off the rig's. Further off, the clip flies, climbs or crawls."""

OUTLIER_SPEED, OUTLIER_SHARE = 0.2, 0.15
"""Leg lengths a second, and share of the travel's speed: what differs by more from the travel is a foot that swings."""

ROBUST_ROUNDS = 20
"""Rounds of reweighting, at most: it settles in five to ten."""

PRIOR_WEIGHT = 0.05
"""Weight of the mean travel in each frame, in fully planted points: what a frame goes by when no foot is down."""

TRAVEL_SMOOTHING = 0.1
"""Seconds, standard deviation: a body that surges with every slip of a foot limps, and what feet slide beside it is
little: 2 hundredths of a leg for a surge of 15% at every step."""

TURN_EXPLAINS = 0.6
"""What is left unexplained with a turn, as a share of what is left without: more is no reason to walk a curve."""

FLOOR_ROUNDS = 3
"""Rounds of finding the floor by the feet that stand, and the feet that stand by the floor."""

PLANT_HEIGHT = 0.018
"""Leg lengths above the clip's floor up to which a sole stands: what is higher is on its way up, however slow."""

PLANTED_SHARE = 0.5
"""Share of the travel's speed below which a foot stands. It swings at one to three times that speed."""

IN_PLACE_SPEED = 0.4
"""Leg lengths a second that feet must slide at for a clip to be one that walks in place: mocap slides by 0.05, who is
hit or strikes a blow by 0.3; the slowest sneaking and spiders' walks that were met are at 0.5."""

IN_PLACE_GOES = 0.1
"""Leg lengths that the hips of who walks in place get at most from start to end: who falls or dodges goes further."""

LARGEST_TURN = 4.0
"""Radians a second: who spins faster swings a sword, and does not walk a curve."""

LEG_AGREES = 0.25
"""Weight, 0 to 1, that a sole has somewhere in a clip for its leg to show the travel."""

IN_PLACE_TURN = 0.15
"""Radians a second of turning that counts; less is what the roll of feet makes of a straight walk."""

LOOP_GAP = 0.1
"""Leg lengths by which no foot of a loop differs between its first and its last frame, along any axis. Loops that leave
out the last frame, as it is the first, differ by what a foot moves in one."""

# --- ground ----------------------------------------------------------------------------------------------------

CLIMB_SHARE = 1.5
"""The same for runs, as a share of the travel's speed: a foot swings at three times that, up a slope of 1 in 2."""

STEEPEST_STAIRS = 0.6
"""Rise over run of the steepest stairs: how much higher the ground may be below a front foot than below the hips."""

LEAD_IN = 3.0
"""Seconds of a loop's pass before that are computed, unseen, so that the first frame is as steady as any other."""

SETTLING = 1.5
"""Seconds that the first pose is held, unseen, for hands and head to be where they belong in the first frame."""
