"""Place two legs without a skeleton or clip: from a pelvis, hips, bone lengths and a function for the ground."""

import math

import numpy as np

import kinema as km


def hills(x: float, z: float) -> float:
    """Height of the ground, metres."""
    return 0.1 * math.sin(4.0 * x + 3.0 * z)


def main() -> None:
    legs = km.LegPlacement(hip_height=0.92, thigh=0.44, shin=0.42, foot_offset=0.08).start()
    left, right = (0.12, 0.0, 0.0), (-0.12, 0.0, 0.0)
    for frame in range(61):
        z = 0.03 * frame
        pelvis = (0.0, 0.92 + hills(0.0, z), z)
        pose = legs.update(pelvis, left, right, hills, 1 / 30)
        if frame % 15 == 0:
            shins = np.stack((pose.left_shin, pose.right_shin))
            knees = np.degrees(2 * np.arctan2(shins[:, 0], shins[:, 3]))
            pelvis_cm = 100 * pose.pelvis_offset
            print(f"z {z:4.2f} m  pelvis {pelvis_cm:5.1f} cm  knees {knees.round(1)} degrees  reached {pose.reached}")


if __name__ == "__main__":
    main()
