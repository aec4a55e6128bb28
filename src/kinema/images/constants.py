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
