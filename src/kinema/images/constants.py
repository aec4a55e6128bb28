"""What a picture's file may ask for: every number with its unit and its reason."""

PNG_LARGEST_FILE = 256 * 2**20
"""Bytes. Twice the largest picture that is read, as it would be if nothing of it could be packed."""

PNG_MOST_BYTES = 128 * 2**20
"""Bytes of pixels: a height field of 8192 by 8192 at 16 bits. Known before anything is unpacked, so that a small file
cannot ask for more."""

PNG_LONGEST_SIDE = 2**31 - 1
"""Pixels. The format's own limit."""

PNG_BAND = 256
"""Rows whose filters are undone together: enough to keep NumPy busy, few enough to stay in the cache."""

GIF_LONGEST_SIDE = 65_535
"""Pixels. The format keeps sides in 16 bits."""

GIF_SHORTEST_DELAY = 2
"""Hundredths of a second. Browsers take anything below for a mistake, and show such frames ten a second."""

PALETTE_BITS = 6
"""Bits a channel by which colours are told apart while a palette is chosen: finer than the palette will be."""

PALETTE_RARE = 0.5
"""A colour counts by its pixels to this power: large flat areas must not take all the colours of what is small."""
