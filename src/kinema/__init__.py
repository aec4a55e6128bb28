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
    from kinema.compile_ahead import warmup as warmup
    from kinema.errors import DeviceError as DeviceError
    from kinema.errors import FileError as FileError
    from kinema.errors import InputError as InputError
    from kinema.errors import KinemaError as KinemaError
    from kinema.errors import MissingPackageError as MissingPackageError
    from kinema.fitting.fit import fit as fit
    from kinema.fitting.lifting import Camera as Camera
    from kinema.fitting.live import Fitter as Fitter
    from kinema.fitting.report import FitReport as FitReport
    from kinema.io.files import load as load
    from kinema.io.files import save as save
    from kinema.io.points.load import load_points as load_points
    from kinema.io.points.take import PointTake as PointTake
    from kinema.model.character import Character as Character
    from kinema.model.clip import Clip as Clip
    from kinema.model.clip import Event as Event
    from kinema.model.clip import Track as Track
    from kinema.model.constraints import Constraint as Constraint
    from kinema.model.limits import Cone as Cone
    from kinema.model.limits import Hinge as Hinge
    from kinema.model.limits import Slider as Slider
    from kinema.model.limits import SwingTwist as SwingTwist
    from kinema.model.pose import JointTransform as JointTransform
    from kinema.model.pose import Pose as Pose
    from kinema.model.rig import Arm as Arm
    from kinema.model.rig import Leg as Leg
    from kinema.model.rig import Rig as Rig
    from kinema.model.rig import Twist as Twist
    from kinema.model.root_motion import RootMotion as RootMotion
    from kinema.model.skeleton import Skeleton as Skeleton
    from kinema.model.skin import Skin as Skin
    from kinema.model.springs import Spring as Spring
    from kinema.model.springs import SpringCollider as SpringCollider
    from kinema.physics import Balls as Balls
    from kinema.physics import Room as Room
    from kinema.physics import Rope2D as Rope2D
    from kinema.planar.ground_2d import Tiles2D as Tiles2D
    from kinema.planar.walker_2d import Walker2D as Walker2D
    from kinema.planar.walker_2d import Walker2DFrame as Walker2DFrame
    from kinema.planar.walker_2d import WalkerSprites as WalkerSprites
    from kinema.playground.notebook import play as play
    from kinema.retargeting.clean import CleanReport as CleanReport
    from kinema.retargeting.clean import clean as clean
    from kinema.retargeting.live import Retargeter as Retargeter
    from kinema.retargeting.report import RetargetReport as RetargetReport
    from kinema.retargeting.retarget import retarget as retarget
    from kinema.solvers.body.full_body import BodyReport as BodyReport
    from kinema.solvers.body.full_body import FullBody as FullBody
    from kinema.solvers.body.targets import Effector as Effector
    from kinema.solvers.chain.ccd import ccd as ccd
    from kinema.solvers.chain.chain import ChainResult as ChainResult
    from kinema.solvers.chain.compensating import CompensatingResult as CompensatingResult
    from kinema.solvers.chain.compensating import Compensation as Compensation
    from kinema.solvers.chain.compensating import compensating as compensating
    from kinema.solvers.chain.constrain import constrain as constrain
    from kinema.solvers.chain.fabrik import fabrik as fabrik
    from kinema.solvers.goal.goal import Report as Report
    from kinema.solvers.goal.goal import solve as solve
    from kinema.solvers.goal.goal_task import Goal as Goal
    from kinema.solvers.goal.hinges import from_hinge_angles as from_hinge_angles
    from kinema.solvers.goal.hinges import hinge_angles as hinge_angles
    from kinema.solvers.goal.matrices import apply_to_matrices as apply_to_matrices
    from kinema.solvers.limb.aim import AimResult as AimResult
    from kinema.solvers.limb.aim import aim as aim
    from kinema.solvers.limb.drawing import LimbSprites as LimbSprites
    from kinema.solvers.limb.drawing import draw_limb as draw_limb
    from kinema.solvers.limb.look_at import look_at as look_at
    from kinema.solvers.limb.two_bone import TwoBoneResult as TwoBoneResult
    from kinema.solvers.limb.two_bone import two_bone as two_bone
    from kinema.solvers.limb.two_bone_2d import TwoBone2DResult as TwoBone2DResult
    from kinema.solvers.limb.two_bone_2d import two_bone_2d as two_bone_2d
    from kinema.solvers.limb.two_bone_rotations import (
        TwoBoneRotationsResult as TwoBoneRotationsResult,
    )
    from kinema.solvers.limb.two_bone_rotations import (
        two_bone_rotations as two_bone_rotations,
    )
    from kinema.stages.animator import Animator as Animator
    from kinema.stages.animator import Frame as Frame
    from kinema.stages.animator import Trace as Trace
    from kinema.stages.arms.hands import Hands as Hands
    from kinema.stages.arms.hands import HandsReport as HandsReport
    from kinema.stages.body import Body as Body
    from kinema.stages.constraints import Constraints as Constraints
    from kinema.stages.constraints import ConstraintsReport as ConstraintsReport
    from kinema.stages.feet.feet import Feet as Feet
    from kinema.stages.feet.feet import FeetReport as FeetReport
    from kinema.stages.feet.feet_levels import FeetLevel as FeetLevel
    from kinema.stages.gaze.aim import Aim as Aim
    from kinema.stages.gaze.aim import AimReport as AimReport
    from kinema.stages.gaze.eye_look import EyeLook as EyeLook
    from kinema.stages.gaze.eye_look import EyesPose as EyesPose
    from kinema.stages.gaze.eyes import Eyes as Eyes
    from kinema.stages.gaze.eyes import EyesReport as EyesReport
    from kinema.stages.gaze.head import Head as Head
    from kinema.stages.gaze.head import HeadReport as HeadReport
    from kinema.stages.gaze.head_look import HeadLook as HeadLook
    from kinema.stages.gaze.head_look import HeadPose as HeadPose
    from kinema.stages.layers import Breathing as Breathing
    from kinema.stages.layers import Layer as Layer
    from kinema.stages.layers import LayerReport as LayerReport
    from kinema.stages.layers import Recoil as Recoil
    from kinema.stages.layers import RecoilReport as RecoilReport
    from kinema.stages.layers import Sway as Sway
    from kinema.stages.legs.leg_placement import FootSolution as FootSolution
    from kinema.stages.legs.leg_placement import LegPlacement as LegPlacement
    from kinema.stages.legs.leg_placement import LegPose as LegPose
    from kinema.stages.legs.leg_placement import solve_foot as solve_foot
    from kinema.stages.play import Play as Play
    from kinema.stages.play import PlayReport as PlayReport
    from kinema.stages.springs import Springs as Springs
    from kinema.stages.springs import SpringsReport as SpringsReport
    from kinema.stages.stage import Crowd as Crowd
    from kinema.stages.stage import FrameContext as FrameContext
    from kinema.stages.stage import Stage as Stage
    from kinema.stages.stage import StageState as StageState
    from kinema.stages.tail import Tail as Tail
    from kinema.stages.tail import TailReport as TailReport
    from kinema.stages.walk.locomotion import Locomotion as Locomotion
    from kinema.stages.walk.locomotion import LocomotionReport as LocomotionReport
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
    "load_points": "kinema.io.points.load",
    "PointTake": "kinema.io.points.take",
    "apply_to_matrices": "kinema.solvers.goal.matrices",
    "play": "kinema.playground.notebook",
    "Tiles2D": "kinema.planar.ground_2d",
    "Walker2D": "kinema.planar.walker_2d",
    "Walker2DFrame": "kinema.planar.walker_2d",
    "WalkerSprites": "kinema.planar.walker_2d",
    "HandsReport": "kinema.stages.arms.hands",
    "Hands": "kinema.stages.arms.hands",
    "LimbSprites": "kinema.solvers.limb.drawing",
    "draw_limb": "kinema.solvers.limb.drawing",
    "FootSolution": "kinema.stages.legs.leg_placement",
    "LegPose": "kinema.stages.legs.leg_placement",
    "solve_foot": "kinema.stages.legs.leg_placement",
    "LegPlacement": "kinema.stages.legs.leg_placement",
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
    "fit": "kinema.fitting.fit",
    "Camera": "kinema.fitting.lifting",
    "Fitter": "kinema.fitting.live",
    "FitReport": "kinema.fitting.report",
    "Trace": "kinema.stages.animator",
    "Frame": "kinema.stages.animator",
    "Animator": "kinema.stages.animator",
    "AimReport": "kinema.stages.gaze.aim",
    "EyesReport": "kinema.stages.gaze.eyes",
    "HeadReport": "kinema.stages.gaze.head",
    "HeadLook": "kinema.stages.gaze.head_look",
    "HeadPose": "kinema.stages.gaze.head_look",
    "EyeLook": "kinema.stages.gaze.eye_look",
    "EyesPose": "kinema.stages.gaze.eye_look",
    "Aim": "kinema.stages.gaze.aim",
    "Eyes": "kinema.stages.gaze.eyes",
    "Head": "kinema.stages.gaze.head",
    "FeetReport": "kinema.stages.feet.feet",
    "FeetLevel": "kinema.stages.feet.feet_levels",
    "Feet": "kinema.stages.feet.feet",
    "LocomotionReport": "kinema.stages.walk.locomotion",
    "Locomotion": "kinema.stages.walk.locomotion",
    "TailReport": "kinema.stages.tail",
    "Tail": "kinema.stages.tail",
    "SpringsReport": "kinema.stages.springs",
    "Springs": "kinema.stages.springs",
    "ConstraintsReport": "kinema.stages.constraints",
    "Constraints": "kinema.stages.constraints",
    "Layer": "kinema.stages.layers",
    "LayerReport": "kinema.stages.layers",
    "Recoil": "kinema.stages.layers",
    "RecoilReport": "kinema.stages.layers",
    "Sway": "kinema.stages.layers",
    "Breathing": "kinema.stages.layers",
    "Play": "kinema.stages.play",
    "PlayReport": "kinema.stages.play",
    "Crowd": "kinema.stages.stage",
    "FrameContext": "kinema.stages.stage",
    "Stage": "kinema.stages.stage",
    "StageState": "kinema.stages.stage",
    "RootMotion": "kinema.model.root_motion",
    "Event": "kinema.model.clip",
    "Track": "kinema.model.clip",
    "Clip": "kinema.model.clip",
    "solve": "kinema.solvers.goal.goal",
    "Report": "kinema.solvers.goal.goal",
    "Goal": "kinema.solvers.goal.goal_task",
    "JointTransform": "kinema.model.pose",
    "Pose": "kinema.model.pose",
    "Skeleton": "kinema.model.skeleton",
    "Arm": "kinema.model.rig",
    "Leg": "kinema.model.rig",
    "Twist": "kinema.model.rig",
    "Rig": "kinema.model.rig",
    "Skin": "kinema.model.skin",
    "Character": "kinema.model.character",
    "DeviceError": "kinema.errors",
    "InputError": "kinema.errors",
    "KinemaError": "kinema.errors",
    "MissingPackageError": "kinema.errors",
    "Spring": "kinema.model.springs",
    "SpringCollider": "kinema.model.springs",
    "Constraint": "kinema.model.constraints",
    "Cone": "kinema.model.limits",
    "Hinge": "kinema.model.limits",
    "Slider": "kinema.model.limits",
    "SwingTwist": "kinema.model.limits",
    "AimResult": "kinema.solvers.limb.aim",
    "aim": "kinema.solvers.limb.aim",
    "ccd": "kinema.solvers.chain.ccd",
    "ChainResult": "kinema.solvers.chain.chain",
    "CompensatingResult": "kinema.solvers.chain.compensating",
    "Compensation": "kinema.solvers.chain.compensating",
    "compensating": "kinema.solvers.chain.compensating",
    "constrain": "kinema.solvers.chain.constrain",
    "fabrik": "kinema.solvers.chain.fabrik",
    "Body": "kinema.stages.body",
    "FullBody": "kinema.solvers.body.full_body",
    "BodyReport": "kinema.solvers.body.full_body",
    "Effector": "kinema.solvers.body.targets",
    "from_hinge_angles": "kinema.solvers.goal.hinges",
    "hinge_angles": "kinema.solvers.goal.hinges",
    "look_at": "kinema.solvers.limb.look_at",
    "TwoBoneResult": "kinema.solvers.limb.two_bone",
    "two_bone": "kinema.solvers.limb.two_bone",
    "TwoBone2DResult": "kinema.solvers.limb.two_bone_2d",
    "two_bone_2d": "kinema.solvers.limb.two_bone_2d",
    "TwoBoneRotationsResult": "kinema.solvers.limb.two_bone_rotations",
    "two_bone_rotations": "kinema.solvers.limb.two_bone_rotations",
    "CleanReport": "kinema.retargeting.clean",
    "clean": "kinema.retargeting.clean",
    "Retargeter": "kinema.retargeting.live",
    "RetargetReport": "kinema.retargeting.report",
    "retarget": "kinema.retargeting.retarget",
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
                import_module("kinema.compile.field_docs").describe_fields(value)


def __dir__() -> list[str]:
    return sorted((*_HOME, *_MODULES, "__version__"))
