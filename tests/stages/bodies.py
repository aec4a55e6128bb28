"""A small person for the tests: bones run along their own +y and are rolled every which way, as in real files."""

from functools import cache

import numpy as np

from kinema.model.character import Character
from kinema.model.pose import Pose
from kinema.model.rig import Arm, Rig
from kinema.model.skeleton import Skeleton
from kinema.stages.stage import Crowd, FrameContext
from tests import naive, problems

# name: parent, position at rest in metres (facing +z, +x is left), where its bone points
PERSON = {
    "hips": (None, (0.0, 1.0, 0.0), (0, 1, 0)),
    "spine": ("hips", (0.0, 1.1, 0.0), (0, 1, 0)),
    "chest": ("spine", (0.0, 1.3, 0.01), (0, 1, -0.1)),
    "neck": ("chest", (0.0, 1.5, -0.02), (0, 1, 0.2)),
    "head": ("neck", (0.0, 1.6, 0.0), (0, 1, 0)),
    "eye_l": ("head", (0.035, 1.68, 0.08), (0, 0, 1)),
    "eye_r": ("head", (-0.035, 1.68, 0.08), (0, 0, 1)),
    "shoulder_l": ("chest", (0.05, 1.45, 0.0), (1, 0, 0)),
    "upper_l": ("shoulder_l", (0.2, 1.45, 0.0), (0.3, -1, 0.1)),
    "fore_l": ("upper_l", (0.28, 1.18, 0.03), (0, 0.1, 1)),
    "hand_l": ("fore_l", (0.1, 1.22, 0.24), (-0.3, 0, 1)),
    "shoulder_r": ("chest", (-0.05, 1.45, 0.0), (-1, 0, 0)),
    "upper_r": ("shoulder_r", (-0.2, 1.45, 0.0), (-0.3, -1, 0.1)),
    "fore_r": ("upper_r", (-0.28, 1.18, 0.03), (0, 0.1, 1)),
    "twist_r": ("fore_r", (-0.24, 1.2, 0.15), (0, 0.1, 1)),
    "hand_r": ("twist_r", (-0.2, 1.22, 0.27), (0.2, 0, 1)),
    "gun": ("hand_r", (-0.18, 1.25, 0.3), (0, 0, 1)),
}


@cache
def person(seed=1, scale=1.0, mirrored=()):
    """A `Character`. scale: of the root, over bones as many times longer. mirrored: joints with a scale of -1 in x."""
    rng = np.random.default_rng(seed)
    names = list(PERSON)
    parents = [-1 if parent is None else names.index(parent) for parent, _, _ in PERSON.values()]
    world = np.zeros((len(names), 4, 4))
    local_t, local_r, local_s = (np.zeros((len(names), n)) for n in (3, 4, 3))
    for j, (name, (_, position, along)) in enumerate(PERSON.items()):
        rotation = naive.quat_mul(
            naive.smallest_rotation((0, 1, 0), along), naive.quat_from_axis_angle((0, 1, 0), rng.normal())
        )
        size = (scale if j == 0 else 1.0) * np.ones(3)
        size[0] *= -1.0 if name in mirrored else 1.0
        above = np.eye(4) if parents[j] < 0 else world[parents[j]]
        linear = above[:3, :3]
        flips = np.sign(np.linalg.det(linear))
        # The local rotation that makes the joint stand as `turn` says, up to the mirror it may hang below.
        upright = np.linalg.inv(linear / np.cbrt(abs(np.linalg.det(linear)))) @ naive.quat_to_matrix(rotation)
        upright = upright @ np.diag([flips, 1.0, 1.0])
        local_t[j] = np.linalg.solve(linear, np.array(position) - above[:3, 3])
        local_r[j] = quat_from_matrix(upright)
        local_s[j] = size
        world[j] = above @ transform(local_t[j], local_r[j], local_s[j])
    skeleton = Skeleton(names, parents, Pose(local_t, local_r, local_s))
    rig = Rig(
        skeleton=skeleton,
        hips="hips",
        spine=("spine", "chest"),
        neck=("neck",),
        head="head",
        eyes=("eye_l", "eye_r"),
        arms=(
            Arm(name="left", joints=("upper_l", "fore_l", "hand_l"), shoulder="shoulder_l"),
            Arm(name="right", joints=("upper_r", "fore_r", "hand_r"), shoulder="shoulder_r"),
        ),
    )
    return Character(skeleton, rig=rig, name="person")


