"""VRM's springs and constraints as their specifications write them, in plain NumPy."""

from itertools import pairwise

import numpy as np

import kinema as km


def between(a, b):
    """The smallest rotation between two unit vectors, not opposite."""
    q = np.array([*np.cross(a, b), 1.0 + a @ b])
    return q / np.linalg.norm(q)


def unit(v):
    return v / np.linalg.norm(v)


class Posed:
    """A pose whose rotations may be written; world transforms are computed when they are asked for."""

    def __init__(self, skeleton, pose):
        self.parents = skeleton.parents
        self.t, self.r = pose.translations.copy(), pose.rotations.copy()

    def world(self, joint):
        if joint < 0:
            return np.zeros(3), np.array([0.0, 0.0, 0.0, 1.0])
        position, rotation = self.world(int(self.parents[joint]))
        turned = km.quat.rotate(rotation, self.t[joint])
        return position + turned, km.quat.mul(rotation, self.r[joint])

    def point(self, joint, offset):
        position, rotation = self.world(joint)
        return position + km.quat.rotate(rotation, np.asarray(offset, float))

    def local(self, joint, point):
        position, rotation = self.world(joint)
        return km.quat.rotate(km.quat.conjugate(rotation), point - position)


class NaiveSprings:
    """The specification's springs, whose last joint is only an end."""

    def __init__(self, skeleton, springs, pose):
        self.skeleton, self.springs = skeleton, springs
        posed = Posed(skeleton, pose)
        self.tails = {}
        for spring in springs:
            joints, center = self.of(spring)
            for tail in joints[1:]:
                here = posed.world(tail)[0]
                self.tails[tail] = 2 * [here if center is None else posed.local(center, here)]

    def of(self, spring):
        center = None if spring.center is None else self.skeleton.index(spring.center)
        return [self.skeleton.index(joint) for joint in spring.joints], center

    def step(self, pose, dt=1 / 60):
        """The world positions of all joints after a frame."""
        posed = Posed(self.skeleton, pose)
        for spring in self.springs:
            joints, center = self.of(spring)
            for n, (head, tail) in enumerate(pairwise(joints)):
                self.swing(posed, spring, n, (head, tail, center), dt)
        return np.array([posed.world(joint)[0] for joint in range(len(self.skeleton))])

    def swing(self, posed, spring, n, joints, dt):
        head, tail, center = joints
        origin, rotation = posed.world(head)
        ahead = self.ahead(posed, tail, center, 1.0 - spring.numbers("drag")[n])
        axis = unit(posed.t[tail])
        ahead = (
            ahead + km.quat.rotate(rotation, axis) * spring.numbers("stiffness")[n] * dt + spring.gravities()[n] * dt
        )
        length = np.linalg.norm(posed.t[tail])
        ahead = origin + unit(ahead - origin) * length
        for collider in spring.colliders:
            distance, way = self.collide(posed, collider, ahead, spring.numbers("radius")[n])
            if distance < 0:
                ahead = ahead - way * distance
                ahead = origin + unit(ahead - origin) * length
        kept = ahead if center is None else posed.local(center, ahead)
        self.tails[tail] = [self.tails[tail][1], kept]
        to = km.quat.rotate(km.quat.conjugate(rotation), unit(ahead - origin))
        posed.r[head] = km.quat.mul(posed.r[head], between(axis, to))

    def ahead(self, posed, tail, center, keep):
        before, now = self.tails[tail]
        ahead = now + (now - before) * keep
        return ahead if center is None else posed.point(center, ahead)

    def collide(self, posed, collider, end, radius):
        joint = self.skeleton.index(collider.joint)
        start = posed.point(joint, collider.offset)
        away = end - start
        if collider.normal is not None:
            normal = km.quat.rotate(posed.world(joint)[1], unit(np.asarray(collider.normal, float)))
            return away @ normal - radius, normal
        if collider.tail is not None:
            shaft = posed.point(joint, collider.tail) - start
            away = away - shaft * np.clip(away @ shaft / (shaft @ shaft), 0, 1)
        distance = np.linalg.norm(away)
        if collider.inside:
            return collider.radius - radius - distance, -away / distance
        return distance - radius - collider.radius, away / distance


def follow(skeleton, pose, constraint):
    """The local rotation that the specification's formulas give a joint."""
    posed = Posed(skeleton, pose)
    joint, source = skeleton.index(constraint.joint), skeleton.index(constraint.source)
    rest, source_rest = skeleton.rest.rotations[joint], skeleton.rest.rotations[source]
    delta = km.quat.mul(km.quat.conjugate(source_rest), posed.r[source])
    axis = unit(np.asarray(constraint.axis, float))
    if constraint.kind == "rotation":
        target = km.quat.mul(rest, delta)
    elif constraint.kind == "roll":
        in_parent = km.quat.mul(km.quat.mul(source_rest, delta), km.quat.conjugate(source_rest))
        in_joint = km.quat.mul(km.quat.mul(km.quat.conjugate(rest), in_parent), rest)
        swing = between(axis, km.quat.rotate(in_joint, axis))
        target = km.quat.mul(rest, km.quat.mul(km.quat.conjugate(swing), in_joint))
    else:
        above = posed.world(int(skeleton.parents[joint]))[1]
        start = km.quat.rotate(km.quat.mul(above, rest), axis)
        turn = between(start, unit(posed.world(source)[0] - posed.world(joint)[0]))
        target = km.quat.mul(km.quat.mul(km.quat.mul(km.quat.conjugate(above), turn), above), rest)
    return km.quat.slerp(rest, target, constraint.weight)
