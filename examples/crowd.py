"""A thousand characters on rocks, with the same code as for one, and the time of each stage."""

import statistics

import numpy as np

import kinema as km
from kinema.demo import humanoid, rocks

COUNT, FRAMES = 1_000, 20


def main() -> None:
    draw = np.random.default_rng(0)
    # A height field is faster than a function.
    x, z = np.meshgrid(np.linspace(-2, 2, 101), np.linspace(0, 12, 301), indexing="ij")
    ground = km.HeightField(rocks(length=8.0).height_and_normal(x, z)[0], origin=(-2, 0), spacing=0.04)
    stages = [
        km.Play("walk", root_motion="extract", root="root", time=draw.uniform(0, 1, COUNT)),
        km.Breathing(),
        km.Feet(priority=2, max_distance=30.0),
        km.Head(priority=1, max_distance=15.0),
    ]
    crowd = km.Animator(humanoid(), stages, ground=ground, count=COUNT, viewer=(0.0, 1.7, -4.0))
    crowd.set_transform(
        np.column_stack((draw.uniform(-1.8, 1.8, COUNT), np.zeros(COUNT), draw.uniform(0.5, 9.0, COUNT)))
    )
    crowd.look_at((0.0, 1.6, 20.0))

    frames = [crowd.update(1 / 60).timings for _ in range(FRAMES)][2:]
    for stage in frames[0]:
        print(f"{stage:10}{statistics.median(frame[stage] for frame in frames):9.2f} ms for {COUNT:,} characters")
    print("seen from 4 m away:", {line.stage: line.characters for line in crowd.update(1 / 60).trace})


if __name__ == "__main__":
    main()
