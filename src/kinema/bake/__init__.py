"""Bake clips: run a clip through the stages of a frame and keep the result as a new clip, as `kinema bake` does."""

from kinema.bake.baking import Baked, bake
from kinema.bake.settings import BakeSettings
from kinema.bake.targets import MovingPoint

__all__ = ["BakeSettings", "Baked", "MovingPoint", "bake"]
