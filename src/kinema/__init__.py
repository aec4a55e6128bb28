"""Kinema: inverse kinematics for procedural animation.

The public names, each loaded on first use so that `import kinema` costs milliseconds. See docs/conventions.md.
"""

from __future__ import annotations

import sys
from importlib import import_module
from typing import TYPE_CHECKING, Any

from kinema.version import __version__ as __version__

if TYPE_CHECKING:
    from kinema import bake as bake
    from kinema import metrics as metrics
    from kinema import quat as quat
    from kinema import render as render
    from kinema.behaviours.aim import Aim as Aim
    from kinema.behaviours.aim import AimReport as AimReport
    from kinema.behaviours.eye_look import EyeLook as EyeLook
    from kinema.behaviours.eye_look import EyesPose as EyesPose
    from kinema.behaviours.eyes import Eyes as Eyes
    from kinema.behaviours.eyes import EyesReport as EyesReport
    from kinema.behaviours.feet import Feet as Feet
    from kinema.behaviours.feet import FeetReport as FeetReport
    from kinema.behaviours.feet_levels import FeetLevel as FeetLevel
    from kinema.behaviours.full_body import Body as Body
    from kinema.behaviours.hands import Hands as Hands
    from kinema.behaviours.hands import HandsReport as HandsReport
    from kinema.behaviours.head import Head as Head
    from kinema.behaviours.head import HeadReport as HeadReport
    from kinema.behaviours.head_look import HeadLook as HeadLook
    from kinema.behaviours.head_look import HeadPose as HeadPose
    from kinema.behaviours.layers import Breathing as Breathing
    from kinema.behaviours.layers import Layer as Layer
    from kinema.behaviours.layers import Recoil as Recoil
    from kinema.behaviours.layers import Sway as Sway
    from kinema.behaviours.leg_placement import FootSolution as FootSolution
    from kinema.behaviours.leg_placement import LegPlacement as LegPlacement
    from kinema.behaviours.leg_placement import LegPose as LegPose
    from kinema.behaviours.leg_placement import solve_foot as solve_foot
    from kinema.behaviours.locomotion import Locomotion as Locomotion
    from kinema.behaviours.locomotion import LocomotionReport as LocomotionReport
    from kinema.behaviours.play import Play as Play
    from kinema.behaviours.play import PlayReport as PlayReport
    from kinema.behaviours.stage import Crowd as Crowd
    from kinema.behaviours.stage import FrameContext as FrameContext
    from kinema.behaviours.stage import Stage as Stage
    from kinema.behaviours.stage import StageState as StageState
    from kinema.behaviours.tail import Tail as Tail
    from kinema.behaviours.tail import TailReport as TailReport
    from kinema.character import Character as Character
    from kinema.clip import Clip as Clip
    from kinema.clip import Event as Event
    from kinema.clip import Track as Track
    from kinema.compile_ahead import warmup as warmup
    from kinema.drawing import LimbSprites as LimbSprites
    from kinema.drawing import draw_limb as draw_limb
    from kinema.errors import DeviceError as DeviceError
    from kinema.errors import FileError as FileError
    from kinema.errors import InputError as InputError
    from kinema.errors import KinemaError as KinemaError
    from kinema.errors import MissingPackageError as MissingPackageError
    from kinema.io.files import load as load
    from kinema.io.files import save as save
    from kinema.limits import Cone as Cone
    from kinema.limits import Hinge as Hinge
    from kinema.limits import SwingTwist as SwingTwist
    from kinema.physics import Balls as Balls
    from kinema.physics import Room as Room
    from kinema.physics import Rope2D as Rope2D
    from kinema.pipeline import Animator as Animator
    from kinema.pipeline import Frame as Frame
    from kinema.pipeline import Trace as Trace
    from kinema.playground.notebook import play as play
    from kinema.pose import JointTransform as JointTransform
    from kinema.pose import Pose as Pose
    from kinema.rig import Arm as Arm
    from kinema.rig import Leg as Leg
    from kinema.rig import Rig as Rig
    from kinema.root_motion import RootMotion as RootMotion
    from kinema.skeleton import Skeleton as Skeleton
    from kinema.skin import Skin as Skin
    from kinema.solvers.aim import AimResult as AimResult
    from kinema.solvers.aim import aim as aim
    from kinema.solvers.body.targets import Effector as Effector
    from kinema.solvers.ccd import ccd as ccd
    from kinema.solvers.chain import ChainResult as ChainResult
    from kinema.solvers.compensating import CompensatingResult as CompensatingResult
    from kinema.solvers.compensating import Compensation as Compensation
    from kinema.solvers.compensating import compensating as compensating
    from kinema.solvers.constrain import constrain as constrain
    from kinema.solvers.fabrik import fabrik as fabrik
    from kinema.solvers.full_body import BodyReport as BodyReport
    from kinema.solvers.full_body import FullBody as FullBody
    from kinema.solvers.goal import Report as Report
    from kinema.solvers.goal import solve as solve
    from kinema.solvers.goal_task import Goal as Goal
    from kinema.solvers.hinges import hinge_angles as hinge_angles
    from kinema.solvers.look_at import look_at as look_at
    from kinema.solvers.matrices import apply_to_matrices as apply_to_matrices
    from kinema.solvers.two_bone import TwoBoneResult as TwoBoneResult
    from kinema.solvers.two_bone import two_bone as two_bone
    from kinema.solvers.two_bone_2d import TwoBone2DResult as TwoBone2DResult
    from kinema.solvers.two_bone_2d import two_bone_2d as two_bone_2d
    from kinema.solvers.two_bone_rotations import (
        TwoBoneRotationsResult as TwoBoneRotationsResult,
    )
    from kinema.solvers.two_bone_rotations import (
        two_bone_rotations as two_bone_rotations,
    )
    from kinema.world.ground import Ground as Ground
    from kinema.world.height_field import HeightField as HeightField
    from kinema.world.plane import Plane as Plane
    from kinema.world.rays import Hits as Hits
    from kinema.world.sphere import Sphere as Sphere
    from kinema.world.triangle_mesh import TriangleMesh as TriangleMesh
    from kinema.world.voxel_grid import VoxelGrid as VoxelGrid

