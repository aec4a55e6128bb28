"""Numbers that finding roles goes by. Lengths are shares of something of the skeleton's own, never metres."""

import math

# --- looking at clips -------------------------------------------------------------------------------------------

CLIPS_LOOKED_AT = 4
"""Clips that are sampled: those that stand and walk come first, and more would tell nothing new."""

MOMENTS = 24
"""Moments of each clip: enough that a step of a walk has several on the ground."""

LONGEST_LOOK = 4.0
"""Seconds of a clip that are looked at: two strides of a slow walk. Longer clips would be sampled too thinly."""

# --- the body ---------------------------------------------------------------------------------------------------

SKIN_SHARE = 1e-4
"""Share of all skin that must follow a joint for it to count: less is left behind by painting weights."""

TELLING_SHARE = 0.5
"""Where at least this share of what could turn carries skin, joints without any are controls; where clips turn this
share, joints that they do not turn are none."""

BODY_BRANCHES = 3
"""A joint with as many children is where limbs hang from: bodies have two or more of those, hips and chest."""

SAME_PLACE = 1e-3
"""Shares of the body's size within which two joints are in one place."""

MOST_JOINTS = 4096
"""Joints that are looked at; a larger skeleton is no body (and would take long: pairs are compared)."""

# --- symmetry ---------------------------------------------------------------------------------------------------

ALIKE = 0.7
"""Two limbs are a pair if the shorter is at least this long, as a share of the other."""

MIRROR_SLACK = 0.06
"""How far from its mirror image a joint may be, in shares of the body's size, to be half as convincing."""

PAIR_COST = 0.6
"""Pairs that differ by more than this share of their own size are no pairs."""

ALONG_X = 0.04
"""What a mirror plane gains by lying across x, as nearly all files have it: settles ties, not more."""

ACROSS_X = 0.985
"""A mirror plane is taken to lie across x if it is within 10 degrees of it: this cosine. Crooked poses tilt it."""

MOST_CHILDREN = 24
"""Children of one joint that are compared with each other, the longest: a spider's legs and then some."""

MOST_MIRRORED = 256
"""Joints whose mirror images are looked for."""

MOST_PLANES = 48
"""Mirror planes that are tried, those of the longest limbs first."""

# --- limbs ------------------------------------------------------------------------------------------------------

LIMB_LENGTH = 0.12
"""Shortest arm or leg, as a share of the body's size. Ears and eyes are shorter, and hang from the head."""

SPLIT_LENGTH, SPLIT_SPREAD = 0.5, 0.25
"""A branch within a limb makes limbs of their own if both parts have this share of its length below, and their ends
lie this share apart: legs from a common anchor do, fingers do not."""

FLOOR_BAND = 0.14
"""A limb stands if its end is in the lowest part of the body, by this share of the body's height."""

STANDS_OFTEN = 0.3
"""Share of the moments looked at in which a leg's end has to be at the bottom: feet that walk are up half the time."""

LEG_DROP = 0.1
"""A leg comes down to the floor by at least this share of its length: a spider's knees do, what lies about does not."""

SHORTEST_LEG = 0.4
"""The shortest leg, as a share of the longest one of the same body."""

MOST_LEG_JOINTS = 8
"""Joints of a leg down to its end: an insect's have up to seven parts. What has more, and no name, may be a rope."""

UPRIGHT_PRIOR = {(1, 1): 1.3, (2, 1): 1.1}
"""What an axis gains as up, by axis and sign: y up is usual, z next."""

OFF_AXIS = 0.6
"""What a direction along no axis loses as up."""

SNAP = 0.94
"""Up is taken to be an axis of the file if it is within 20 degrees of one: this cosine."""

# --- feet -------------------------------------------------------------------------------------------------------

STEEP = 1.4
"""A bone that falls this many times what it goes ahead is part of the leg (a hock, a pastern), not of the foot."""

LEG_STILL = {2: 0.2, 4: 0.08}
"""Height of a joint, in shares of the hip's, above which a steep bone below goes on being leg, by the number of legs:
people's ankles are higher than a fox's pasterns."""

DROP_SLACK = 0.2
"""Two bones of a leg are thigh and shin if they come down by the most of any two, or this share less, from above."""

BEYOND = 0.75
"""A joint that lies this much closer to the middle than its leg is the shoulder blade or the pelvis above it."""

# --- facing -----------------------------------------------------------------------------------------------------

UNCLEAR = 0.3
"""Where what speaks for facing one way outweighs the rest by no more than this share of it all, it is not clear."""

