"""A spider walks 4 m over rocks without a clip, then back to a point; prints how its feet behaved."""

import numpy as np

import kinema as km
from kinema import metrics
from kinema.demo import rocks, spider

DT = 1 / 60


def main() -> None:
    creature, ground = spider(), rocks()
    animator = km.Animator(creature, [km.Locomotion()], ground=ground)
    animator.set_transform((0.0, 0.0, 1.0))
    legs = animator["locomotion"]
    legs.walk((0.0, 0.0, 0.7))

    worlds, planted = [], []
    for frame in range(600):
        if frame == 360:
            legs.walk_to((1.0, 0.0, 4.5))
        made = animator.update(DT)
        report = made.reports["locomotion"]
        worlds.append(made.world)
        planted.append(report.planted)
        if frame % 60 == 0:
            x, y, z = made.transform[:3, 3]
            feet = "".join("_" if stands else "^" for stands in report.planted)
            print(f"{frame * DT:4.1f} s  at ({x:5.2f}, {y:5.2f}, {z:5.2f})  feet {feet}")

    figures = metrics.measure(creature.rig, np.array(worlds), ground, DT, planted=np.array(planted))
    print(f"{len(figures.steps.slide)} steps; a planted foot slid {1e3 * figures.worst_slide:.4f} mm at most,")
    deepest = figures.penetration[np.array(planted)].max()
    print(f"was {1e3 * figures.worst_hover:.3f} mm above the ground and {1e3 * deepest:.3f} mm in it")


if __name__ == "__main__":
    main()
