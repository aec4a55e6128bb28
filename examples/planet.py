"""Characters stand all around a small planet, each with its own direction of gravity."""

import numpy as np

import kinema as km
from kinema import metrics
from kinema.demo import humanoid

RADIUS, COUNT = 6.0, 8


def main() -> None:
    person, planet = humanoid(), km.Sphere((0.0, 0.0, 0.0), RADIUS)
    angle = np.arange(COUNT) * 2 * np.pi / COUNT
    # About z, so that up at the first place, +y, turns with it.
    turns = np.column_stack((np.zeros((COUNT, 2)), np.sin(angle / 2), np.cos(angle / 2)))
    places = RADIUS * np.column_stack((-np.sin(angle), np.cos(angle), np.zeros(COUNT)))

    people = km.Animator(person, [km.Play("idle", root="root"), km.Feet()], ground=planet, count=COUNT)
    people.set_transform(places, turns)
    for _ in range(30):
        frame = people.update(1 / 30)
    soles = np.linalg.norm(metrics.sole_points(person.rig, frame.world[np.newaxis])[0], axis=-1) - RADIUS
    for degrees, feet in zip(np.degrees(angle), soles, strict=True):
        print(f"{degrees:4.0f} degrees round: soles {1000 * np.abs(feet.min(axis=-1)).max():.3f} mm off the ground")


if __name__ == "__main__":
    main()