def quat_from_matrix(m):
    """By the eigenvector that the rotation leaves alone: slow, and no case to get wrong."""
    k = np.array(
        [
            [m[0, 0] - m[1, 1] - m[2, 2], m[1, 0] + m[0, 1], m[2, 0] + m[0, 2], m[2, 1] - m[1, 2]],
            [m[1, 0] + m[0, 1], m[1, 1] - m[0, 0] - m[2, 2], m[2, 1] + m[1, 2], m[0, 2] - m[2, 0]],
            [m[2, 0] + m[0, 2], m[2, 1] + m[1, 2], m[2, 2] - m[0, 0] - m[1, 1], m[1, 0] - m[0, 1]],
            [m[2, 1] - m[1, 2], m[0, 2] - m[2, 0], m[1, 0] - m[0, 1], m[0, 0] + m[1, 1] + m[2, 2]],
        ]
    )
    return np.linalg.eigh(k)[1][:, -1]


def transform(t, r, s):
    m = np.eye(4)
    m[:3, :3] = naive.quat_to_matrix(r) * s
    m[:3, 3] = t
    return m


# --- poses -----------------------------------------------------------------------------------------------------


def poses(character, rng, count, amount=0.3):
    """Local rotations (count, J, 4): rest with every joint rotated a little its own way."""
    rest = character.skeleton.rest.rotations
    axis = problems.units(rng, count, len(rest))
    half = rng.uniform(0, amount / 2, (count, len(rest), 1))
    return naive.quat_mul(rest, np.concatenate([axis * np.sin(half), np.cos(half)], axis=-1))


def transforms(rng, count, kind):
    """Where characters stand, (count, 1, 12). kind: still, moved, rotated, scaled or mirrored."""
    result = np.zeros((count, 1, 12))
    for i in range(count):
        m = np.eye(4)
        if kind != "still":
            m[:3, 3] = rng.normal(size=3) * 3
        if kind in ("turned", "scaled", "mirrored"):
            m[:3, :3] = naive.quat_to_matrix(problems.quaternions(rng))
        if kind in ("scaled", "mirrored"):
            m[:3, :3] *= 10.0 ** rng.uniform(-1, 1)
        if kind == "mirrored":
            m[:3, :3] = m[:3, :3] @ np.diag([1.0, 1.0, -1.0])
        result[i, 0] = m[:3].reshape(12)
    return result


KINDS = ["still", "moved", "turned", "scaled", "mirrored"]