VOTES = {
    "sides": 3.0,
    "head": 2.0,
    "toes": 1.5,
    "walk": 1.5,
    "chest": 1.0,
    "face": 1.0,
    "knees": 0.5,
    "tail": 0.5,
    "clip": 0.5,
}
"""How much each sign of facing ahead weighs: names of left and right, an animal's head before its hips, each foot that
points ahead, a walk that goes there, an animal's chest, jaw and eyes before the head, each knee, each joint of a tail
behind, any other clip (some fall on their backs)."""

STANDING_BAND = 0.02
"""Feet within this share of the body's size above the lowest one stand with it."""

FOOT_TILT = math.radians(30)
"""A pose in which a foot points down by this much more or less than it mostly does is not one to measure soles in."""

FULL_TRAVEL = 0.3
"""A clip that travels this share of the body's size says with its full weight which way is ahead."""

FULL_VOTE = 0.1
"""A foot that reaches ahead by this share of its leg speaks for facing that way with its full weight."""

# --- the middle -------------------------------------------------------------------------------------------------

CLOSE_TO_HIPS = 0.4
"""A joint above where the legs hang from is the hips if it is this close, in leg lengths, and belongs to the body."""

HEAD_TOP = 1.5
"""A last joint that is this many times as far from the one before as that is from its own marks the top of the head."""

EYE_AHEAD = 0.5
"""Eyes are ahead of the head's joint by at least this share of how far they are above it."""

EYE_REACH = 0.75
"""What hangs from an eye is shorter than this share of the way to it: jaws and ears are longer."""

# --- soles ------------------------------------------------------------------------------------------------------

FOOT_SKIN = 0.5
"""Skin belongs to a foot if more than this share of it follows the ankle and what is below."""

SOLE_BAND = 0.2
"""Skin that is this close above the lowest of it, in heights of the ankle, is the sole: heel and tip are its ends."""

LEVEL_BAND = 0.01
"""Levels of the floor, of rest and of several clips, that agree within this share of a leg are one."""

THICKEST_SOLE = 0.12
"""How far the lowest joints of a foot may be above the ground, in leg lengths."""

PLANTED_PART = 40.0
"""Per cent of moments in which the lowest sole is on the floor or below where it is taken to be: in a walk one foot
always stands, in a run there are flights, and a sole that is a little too long dips below at push-off."""

# --- overrides --------------------------------------------------------------------------------------------------

LARGEST_OVERRIDES = 1_000_000
"""Bytes of a file of overrides: a name for each of thousands of joints fits many times."""

# --- arms -------------------------------------------------------------------------------------------------------

ARM_BONES = 0.4
"""Upper arm and forearm are alike: the shorter is at least this long, as a share of the other."""

# --- bends ------------------------------------------------------------------------------------------------------

BENT = 0.1
"""Sine of the angle from which a limb is clearly bent: six degrees. Arms laid out by hand are off by half of that."""

# --- units ------------------------------------------------------------------------------------------------------

UNITS = {
    "metres": 1.0,
    "centimetres": 0.01,
    "millimetres": 0.001,
    "decimetres": 0.1,
    "inches": 0.0254,
    "feet": 0.3048,
    "CMU's units (0.45 inches to 1)": 0.0254 / 0.45,
}
"""Metres in a unit, by its name."""

BODY_HEIGHTS = {0: 1.5, 2: 1.6, 4: 0.9, 6: 0.4}
"""Height up to the head's joint that a body usually has, by its number of legs (6 for more), metres."""

UNIT_CLEAR = 0.5
"""How far off, as a power of ten, a height may be for the file to be in metres nevertheless: toys and giants exist."""

# --- limits -----------------------------------------------------------------------------------------------------

LIMIT_CLIPS, LIMIT_MOMENTS = 32, 64
"""Clips whose range of motion is looked at, and at how many moments of each."""

HINGE_MOVES = math.radians(4)
"""A joint that turns less than this shows no axis."""

HINGE_SLACK = math.radians(3)
"""A joint whose clips turn it further off one axis than this is no hinge; those of animators and capture wobble."""

HINGE_MARGIN, SWING_MARGIN = math.radians(10), math.radians(10)
"""Room beyond what clips show, so that what they do is never at a limit."""

USUAL_BEND = math.radians(145)
"""How far knees, elbows and fingers fold from straight."""

USUAL_SOCKETS = {
    role: (math.radians(swing), math.radians(twist))
    for role, (swing, twist) in {
        "spine": (25, 15),
        "neck": (30, 25),
        "head": (40, 40),
        "eye": (40, 10),
        "thigh": (115, 45),
        "foot": (60, 35),
        "shoulder": (30, 20),
        "upper_arm": (125, 90),
        "hand": (80, 80),
        "knuckle": (95, 30),
    }.items()
}
"""How far people's joints swing, and twist either way."""
