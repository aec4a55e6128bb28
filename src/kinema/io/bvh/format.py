"""What reading and writing BVH share: channel names and limits."""

from __future__ import annotations

CHANNELS = {f"{axis}{kind}": (kind, i) for kind in ("position", "rotation") for i, axis in enumerate("xyz")}
"""Channel names in lower case: what they change, and which axis."""

END_SUFFIX = "_end"
"""Suffix of the joint that an End Site becomes."""

LARGEST_FILE = 128 * 2**20
"""Bytes read from a file by default. The longest takes in public motion libraries are a sixth of it."""

BYTES_A_NUMBER = 8
"""A file of n bytes may declare n / 8 numbers: written with six decimals, a number takes 8 to 12 bytes."""

MOST_JOINTS = 4_096
"""Ten times the richest face rig. A skeleton keeps a table of joints by joints."""

MOST_FRAMES = 1_000_000
"""Two hours at 120 frames per second. Bounds what a file with few channels expands to in memory."""
