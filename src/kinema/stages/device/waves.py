"""`Breathing` and `Recoil` on the GPU: a thread rotates a few joints of its character with a wave."""

from __future__ import annotations

from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numba import cuda, float32

from kinema.compile.jit import kernel
from kinema.solvers.gpu.cuda import device_jit
from kinema.stages.device.device_view import DeviceView
from kinema.stages.device.inputs import choose, numbers
from kinema.stages.device.tiles import (
    COPYING,
    THREADS,
    TILE,
    Chosen,
    PoseTiles,
    blocks,
    moved,
    row_of,
)
from kinema.stages.layers import (
    STRONGEST_KICK,
    Breathing,
    LayerReport,
    Recoil,
    RecoilReport,
    filling_of,
    kick_speed,
    rotate_with_wave,
    settle_kick,
)
from kinema.stages.slot import NO_WEIGHT
from kinema.stages.stage import Crowd

REGISTERS = 64
"""Registers of a thread that rotates joints with a wave, at most."""


class Breaths(NamedTuple):
    """Where in its breath every character is."""

    times: Any
    """(N,) float64: seconds."""
    phases: Any
    """(N,) float64: shares of a breath."""
    rate: float
    """Breaths per second."""


class Kicks(NamedTuple):
    """How far every character is kicked back, and how fast."""

    at: Any
    """(N,) float64."""
    speeds: Any
    """(N,) float64."""
    half_life: float
    """Seconds."""


# --- kernels ---------------------------------------------------------------------------------------------------


@kernel
def breathe(breaths, i, served, dt):
    """Let one character breathe on. Returns its wave: how full its lungs are."""
    if served:
        breaths.times[i] += dt
    return filling_of(breaths.times[i] * breaths.rate + breaths.phases[i])


@kernel
def recoil(kicks, i, served, dt):
    """Let the kick of one character decay. Returns its wave. A character that is left out forgets its kick."""
    at, speed = settle_kick(kicks.at[i], kicks.speeds[i], kicks.half_life, dt)
    kicks.at[i], kicks.speeds[i] = (at if served else 0.0), (speed if served else 0.0)
    return kicks.at[i]


@cache
def wave_kernel(advance: Any) -> Any:
    """The kernel for one kind of wave. advance: (state, i, served, dt), returns it."""

    @device_jit(REGISTERS)
    def swing(chosen, state, joints, tiles, weights, dt):
        i = row_of(chosen, cuda.grid(1))
        if i < 0 or i >= weights.size:
            return
        weight, tile, lane = weights[i], i // TILE, i % TILE
        served = weight > float32(NO_WEIGHT)
        wave = advance(state, i, served, dt)
        if served:
            for k in range(joints.size):
                j = joints[k].joint
                rotate_with_wave(joints[k], wave, weight, tiles.r[tile, 4 * j : 4 * j + 4, lane])

    return swing


@cuda.jit
def add_kicks(chosen, strengths, speed, largest, speeds, unusable):
    """Kick characters. speed: that of a kick of strength 1. largest: strength that can be used."""
    k = cuda.grid(1)
    i = row_of(chosen, k)
    if i >= 0 and i < speeds.size:
        strength = strengths[k if strengths.size > 1 else 0]
        if abs(strength) <= largest:
            speeds[i] += strength * speed
        else:
            cuda.atomic.add(unusable, 0, 1)


# --- the stages ------------------------------------------------------------------------------------------------


class WaveStage:
    """A stage that rotates joints with a wave."""

    _advance: Any
    _waves: Any
    _joints: Any

    def step(self, chosen: Chosen, tiles: PoseTiles, weights: Any, dt: float, stream: Any = 0) -> None:
        """Step these characters by a frame."""
        run = wave_kernel(type(self)._advance)[blocks(THREADS, chosen.size), THREADS, stream]
        run(chosen, self._waves, self._joints, tiles, weights, dt)


class DeviceBreathing(WaveStage):
    """Where in its breath every character is."""

    _advance = breathe

    def __init__(self, settings: Breathing, crowd: Crowd, one: Crowd, unusable: Any) -> None:
        state: Any = settings.start(crowd)
        self._waves = Breaths(cuda.to_device(state._time), cuda.to_device(state._phase), float(state._rate))
        self._joints = moved(np.asarray(state._swings.joints))

    def report(self) -> LayerReport:
        """How long every character has breathed, on the device."""
        return LayerReport(DeviceView(self._waves.times))  # type: ignore[arg-type]


class DeviceRecoil(WaveStage):
    """The decaying kicks of every character."""

    _advance = recoil

    def __init__(self, settings: Recoil, crowd: Crowd, one: Crowd, unusable: Any) -> None:
        self._crowd, self._unusable = crowd, unusable
        state: Any = settings.start(crowd)
        at, speeds = (cuda.to_device(np.zeros(crowd.count)) for _ in range(2))
        self._waves = Kicks(at, speeds, float(state._half_life))
        self._joints = moved(np.asarray(state._swings.joints))

    def kick(self, strength: Any = 1.0, rows: Any = None) -> None:
        """Kick some characters, everyone if not given; kicks add up. strength: one, or one for each of the rows, on
        either side.
        """
        chosen = choose(rows, self._crowd)
        strengths = numbers("strength", strength, chosen.size)
        if chosen.size:
            kicks = self._waves
            add_kicks[blocks(COPYING, chosen.size), COPYING](
                chosen, strengths, kick_speed(kicks.half_life), STRONGEST_KICK, kicks.speeds, self._unusable
            )

    def report(self) -> RecoilReport:
        """How far every character is kicked back, on the device."""
        return RecoilReport(DeviceView(self._waves.at))  # type: ignore[arg-type]
