"""`DeviceAnimator`: what `Animator(..., device="cuda")` is: a crowd that lives on a GPU.

`update` starts one kernel for each stage and returns at once. Nothing crosses the bus in a frame: targets, transforms,
weights and clips may be set from arrays on the device, and what a frame gives are arrays on the device.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numba import cuda

from kinema import validation
from kinema.constants import LONGEST_STEP
from kinema.errors import DeviceError, InputError
from kinema.model.character import Character
from kinema.model.pose import LocalTransforms
from kinema.model.skeleton import Skeleton
from kinema.stages.animator import Animator, Frame, as_ground
from kinema.stages.device.aim import DeviceAim
from kinema.stages.device.device_view import DeviceView
from kinema.stages.device.eyes import DeviceEyes
from kinema.stages.device.feet import DeviceFeet
from kinema.stages.device.frame_graph import FrameGraph
from kinema.stages.device.head import DeviceHead
from kinema.stages.device.inputs import choose, numbers, set_transform
from kinema.stages.device.layer import DeviceLayer
from kinema.stages.device.matrices import THREADS, matrix_kernel, matrix_steps
from kinema.stages.device.playing import DevicePlay
from kinema.stages.device.tiles import COPYING, REAL, TILE, Chosen, PoseTiles, blocks, from_tiles, moved, row_of, tiled
from kinema.stages.device.waves import DeviceBreathing, DeviceRecoil
from kinema.stages.device.weights import StageWeights
from kinema.stages.feet.feet import Feet
from kinema.stages.gaze.aim import Aim
from kinema.stages.gaze.eyes import Eyes
from kinema.stages.gaze.head import Head
from kinema.stages.layers import Breathing, Layer, Recoil
from kinema.stages.lookup import key_of, name_of
from kinema.stages.play import Play
from kinema.stages.stage import Crowd, Stage

STAGES: dict[type[Stage], Any] = {
    Play: DevicePlay,
    Layer: DeviceLayer,
    Breathing: DeviceBreathing,
    Recoil: DeviceRecoil,
    Feet: DeviceFeet,
    Aim: DeviceAim,
    Head: DeviceHead,
    Eyes: DeviceEyes,
}
"""Stages that run on a GPU, and what they are there."""


@cuda.jit
def set_rest(chosen, rest, tiles):
    """Give characters that play no clip their rest pose, from which the other stages start."""
    i = row_of(chosen, cuda.grid(1))
    if i >= 0 and i < tiles.t.shape[0] * TILE:
        tile, lane = i // TILE, i % TILE
        for k in range(rest.t.size):
            tiles.t[tile, k, lane], tiles.s[tile, k, lane] = rest.t[k], rest.s[k]
        for k in range(rest.r.size):
            tiles.r[tile, k, lane] = rest.r[k]


class DeviceReports(Mapping[str, Any]):
    """What each stage reported, on the device. Each report is made when it is asked for."""

    def __init__(self, frame: DeviceFrame, states: dict[str, Any]) -> None:
        self._frame, self._states = frame, states
        self._made: dict[str, Any] = {}

    def __getitem__(self, stage: Any) -> Any:
        name = key_of(stage)
        if name not in self._states:
            raise KeyError(f"there is no stage {name!r}; there are {', '.join(map(repr, self._states))}")
        if name not in self._made:
            self._frame.check_is_newest()
            self._made[name] = self._states[name].report()
        return self._made[name]

    def __iter__(self) -> Any:
        return iter(self._states)

    def __len__(self) -> int:
        return len(self._states)


class DeviceFrame(Frame):
    """One frame of a crowd on the GPU. Its arrays are made there when you first ask for them.

    They are valid until the animator's next update, which writes to the same memory: copy what you keep longer. What
    was not asked for before the next update is gone, and asking for it then raises InputError.
    """

    def __init__(self, animator: DeviceAnimator) -> None:
        self._animator, self._number = animator, animator._frames
        self.reports: Any = DeviceReports(self, animator._states)

    def __repr__(self) -> str:
        who = f"{self._animator.count} characters, {len(self._animator.character.skeleton)} joints"
        return f"DeviceFrame({who}, stages {', '.join(self.reports) or 'none'})"

    def check_is_newest(self) -> None:
        """Raise InputError if the animator has made another frame since."""
        if self._number != self._animator._frames:
            raise InputError("this frame is over: a crowd on a GPU keeps the newest frame only")

    @property
    def timings(self) -> dict[str, float]:
        """Raises DeviceError: the host does not wait for the GPU."""
        raise DeviceError("frames on a GPU have no timings: use the profiler, or events on the stream")

    @cached_property
    def palette(self) -> Any:
        """(N, J, 3, 4) on the device: world times inverse bind matrices."""
        return self._matrices(True)

    @cached_property
    def world(self) -> Any:
        """(N, J, 4, 4) on the device: world matrices."""
        return self._matrices(False)

    @cached_property
    def pose(self) -> Any:
        """`LocalTransforms` on the device: translations (N, J, 3), rotations (N, J, 4), scales (N, J, 3)."""
        self.check_is_newest()
        tiles, count, joints = self._animator._tiles, self._animator.count, len(self._animator.character.skeleton)
        parts = zip((tiles.t, tiles.r, tiles.s), (3, 4, 3), strict=True)
        return LocalTransforms(*(DeviceView(from_tiles(part, count, joints, n)) for part, n in parts))

    @cached_property
    def transform(self) -> Any:
        """(N, 3, 4) on the device: from each character's space to the world."""
        self.check_is_newest()
        return DeviceView(from_tiles(self._animator._tiles.transform, self._animator.count, 3, 4))

    def palette_of(self, rows: Any) -> Any:
        """Raises DeviceError: take the rows of `palette` with the library that you hand it to."""
        raise DeviceError("palette_of is not available on a GPU; index `palette` with the library that takes it")

    def _matrices(self, is_palette: bool) -> DeviceView:
        self.check_is_newest()
        return self._animator._matrices(is_palette)


