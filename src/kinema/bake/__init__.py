"""Bake clips: run a clip through the stages of a frame and keep the result as a new clip, as `kinema bake` does."""

from kinema.bake.baking import bake
from kinema.bake.preparing import prepare_clip
from kinema.bake.report import Baked
from kinema.bake.settings import BakeSettings, MovingPoint

__all__ = ["BakeSettings", "Baked", "MovingPoint", "bake", "prepare_clip"]
