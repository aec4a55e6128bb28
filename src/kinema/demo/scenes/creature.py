"""A creature that steps by itself over rough ground, to wherever its goal is; its tail follows through. Beside it
tentacles reach for a target.

Space: metres, y up.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, ClassVar

import numpy as np

from kinema.constants import TOLERANCE
from kinema.demo.characters.humanoid import humanoid
from kinema.demo.characters.quadruped import quadruped
from kinema.demo.characters.spider import spider
from kinema.demo.scenes import grounds
from kinema.demo.scenes.actor import Actor
from kinema.demo.scenes.character_files import model, packed
from kinema.demo.scenes.for_views import GROUND, MODEL
from kinema.demo.scenes.scene import Button, Choice, Scene, SceneStatus, Slider, Switch, clamped_position, finite
from kinema.demo.scenes.script_text import digits, nested, pose_lines, printed_joints
from kinema.demo.scenes.tentacles import BONE, BONES, Tentacles
from kinema.math import arrays
from kinema.model.character import Character
from kinema.model.rig import Rig
from kinema.stages.animator import Animator, Frame
from kinema.stages.stage import Stage
from kinema.stages.tail import Tail
from kinema.stages.walk.locomotion import Locomotion

CREATURES: Mapping[str, Callable[[], Character]] = {
    "spider": partial(spider, moves=False),
    "quadruped": quadruped,
    "humanoid": humanoid,
}
HALF_WIDTH = 1.75
"""Half the width of the ground that a goal may lie on, m: a hand's width from its edge."""
MARGIN = 0.4
"""Distance of a goal from both ends of the ground, m."""
ABOVE, BELOW = 5.0, 10.0
"""Height from which ground is searched, and how far down, m."""
POST = (-1.5, 3.3)
"""Position of the tentacles, x and z, m."""
TENTACLE_REACH = BONES * BONE
START = 1.0
"""Start of the creature along the ground, m: in front of what there is to climb."""
START_ON = {"rocks": 3.0, "voxels": 3.0, "level": 3.0}
"""Start on grounds without a slope or stairs, m: where they become rough."""
WANDERS = np.array(((-0.5, 0.0, 1.8), (1.3, 0.0, 5.0)))
"""Corners of the area it wanders in, m: near the tentacles, but out of their way."""
STROLL, CHOICES = 1.2, 8
"""Distance of the next goal that it wanders to, m, and how many are drawn to choose from: near goals stay in view."""
ASIDE = 0.5
"""Offset of the camera's target from the creature towards the tentacles, m."""
TURN_RATE = 1.2
"""Fastest turn of a steered creature, radians per second."""
LOOK_AHEAD, NEAR_EDGE = 0.25, 0.01
"""Distance ahead at which a steered creature sees the edge of the ground, and how much beyond it counts, m."""
DECIMALS = 5
"""Of a metre, in scripts."""


def stages_of(character: Character) -> list[Stage]:
    """Return the stages that move a creature."""
    return [Locomotion(), *([Tail()] if character.rig is not None and character.rig.tails else [])]


