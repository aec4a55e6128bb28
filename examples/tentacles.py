"""Solve ten thousand tentacles in one call: FABRIK with a limit on every joint, and rotations for an engine."""

import math

import numpy as np

import kinema as km


def main() -> None:
    count, joints = 10_000, 9
    chains = np.zeros((count, joints, 3), np.float32)
    chains[:, :, 1] = np.linspace(0.0, 1.0, joints)
    angle = np.linspace(0.0, 2.0 * math.pi, count, dtype=np.float32)
    targets = np.stack([0.5 * np.cos(angle), np.full_like(angle, 0.6), 0.5 * np.sin(angle)], axis=-1)

    solved = km.fabrik(chains, targets, limits=[km.Cone(math.radians(35))] * (joints - 1))
    print(f"{solved.reached.mean():.1%} reached, {solved.iterations.mean():.1f} passes each")
    print("rotations", solved.rotations().shape, solved.joints.dtype)


if __name__ == "__main__":
    main()
