"""Pull a hand and let the whole body follow: a person reaches up, down and to the side with both feet pinned.

Writes full_body.glb, which any viewer of glTF plays. `kinema render full_body.glb --strip 6 -o strip.png` draws it.
"""

from dataclasses import replace

import numpy as np

import kinema as km
from kinema.demo import humanoid

FRAMES = 90
FPS = 30


def hand_path(start: np.ndarray) -> np.ndarray:
    """(FRAMES, 3): up, across and down to the floor."""
    corners = start + np.array([(0, 0, 0), (0.1, 0.9, 0.2), (-0.6, 0.5, 0.5), (0.2, -0.7, 0.5), (0.9, -0.1, 0.3)])
    at = np.linspace(0, len(corners) - 1, FRAMES)
    return np.stack([np.interp(at, range(len(corners)), corners[:, axis]) for axis in range(3)], axis=-1)


def main() -> None:
    character = humanoid()
    body, rest = km.FullBody(character), character.skeleton.rest
    hand = character.skeleton.world(rest)[body.joint("left_hand"), :3, 3]
    pose, poses, errors = rest, [], []
    for target in hand_path(hand):
        pulled = [
            km.Effector("left_hand", target),
            km.Effector("left_foot", pin=True),
            km.Effector("right_foot", pin=True),
        ]
        pose, report = body.solve(rest, pulled, warm=pose)
        poses.append(pose)
        errors.append(float(report.error[0]))
    frames = km.Pose(*(np.stack(arrays) for arrays in zip(*(pose.arrays() for pose in poses), strict=True)))
    clip = km.Clip.from_poses("reach", character.skeleton, frames, fps=FPS)
    km.save("full_body.glb", replace(character, clips={"reach": clip}, name="full_body"))
    print(f"{FRAMES} frames, hand off by {np.median(errors) * 1000:.1f} mm in the middle, {max(errors):.2f} m at most")


if __name__ == "__main__":
    main()
