"""Head and eyes follow a fly; then a hand reaches for it with `km.solve`."""

import math

import numpy as np

import kinema as km
from kinema.demo import humanoid


def fly(time: float) -> tuple[float, float, float]:
    """It circles in front of the face."""
    return (0.5 * math.sin(1.5 * time), 1.55 + 0.1 * math.sin(4.0 * time), 0.6)


def main() -> None:
    person = humanoid()
    animator = km.Animator(person, [km.Play("idle", root="root"), km.Breathing(), km.Head(), km.Eyes(seed=7)])
    for frame in range(120):
        time = frame / 60
        animator.look_at(fly(time))
        made = animator.update(1 / 60)
        if frame % 20 == 19:
            head, eyes = made.reports["head"], made.reports["eyes"]
            off = np.degrees(head.error), np.degrees(eyes.error).max()
            print(f"{time:4.2f} s  head {off[0]:5.2f} degrees off, eyes {off[1]:4.2f}, lids {eyes.blink:.2f} closed")

    # The pose of the frame, with one arm solved on top. Three joints are a limb, and the elbow keeps to its hinge.
    arm = person.rig.arm("left").joints
    goal = km.Goal(position=(0.3, 1.45, 0.4), pole=(0.9, 0.8, -0.3))
    pose, report = km.solve(person.skeleton, made.pose, arm, goal, soften=0.97)
    wrist = person.skeleton.world(pose)[arm[-1], :3, 3]
    print(f"wrist at {np.round(wrist, 3)}, reached {bool(report.reached)}, {report.error * 1000:.3f} mm off")

    # Too far: the arm alone does not get there, from the spine on it does.
    far = km.Goal(position=(0.4, 1.2, 0.75))
    for start in ("upper_arm_l", "spine_1"):
        _, report = km.solve(person.skeleton, made.pose, person.skeleton.chain(start, "hand_l"), far)
        print(f"from {start}: reached {bool(report.reached)}, {report.error * 1000:.1f} mm off")


if __name__ == "__main__":
    main()