_HOME = {
    "load": "kinema.io.files",
    "save": "kinema.io.files",
    "apply_to_matrices": "kinema.solvers.matrices",
    "play": "kinema.playground.notebook",
    "HandsReport": "kinema.behaviours.hands",
    "Hands": "kinema.behaviours.hands",
    "LimbSprites": "kinema.drawing",
    "draw_limb": "kinema.drawing",
    "FootSolution": "kinema.behaviours.leg_placement",
    "LegPose": "kinema.behaviours.leg_placement",
    "solve_foot": "kinema.behaviours.leg_placement",
    "LegPlacement": "kinema.behaviours.leg_placement",
    "Room": "kinema.physics",
    "Balls": "kinema.physics",
    "Rope2D": "kinema.physics",
    "Hits": "kinema.world.rays",
    "Ground": "kinema.world.ground",
    "Sphere": "kinema.world.sphere",
    "TriangleMesh": "kinema.world.triangle_mesh",
    "VoxelGrid": "kinema.world.voxel_grid",
    "HeightField": "kinema.world.height_field",
    "Plane": "kinema.world.plane",
    "FileError": "kinema.errors",
    "Trace": "kinema.pipeline",
    "Frame": "kinema.pipeline",
    "Animator": "kinema.pipeline",
    "AimReport": "kinema.behaviours.aim",
    "EyesReport": "kinema.behaviours.eyes",
    "HeadReport": "kinema.behaviours.head",
    "HeadLook": "kinema.behaviours.head_look",
    "HeadPose": "kinema.behaviours.head_look",
    "EyeLook": "kinema.behaviours.eye_look",
    "EyesPose": "kinema.behaviours.eye_look",
    "Aim": "kinema.behaviours.aim",
    "Eyes": "kinema.behaviours.eyes",
    "Head": "kinema.behaviours.head",
    "FeetReport": "kinema.behaviours.feet",
    "FeetLevel": "kinema.behaviours.feet_levels",
    "Feet": "kinema.behaviours.feet",
    "LocomotionReport": "kinema.behaviours.locomotion",
    "Locomotion": "kinema.behaviours.locomotion",
    "TailReport": "kinema.behaviours.tail",
    "Tail": "kinema.behaviours.tail",
    "Layer": "kinema.behaviours.layers",
    "Recoil": "kinema.behaviours.layers",
    "Sway": "kinema.behaviours.layers",
    "Breathing": "kinema.behaviours.layers",
    "Play": "kinema.behaviours.play",
    "PlayReport": "kinema.behaviours.play",
    "Crowd": "kinema.behaviours.stage",
    "FrameContext": "kinema.behaviours.stage",
    "Stage": "kinema.behaviours.stage",
    "StageState": "kinema.behaviours.stage",
    "RootMotion": "kinema.root_motion",
    "Event": "kinema.clip",
    "Track": "kinema.clip",
    "Clip": "kinema.clip",
    "solve": "kinema.solvers.goal",
    "Report": "kinema.solvers.goal",
    "Goal": "kinema.solvers.goal_task",
    "JointTransform": "kinema.pose",
    "Pose": "kinema.pose",
    "Skeleton": "kinema.skeleton",
    "Arm": "kinema.rig",
    "Leg": "kinema.rig",
    "Rig": "kinema.rig",
    "Skin": "kinema.skin",
    "Character": "kinema.character",
    "DeviceError": "kinema.errors",
    "InputError": "kinema.errors",
    "KinemaError": "kinema.errors",
    "MissingPackageError": "kinema.errors",
    "Cone": "kinema.limits",
    "Hinge": "kinema.limits",
    "SwingTwist": "kinema.limits",
    "AimResult": "kinema.solvers.aim",
    "aim": "kinema.solvers.aim",
    "ccd": "kinema.solvers.ccd",
    "ChainResult": "kinema.solvers.chain",
    "CompensatingResult": "kinema.solvers.compensating",
    "Compensation": "kinema.solvers.compensating",
    "compensating": "kinema.solvers.compensating",
    "constrain": "kinema.solvers.constrain",
    "fabrik": "kinema.solvers.fabrik",
    "Body": "kinema.behaviours.full_body",
    "FullBody": "kinema.solvers.full_body",
    "BodyReport": "kinema.solvers.full_body",
    "Effector": "kinema.solvers.body.targets",
    "hinge_angles": "kinema.solvers.hinges",
    "look_at": "kinema.solvers.look_at",
    "TwoBoneResult": "kinema.solvers.two_bone",
    "two_bone": "kinema.solvers.two_bone",
    "TwoBone2DResult": "kinema.solvers.two_bone_2d",
    "two_bone_2d": "kinema.solvers.two_bone_2d",
    "TwoBoneRotationsResult": "kinema.solvers.two_bone_rotations",
    "two_bone_rotations": "kinema.solvers.two_bone_rotations",
    "warmup": "kinema.compile_ahead",
}

_MODULES = ("bake", "metrics", "quat", "render")
"""Subpackages that are reachable as attributes: `km.metrics.measure`, `km.bake.bake`."""

__all__ = sorted(_HOME)

_undescribed = dict(_HOME)
"""Names that `_describe_results` has not seen yet."""


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return import_module(f"kinema.{name}")
    if name not in _HOME:
        raise AttributeError(f"module 'kinema' has no attribute {name!r}")
    value = getattr(import_module(_HOME[name]), name)
    globals()[name] = value
    _describe_results()
    return value


def _describe_results() -> None:
    """Describe the fields of all result types loaded since the last call, for `help`."""
    for name, home in list(_undescribed.items()):
        value = getattr(sys.modules.get(home), name, None)
        if value is not None:
            del _undescribed[name]
            if hasattr(value, "_fields"):
                import_module("kinema.field_docs").describe_fields(value)


def __dir__() -> list[str]:
    return sorted((*_HOME, *_MODULES, "__version__"))
