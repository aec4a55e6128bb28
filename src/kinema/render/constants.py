"""How pictures look and what they may cost: every number with its unit and its reason.

Lengths are in body sizes, the longest side of the box around what is drawn, so that files in any unit look alike.
"""

# --- rasteriser ------------------------------------------------------------------------------------------------

SMALL_TRIANGLE = 32
"""Pixels. Triangles up to this side are filled many at once; larger ones one by one, each by its own box."""

RASTER_PIECE = 2**20
"""Pixels of small triangles worked on at a time: what stays in the cache, and bounds the memory."""

# --- pictures --------------------------------------------------------------------------------------------------

FINE_STILL = 3
"""Pixels drawn for each one kept, in each direction, of a still picture: edges without steps."""

FINE_MOVING = 2
"""The same for a film: half the work, and nobody sees a single frame for long."""

MOST_PIXELS = 2**22
"""Pixels of one picture: 2560 by 1600. Nine times as many are drawn, in about 1.5 GB of memory."""

MOST_FRAMES = 600
"""Frames of a film: 20 seconds at 30 a second. Larger ones are for video formats."""

MOST_FILM_PIXELS = 2**27
"""Pixels of all frames of a film together: 600 frames of 480 by 360; 400 MB while it is put together."""

MOST_POSES = 32
"""Poses of a strip: more no longer tell apart."""

USUAL_SIZE, FILM_SIZE = (640, 480), (480, 360)
"""Width and height of a picture and of a film, pixels."""

STRIP_WIDTH, STRIP_HEIGHTS = 960, (200, 720)
"""Pixels: how wide a strip is, and how high it may get."""

STRIP_GAP = 1.05
"""Widths of a pose from each pose of a strip to the next, at least."""

STRIP_OVERLAP = 0.5
"""Widths of a pose from each pose of a strip to the next below which they can no longer be told apart."""

MARGIN = 0.08
"""Share of the picture's shorter side that stays free around the motion."""

FIT_SAMPLES = 64
"""Moments of a clip that are looked at to find where its joints go."""

FIT_SKINS = 8
"""Moments at which its skin is looked at for that, which takes longer."""

FLESH = 0.03
"""Body sizes that are seen around a joint."""

# --- bones -----------------------------------------------------------------------------------------------------

BONE_WIDTH = 0.036
"""Radius of a bone where it is thickest, body sizes, if it is one long; shorter ones by the root of their length, so
that fingers can be seen and a thigh is no balloon."""

KNOB = 0.8
"""Radius of a joint's ball, as a share of the thickest bone that it holds."""

BONE_AT, BONE_SHAPE = (0.0, 0.04, 0.16, 0.5, 1.0), (0.35, 0.62, 1.0, 0.84, 0.45)
"""A bone's outline: places along it, and the radius there as a share of its thickest."""

SIDES = 10
"""Sides of a bone's tube: round at the sizes that are drawn."""

SMALLEST_KNOB = 0.006
"""Body sizes: radius of the ball of a joint that holds no bone."""

SHORTEST_BONE = 1e-3
"""Body sizes. Shorter bones are not seen, and may have no direction."""

HEAD = 0.06
"""Body sizes: radius of the ball that stands for a head, at most."""

HEAD_ABOVE, HEAD_AROUND = 0.7, 0.6
"""How far the ball is above a head's joint, in its radii, where nothing is below it; and its radius as a share of the
way to what is furthest below, where something is."""

SKULL_SIDES = 28
"""Sides of that ball."""

VEIL = 0.45
"""How much of the skin is seen where bones show through it, 0 to 1."""

SIDEWAYS = 0.02
"""Body sizes from the middle at which a limb counts as left or right."""

# --- light -----------------------------------------------------------------------------------------------------

SUN = (-0.38, 1.0, 0.40)
"""Where the light comes from, seen by the eye: left, up, and from behind it."""

AMBIENT, SKYLIGHT, SUNLIGHT = 0.50, 0.14, 0.58
"""How bright a surface is, as a share of its colour: from everywhere, what faces up more than what faces down, and what
faces the sun. All together a little more than 1."""

SHINE, SHINE_POWER, SHINE_FROM = 0.12, 24, 0.05
"""A highlight: how bright, how small, and from how much sun on."""

SHADOW_DETAIL = 220
"""Pixels of the shadow map a body size."""

SHADOW_SIDE = 2048
"""Pixels: the longest side of the shadow map. Of what is larger it shows less detail."""

SHADOW_SOFT = 2.0
"""Pixels of the shadow map over which the edge of a shadow on the body itself is spread, to either side."""

SHADOW_BIAS = 0.012
"""Body sizes by which something has to be in front of a point to shade it: about the width of a bone."""

PENUMBRA = (2, 7)
"""Pixels of the shadow map over which the shadow on the ground is spread, to either side: of what is on the ground, and
of what is high above it."""

PENUMBRA_HEIGHT = 0.4
"""Body sizes above the ground from which the shadow is as soft as it gets."""

# --- ground ----------------------------------------------------------------------------------------------------

GRID_CELLS = 4.0
"""About how many cells of the ground's grid a body size has; rounded to 1, 2 or 5 times a power of ten."""

GRID_LINE = 0.0035
"""Body sizes: width of the grid's lines."""

GROUND_FADES = (0.75, 2.1)
"""Body sizes beyond the motion where the ground begins to fade, and where it is gone."""

GROUND_RELIEF = 0.6
"""How much brighter or darker than level ground one is that faces the sun more or less."""

HEIGHTS = 256
"""Heights along each side of the box that is seen, of ground that has to be sampled."""

FINE_GROUND = 2
"""Pixels of an uneven ground drawn for each one kept, in each direction."""

MOST_WALLS, WALL_STEP = 4, 1e-4
"""How many surfaces one looks through, or counts to tell whether a place is inside of ground: the fronts and backs of
two walls; and body sizes from one of them on to where the next one is looked for."""
