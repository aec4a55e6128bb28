"""Creatures that step by themselves, for the tests: in double precision, walked frame by frame."""

from dataclasses import replace
from functools import cache

import numpy as np

import kinema as km
from kinema import demo, metrics

HZ = 60


@cache
def exact(name):
    """One of our characters in double precision: there a planted foot stands to the last bit but a few."""
    made = getattr(demo, name)()
    skeleton = made.skeleton
    rest = km.Pose(*(array.astype(np.float64) for array in skeleton.rest.arrays()))  # Rotations at length 1 again.
    double = km.Skeleton(skeleton.names, skeleton.parents.tolist(), rest, skeleton.limits)
    return km.Character(double, {}, replace(made.rig, skeleton=double), (), name)


class Walk:
    """A walk and what there is to measure of it. F frames, L legs."""

    def __init__(self, character, ground, settings=None, start=(0.0, 0.0, 0.0)):
        self.character, self.ground = character, ground
        self.animator = km.Animator(character, [settings or km.Locomotion()], ground=ground)
        self.animator.set_transform(start)
        self.state = self.animator["locomotion"]
        self._world, self._planted, self._held, self._place = [], [], [], []
        self.report = None

    def go(self, seconds, hz=HZ):
        for _ in range(round(seconds * hz)):
            frame = self.animator.update(1.0 / hz)
            self.report = frame.reports.get("locomotion", self.report)
            self._world.append(frame.world)
            self._place.append(frame.transform)
            self._planted.append(self.report.planted)
            self._held.append(self.report.progress)
        return self

    @property
    def world(self):
        return np.array(self._world)

    @property
    def place(self):
        return np.array(self._place)

    @property
    def planted(self):
        return np.array(self._planted)

    @property
    def size(self):
        return self.character.skeleton.length(self.character.rig.legs[0].joints)

    def balls(self):
        """(F, L, 3): where the feet are."""
        return metrics.sole_points(self.character.rig, self.world)[:, :, 1]

    def slide(self):
        """Metres that a foot moves from frame to frame while it is planted in both, at most."""
        both = self.planted[1:] & self.planted[:-1]
        moved = np.linalg.norm(np.diff(self.balls(), axis=0), axis=-1)
        return moved[both].max(initial=0.0)

    def foot_speed(self):
        """Leg lengths a second, of the fastest foot."""
        return np.linalg.norm(np.diff(self.balls(), axis=0), axis=-1).max() * HZ / self.size

    def gaps(self):
        """(F, L): leg lengths that each ball is above the ground; below 0 in it."""
        return metrics.soles_over(self.character.rig, self.world, self.ground).gap[:, :, 1] / self.size

    def body(self):
        return self.world[:, self.character.rig.hips, :3, 3]

    def shake(self):
        """Metres a second squared: the largest change of the body's velocity."""
        return np.linalg.norm(np.diff(self.body(), n=2, axis=0), axis=-1).max() * HZ * HZ
