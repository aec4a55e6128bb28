"""Baking: what the stages of a frame do to a clip, written down as a new clip. The Python behind `kinema bake`."""

from kinema.bake.baking import Baked, bake
from kinema.bake.moving_point import MovingPoint
from kinema.bake.settings import Settings

__all__ = ["Baked", "MovingPoint", "Settings", "bake"]
