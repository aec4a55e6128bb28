"""Kinema: inverse kinematics for procedural animation.

The public names, each loaded on first use so that `import kinema` costs milliseconds. See docs/conventions.md.
"""

from __future__ import annotations

import sys
from importlib import import_module
from typing import TYPE_CHECKING, Any

from kinema.version import __version__ as __version__

if TYPE_CHECKING:
    from kinema import bake as bake, metrics as metrics, quat as quat, render as render
    from kinema.compile_ahead import warmup as warmup
    from kinema.errors import (
        DeviceError as DeviceError,
        FileError as FileError,
        InputError as InputError,
        KinemaError as KinemaError,
        MissingPackageError as MissingPackageError,
    )
    from kinema.fitting.fit import fit as fit
    from kinema.fitting.lifting import Camera as Camera
    from kinema.fitting.live import Fitter as Fitter
    from kinema.fitting.report import FitReport as FitReport
    from kinema.io.files import load as load, save as save
    from kinema.io.points.load import load_points as load_points
    from kinema.io.points.take import PointTake as PointTake
    from kinema.model.character import Character as Character
    from kinema.model.blend_shapes import BlendShape as BlendShape, ShapeTrack as ShapeTrack
    from kinema.model.clip import Clip as Clip, Event as Event, Track as Track
    from kinema.model.constraints import Constraint as Constraint
    from kinema.model.limits import Cone as Cone, Hinge as Hinge, Slider as Slider, SwingTwist as SwingTwist
    from kinema.model.pose import JointTransform as JointTransform, Pose as Pose
    from kinema.model.rig import Arm as Arm, Leg as Leg, Rig as Rig, Twist as Twist
    from kinema.model.root_motion import RootMotion as RootMotion
    from kinema.model.skeleton import Skeleton as Skeleton
    from kinema.model.skin import Skin as Skin
    from kinema.model.springs import Spring as Spring, SpringCollider as SpringCollider
    from kinema.physics import Balls as Balls, Room as Room, Rope2D as Rope2D
    from kinema.planar.ground_2d import Tiles2D as Tiles2D
    from kinema.planar.walker_2d import (
        Walker2D as Walker2D,
        Walker2DFrame as Walker2DFrame,
        WalkerSprites as WalkerSprites,
    )
    from kinema.playground.notebook import play as play
    from kinema.retargeting.clean import CleanReport as CleanReport, clean as clean
    from kinema.retargeting.live import Retargeter as Retargeter
    from kinema.retargeting.report import RetargetReport as RetargetReport
    from kinema.retargeting.retarget import retarget as retarget
    from kinema.solvers.body.full_body import BodyReport as BodyReport, FullBody as FullBody
    from kinema.solvers.body.targets import Effector as Effector
    from kinema.solvers.chain.ccd import ccd as ccd
    from kinema.solvers.chain.chain import ChainResult as ChainResult
    from kinema.solvers.chain.compensating import (
        CompensatingResult as CompensatingResult,
        Compensation as Compensation,
        compensating as compensating,
    )
    from kinema.solvers.chain.constrain import constrain as constrain
    from kinema.solvers.chain.fabrik import fabrik as fabrik
    from kinema.solvers.goal.goal import Report as Report, solve as solve
    from kinema.solvers.goal.goal_task import Goal as Goal
    from kinema.solvers.goal.hinges import from_hinge_angles as from_hinge_angles, hinge_angles as hinge_angles
    from kinema.solvers.goal.matrices import apply_to_matrices as apply_to_matrices
    from kinema.solvers.limb.aim import AimResult as AimResult, aim as aim
    from kinema.solvers.limb.drawing import LimbSprites as LimbSprites, draw_limb as draw_limb
    from kinema.solvers.limb.look_at import look_at as look_at
    from kinema.solvers.limb.two_bone import TwoBoneResult as TwoBoneResult, two_bone as two_bone
    from kinema.solvers.limb.two_bone_2d import TwoBone2DResult as TwoBone2DResult, two_bone_2d as two_bone_2d
    from kinema.solvers.limb.two_bone_rotations import (
        TwoBoneRotationsResult as TwoBoneRotationsResult,
        two_bone_rotations as two_bone_rotations,
    )
    from kinema.stages.animator import Animator as Animator, Frame as Frame, Trace as Trace
    from kinema.stages.arms.hands import Hands as Hands, HandsReport as HandsReport
    from kinema.stages.body import Body as Body
    from kinema.stages.constraints import Constraints as Constraints, ConstraintsReport as ConstraintsReport
    from kinema.stages.feet.feet import Feet as Feet, FeetReport as FeetReport
    from kinema.stages.feet.feet_levels import FeetLevel as FeetLevel
    from kinema.stages.gaze.aim import Aim as Aim, AimReport as AimReport
    from kinema.stages.gaze.eye_look import EyeLook as EyeLook, EyesPose as EyesPose
    from kinema.stages.gaze.eyes import Eyes as Eyes, EyesReport as EyesReport
    from kinema.stages.gaze.head import Head as Head, HeadReport as HeadReport
    from kinema.stages.gaze.head_look import HeadLook as HeadLook, HeadPose as HeadPose
    from kinema.stages.layers import (
        Breathing as Breathing,
        Layer as Layer,
        LayerReport as LayerReport,
        Recoil as Recoil,
        RecoilReport as RecoilReport,
        Sway as Sway,
    )
    from kinema.stages.legs.leg_placement import (
        FootSolution as FootSolution,
        LegPlacement as LegPlacement,
        LegPose as LegPose,
        solve_foot as solve_foot,
    )
    from kinema.stages.play import Play as Play, PlayReport as PlayReport
    from kinema.stages.springs import Springs as Springs, SpringsReport as SpringsReport
    from kinema.stages.stage import (
        Crowd as Crowd,
        FrameContext as FrameContext,
        Stage as Stage,
        StageState as StageState,
    )
    from kinema.stages.tail import Tail as Tail, TailReport as TailReport
    from kinema.stages.walk.locomotion import Locomotion as Locomotion, LocomotionReport as LocomotionReport
    from kinema.world.ground import Ground as Ground
    from kinema.world.height_field import HeightField as HeightField
    from kinema.world.plane import Plane as Plane
    from kinema.world.rays import Hits as Hits
    from kinema.world.sphere import Sphere as Sphere
    from kinema.world.triangle_mesh import TriangleMesh as TriangleMesh
    from kinema.world.voxel_grid import VoxelGrid as VoxelGrid

