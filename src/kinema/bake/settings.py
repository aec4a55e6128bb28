"""`Settings`: what is to be done to a clip."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from kinema import validation
from kinema.bake.constants import CLIMB, FASTEST_FPS, MOST_LOOPS, SLOWEST_FPS
from kinema.bake.moving_point import MovingPoint
from kinema.behaviours.feet import Feet
from kinema.errors import InputError


@dataclass(frozen=True, kw_only=True, eq=False)
class Settings:
    """What is to be done to a clip. Lengths are in the unit of the character's file.

    ground: what to put the feet on, anything with `cast`; None: nothing is done to them. lock_feet: keep planted feet
    from sliding on the ground the clip was made on, the rig's floor, if there is no other.
    at: (2,), x and z of the character's origin at the start; or (3,), with a y between them, below which its ground is
    looked for. heading: radians from +Z towards +X that it faces there;
    as it does if None. travel: whether to move it by its planted feet; None: if it is put on a ground and its clip
    walks in place. in_place: take the travel out of the clip first, and make none.
    look_at: for head and eyes. reach: for hands, by the name of their arm: "left", or "left_hand".
    fps: keys at so many frames a second, exactly; near the clip's own if None. loops: how often to repeat it.
    name: of the new clip. feet: how feet are placed.
    """

    ground: Any = None
    lock_feet: bool = False
    at: tuple[float, ...] = (0.0, 0.0)
    heading: float | None = None
    travel: bool | None = None
    in_place: bool = False
    look_at: MovingPoint | None = None
    reach: Mapping[str, MovingPoint] = field(default_factory=dict)
    fps: float | None = None
    loops: int = 1
    name: str | None = None
    feet: Feet = field(default_factory=lambda: Feet(climb=CLIMB))

    def __post_init__(self) -> None:
        if self.ground is not None and not callable(getattr(self.ground, "cast", None)):
            raise InputError(
                f"ground must have cast(origins, directions, max_distance), got {type(self.ground).__name__}"
            )
        if len(self.at) not in (2, 3):
            raise InputError(f"at must be x and z, or x, y and z; got {len(self.at)} numbers")
        for k, number in enumerate(self.at):
            validation.number(f"at[{k}]", number)
        if self.heading is not None:
            validation.number("heading", self.heading)
        if self.in_place and self.travel:
            raise InputError("in_place and travel exclude each other: one takes travel out, the other makes it")
        if self.fps is not None:
            validation.number("fps", self.fps, SLOWEST_FPS, FASTEST_FPS)
        validation.whole("loops", self.loops, 1)
        if self.loops > MOST_LOOPS:
            raise InputError(f"loops is {self.loops}; allowed are 1 to {MOST_LOOPS}")
        reach = {name.removesuffix("_hand"): target for name, target in self.reach.items()}
        if len(reach) < len(self.reach):
            raise InputError(f"reach names a hand twice: {', '.join(self.reach)}")
        object.__setattr__(self, "reach", reach)
        for name, target in {"look_at": self.look_at, **self.reach}.items():
            if target is not None and not isinstance(target, MovingPoint):
                raise InputError(f"{name} must be a MovingPoint, got {type(target).__name__}")

    @property
    def places_feet(self) -> bool:
        """Whether anything is done to the feet."""
        return self.ground is not None or self.lock_feet
