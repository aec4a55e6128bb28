"""A person walks 19 m over slopes, stairs and rocks; prints measures of the clip alone and with feet on the ground."""

import numpy as np

import kinema as km
from kinema import metrics
from kinema.demo import course, humanoid

SECONDS, DT = 14, 1 / 30


def walk(person: km.Character, stages: list, ground: object) -> np.ndarray:
    """World matrices of every frame, (frames, joints, 4, 4)."""
    animator = km.Animator(person, [km.Play("walk", root_motion="extract", root="root"), *stages], ground=ground)
    return np.array([animator.update(DT if frame else 0.0).world for frame in range(round(SECONDS / DT))])


def main() -> None:
    person, ground = humanoid(), course()
    flat = walk(person, [], None)
    planted = metrics.planted_from(person.rig, flat, DT)

    # What most games have before they have feet: the clip, with the ground's height below the body added to all of it.
    alone = flat.copy()
    alone[..., 1, 3] += ground.height_and_normal(flat[:, :1, 0, 3], flat[:, :1, 2, 3])[0]
    before = metrics.measure(person.rig, alone, ground, DT, planted=planted)

    after = metrics.measure(person.rig, walk(person, [km.Feet()], ground), ground, DT, planted=planted)
    print(f"{'':36}{'clip alone':>12}{'with Feet':>12}")
    for (what, clip, unit), (_, feet, _) in zip(before.table(), after.table(), strict=True):
        print(f"{what:36}{clip:12.3f}{feet:12.3f} {unit}")


if __name__ == "__main__":
    main()
