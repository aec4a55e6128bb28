"""SMPL motion in .npz files, as AMASS and pose estimators write it: rotations of a body with 22, 24, 52 or 55 joints.

Read and written without a model file: the joint tree is the published one, the bones are those of an average person.
"""

from kinema.io.smpl.motion import LARGEST_FILE as LARGEST_FILE
from kinema.io.smpl.motion import SmplSource as SmplSource
from kinema.io.smpl.motion import decode as decode
from kinema.io.smpl.motion import detect as detect
