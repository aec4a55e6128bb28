"""Motion files of points: keypoints of detectors and markers of capture systems, for fitting a skeleton to them.

NumPy arrays, tables, JSON of MediaPipe, OpenPose, AlphaPose and MMPose, TRC and C3D. A file becomes one take per
person. Axes and unit stay as in the file.
"""

from kinema.io.points.load import POINT_SUFFIXES as POINT_SUFFIXES
from kinema.io.points.load import load_points as load_points
from kinema.io.points.load import load_points_bytes as load_points_bytes
from kinema.io.points.take import PointTake as PointTake