class CreatureScene(Scene):
    """A creature that walks to a goal, and tentacles that reach for a target."""

    name = "creature"
    title = "Creature"
    about = (
        "Drag the green goal over the ground, or steer with W A S D: the creature steps by itself. No animation clips."
    )
    unit = "m"
    controls: tuple[Any, ...] = (
        Choice("creature", "Creature", "spider", tuple(CREATURES), ("Spider", "Fox", "Person")),
        Choice("ground", "Ground", "rocks", grounds.NAMES, grounds.LABELS),
        Slider("speed", "Speed", 0.7, 0.1, 1.2, 0.05, "m/s"),
        Switch("wander", "Wander by itself", True),
        Slider("tentacles", "Tentacles", 5, 0, 12, 1),
        Switch("footholds", "Show footholds", True),
        Button("back", "Back to the start"),
    )
    help: ClassVar[tuple[tuple[str, str], ...]] = (
        ("Left mouse or a finger", "drag the goal over the ground, or the target of the tentacles"),
        ("Drag beside them", "rotate the view; wheel or two fingers: nearer and farther"),
        ("G", "move the goal to the pointer"),
        ("W A S D, or a gamepad", "steer the creature"),
    )
    steers = True
    hint = ("goal", "Drag this: it walks there")
    keys = (("g", "Goal to the pointer"),)
    needs = ("locomotion, float32", "fabrik in batches, float64")

    def __init__(self, seed: int = 0) -> None:
        super().__init__(seed)
        self.shows = 0
        """Number of creatures shown so far."""
        self._still = False
        self._steering: tuple[float, float] | None = None
        """Turn and pace, if it is steered."""
        self._begin()
        self._plant_tentacles()

    # Creature, ground and tentacles.

    def _begin(self) -> None:
        """Start the chosen creature on the chosen ground."""
        self.actor = Actor(CREATURES[self.values["creature"]](), root="root")
        self.ground = grounds.ground_of(self.values["ground"], 1.0)
        self.length = grounds.round_of(self.values["ground"]).far + grounds.TURNING + grounds.MARGIN
        self.animator = Animator(self.actor.character, stages_of(self.actor.character), ground=self.ground)
        start = START_ON.get(self.values["ground"], START)
        self.animator.set_transform((0.0, self._height(0.0, start), start))
        self.shown: Frame = self.animator.update(0.0)
        self.report = self.shown.reports["locomotion"]
        self.goal = self._on_ground((0.4, 0.0, start + 1.2))
        self._walk()
        self.shows += 1

    def _plant_tentacles(self) -> None:
        x, z = POST
        self.tentacles = Tentacles(int(self.values["tentacles"]), (x, self._height(x, z) + 0.12, z))
        self.tentacles.restless = 0.0 if self._still else 1.0
        self.tentacle_target = self.tentacles.post + (0.5, 0.55, 0.3)

    @property
    def _rig(self) -> Rig:
        rig = self.actor.character.rig
        assert rig is not None
        return rig

    def _height(self, x: float, z: float) -> float:
        """Return the height of the ground; 0 where there is none."""
        hits = self.ground.cast(np.array((x, ABOVE, z)), np.array((0.0, -1.0, 0.0)), BELOW)
        return float(hits.point[1]) if hits.hit else 0.0

    def _on_ground(self, point: Any) -> Any:
        """Return the nearest point on the ground that can be walked to."""
        x = float(np.clip(point[0], -HALF_WIDTH, HALF_WIDTH))
        z = float(np.clip(point[2], MARGIN, self.length - MARGIN))
        return np.array((x, self._height(x, z), z))

    def _walk(self) -> None:
        self._steering = None
        self.animator["locomotion"].walk_to(self.goal, speed=self.values["speed"])

    # User input.

    def changed(self, name: str) -> None:
        if name in ("creature", "ground", "back"):
            self._begin()
        if name in ("ground", "tentacles"):
            self._plant_tentacles()
        if name == "speed":
            self._walk()

    def drag(self, handle: str, position: Sequence[float]) -> None:
        to = clamped_position(position, 3, 100.0)
        if handle == "goal":
            self._take_over()
            self.goal = self._on_ground(to)
            self._walk()
        elif handle == "tentacles":
            self._reach_for(to)

    def _reach_for(self, point: Any) -> None:
        """Move the target of the tentacles to a point, at most twice their length away."""
        way = point - self.tentacles.post
        far = float(np.linalg.norm(way))
        self.tentacle_target = self.tentacles.post + way * min(1.0, 2 * TENTACLE_REACH / max(far, TENTACLE_REACH))

    def own_state(self) -> dict[str, Any]:
        return {name: np.round(getattr(self, name), DECIMALS).tolist() for name in ("goal", "tentacle_target")}

    def restore_own(self, own: Mapping[str, Any]) -> None:
        goal, target = (clamped_position(own[name], 3, 100.0) for name in ("goal", "tentacle_target"))
        self.goal = self._on_ground(goal)
        self._walk()
        self._reach_for(target)

    def motion(self) -> dict[str, Any]:
        x, _, z = self.shown.transform[:3, 3].tolist()
        return {"at": [x, z], "facing": self._facing}

    def restore_motion(self, motion: Mapping[str, Any]) -> None:
        (x, z), (facing,) = finite("at", motion["at"], 2), finite("facing", [motion["facing"]], 1)
        ahead = np.arctan2(*np.array(self._rig.forward)[[0, 2]])
        at = self._on_ground(np.array((x, 0.0, z)))
        self.animator.set_transform(at, arrays.from_axis_angle(np.array((0.0, 1.0, 0.0)), facing - ahead))
        self.shown = self.animator.update(0.0)
        self._walk()

    def steer(self, turn: float, ahead: float) -> None:
        self._take_over()
        self._steering = (turn, ahead) if turn or ahead else None
        self._walk_on()
        if self._steering is None:
            self.animator["locomotion"].stop()

    def _walk_on(self) -> None:
        """Walk as it is steered, but not off the ground. The goal stays with the creature."""
        at, ahead = self.shown.transform[:3, 3], self.shown.transform[:3, :3] @ np.array(self._rig.forward)
        self.goal = self._on_ground(at)
        if self._steering is None:
            return
        turn, pace = self._steering
        beyond = at + LOOK_AHEAD * np.sign(pace) * ahead
        free = np.abs(self._on_ground(beyond) - beyond)[[0, 2]].max() < NEAR_EDGE
        velocity = np.array(self._rig.forward) * pace * self.values["speed"] * float(free)
        self.animator["locomotion"].walk(velocity, turn=turn * TURN_RATE)

    def key(self, key: str, position: Sequence[float]) -> None:
        if key == "g":
            self.drag("goal", position)

    def be_still(self) -> None:
        self._still = True
        self.tentacles.restless = 0.0
        self.set("wander", False)
        self.goal = self._on_ground(self.shown.transform[:3, 3])  # Where it stands: it waits for the user.
        self._walk()

    # Time.

    def step(self, dt: float) -> None:
        if dt <= 0.0:
            return
        if self._steering is not None:
            self._walk_on()
        self.shown = self.animator.update(dt)
        self.report = self.shown.reports.get("locomotion", self.report)
        if self.values["wander"] and bool(self.report.arrived):
            self.goal = self._on_ground(self._next_goal())
            self._walk()
        self.tentacles.step(self.tentacle_target, dt)

    def _next_goal(self) -> Any:
        """Return (3,): a random position in the area it wanders in, about a stroll away."""
        goals = self.draw.uniform(WANDERS[0], WANDERS[1], (CHOICES, 3))
        away = np.hypot(*(goals - self.shown.transform[:3, 3])[:, [0, 2]].T)
        return goals[np.argmin(np.abs(away - STROLL))]

    def settle(self, dt: float) -> None:
        """Let the tentacles follow their target. The creature itself does not walk."""
        self.tentacles.follow(self.tentacle_target, dt)

    # Output.

    def frame(self) -> dict[str, Any]:
        """world: (J, 12), a 3x4 matrix per joint. goal, tentacle_target: (3,). footholds: (L, 4), each foot's
        current or next foothold, and whether it is planted. tentacles: (T, joints, 3). targets: (T, 3). middle: (3,),
        what the camera looks at. facing: (1,), radians.
        """
        standing = self.report.planted.astype(float)
        return {
            "world": self.shown.world[:, :3].reshape(-1, 12),
            "goal": self.goal,
            "tentacle_target": self.tentacle_target,
            "footholds": np.column_stack((self.report.footholds, standing)),
            "tentacles": self.tentacles.joints,
            "targets": self.tentacles.targets,
            "middle": self._middle(self.shown.world[int(self._rig.hips), :3, 3]),
            "facing": np.array((self._facing,)),
        }

    @property
    def _facing(self) -> float:
        """Direction that the creature faces, radians from +Z towards +X."""
        ahead = self.shown.transform[:3, :3] @ np.array(self._rig.forward)
        return float(np.arctan2(ahead[0], ahead[2]))

    def _middle(self, body: Any) -> Any:
        """Return (3,): what the camera looks at: the creature, slightly towards the tentacles."""
        way = self.tentacles.post - body
        far = max(float(np.linalg.norm(way)), ASIDE)
        return body + way * (ASIDE / far if len(self.tentacles.joints) else 0.0)

    def description(self) -> dict[str, Any]:
        return {
            "model": self.shows,
            "nodes": self.actor.nodes,
            "ground": self.values["ground"],
            "post": self.tentacles.post.tolist(),
            "joints": BONES + 1,
            "footholds": self.values["footholds"],
            "bounds": {
                "goal": {"low": [-HALF_WIDTH, -BELOW, MARGIN], "high": [HALF_WIDTH, ABOVE, self.length - MARGIN]},
                "tentacles": {"centre": self.tentacles.post.tolist(), "radius": 2 * TENTACLE_REACH},
            },
        }

    def give(self, name: str) -> bytes:
        if name == MODEL:
            return model(self.actor)
        if name == GROUND:
            return packed(self.values["ground"])
        return super().give(name)

    def status(self) -> SceneStatus:
        """Return the status of tentacles and planted feet."""
        feet = self.report.error[self.report.planted]
        errors = np.concatenate((self.tentacles.error, feet))
        near = TOLERANCE * BONES * BONE
        return SceneStatus(float(errors.max(initial=0.0)), int((errors <= near).sum()), len(errors))

    def python(self) -> str:
        return _script(self)


