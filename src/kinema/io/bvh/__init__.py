"""BVH: a joint hierarchy and one take of motion, stored as text.

A joint's OFFSET is its position relative to its parent in the rest pose, in which every rotation is zero. Position
channels replace the OFFSET in each frame, axis by axis (as in Blender and MotionBuilder). Rotation channels are in
degrees, about the joint's own axes, in the order they are listed. End Sites become joints named after their parent
(`Toe_end`), so that the last bone of a limb has a length.

Lengths stay in the unit of the file.
"""

from kinema.io.bvh.reader import LARGEST_FILE as LARGEST_FILE
from kinema.io.bvh.reader import decode as decode
from kinema.io.bvh.reader import detect as detect
from kinema.io.bvh.reader import loads as loads
from kinema.io.bvh.writer import dumps as dumps
from kinema.io.bvh.writer import encode as encode