class DeviceAnimator(Animator):
    """A crowd on a GPU. See `Animator`; `docs/gpu.md` says what differs."""

    def __init__(
        self,
        character: Character | Skeleton,
        stages: Sequence[Stage] = (),
        *,
        ground: Any = None,
        count: int | None = None,
        viewer: Any = None,
        max_ms: float | None = None,
        trace: bool = False,
        device: str = "cuda",
    ) -> None:
        if isinstance(character, Skeleton):
            character = Character(character)
        if not isinstance(character, Character):
            raise InputError(f"character must be a Character or a Skeleton, got {type(character).__name__}")
        if count is None:
            raise InputError('device="cuda" needs a count: it is for crowds')
        for name, given in (("max_ms", max_ms is not None), ("trace", bool(trace))):
            if given:
                raise DeviceError(f"{name} is not available on a GPU")
        self.character, self.count, self.time = character, validation.whole("count", count, 1), 0.0
        self._single, self._frames = False, 0
        self._crowd = Crowd(character, self.count, REAL)
        self._ground = as_ground(ground)
        self._unusable = cuda.to_device(np.zeros(1, np.int32))
        rest = [np.asarray(part, REAL).reshape(-1) for part in character.skeleton.rest.arrays()]
        standing = np.eye(4, dtype=REAL)[:3].reshape(-1)
        self._tiles = PoseTiles(*(tiled(self.count, row) for row in (*rest, standing)))
        self._flat = PoseTiles(*(part.reshape(part.size) for part in self._tiles))
        self._rest = moved(LocalTransforms(*rest))
        self._way, self._held = matrix_steps(character.skeleton)
        self._written: dict[bool, Any] = {}
        self._graph, self._grounds = FrameGraph(), 0
        self._states: dict[str, Any] = {}
        self._weights: dict[str, StageWeights] = {}
        self._viewer: Any = None
        for stage in sorted(_checked_stages(stages), key=lambda stage: stage.order):
            name = name_of(type(stage))
            self._weights[name] = StageWeights(name, stage, self.count)
            self._states[name] = self._started(stage)
        self.viewer = viewer

    def _started(self, stage: Stage) -> Any:
        one = Crowd(self.character, 1, REAL)
        if isinstance(stage, Feet):
            if self._ground is None:
                raise InputError("Feet needs a ground: give Animator(..., ground=...)")
            return DeviceFeet(stage, self._crowd, one, self._ground, self._states.get("play"))
        return STAGES[type(stage)](stage, self._crowd, one, self._unusable)

    @property
    def stages(self) -> tuple[str, ...]:
        """Names of the stages, in the order they run."""
        return tuple(self._states)

    def _state(self, name: str) -> Any:
        if name not in self._states:
            raise InputError(f"there is no stage {name!r}; there are {', '.join(map(repr, self._states))}")
        return self._states[name]

    # --- what users set ----------------------------------------------------------------------------------------

    @property
    def ground(self) -> Any:
        """What feet stand on."""
        return self._ground

    @ground.setter
    def ground(self, ground: Any) -> None:
        found = as_ground(ground)
        if "feet" in self._states:
            self._states["feet"].set_ground(found)
        self._ground = found
        self._grounds += 1

    @property
    def viewer(self) -> Any:
        """(3,) on the device, world space: where distances are measured from; None if no stage is to be left out."""
        return None if self._viewer is None else DeviceView(self._viewer)

    @viewer.setter
    def viewer(self, value: Any) -> None:
        if value is None:
            self._viewer = None
            return
        point = numbers("viewer", value, 1, 3)
        if np.dtype(point.dtype) != REAL:
            raise InputError(f"viewer on a GPU must be float32, got {point.dtype}")
        if self._viewer is None:
            self._viewer = cuda.device_array(3, REAL)
        self._viewer.copy_to_device(point)

    @property
    def unusable(self) -> int:
        """How many numbers in arrays on the device could not be used so far: not finite, or out of range.

        The host does not see such arrays. A kernel that meets a number it cannot use leaves that character as it was.
        Asking waits for the GPU.
        """
        return int(self._unusable.copy_to_host()[0])

    def set_transform(self, position: Any, rotation: Any = None, rows: Any = None) -> None:
        """Set where characters stand, as on the CPU; the arrays may be on the device."""
        set_transform(self._crowd, self._tiles.transform, self._unusable, position, rotation, rows)

    def set_weight(self, stage: str, weight: Any, fade: float = 0.0) -> None:
        """Set how much of a stage is applied, as on the CPU; weights may be on the device. `play` always has all."""
        name = key_of(stage)
        self._state(name)
        if name == "play":
            raise DeviceError("the weight of play is 1 on a GPU")
        self._weights[name].fade_to(weight, validation.number("fade", fade, 0.0))

    def look_at(self, point: Any, rows: Any = None) -> None:
        """Make heads and eyes look at a point, as on the CPU; points may be on the device. None: ahead again."""
        looking = [self._states[name] for name in ("head", "eyes") if name in self._states]
        if not looking:
            raise InputError("look_at needs a Head or an Eyes stage; this animator has neither")
        for state in looking:
            state.look_ahead(rows) if point is None else state.look_at(point, rows)

    def wake(self, rows: Any = None) -> None:
        """Do nothing: a GPU updates everyone in every frame."""

    # --- the frame ---------------------------------------------------------------------------------------------

    def update(self, dt: float, pose: Any = None, rows: Any = None) -> DeviceFrame:
        """Start the next frame, dt seconds after the last one, and return without waiting for it.

        rows: which characters, as indices or a mask, or indices on the device, each once; all of them for None.
        """
        seconds = validation.number("dt", dt, 0.0, LONGEST_STEP)
        if pose is not None:
            raise DeviceError("update(pose=...) is not available on a GPU")
        chosen = choose(rows, self._crowd)
        self.time += seconds * chosen.size / self.count
        self._frames += 1
        if chosen.size:
            self._step(chosen, seconds)
        return DeviceFrame(self)

    def _step(self, chosen: Chosen, seconds: float) -> None:
        """Ease the weights, and start one kernel for each stage."""
        fading = False
        for weights in self._weights.values():
            fading |= weights.fades
            weights.step(seconds * chosen.size / self.count)
        fresh = "feet" in self._states and self._states["feet"].prepare()
        changes = self._states["play"].changes if "play" in self._states else 0
        if chosen.listed or fading or fresh or "layer" in self._states:
            self._launch(chosen, seconds, 0)
        else:
            key = seconds, changes, self._grounds, self._viewer is None
            self._graph.run(key, lambda stream: self._launch(chosen, seconds, stream))

    def _launch(self, chosen: Chosen, seconds: float, stream: Any) -> None:
        if "play" not in self._states:
            set_rest[blocks(COPYING, chosen.size), COPYING, stream](chosen, self._rest, self._tiles)
        for name, state in self._states.items():
            if name == "play":
                state.step(chosen, self._tiles, seconds, stream)
            else:
                weights = self._weights[name].seen_from(self._viewer, chosen, self._tiles.transform, stream)
                state.step(chosen, self._tiles, weights, seconds, stream)

    def _matrices(self, is_palette: bool) -> DeviceView:
        joints, size = len(self.character.skeleton), 12 if is_palette else 16
        out = self._written.get(is_palette)
        if out is None:
            out = self._written[is_palette] = cuda.device_array(self.count * joints * size, REAL)
        write = matrix_kernel(self._held, is_palette)
        write[blocks(THREADS, self.count), THREADS](np.uint64(self.count), self._flat, self._way, out)
        return DeviceView(out.reshape(self.count, joints, size // 4, 4))


def _checked_stages(stages: Any) -> list[Stage]:
    """Return stages that run on a GPU. Raises DeviceError for any other, with what can."""
    if isinstance(stages, Stage) or not isinstance(stages, Sequence):
        raise InputError("stages must be a list of stages, such as [Play('walk'), Feet()]")
    seen: set[type] = set()
    for i, stage in enumerate(stages):
        if not isinstance(stage, Stage):
            raise InputError(f"stages[{i}] is {stage!r:.60}; allowed are stages such as Play('walk'), Feet(), Head()")
        if type(stage) not in STAGES:
            allowed = ", ".join(kind.__name__ for kind in STAGES)
            raise DeviceError(f"{type(stage).__name__} does not run on a GPU; allowed are {allowed}")
        if type(stage) in seen:
            raise DeviceError(f"stages[{i}] is a second {type(stage).__name__}; on a GPU each kind runs once")
        seen.add(type(stage))
    return list(stages)
