"""A character, ours or from a file, that walks over uneven ground. Any part of its body can be dragged and pinned.

Space: the character's unit, y up. The ground is scaled to its legs.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np

from kinema.demo import samples
from kinema.demo.characters.humanoid import humanoid
from kinema.demo.characters.quadruped import quadruped
from kinema.demo.characters.spider import spider
from kinema.demo.scenes import grounds
from kinema.demo.scenes.actor import POSES, Actor, joints_by_role
from kinema.demo.scenes.baked_walk import LONGEST_BAKED, bake_job, baked_file, pose_file, walk_job
from kinema.demo.scenes.borrowed_motion import (
    POINTS,
    BorrowedMotion,
    SourceWalker,
    borrow_all,
    borrow_points,
    clip_name,
    holds_points,
)
from kinema.demo.scenes.character_files import loaded, model, packed, saved
from kinema.demo.scenes.character_script import script
from kinema.demo.scenes.for_views import AGAINST, GROUND, MODEL, PARTS, TIMELINE
from kinema.demo.scenes.held import BONE, MAIN, ROTATABLE, Grip, handles_by_joint, unit_rotation
from kinema.demo.scenes.limb_bends import LimbBends
from kinema.demo.scenes.own_ground import OwnGround, is_ground, own_ground
from kinema.demo.scenes.pose_layers import own_joints
from kinema.demo.scenes.pose_library import LIBRARY, library_pose
from kinema.demo.scenes.pose_strip import MOST, PoseStrip
from kinema.demo.scenes.scene import (
    Button,
    Choice,
    Control,
    Download,
    FileJob,
    Scene,
    SceneStatus,
    Slider,
    Switch,
    clamped_position,
    finite,
)
from kinema.demo.scenes.walk_round import Spot
from kinema.demo.scenes.walker import Walker
from kinema.errors import InputError
from kinema.io.formats import READ
from kinema.math import arrays

OURS = {"humanoid": humanoid, "quadruped": quadruped, "spider": spider}
LABELS = {"humanoid": "Person", "quadruped": "Fox", "spider": "Spider"}
"""Our characters as the page names them."""
FARTHEST = 20.0
"""Largest distance of a handle from the character, metres for a person."""
REACHED = 2e-3
"""Distance from its handle at which a limb counts as there, metres for a person."""
A_POSE = "Choose one"
"""Shown instead of a pose of the library."""
AT_REST = "at rest"
"""Shown for a character without clips."""
SHOWN = {"with IK": "With IK", "both": "Both", "without IK": "Clip alone"}
"""What can be shown, and how the page says it."""
WEIGHTS = {
    "play": "Clip",
    "breathing": "Breathing",
    "feet": "Feet on the ground",
    "body": "Body to its handles",
    "head": "Head to the gaze",
    "eyes": "Eyes to the gaze",
}
TOUCHES = {"hands": "Hands go on to touch", "arm_space": "Arms keep clear of the body"}
"""Settings of `retarget` for motions of other bodies, and how the page says them."""
WALK_GROUP, POSE_GROUP, FILES_GROUP, SHOW_GROUP, WEIGHTS_GROUP = "Walk", "Pose", "Download", "Show", PARTS
"""Headings of the controls."""
WEBCAM = "kinema_webcam.json"
"""Points of our own that play without a camera."""
SAME_TIME = 2e-3
"""Difference up to which two times of a clip count as the same, seconds."""
LARGEST_OFFSET = 1e6
"""Largest coordinate of a grabbed point in the space of its joint, in that joint's unit."""
SHORTEST_LOOP = 0.1
"""Shortest part of a clip that can be repeated, seconds."""


