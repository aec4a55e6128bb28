"""Where Blender puts bones and objects while the clips of a file play. Run by the Python that has bpy.

Takes on stdin a list of {file, times}: for each clip of the file, in its order, the seconds to look at. Gives on
stdout, for each file, {clips}: for each clip and moment, [name, (x, y, z)] in glTF's axes, of every object and every
bone; a name may come twice. Or {error}.
"""

import json
import os
import struct
import sys
from pathlib import Path

import bpy

FPS = 120
PLACEMENT = ("location", "rotation_quaternion", "rotation_euler", "scale")


def judge(job):
    bpy.ops.wm.read_factory_settings(use_empty=True)
    bpy.context.scene.render.fps = FPS
    file = Path(job["file"])
    if file.suffix == ".bvh":
        bpy.ops.import_anim.bvh(filepath=str(file), use_fps_scale=True, rotate_mode="QUATERNION", frame_start=1)
        return {"clips": [[places_at(1 + time * FPS) for time in job["times"][0]]]}
    bpy.ops.import_scene.gltf(filepath=str(file), bone_heuristic="BLENDER")
    rest = [(thing, {name: getattr(thing, name).copy() for name in PLACEMENT}) for thing in things_that_move()]
    clips = []
    for name, times in zip(clip_names(file), job["times"], strict=True):
        for thing, values in rest:
            for path, value in values.items():
                setattr(thing, path, value)
        for thing in bpy.data.objects:
            play(thing, name)
        clips.append([places_at(time * FPS) for time in times])
    return {"clips": clips}


def clip_names(file):
    """As the importer calls them."""
    data = file.read_bytes()
    if data[:4] == b"glTF":
        data = data[20 : 20 + struct.unpack_from("<I", data, 12)[0]]
    return [clip.get("name") or f"Anim_{i}" for i, clip in enumerate(json.loads(data).get("animations", ()))]


def things_that_move():
    for thing in bpy.data.objects:
        yield thing
        if thing.type == "ARMATURE":
            yield from thing.pose.bones


def play(thing, clip):
    """The importer stashes each clip in a muted track of its name, on each object that it moves."""
    animation = thing.animation_data
    if animation is None:
        return
    animation.action = None
    for track in animation.nla_tracks:
        if track.name == clip:
            animation.action = track.strips[0].action
            animation.action_slot = track.strips[0].action_slot


def places_at(frame):
    bpy.context.scene.frame_set(int(frame), subframe=frame - int(frame))
    places = []
    for thing in bpy.data.objects:
        places.append((thing.name, thing.matrix_world.translation))
        if thing.type == "ARMATURE":
            places += [(bone.name, (thing.matrix_world @ bone.matrix).translation) for bone in thing.pose.bones]
    return [(name, (x, z, -y)) for name, (x, y, z) in places]  # Blender's z is up.


def attempt(job):
    try:
        return judge(job)
    except Exception as problem:
        return {"error": str(problem)}


with os.fdopen(os.dup(1), "w") as answer:
    os.dup2(2, 1)  # What the importer has to say is no part of the answer.
    json.dump([attempt(job) for job in json.load(sys.stdin)], answer)
