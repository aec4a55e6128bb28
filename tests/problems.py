"""Chains, targets and limits to solve: seeded batches for the figures that count, and Hypothesis' strange ones."""

import os

import numpy as np
from hypothesis import strategies as st

FRESH = os.environ.get("KINEMA_FRESH") == "1"


def generator(seed):
    """A random generator: the same in every run, or a new one with KINEMA_FRESH=1."""
    if FRESH:
        seed = int(np.random.SeedSequence().entropy % 2**32)
        print(f"seed {seed}")  # pytest shows it when the test fails
    return np.random.default_rng(seed)


def units(rng, *shape, width=3):
    v = rng.normal(size=(*shape, width))
    return v / np.linalg.norm(v, axis=-1, keepdims=True)


def quaternions(rng, *shape):
    return units(rng, *shape, width=4)


def straight_chains(count, joints, width=3):
    """Bones of length 1 along +y."""
    chains = np.zeros((count, joints, width))
    chains[:, :, 1] = np.arange(joints)
    return chains


def random_chains(rng, count, joints, width=3, lengths=(1.0, 1.0)):
    bones = units(rng, count, joints - 1, width=width) * rng.uniform(*lengths, (count, joints - 1, 1))
    return np.concatenate([np.zeros((count, 1, width)), np.cumsum(bones, axis=1)], axis=1)


def reach(chains):
    return np.linalg.norm(np.diff(chains, axis=-2), axis=-1).sum(axis=-1)


def targets_within(rng, chains, low=0.05, high=0.98):
    """Targets in random directions at a share of the reach; a tenth of them on the first bone's own line."""
    count, _, width = chains.shape
    directions = units(rng, count, width=width)
    first = chains[:, 1] - chains[:, 0]
    first = first / np.linalg.norm(first, axis=-1, keepdims=True)
    on_line = rng.uniform(size=count) < 0.1
    directions[on_line] = first[on_line] * rng.choice([-1.0, 1.0], (on_line.sum(), 1))
    return chains[:, 0] + directions * (rng.uniform(low, high, count) * reach(chains))[:, None]


def bent_inside_cones(rng, count, joints, angle, base=(0.0, 1.0, 0.0)):
    """Chains whose bones each lie within an angle of the one before, the first within it of the base."""
    points, parent = [np.zeros((count, 3))], np.tile(np.asarray(base), (count, 1))
    for _ in range(joints - 1):
        across = units(rng, count)
        across -= parent * (across * parent).sum(-1, keepdims=True)
        across /= np.linalg.norm(across, axis=-1, keepdims=True)
        bend = rng.uniform(0.0, angle, (count, 1))
        parent = parent * np.cos(bend) + across * np.sin(bend)
        points.append(points[-1] + parent)
    return np.stack(points, axis=1)


# --- Hypothesis ------------------------------------------------------------------------------------------------

_SIZES = [0.0, 1e-12, 1e-6, 0.5, 1.0, 3.0, 1e6, 1e12]


def numbers():
    """Coordinates of every size the guarantees speak of, zeros and repeats among them."""
    return st.one_of(
        st.sampled_from([s * x for s in _SIZES for x in (1.0, -1.0)]),
        st.floats(-(2.0**39), 2.0**39, width=32),
        st.floats(-2.0, 2.0, width=32),
    )


def lengths():
    """Lengths from 1e-12 to 1e12, as promised, and the odd sizes, nothing among them."""
    smallest = 2.0**-39
    return st.one_of(
        st.sampled_from(_SIZES), st.floats(smallest, 2.0**39, width=32), st.floats(smallest, 2.0, width=32)
    )


def vectors(width=3):
    return st.lists(numbers(), min_size=width, max_size=width).map(np.array)


def chains(width=3, most=8):
    """Chains of every kind: scattered joints, straight ones, and ones with joints on top of each other."""
    scattered = st.lists(vectors(width), min_size=2, max_size=most).map(np.array)
    aligned = st.tuples(vectors(width), vectors(width), st.integers(2, most)).map(
        lambda p: np.array([p[0] + i * p[1] for i in range(p[2])])
    )
    return st.one_of(scattered, aligned)


@st.composite
def poles(draw, root, target, length):
    """Poles of every kind: anywhere, and on the line from the root to the target, before and behind, near and far."""
    way = np.asarray(target, np.float64) - root
    size = np.abs(way).sum()
    line = way / size if size > 0 else np.eye(len(way))[0]
    shares = st.sampled_from([0.0, 1.0, -1.0, 2.0, -2.0])
    distances = st.sampled_from([s * x for s in (1e-9, 1e-3, 1.0, 1e9) for x in (1.0, -1.0)])
    on_line = st.one_of(shares.map(lambda s: root + s * way), distances.map(lambda d: root + d * length * line))
    beside = st.tuples(on_line, st.sampled_from([1e-15, 1e-9, 1e-3]), vectors(len(way))).map(
        lambda p: p[0] + p[1] * length * p[2] / max(np.abs(p[2]).max(), 1e-12)
    )
    return draw(st.one_of(on_line, on_line, beside, vectors(len(way))))
