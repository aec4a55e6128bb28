"""Robots from URDF files as skeletons: one joint per link, hinges with their ranges, all else rigid."""

import xml.etree.ElementTree as ET

import numpy as np

import kinema as km
from tests import naive

RIGID = km.Hinge((0, 0, 1), 0.0, 0.0)


def _numbers(element, name, otherwise):
    text = None if element is None else element.get(name)
    return [float(value) for value in (otherwise if text is None else text).split()]


def _rotation(roll, pitch, yaw):
    about = naive.quat_from_axis_angle
    return naive.quat_mul(about((0, 0, 1), yaw), naive.quat_mul(about((0, 1, 0), pitch), about((1, 0, 0), roll)))


def _limit(joint):
    if joint.get("type") == "continuous":
        return km.Hinge(_numbers(joint.find("axis"), "xyz", "1 0 0"), -np.pi, np.pi)
    if joint.get("type") != "revolute":
        return RIGID
    low, high = (float(joint.find("limit").get(end)) for end in ("lower", "upper"))
    return km.Hinge(_numbers(joint.find("axis"), "xyz", "1 0 0"), low, high)


def load(path):
    """A `Skeleton`. Links that are not on a tree of joints are left out."""
    root = ET.parse(path).getroot()
    above = {joint.find("child").get("link"): joint for joint in root.findall("joint")}
    children = {}
    for joint in root.findall("joint"):
        children.setdefault(joint.find("parent").get("link"), []).append(joint.find("child").get("link"))
    links = [link.get("name") for link in root.findall("link")]
    order = [link for link in links if link not in above][:1]
    for link in order:
        order += children.get(link, [])
    translations, rotations, limits = [(0, 0, 0)], [(0, 0, 0, 1)], [None]
    for link in order[1:]:
        origin = above[link].find("origin")
        translations.append(_numbers(origin, "xyz", "0 0 0"))
        rotations.append(_rotation(*_numbers(origin, "rpy", "0 0 0")))
        limits.append(_limit(above[link]))
    parents = [-1, *(order.index(above[link].find("parent").get("link")) for link in order[1:])]
    return km.Skeleton(order, parents, km.Pose(np.array(translations, float), np.array(rotations)), limits)


def is_rigid(limit):
    return isinstance(limit, km.Hinge) and limit.low == limit.high


def frozen(skeleton):
    """Mobility of its rigid joints, for `FullBody`."""
    return {j: 0.0 for j, limit in enumerate(skeleton.limits) if is_rigid(limit)}
