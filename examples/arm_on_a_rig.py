"""Correct the shoulder and elbow of an animated arm so that the hand reaches a target, at several weights."""

import numpy as np

import kinema as km


def world(upper: float = 0.3, lower: float = 0.25) -> np.ndarray:
    """World matrices of shoulder, elbow and wrist: an arm hanging down, a little bent."""
    matrices = np.tile(np.eye(4), (3, 1, 1))
    matrices[0, :3, 3] = (0.2, 1.4, 0.0)
    matrices[1, :3, 3] = (0.2, 1.4 - upper, 0.0)
    matrices[2, :3, 3] = (0.2, 1.4 - upper - 0.9 * lower, 0.4 * lower)
    return matrices


def main() -> None:
    arm, cup = world(), (0.35, 1.3, 0.35)
    for weight in (0.0, 0.5, 1.0):
        fix = km.two_bone_rotations(arm, cup, pole=(0.6, 1.0, -0.5), weight=weight)
        print(f"weight {weight}: shoulder {np.round(fix.start, 3)}  elbow {np.round(fix.mid, 3)}")
    print(f"reached {bool(fix.reached)}, {fix.error * 1000:.3f} mm off")


if __name__ == "__main__":
    main()