class Scene:
    """Characters made to do a frame at a time as the animator does it: from the animated pose again, stage by stage.

    rotations: (J, 4) or (N, J, 4), the animated pose. Default: at rest. transform: (N, 1, 12). state: the last stage's.
    """

    def __init__(self, *stages, character=None, count=1, dtype=np.float64, rotations=None, transform=None):
        self.character = person() if character is None else character
        self.body = Crowd(self.character, count, dtype)
        self.work = FrameContext(self.body)
        self.states = [stage.start(self.body) for stage in stages]
        self.state = self.states[-1]
        if rotations is not None:
            with self.work.edit() as local:
                local.r[:] = rotations
        self.animated = self.work.r.copy()
        if transform is not None:
            self.stand(transform)

    def frame(self, dt=1 / 60):
        """The last stage's report of one frame."""
        self.work.begin(self.work.present, dt)
        with self.work.edit() as local:
            local.r[:] = self.animated
        return [state.update(self.work) for state in self.states][-1]

    def stand(self, transform):
        """Put the characters somewhere, (N, 1, 12)."""
        with self.work.edit_transform() as edit:
            edit.transform[:] = transform

    def frames(self, count, dt=1 / 60):
        for _ in range(count):
            report = self.frame(dt)
        return report

    def settle(self, dt=0.05):
        """Run frames until no character moves."""
        for _ in range(200):
            report = self.frame(dt)
            if not self.state.awake(dt).any():
                return report
        raise AssertionError("still moving after ten seconds")

    def at(self, name, world=None):
        """(N, 3): where a joint is."""
        return (self.world() if world is None else world)[:, self.joint(name), :3, 3]

    def carried(self, joint, direction, world=None):
        """(N, 3): a direction of the character at rest, as a joint carries it, at length 1."""
        j, world = self.joint(joint), self.world() if world is None else world
        own = np.linalg.solve(self.body.skeleton.rest_world[j, :3, :3], np.asarray(direction, np.float64))
        v = world[:, j, :3, :3] @ own
        return v / np.linalg.norm(v, axis=-1, keepdims=True)

    def frame_of(self, joint, world=None):
        """(N, 3, 3): the character's left, up and forward as a joint carries them, as columns."""
        world = self.world() if world is None else world
        return np.stack([self.carried(joint, axis, world) for axis in np.eye(3)], axis=-1)

    def size(self):
        """(N,): how large each character stands in the world."""
        linear = self.work.transform.astype(np.float64).reshape(-1, 3, 4)[:, :, :3]
        return np.abs(np.linalg.det(linear)) ** (1 / 3)

    def world(self, rotations=None):
        """World matrices (N, J, 4, 4) of the pose as it stands, or of other rotations, by hand in float64."""
        t, s = self.work.t.astype(np.float64), self.work.s.astype(np.float64)
        r = (self.work.r if rotations is None else rotations).astype(np.float64)
        count, joints = r.shape[:2]
        local = np.zeros((count, joints, 4, 4))
        local[..., :3, :3] = naive.quat_to_matrix(r) * s[..., None, :]
        local[..., :3, 3], local[..., 3, 3] = t, 1
        out = np.zeros_like(local)
        above = np.tile(np.eye(4), (count, 1, 1))
        above[:, :3] = self.work.transform.reshape(count, 3, 4)
        for j, parent in enumerate(self.body.skeleton.parents):
            out[:, j] = (above if parent < 0 else out[:, parent]) @ local[:, j]
        return out

    def joint(self, name):
        return self.body.skeleton.index(name)


def yaw_pitch(frames, v):
    """(N,) each: the angles of directions (N, 3) in frames (N, 3, 3), radians to the left and up."""
    x, y, z = np.moveaxis(np.einsum("nji,nj->ni", frames, v), -1, 0)
    return np.arctan2(x, z), np.arctan2(y, np.hypot(x, z))


def ways(frames, yaw, pitch):
    """(N, 3): unit vectors with these angles in frames."""
    yaw, pitch = np.broadcast_arrays(yaw, pitch)
    local = np.stack([np.sin(yaw) * np.cos(pitch), np.sin(pitch), np.cos(yaw) * np.cos(pitch)], axis=-1)
    return np.einsum("nij,nj->ni", frames, np.broadcast_to(local, (len(frames), 3)))


def angles_between_rotations(a, b):
    """(N,): the angle of the rotation between rotation matrices (N, 3, 3), exact for small ones."""
    return 2 * np.arcsin(np.clip(np.linalg.norm(a - b, axis=(-2, -1)) / (2 * np.sqrt(2)), 0, 1))


STRANGE = [person(scale=0.01), person(seed=2, mirrored=("chest",)), person(seed=3, mirrored=("neck", "head", "hand_l"))]
"""A root with scale, as files in centimetres have, and joints with a negative one."""
