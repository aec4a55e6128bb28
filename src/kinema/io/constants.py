"""What a file may ask for, and how it is written: every number with its unit and its reason."""

# --- writing ---------------------------------------------------------------------------------------------------

GLB_LARGEST = 2**32 - 1
"""Bytes of a binary glTF file: it says how many there are in 32 bits."""

LONGEST_TEMPORARY_STEM = 40
"""Characters of a file's name that its temporary file repeats. A name has 255 bytes, and a character up to four."""

# --- BVH -------------------------------------------------------------------------------------------------------

BVH_LARGEST_FILE = 64 * 2**20
"""Bytes. The longest takes of the public motion libraries are a third of it."""

BVH_MOST_JOINTS = 4_096
"""Ten times the richest face rig. A skeleton keeps a table of joints by joints."""

BVH_MOST_NUMBERS = 8_000_000
"""Numbers of all frames together: 11 minutes at 120 frames a second of 96 channels each, read in a second."""

BVH_MOST_FRAMES = 1_000_000
"""Two hours at 120 frames a second: bounds what a file of few channels unfolds to in memory."""

BVH_PIECE = 65_536
"""Characters of motion turned into numbers at a time, so that the words in between stay few."""

BVH_FRAME_RATE = 30.0
"""Frames a second written where the clip has no frame rate of its own."""

BVH_EVEN = 1e-2
"""Keys whose distances in time differ by less than this share count as evenly spaced: times are often rounded."""

BVH_STILL = 1e-9
"""A joint whose place changes by less than this share of the skeleton's size needs no position channels."""

# --- glTF ------------------------------------------------------------------------------------------------------

GLTF_LARGEST_FILE = 256 * 2**20
"""Bytes of a file and of each buffer beside it. Ten times a film character with its textures inside."""

GLTF_MOST_VALUES = 2_000_000
"""Values in the JSON, counted before it is parsed: 25 times those of a character with 76 clips. They unfold in memory
to some hundred bytes each."""

GLTF_MOST_NODES = 4_096
"""As in BVH: a skeleton keeps a table of joints by joints."""

GLTF_MOST_NUMBERS = 50_000_000
"""Numbers of all accessors, clips and skins together: 20 minutes of keys of 100 joints, or a million vertices and their
weights."""

GLTF_FREE_NUMBERS = 20_000_000
"""How many of them any file may unfold to, which takes a second; an accessor may declare any count without a byte in
the file, and any number of nodes may show the same mesh."""

GLTF_NUMBERS_A_BYTE = 4
"""How many more for each byte of its buffers: one of an array, as weights in a byte each, one of a clip or a skin, and
as many again for what is shared."""

GLTF_NUMBERS_A_VERTEX = 14
"""What a surface keeps of each: place, normal, joints, weights."""

GLTF_NUMBERS_A_SURFACE = 4_000
"""Counted for each surface on top, and again for each node that shows it: the time it takes, in numbers."""

GLTF_NUMBERS_A_BOUND_JOINT = 64
"""Counted for each joint of each skin: its matrix, and what is worked out from it."""

GLTF_MOST_CLIPS = 10_000
"""The largest public packs of clips have some hundreds; making so many takes a fifth of a second."""

GLTF_MOST_SETS = 8
"""Sets of four joints a corner that are looked for, JOINTS_0 to JOINTS_7; most files have one."""

LARGEST_SHOWN = 10**18
"""Whole numbers beyond are not written out in a message: they may have thousands of digits."""

GLTF_ELEMENT_STRIDE = (4, 252)
"""Bytes from one element to the next that a buffer view may declare, the specification's."""

GLTF_SHEAR = 1e-4
"""Cosine between the axes of a node's matrix from which it counts as sheared; matrices are often written with five
digits."""

GLTF_SINGULAR = 1e-9
"""A matrix whose smallest scale is this share of its largest has no inverse: of a part scaled away, say."""

GLTF_SAME_BIND = 1e-6
"""Skins that bind a surface to within this share of its size of each other bind it the same; rounding of float32."""

# --- any file --------------------------------------------------------------------------------------------------

FILE_HEAD = 1_024
"""Bytes at the start of a file by which its format is known; blank lines may come first."""