# --- as a script -----------------------------------------------------------------------------------------------


def _script(scene: CreatureScene) -> str:
    """Write a script that computes `world`, (J, 4, 4), and `tentacles`, (T, joints, 3), as they are on the screen."""
    shown, values = scene.shown, scene.values
    stages = ", ".join(["km.Locomotion()", *(["km.Tail()"] if "tail" in scene.animator.stages else [])])
    position, rotation = shown.transform[:3, 3], arrays.from_matrix(np.asarray(shown.transform[:3, :3], float))
    pose = pose_lines("creature", scene.actor.character.skeleton, shown.pose, shown.transform)
    about = "A creature and tentacles as they are on the screen. `world`: the matrices of its joints. Metres, y up."
    return f'''"""{about}"""

import numpy as np

import kinema as km
from kinema import demo

creature = demo.{values["creature"]}()

{chr(10).join((*pose, *printed_joints("creature")))}
{_tentacles(scene)}
# To go on from here: it walks to its goal by itself.
{chr(10).join(grounds.script_of(values["ground"], 1.0))}
animator = km.Animator(creature, [{stages}], ground=ground)
animator.set_transform({digits(position)}, {digits(rotation)})
frame = animator.update(0.0)
animator['locomotion'].walk_to({digits(scene.goal)}, speed={values["speed"]:g})
frame = animator.update(1 / 60)  # Once per frame.
'''


def _tentacles(scene: CreatureScene) -> str:
    if not len(scene.tentacles.joints):
        return ""
    return f"""
# Tentacles: all of them in one call.
joints = np.array({nested(scene.tentacles.joints, DECIMALS)})
targets = np.array({nested(scene.tentacles.targets, DECIMALS)})
tentacles = km.fabrik(joints, targets).joints
print("tips of the tentacles:", np.round(tentacles[:, -1], 3).tolist())
"""
