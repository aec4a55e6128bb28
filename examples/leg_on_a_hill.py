"""A leg that follows a hill: one call per frame, and the knee never snaps or flips."""

import math

import kinema as km


def ground(x: float) -> float:
    """Height of the hill, metres."""
    return 0.15 * math.sin(3.0 * x)


def main() -> None:
    hip_height, thigh, shin = 0.8, 0.5, 0.5
    knee_before = (0.0, -1.0, 0.3)
    for frame in range(0, 60, 10):
        x = frame / 30.0
        hip, foot = (x, hip_height, 0.0), (x + 0.1, ground(x + 0.1), 0.0)
        leg = km.two_bone(hip, foot, (thigh, shin), pole=(x + 2.0, 0.5, 0.0), hint=knee_before, soften=0.97)
        knee_before = leg.mid - hip
        knee = f"({leg.mid[0]:5.2f}, {leg.mid[1]:5.2f})"
        print(f"x {x:4.2f}  knee {knee}  reach {leg.reach:4.2f}  reached {bool(leg.reached)}")


if __name__ == "__main__":
    main()
