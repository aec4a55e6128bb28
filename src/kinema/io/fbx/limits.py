"""Limits on what an FBX file may ask for, so that a small hostile file cannot use much memory or time."""

LARGEST_FILE = 512 * 2**20
"""Bytes of a file. A film character with its textures inside takes some hundred million."""

OLDEST, NEWEST = 6100, 7799
"""Versions that are read: those of 2006 to today. Older ones describe transforms and takes in another way."""

MOST_DEPTH = 64
"""Elements inside each other. Real files have a dozen."""

MOST_ELEMENTS = 4_000_000
"""Most elements of a file that are read. Binary files skip elements that are not needed, and these do not count."""

MOST_VALUES = 20_000_000
"""Values of one element that are not in an array; each takes a byte of the file at least."""

MOST_NODES = 4_096
"""As in glTF: a skeleton keeps a table of joints by joints."""

MOST_CLIPS = 10_000
"""As in glTF."""

MOST_NUMBERS = 100_000_000
"""Numbers of all arrays, clips and skins together."""

FREE_NUMBERS = 20_000_000
"""How many of them any file may use, which takes a second. Deflate packs a thousand bytes into one, and two keys can
ask for any number of frames between them."""

NUMBERS_A_BYTE = 8
"""How many more for each byte of the file."""

NUMBERS_A_LINK = 16
"""Charged for each connection of an object, each time they are looked through: the time it takes, in numbers."""

NUMBERS_A_SURFACE = 4_000
"""Charged for each surface on top, and again for each node that shows it: the time it takes, in numbers."""
