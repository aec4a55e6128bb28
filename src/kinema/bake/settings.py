"""`BakeSettings`: what to do to a clip."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from kinema import validation
from kinema.bake.targets import MovingPoint
from kinema.errors import InputError
from kinema.stages.animator import as_ground
from kinema.stages.feet.feet import Feet

SLOWEST_FPS, FASTEST_FPS = 1.0, 240.0
"""Frames a second that may be asked for, and to which a clip's own rate is held: mocap comes at up to 240."""

MOST_LOOPS = 1000
"""Times a clip may be repeated in one bake."""


@dataclass(frozen=True, kw_only=True, eq=False)
class BakeSettings:
    """What to do to a clip. Lengths are in the unit of the character's file.

    Example:
        >>> settings = BakeSettings(ground=km.Plane(), loops=4, look_at=MovingPoint.fixed((1.0, 1.6, 2.0)))
    """

    ground: Any = None
    """What the feet stand on: anything with `cast`, a height, a function of x and z; None leaves the feet alone."""
    lock_feet: bool = False
    """Keep planted feet from sliding. Without a ground, on the floor that the clip was made on."""
    at: tuple[float, ...] = (0.0, 0.0)
    """Where the origin of the clip is put: x and z; or x, y and z, to start on the ground below y."""
    heading: float | None = None
    """Heading that the clip faces in its first second, radians from +Z towards +X; None keeps the clip's."""
    travel: bool | None = None
    """Whether to move the character by its planted feet; None: if it is on a ground and the clip walks in place."""
    in_place: bool = False
    """Remove the travel. With `lock_feet`, planted feet move back together, as on a treadmill."""
    keep_strides: bool = False
    """Keep strides as long as they are in the clip, however steep the ground is. By default, characters on two legs
    take shorter ones up and down slopes and stairs, of whole treads, and lean into them."""
    look_at: MovingPoint | None = None
    """Target of the head and the eyes."""
    reach: Mapping[str, MovingPoint] = field(default_factory=dict)
    """Targets of hands and feet: "left_hand", or "left" for short, and "left_foot". Only the limb moves."""
    pull: Mapping[str, MovingPoint] = field(default_factory=dict)
    """Targets of any part by its role, such as "left_hand", "head" or "hips". The whole body follows."""
    pin: Sequence[str] = ()
    """Roles of parts that stay where the clip has them, however the body is pulled."""
    fps: float | None = None
    """Keys at exactly this many frames per second; None: near the clip's own rate."""
    loops: int = 1
    """How often to repeat the clip."""
    name: str | None = None
    """Name of the new clip; None: "<clip> baked"."""
    feet: Feet = field(default_factory=Feet)
    """How the feet are placed."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "ground", as_ground(self.ground))
        if len(self.at) not in (2, 3):
            raise InputError(f"at must be x and z, or x, y and z; got {len(self.at)} numbers")
        for k, number in enumerate(self.at):
            validation.number(f"at[{k}]", number)
        if self.heading is not None:
            validation.number("heading", self.heading)
        if self.in_place and self.travel:
            raise InputError("in_place and travel exclude each other: one removes the travel, the other adds it")
        if self.fps is not None:
            validation.number("fps", self.fps, SLOWEST_FPS, FASTEST_FPS)
        validation.whole("loops", self.loops, 1)
        if self.loops > MOST_LOOPS:
            raise InputError(f"loops is {self.loops}; allowed are 1 to {MOST_LOOPS}")
        reach = {name.removesuffix("_hand"): target for name, target in self.reach.items()}
        if len(reach) < len(self.reach):
            raise InputError(f"reach names a hand twice: {', '.join(self.reach)}")
        object.__setattr__(self, "reach", reach)
        object.__setattr__(self, "pin", tuple(self.pin))
        if self.pin and not self.moves_body:
            raise InputError("pin holds parts of a body that is pulled; give pull too")
        for name, target in {"look_at": self.look_at, **self.reach, **self.pull}.items():
            if target is not None and not isinstance(target, MovingPoint):
                raise InputError(f"{name} must be a MovingPoint, got {type(target).__name__}")

    @property
    def reaching_hands(self) -> dict[str, MovingPoint]:
        """Those of `reach` that are hands, by the name of their arm."""
        return {name: target for name, target in self.reach.items() if not name.endswith("_foot")}

    @property
    def reaching_feet(self) -> dict[str, MovingPoint]:
        """Those of `reach` that are feet, by role."""
        return {name: target for name, target in self.reach.items() if name.endswith("_foot")}

    @property
    def moves_body(self) -> bool:
        """Whether the full-body solver runs."""
        return bool(self.pull or self.reaching_feet)

    @property
    def goals(self) -> dict[str, MovingPoint]:
        """All targets of hands, feet and other parts by role."""
        hands = {f"{arm}_hand": target for arm, target in self.reaching_hands.items()}
        return hands | self.reaching_feet | dict(self.pull)

    @property
    def places_feet(self) -> bool:
        """Whether the feet are placed."""
        return self.ground is not None or self.lock_feet

    @property
    def on_treadmill(self) -> bool:
        """Whether the travel that the feet imply is used to lock them, and removed from the result."""
        return self.in_place and self.lock_feet and self.ground is None