class CharacterScene(Scene):
    """One character and its stages."""

    name = "character"
    title = "Character"
    about = (
        "Grab any part of the body and pull, or steer with W A S D. Drop your own character here (GLB, VRM, FBX), then "
        "a motion for it (BVH, FBX)."
    )
    unit = "m"
    takes: ClassVar[tuple[str, ...]] = (*READ, *POINTS)
    controls: tuple[Control, ...] = ()
    help: ClassVar[tuple[tuple[str, str], ...]] = (
        (
            "Left mouse or a finger",
            "pull any part of the body, or the gaze ahead of the head; it stays where you leave it",
        ),
        ("Wheel while dragging", "nearer and farther"),
        ("Click a ring", "choose it: circles rotate hands, feet and head"),
        ("Double-click, or P", "pin a part of the body where it is; again: release it"),
        ("Escape while dragging", "cancel the drag; two fingers drag two parts"),
        ("Backspace", "back to the clip: release everything"),
        ("W A S D, or a gamepad", "steer the character"),
        ("Drag beside it", "rotate the view; wheel or two fingers: nearer and farther"),
        ("Drop a file", ".glb, .vrm, .fbx, .bvh, or a .gltf in one piece; it does not leave this machine"),
        ("Drop a motion", "such as a .bvh file: a button puts it onto the character that is shown"),
        ("Drop a mesh", "without bones: the character walks on it"),
        ("Drop points", "of a detector or markers, .json, .npy, .csv, .trc or .c3d: the character moves as they do"),
    )

    hint = ("hand left", "Grab this hand and pull")
    keys = (("p", "Pin or release"), ("Backspace", "Back to the clip"))
    needs = ("clips, float32", "feet, float32", "gaze, float32", "body, float32")
    steers = True
    unsaved = frozenset({"time", "pose", "remove_pose", "library"})

    def __init__(self, seed: int = 0, guest: Actor | None = None) -> None:
        super().__init__(seed)
        self.guest = guest
        self.former: tuple[Actor, dict[str, BorrowedMotion]] | None = None
        """The character from a file before the guest, and its motions: undo goes back to it."""
        self.own_ground: OwnGround | None = None
        """Ground from a file."""
        self.grounds = 0
        """Number of grounds from files so far."""
        self._still = False
        self.awaited_joints: dict[str, dict[str, str]] = {}
        """What the user has mapped in motions that a state needs, by their files."""
        self.motions: dict[str, BorrowedMotion] = {}
        """Motions of other bodies that the character has taken over, by the names of its clips."""
        self._source: SourceWalker | None = None
        """The body beside the character."""
        self.shows = 0
        """Number of characters shown so far."""
        self._show(self._begin(guest or self._actor("humanoid")))

    def _actor(self, label: str) -> Actor:
        if self.guest is not None and label == self.guest.label:
            return self.guest
        return Actor(OURS[label](), root="root")

    def fresh(self) -> Scene:
        """Return a new scene that keeps a character from a file."""
        scene = type(self)(self.seed, self.guest)
        scene.own_ground, scene.grounds, scene.former = self.own_ground, self.grounds, self.former
        scene._renew_controls()
        scene.motions = dict(self.motions) if scene.walker.actor is self.guest else {}
        return scene

    # Files.

    def receive(self, name: str, data: bytes) -> None:
        if holds_points(name):
            self.receive_motion(name, data)
        elif is_ground(character := loaded(name, data)):
            self._walk_on(own_ground(name, character))
        else:
            self.welcome(Actor(character, file=name))

    def _walk_on(self, ground: OwnGround) -> None:
        """Let the character walk on ground from a file."""
        self.own_ground = ground
        self.grounds += 1
        self.walker.move_to(ground)
        self._renew_controls()
        self.values["ground"] = ground.label
        self.revision += 1

    def _ground(self, value: str) -> str | OwnGround:
        """Return the ground that a value of the control stands for."""
        own = self.own_ground
        return own if own is not None and value == own.label else value

    def receive_motion(self, name: str, data: bytes) -> None:
        """Put the motion of a file onto the character."""
        state = self.awaited_joints.get(name, {})
        actor, shown = self.walker.actor, ""
        if holds_points(name):
            motions = list(borrow_points(name, data, actor, state, self._touch()))
        else:
            character = loaded(name, data)
            if is_ground(character):
                self._walk_on(own_ground(name, character))
                return
            motions = list(borrow_all(name, character, actor, state, self._touch()))
        taken = [clip for clip in actor.character.clips if clip not in self.motions or self.motions[clip].file != name]
        for motion in motions:  # The same file again takes the place of what it gave before.
            clip = clip_name(motion, taken)
            taken.append(clip)
            actor, shown = actor.with_clip(clip, motion.made), shown or clip
            self.motions[clip] = motion
        self._take_over_motion(actor, shown)

    def _play_webcam(self) -> None:
        """Play our own points of a webcam, or go on with them."""
        clip = next((clip for clip, motion in self.motions.items() if motion.file == WEBCAM), None)
        if clip is None:
            self.receive_motion(WEBCAM, b"".join(samples.webcam()))
        else:
            self._take_over_motion(self.walker.actor, clip)

    def _take_over_motion(self, actor: Actor, clip: str) -> None:
        """Show the character with a clip that it has got."""
        self.guest = actor if actor.file else self.guest
        self.walker.take_over(actor, clip)
        self._renew_controls()
        self.values["clip"] = next(short for short, name in actor.clips.items() if name == clip)
        self.revision += 1

    @property
    def motion_shown(self) -> BorrowedMotion | None:
        """The motion of another body that is played."""
        return self.motions.get(self.walker.clip or "")

    def follow(self, joint: str, source: str) -> None:
        """Let a joint follow another one of the motion that is played. source: "" for none."""
        motion, clip = self.motion_shown, self.walker.clip
        if motion is not None and clip is not None:
            self._map(clip, {**motion.joints, joint: source})

    def _map(self, clip: str, joints: Mapping[str, str]) -> None:
        """Retarget a motion anew with these joints."""
        self.motions[clip] = self.motions[clip].mapped(self.walker.actor, joints, self._touch())
        time = self.walker.time
        self._take_over_motion(self.walker.actor.with_clip(clip, self.motions[clip].made), clip)
        self.walker.seek(time)

    def _touch(self) -> dict[str, float]:
        """Return how hands of motions of other bodies touch, as it is set now."""
        return {name: float(self.values.get(name, 0.0)) for name in TOUCHES}

    def _renew_touch(self) -> None:
        """Retarget the motion that is played anew if hands are to touch in another way."""
        motion, clip = self.motion_shown, self.walker.clip
        if motion is not None and clip is not None and motion.touch != self._touch():
            self._map(clip, motion.joints)

    def motion_files(self, state: Any) -> list[str]:
        own = state.get("own") if isinstance(state, dict) else None
        given = own.get("motions") if isinstance(own, dict) else None
        self.awaited_joints = (
            {str(file): dict(joints) for file, joints in given.items()} if isinstance(given, dict) else {}
        )
        guest = self._missing_guest(state)
        return [file for file in self.awaited_joints if file != guest]

    def _missing_guest(self, state: Any) -> str:
        """Return the file of the character that a state has in its list, if the scene does not have it.

        One that is not shown and whose motion is on the character is not missed.
        """
        own, values = (state.get(key) for key in ("own", "values")) if isinstance(state, dict) else (None, None)
        file = own.get("file") if isinstance(own, dict) else None
        if not isinstance(file, str) or (self.guest is not None and file == self.guest.file):
            return ""
        is_shown = not isinstance(values, dict) or values.get("character") not in [*OURS]
        return "" if not is_shown and file in self.awaited_joints else file

    def _file(self, ending: str) -> str:
        """Return the name of a file to download."""
        return f"{re.sub(r'[^A-Za-z0-9_-]+', '_', self.walker.actor.name)[:40]}_{ending}.glb"

    def long_job(self, name: str) -> FileJob | None:
        if name == self._file("walk"):
            seconds = self.values["walk_length"]
            return walk_job(self.walker, seconds if seconds else None)
        return bake_job(self.walker) if name == self._file("baked") else None

    def give(self, name: str) -> bytes:
        """`MODEL`: the current character's skin as glTF. `GROUND`: see `packed`. The others are downloads."""
        if name == self._file("pose"):
            return pose_file(self.walker)
        if name == MODEL:
            return model(self.walker.actor)
        if name == GROUND:
            return packed(self.walker.ground)
        return super().give(name)

    # Character and ground.

    def welcome(self, guest: Actor) -> None:
        """Show a character from a file. If that fails, nothing changes."""
        walker, motions = self._begin(guest), self.motions if self.walker.actor.file else {}
        self.former, self.guest = (self.former if self.guest is None else (self.guest, motions)), guest
        self._show(walker)
        self.revision += 1

    def _begin(self, actor: Actor) -> Walker:
        """Return a walker at the start of the current ground."""
        speed, weights = (0.0, {"breathing": 0.0}) if self._still else (1.0, {})
        clip = actor.clips.get(_first_clip(actor))
        ground = self._ground(self.values.get("ground", "course"))
        return Walker(actor, ground, clip, weights, speed=speed, still=self._still)

    def _show(self, walker: Walker) -> None:
        """Show a walker and its controls."""
        self.walker, actor = walker, walker.actor
        self.shows += 1
        self.controls = self._controls()
        own = {
            "character": actor.label,
            "ground": self.values.get("ground", "course"),
            "clip": _first_clip(actor),
            "speed": walker.speed,
        }
        own |= {"bones": not actor.has_surface, **walker.weights}
        self.values = {control.name: own.get(control.name, control.value) for control in self.controls}
        self.motions = {clip: motion for clip, motion in self.motions.items() if clip in actor.character.clips}
        self.strip = PoseStrip(walker.character.skeleton)
        self.bends = LimbBends(actor.character)

    def _renew_controls(self) -> None:
        """Adapt the controls to the clip and the stored poses. Loop and time start anew."""
        self.controls = self._controls()
        kept = {name: value for name, value in self.values.items() if name not in ("time", "loop_start", "loop_end")}
        self.values = {control.name: kept.get(control.name, control.value) for control in self.controls}

    def _controls(self) -> tuple[Control, ...]:
        """Return the controls of the current character."""
        walker = self.walker
        actors = tuple(OURS) if self.guest is None else (self.guest.label, *OURS)
        clips = tuple(walker.actor.clips) or (AT_REST,)
        length = round(walker.duration, 3)
        stages = [
            Slider(name, label, 1.0, 0.0, 1.0, 0.01, group=WEIGHTS_GROUP)
            for name, label in WEIGHTS.items()
            if name in walker.stage_names
        ]
        names = tuple(LABELS.get(actor, actor) for actor in actors)
        sliders = [Slider(name, label, 0.0, 0.0, 1.0, 0.25, group=SHOW_GROUP) for name, label in TOUCHES.items()]
        touches = sliders if self.motions else []
        own = () if self.own_ground is None else (self.own_ground.label,)
        return (
            Choice("character", "Character", actors[0], actors, names, group=WALK_GROUP),
            Choice("ground", "Ground", "course", grounds.NAMES + own, grounds.LABELS + own, group=WALK_GROUP),
            Choice("library", "Pose library", A_POSE, (A_POSE, *LIBRARY), group=POSE_GROUP),
            Switch("turning", "Rotate single bones", False, group=POSE_GROUP),
            Switch("balanced", "Keep balance", False, group=POSE_GROUP),
            Switch("watch", "Look at the pointer", False, group=POSE_GROUP),
            Button("let_go", "Back to the clip", group=POSE_GROUP),
            Button("webcam", "Play sample webcam points", group=WALK_GROUP),
            Download("pose_file", "Download pose as GLB", self._file("pose"), group=FILES_GROUP),
            Download("baked", "Download clip as GLB", self._file("baked"), group=FILES_GROUP),
            Slider("walk_length", "Seconds of walk, 0: all", 0.0, 0.0, LONGEST_BAKED, 1.0, group=FILES_GROUP),
            Download("walk", "Download walk and ground as GLB", self._file("walk"), group=FILES_GROUP),
            Choice("show", "Motion", next(iter(SHOWN)), tuple(SHOWN), tuple(SHOWN.values()), group=SHOW_GROUP),
            Switch("bones", "Bones and roles", False, group=SHOW_GROUP),
            Switch("more", "All handles", False, group=SHOW_GROUP),
            *([Switch("beside", "Original beside it", True, group=SHOW_GROUP)] if self.motions else []),
            *touches,
            *stages,
            Choice("clip", "Clip", clips[0], clips, group=TIMELINE),
            Slider("speed", "Speed", 1.0, 0.0, 2.0, 0.05, group=TIMELINE),
            Slider("time", "Time", 0.0, 0.0, length, 0.001, "s", group=TIMELINE),
            Slider("loop_start", "Loop from", 0.0, 0.0, length, 0.001, "s", group=TIMELINE),
            Slider("loop_end", "Loop to", length, 0.0, length, 0.001, "s", group=TIMELINE),
            Button("store", "Store pose", group=TIMELINE),
            Button("mirror_pose", "Store mirrored", group=TIMELINE),
            Slider("pose", "Pose", 0, 0, MOST - 1, 1, group=TIMELINE),
            Slider("remove_pose", "Remove pose", 0, 0, MOST - 1, 1, group=TIMELINE),
        )

    # User input.

    def changed(self, name: str) -> None:
        value = self.values[name]
        if name == "character":
            self._show(self._begin(self._actor(value)))
        elif name == "ground":
            self.walker.move_to(self._ground(value))
        elif name == "clip":
            self.walker.play(self.walker.actor.clips.get(value))
            self._renew_controls()
            self._renew_touch()
        elif name == "speed":
            self.walker.set_speed(value)
        elif name == "time":
            self.walker.seek(value)
        elif name in ("loop_start", "loop_end"):
            self._set_loop(name)
        elif name in WEIGHTS:
            self.walker.set_weight(name, value)
        elif name in TOUCHES:
            self._renew_touch()
        elif name == "balanced":
            self.walker.balanced = value
        elif name == "watch" and not value:
            self.walker.held.release("gaze")
        elif name == "let_go":
            self._let_go()
        elif name == "webcam":
            self._play_webcam()
        elif name in ("store", "mirror_pose"):
            self._store(mirrored=name == "mirror_pose")
        elif name == "library":
            self.values["library"] = A_POSE
            self._take_from_library(value)
        elif name == "pose":
            self._go_to_pose(int(value))
        elif name == "remove_pose":
            self.strip.remove(int(value))
            self._renew_poses()

    def _set_loop(self, name: str) -> None:
        """Repeat a part of the clip. The end that was not moved gives way."""
        start, end, length = self.values["loop_start"], self.values["loop_end"], self.walker.duration
        if end - start < SHORTEST_LOOP:
            start, end = (start, start + SHORTEST_LOOP) if name == "loop_start" else (end - SHORTEST_LOOP, end)
        start, end = max(min(start, length - SHORTEST_LOOP), 0.0), min(max(end, SHORTEST_LOOP), round(length, 3))
        self.values |= {"loop_start": start, "loop_end": end}
        whole = start <= 0.0 and end >= round(length, 3)
        self.walker.loop = None if whole else (start, end)

    # Stored poses.

    def _store(self, mirrored: bool) -> None:
        """Store what is shown, or its mirror image, which is then shown."""
        walker, skeleton = self.walker, self.walker.character.skeleton
        pose, clip = ((skeleton.mirrored(p) if mirrored else p) for p in (walker.pose, walker.pose_alone))
        self.strip.add(pose, own_joints(pose, clip, walker.character.rig))
        self._renew_poses()
        if mirrored:
            self._go_to_pose(len(self.strip) - 1)

    def _take_from_library(self, name: str) -> None:
        """Store a pose of the library, and show it. Raises InputError for a body that it does not fit."""
        rig, walker = self.walker.character.rig, self.walker
        if name == A_POSE:
            return
        if rig is None:
            raise InputError("no arms and legs were found in this body: the poses of the library do not fit it")
        pose = library_pose(name, rig)
        self.strip.add(pose, own_joints(pose, walker.pose_alone, rig))
        self._renew_poses()
        self._go_to_pose(len(self.strip) - 1)

    def layer(self, pose: int, span: Sequence[float] | None) -> None:
        """Lay a stored pose over a part of the clip, or take it off."""
        number, stored, own = self.strip.at(pose)
        if span is None:
            self.walker.layers.layers.pop(number, None)
        else:
            self.walker.layers.lay(number, stored, own, span, self.walker.duration)
        self.revision += 1

    def _renew_poses(self) -> None:
        """Make a clip of the stored poses, or remove it if there are none."""
        walker = self.walker
        walker.layers.layers = {n: layer for n, layer in walker.layers.layers.items() if n in self.strip.numbers}
        was_playing, time = walker.clip == POSES, walker.time
        walker.set_poses(self.strip.clip() if len(self.strip) else None, _first_clip(walker.actor))
        self._renew_controls()
        self.values["clip"] = next((s for s, name in walker.actor.clips.items() if name == walker.clip), AT_REST)
        if was_playing and walker.clip == POSES:
            walker.seek(time)

    def _go_to_pose(self, index: int) -> None:
        """Show a stored pose."""
        if index < len(self.strip):
            self._let_go()
            if self.walker.clip != POSES:
                self.set("clip", POSES)
            self.walker.seek(self.strip.time_of(index))

    # Handles.

    def grab(self, handle: str, point: Sequence[float]) -> None:
        """Make a handle of a point of the skin. point: in the space of the joint whose number the handle has."""
        self.walker.held.grab(handle, clamped_position(point, 3, LARGEST_OFFSET), self.walker.world)
        self.revision += 1

    def drag(self, handle: str, position: Sequence[float]) -> None:
        """position: relative to the origin of the character's space, along the world's axes."""
        away = clamped_position(position, 3, FARTHEST * self.walker.actor.size)
        turn = np.asarray(self.walker.frame.transform[:3, :3], float)
        self._note_held(handle)
        self.walker.held.take(handle, turn.T @ away)

    def rotate(self, handle: str, rotation: Sequence[float]) -> None:
        """rotation: of the handle's joint, along the world's axes."""
        grip, joint = self.walker.held.grips.get(handle), self._bone(handle)
        if joint is not None:
            self._turn(joint, self.walker.own_rotation(unit_rotation(rotation)))
        elif grip is not None:
            own = self.walker.own_rotation(unit_rotation(rotation))
            self._note_held(handle)
            self.walker.held.rotate(handle, own, self.walker.own_position(grip.position(self.walker.world)))

    def _turn(self, joint: int, own: Any) -> None:
        """Let a joint keep a rotation, given in the character's space, relative to its parent."""
        walker, skeleton = self.walker, self.walker.character.skeleton
        parent = int(skeleton.parents[joint])
        above = skeleton.world_rotations(walker.pose)[parent] if parent >= 0 else (0.0, 0.0, 0.0, 1.0)
        self.revision += joint not in walker.layers.turned
        walker.layers.turned[joint] = arrays.unit(arrays.mul(arrays.conj(np.asarray(above, float)), own))

    def pin(self, handle: str) -> None:
        held, walker, joint = self.walker.held, self.walker, self._bone(handle)
        if joint is not None:
            self._turn(joint, np.asarray(walker.character.skeleton.world_rotations(walker.pose)[joint], float))
        grip = held.grips.get(handle)
        if grip is not None:
            at = grip.position(walker.world)
            if grip.kind == "gaze":
                at = held.shown([grip], walker.frame.transform, walker.world)[0]
            rotation = walker.character.skeleton.world_rotations(walker.pose)[grip.joint]
            held.pin(handle, walker.own_position(at), rotation)
            self.revision += 1

    def release(self, handle: str) -> None:
        self.walker.held.release(handle)
        self.walker.layers.turned.pop(-1 if (joint := self._bone(handle)) is None else joint, None)
        self.revision += 1

    def bend(self, handle: str) -> None:
        bent = self.walker.layers.bent
        for limb in self.bends.limbs:
            if handle in (limb.end, limb.middle) and bent.pop(limb.middle, None) is None:
                bent[limb.middle] = limb.joints
        self.revision += 1

    def look(self, position: Sequence[float]) -> None:
        if self.values["watch"]:
            self.drag("gaze", position)

    def _bone(self, handle: str) -> int | None:
        """Return the joint of the handle of a single bone; None for other handles."""
        kind, _, number = handle.partition(" ")
        known = kind == BONE and number.isdecimal() and int(number) < len(self.walker.character.skeleton)
        return int(number) if known else None

    def _let_go(self) -> None:
        """Release everything, bones too."""
        self.walker.held.let_go()
        self.walker.layers.turned.clear()
        self.revision += 1

    def _grips(self) -> list[Grip]:
        """Return the handles to show: while single bones are rotated, theirs alone."""
        bones = [Grip(BONE, str(joint), joint) for joint in self.walker.layers.turned]
        return bones if self.values["turning"] else [*self.walker.held.shown_grips(self.values["more"]), *bones]

    def _held_as(self, grip: Grip) -> float:
        """Return 0 for a free handle, 1 for one that is held, 2 for a pinned one."""
        hold = self.walker.held.holds.get(grip.handle)
        return 2.0 if grip.kind == BONE else 0.0 if hold is None else 1.0 + hold.pinned

    def _note_held(self, handle: str) -> None:
        """Count a handle that was free as a change of the description: it may have been hidden."""
        if handle not in self.walker.held.holds:
            self.revision += 1

    def steer(self, turn: float, ahead: float) -> None:
        self.walker.steer(turn, ahead)

    def own_state(self) -> dict[str, Any]:
        layers = self.walker.layers
        state: dict[str, Any] = {"held": self.walker.held.state(), "poses": self.strip.state()}
        state |= {"turned": {str(j): np.round(turn, 6).tolist() for j, turn in layers.turned.items()}}
        state |= {"bent": sorted(layers.bent), "layers": layers.spans(self.strip.numbers)}
        state |= {} if self.guest is None else {"file": self.guest.file}
        state |= {"motions": {one.file: dict(one.joints) for one in self.motions.values()}} if self.motions else {}
        own = self.own_ground
        state |= {} if own is None or self.walker.ground is not own else {"ground": own.file}
        return state | ({"time": round(self.walker.time, 3)} if self.paused else {})

    def restore_first(self, values: Mapping[str, Any], own: Mapping[str, Any]) -> None:
        """Restore the character and its stored poses: they decide which clips there are."""
        file, former = own.get("file"), self.former
        if former is not None and self.guest is not None and file == former[0].file != self.guest.file:
            self.welcome(former[0])
            self.motions = dict(former[1])
            self._renew_controls()
        if values.get("character", self.values["character"]) != self.values["character"]:
            self.set("character", values["character"])
        motions = own.get("motions") or {}
        if WEBCAM in motions and all(motion.file != WEBCAM for motion in self.motions.values()):
            self.motion_files({"own": own})
            self._play_webcam()
        poses = own.get("poses", [])
        if poses != self.strip.state():
            self.strip.restore(poses)
            self._renew_poses()

    def restore_own(self, own: Mapping[str, Any]) -> None:
        walker = self.walker
        walker.held.restore(own["held"], walker.world, FARTHEST * walker.actor.size)
        turned = {self._bone(f"{BONE} {j}"): unit_rotation(turn) for j, turn in dict(own.get("turned") or {}).items()}
        walker.layers.turned = {joint: turn for joint, turn in turned.items() if joint is not None}
        walker.layers.bent = {b.middle: b.joints for b in self.bends.limbs if b.middle in own.get("bent", [])}
        for pose, span in enumerate(own.get("layers", [])[: len(self.strip)]):
            self.layer(pose, span)
        given = own.get("motions") or {}
        for clip, motion in list(self.motions.items()):
            if clip == walker.clip and given.get(motion.file, motion.joints) != motion.joints:
                self._map(clip, given[motion.file])
        time = own.get("time")
        if time is not None and abs(float(finite("time", [time], 1)[0]) - walker.time) > SAME_TIME:
            walker.seek(float(time))

    def motion(self) -> dict[str, Any]:
        walker = self.walker
        return {"time": walker.time, "way": walker.way, "spot": None if walker.steered is None else [*walker.steered]}

    def restore_motion(self, motion: Mapping[str, Any]) -> None:
        time, way = finite("motion", [motion["time"], motion["way"]], 2).tolist()
        spot = motion["spot"]
        self.walker.go_to(way, None if spot is None else Spot(*finite("spot", spot, 3).tolist()), time)

    def wanted_file(self, state: Any) -> str:
        own, motions = state.get("own") if isinstance(state, dict) else None, self.motion_files(state)
        if file := self._missing_guest(state):
            return file
        ground = own.get("ground") if isinstance(own, dict) else None
        if ground and (self.own_ground is None or ground != self.own_ground.file):
            return str(ground)
        have = {WEBCAM, *(motion.file for motion in self.motions.values())}
        return next((name for name in motions if name not in have), "")

    def key(self, key: str, position: Sequence[float]) -> None:
        if key == "Backspace":
            self._let_go()

    def be_still(self) -> None:
        self._still = True
        self._show(self._begin(self.walker.actor))
        self.revision += 1

    # Time.

    def rehearse(self) -> None:
        for handle in ("hand left", "foot left", "gaze"):
            self.drag(handle, (0.3, 0.4, 0.3))
        self.pin("hips")
        self.bend("foot left")
        super().rehearse()
        baked_file(self.walker)
        self.receive("person.glb", saved(replace(humanoid(), skins=())))

    def step(self, dt: float) -> None:
        self.walker.step(dt)
        if (source := self.source) is not None:
            source.step(dt, self.walker, self.walker.pace)

    def settle(self, dt: float) -> None:
        self.walker.settle(dt)
        if (source := self.source) is not None:
            source.step(dt, self.walker, 0.0)

    @property
    def source(self) -> SourceWalker | None:
        """The body that the motion was made for, if it is to be shown."""
        motion = self.motion_shown if self.values.get("beside") else None
        if motion is None or self._source is None or self._source.motion is not motion:
            self._source = None if motion is None else SourceWalker(motion, self.walker)
        return self._source

    # Output.

    def frame(self) -> dict[str, Any]:
        """world, alone: (J, 12), a 3x4 matrix per joint, with all stages and with the clip alone; empty if hidden.
        handles: (H, 3). held: (H,), 1 for those that are held, 2 for pinned ones. origin: (3,), of the character's
        space. middle: (3,), what the camera looks at. facing: (1,), radians. clock: (1,), time in the clip, seconds.
        mass: (5,), the centre of mass at the height of the ground, its distance inside the support, and whether there
        is one. support: (S, 3). bends: (B, 2), degrees of each limb of `bends` and of the same one in the clip alone,
        which is computed only if a limb is bent against its way.
        """
        walker, none = self.walker, np.zeros((0, 12))
        held, grips = walker.held, self._grips()
        return {
            "world": _rows(walker.world),
            "alone": none if self.values["show"] == "with IK" else _rows(walker.alone),
            "handles": held.shown(grips, walker.frame.transform, walker.world),
            "held": np.array([self._held_as(grip) for grip in grips]),
            "origin": walker.frame.transform[:3, 3],
            "middle": walker.middle,
            "facing": np.array((walker.spot.heading,)),
            "clock": np.array((walker.time,)),
            "bends": self._bends(),
            **self._beside(),
            **self._balance(),
        }

    def _beside(self) -> dict[str, Any]:
        """Return the matrices (S, 12) of the body that a motion was made for, where feet stand on both bodies, (F, 4),
        with 1 for those that stand; both are empty if it is not shown.
        """
        source, walker = self.source, self.walker
        if source is None:
            return {"beside": np.zeros((0, 12)), "contacts": np.zeros((0, 4))}
        world, feet, rows = source.world(walker), walker.frame.reports.get("feet"), []
        other = source.walker.character.rig, world, source.standing
        own = walker.character.rig, walker.world, () if feet is None else feet.planted
        for rig, matrices, stands in (other, own):
            legs = [] if rig is None else rig.legs
            rows += [(*matrices[int(leg.joints[-1]), :3, 3], on) for leg, on in zip(legs, stands, strict=False)]
        return {"beside": _rows(world), "contacts": np.array(rows, float).reshape(-1, 4)}

    def _bends(self) -> Any:
        now = self.bends.degrees(self.walker.world)
        alone = self.bends.degrees(self.walker.alone) if (now < -AGAINST).any() else now
        return np.stack((now, alone), axis=-1)

    def _balance(self) -> dict[str, Any]:
        balance, rig = self.walker.balance(), self.walker.character.rig
        if balance is None:
            return {"mass": np.zeros(5), "support": np.zeros((3 * len(rig.legs) if rig else 0, 3))}
        return {"mass": np.array((*balance.centre, balance.margin, 1.0)), "support": balance.support}

    def description(self) -> dict[str, Any]:
        actor, rig = self.walker.actor, self.walker.character.rig
        # The joints of each role and its confidence: 0 to 1, None if it was given.
        roles = [
            {"name": name, "joints": joints, "confidence": rig and rig.confidence.get(name)}
            for name, joints in ({} if rig is None else joints_by_role(rig)).items()
        ]
        return {
            "model": self.shows,
            "name": actor.name,
            "title": LABELS.get(actor.label, actor.name),
            "guest": bool(actor.file),
            "surface": actor.has_surface,
            "nodes": actor.nodes,
            "parents": actor.character.skeleton.parents.tolist(),
            "size": actor.size,
            "extent": actor.extent,
            "ground": self._ground_shown(),
            "handles": [
                {
                    "name": grip.handle,
                    "joint": grip.joint,
                    "main": grip.kind in MAIN,
                    "rotates": grip.kind in (*ROTATABLE, BONE),
                }
                for grip in self._grips()
            ],
            "names": list(actor.character.skeleton.names),
            "feet": [] if rig is None else [int(leg.joints[-1]) for leg in rig.legs],
            "parts": self._parts(),
            "motion": self._motion_description(),
            "poses": self.strip.numbers,
            "layers": self.walker.layers.spans(self.strip.numbers),
            "bends": self.bends.description(),
            "bounds": {"*": {"low": [-FARTHEST * actor.size] * 3, "high": [FARTHEST * actor.size] * 3}},
            "show": self.values["show"],
            "bones": self.values["bones"],
            "roles": roles,
            "doubts": ["No legs, arms or head were found in it."] if rig is None else list(rig.doubts)[:8],
        }

    def _ground_shown(self) -> str:
        """Return a name of the ground: another one from a file has another name."""
        value = str(self.values["ground"])
        return value if isinstance(self._ground(value), str) else f"{value} {self.grounds}"

    def _parts(self) -> list[str]:
        """Return the handle to which the skin of each joint belongs."""
        skeleton = self.walker.character.skeleton
        if self.values["turning"]:
            return [f"{BONE} {joint}" for joint in range(len(skeleton))]
        return handles_by_joint(self.walker.actor.character.rig, skeleton)

    def _motion_description(self) -> dict[str, Any] | None:
        motion = self.motion_shown
        if motion is None:
            return None
        rig = motion.actor.character.rig
        return {
            "file": motion.file,
            "parents": motion.actor.character.skeleton.parents.tolist(),
            "names": list(motion.actor.character.skeleton.names),
            "joints": dict(motion.report.joints),
            "roles": {} if rig is None else joints_by_role(rig),
            "warnings": list(motion.report.warnings)[:6],
        }

    def status(self) -> SceneStatus:
        errors = [error / self.walker.actor.size for error in self.walker.errors()]
        return SceneStatus(max(errors, default=0.0), sum(error <= REACHED for error in errors), len(errors))

    def python(self) -> str:
        return script(self.walker, self.motion_shown)


def _first_clip(actor: Actor) -> str:
    """Return the first clip to play: a walk, if there is one."""
    clips = list(actor.clips) or [AT_REST]
    return next((clip for clip in clips if "walk" in clip.lower()), clips[0])


def _rows(world: Any) -> Any:
    return world[:, :3].reshape(-1, 12)