_NAMES = {
    "kinema.compile_ahead": "warmup",
    "kinema.errors": "DeviceError FileError InputError KinemaError MissingPackageError",
    "kinema.fitting.fit": "fit",
    "kinema.fitting.lifting": "Camera",
    "kinema.fitting.live": "Fitter",
    "kinema.fitting.report": "FitReport",
    "kinema.io.files": "load save",
    "kinema.io.points.load": "load_points",
    "kinema.io.points.take": "PointTake",
    "kinema.model.character": "Character",
    "kinema.model.blend_shapes": "BlendShape ShapeTrack",
    "kinema.model.clip": "Clip Event Track",
    "kinema.model.constraints": "Constraint",
    "kinema.model.limits": "Cone Hinge Slider SwingTwist",
    "kinema.model.pose": "JointTransform Pose",
    "kinema.model.rig": "Arm Leg Rig Twist",
    "kinema.model.root_motion": "RootMotion",
    "kinema.model.skeleton": "Skeleton",
    "kinema.model.skin": "Skin",
    "kinema.model.springs": "Spring SpringCollider",
    "kinema.physics": "Balls Room Rope2D",
    "kinema.planar.ground_2d": "Tiles2D",
    "kinema.planar.walker_2d": "Walker2D Walker2DFrame WalkerSprites",
    "kinema.playground.notebook": "play",
    "kinema.retargeting.clean": "CleanReport clean",
    "kinema.retargeting.live": "Retargeter",
    "kinema.retargeting.report": "RetargetReport",
    "kinema.retargeting.retarget": "retarget",
    "kinema.solvers.body.full_body": "BodyReport FullBody",
    "kinema.solvers.body.targets": "Effector",
    "kinema.solvers.chain.ccd": "ccd",
    "kinema.solvers.chain.chain": "ChainResult",
    "kinema.solvers.chain.compensating": "CompensatingResult Compensation compensating",
    "kinema.solvers.chain.constrain": "constrain",
    "kinema.solvers.chain.fabrik": "fabrik",
    "kinema.solvers.goal.goal": "Report solve",
    "kinema.solvers.goal.goal_task": "Goal",
    "kinema.solvers.goal.hinges": "from_hinge_angles hinge_angles",
    "kinema.solvers.goal.matrices": "apply_to_matrices",
    "kinema.solvers.limb.aim": "AimResult aim",
    "kinema.solvers.limb.drawing": "LimbSprites draw_limb",
    "kinema.solvers.limb.look_at": "look_at",
    "kinema.solvers.limb.two_bone": "TwoBoneResult two_bone",
    "kinema.solvers.limb.two_bone_2d": "TwoBone2DResult two_bone_2d",
    "kinema.solvers.limb.two_bone_rotations": "TwoBoneRotationsResult two_bone_rotations",
    "kinema.stages.animator": "Animator Frame Trace",
    "kinema.stages.arms.hands": "Hands HandsReport",
    "kinema.stages.body": "Body",
    "kinema.stages.constraints": "Constraints ConstraintsReport",
    "kinema.stages.feet.feet": "Feet FeetReport",
    "kinema.stages.feet.feet_levels": "FeetLevel",
    "kinema.stages.gaze.aim": "Aim AimReport",
    "kinema.stages.gaze.eye_look": "EyeLook EyesPose",
    "kinema.stages.gaze.eyes": "Eyes EyesReport",
    "kinema.stages.gaze.head": "Head HeadReport",
    "kinema.stages.gaze.head_look": "HeadLook HeadPose",
    "kinema.stages.layers": "Breathing Layer LayerReport Recoil RecoilReport Sway",
    "kinema.stages.legs.leg_placement": "FootSolution LegPlacement LegPose solve_foot",
    "kinema.stages.play": "Play PlayReport",
    "kinema.stages.springs": "Springs SpringsReport",
    "kinema.stages.stage": "Crowd FrameContext Stage StageState",
    "kinema.stages.tail": "Tail TailReport",
    "kinema.stages.walk.locomotion": "Locomotion LocomotionReport",
    "kinema.world.ground": "Ground",
    "kinema.world.height_field": "HeightField",
    "kinema.world.plane": "Plane",
    "kinema.world.rays": "Hits",
    "kinema.world.sphere": "Sphere",
    "kinema.world.triangle_mesh": "TriangleMesh",
    "kinema.world.voxel_grid": "VoxelGrid",
}
"""The public names, by the module that they live in."""

_HOME = {name: home for home, names in _NAMES.items() for name in names.split()}

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
        # Of several threads, the one that takes a name describes it.
        if value is not None and _undescribed.pop(name, "") and hasattr(value, "_fields"):
            import_module("kinema.compile.field_docs").describe_fields(value)


def __dir__() -> list[str]:
    return sorted((*_HOME, *_MODULES, "__version__"))
