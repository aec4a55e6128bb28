"""Limits on what a glTF file may ask for, so that a small hostile file cannot use much memory or time."""

LARGEST_FILE = 256 * 2**20
"""Bytes of a file and of each buffer beside it. Ten times a film character with its textures inside."""

MOST_NODES = 4_096
"""As in BVH: a skeleton keeps a table of joints by joints."""

MOST_NUMBERS = 50_000_000
"""Numbers of all accessors, clips and skins together: 20 minutes of keys of 100 joints, or a million vertices with
their weights."""

FREE_NUMBERS = 20_000_000
"""How many of them any file may use, which takes a second. An accessor may declare any count without a byte in the
file, and any number of nodes may show the same mesh."""

NUMBERS_A_BYTE = 4
"""How many more for each byte of the buffers: one for an array, such as weights of one byte each, one for a clip or a
skin, and as many again for what is shared."""

NUMBERS_A_VERTEX = 14
"""Numbers kept per vertex of a surface: position, normal, joints, weights."""

NUMBERS_A_SURFACE = 4_000
"""Charged for each surface on top, and again for each node that shows it: the time it takes, in numbers."""

NUMBERS_A_SHAPE = 1_000
"""Charged for each blend shape, of each surface, each node that shows it and each clip that animates it."""

NUMBERS_A_BOUND_JOINT = 64
"""Charged for each joint of each skin: its matrix, and what is computed from it."""
