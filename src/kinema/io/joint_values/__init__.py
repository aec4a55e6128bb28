"""The motion of a robot as robot learning takes it: the pose of its base and the values of its joints, per frame.

Written as .npz, .csv and .pkl. A body that was loaded from an SMPL file is written to .npz as such a file again.
"""
