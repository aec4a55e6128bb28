"""Where Blender puts bones and objects while the clips of a file play. Run by the Python that has bpy.

Takes on stdin a list of {file, times}: for each clip of the file, in its order, the seconds to look at. Gives on
stdout, for each file, {clips}: for each clip and moment, [name, (x, y, z)] in glTF's axes, of every bone and of every
object that does not follow one; a name may come twice. Of FBX files its world matrix in Blender's axes instead of the
position. Or {error}.
"""

import json
import os
import struct
import sys
import tempfile
from pathlib import Path

import bpy

FPS = 120
PLACEMENT = ("location", "rotation_quaternion", "rotation_euler", "scale")


def judge(job):
    file = Path(job["file"])
    if file.suffix == ".bvh":
        clear()
        bpy.ops.import_anim.bvh(filepath=str(file), use_fps_scale=True, rotate_mode="QUATERNION", frame_start=1)
        return {"clips": [[places_at(1 + time * FPS) for time in job["times"][0]]]}
    if file.suffix == ".fbx":  # Its times are the file's own.
        clear()
        bpy.ops.import_scene.fbx(filepath=str(file), anim_offset=0.0)
        rate = bpy.context.scene.render.fps / bpy.context.scene.render.fps_base
        frames = [transforms_at(time * rate) for time in job["times"][0]]
        return {"clips": [[[(name, [list(row) for row in at]) for name, at in frame] for frame in frames]]}
    tree, binary = contents(file)
    rest = placements_at_rest(tree, binary) if binary else {}
    open_gltf(file)
    clips = []
    for i, (clip, times) in enumerate(zip(tree["animations"], job["times"], strict=True)):
        for key, thing in things_that_move():
            for path, value in rest.get(key, {}).items():
                setattr(thing, path, value)
        for thing in bpy.data.objects:
            play(thing, clip.get("name") or f"Anim_{i}")
        clips.append([places_at(time * FPS) for time in times])
    return {"clips": clips}


def clear():
    bpy.ops.wm.read_factory_settings(use_empty=True)
    bpy.context.scene.render.fps = FPS


def open_gltf(file):
    clear()
    bpy.ops.import_scene.gltf(filepath=str(file), bone_heuristic="BLENDER")


def contents(file):
    """The JSON of a glTF file, and what follows it in a binary one."""
    data = file.read_bytes()
    if data[:4] != b"glTF":
        return json.loads(data), b""
    end = 20 + struct.unpack_from("<I", data, 12)[0]
    return json.loads(data[20:end]), data[end:]


def placements_at_rest(tree, binary):
    """Where things are before any clip plays: importing a file leaves them where its first clip starts."""
    still = json.dumps({key: value for key, value in tree.items() if key != "animations"}).encode()
    still += b" " * (-len(still) % 4)
    header = struct.pack("<4sIIII", b"glTF", 2, 20 + len(still) + len(binary), len(still), 0x4E4F534A)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "still.glb")
        file.write_bytes(header + still + binary)
        open_gltf(file)
    return {key: {path: getattr(thing, path).copy() for path in PLACEMENT} for key, thing in things_that_move()}


def things_that_move():
    """Objects and bones, by their names."""
    for thing in bpy.data.objects:
        yield (thing.name, None), thing
        if thing.type == "ARMATURE":
            yield from (((thing.name, bone.name), bone) for bone in thing.pose.bones)


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


def follows_bones(thing):
    """Surfaces are moved to their armature; what hangs from a bone of a scaled armature ends up elsewhere."""
    return thing.parent_type == "BONE" or any(modifier.type == "ARMATURE" for modifier in thing.modifiers)


def places_at(frame):
    positions = [(name, at.translation) for name, at in transforms_at(frame)]
    return [(name, (x, z, -y)) for name, (x, y, z) in positions]  # Blender's z is up.


def transforms_at(frame):
    bpy.context.scene.frame_set(int(frame), subframe=frame - int(frame))
    found = []
    for thing in bpy.data.objects:
        if not follows_bones(thing):
            found.append((thing.name, thing.matrix_world.copy()))
        if thing.type == "ARMATURE":
            found += [(bone.name, thing.matrix_world @ bone.matrix) for bone in thing.pose.bones]
    return found


def attempt(job):
    try:
        return judge(job)
    except Exception as problem:
        return {"error": str(problem)}


with os.fdopen(os.dup(1), "w") as answer:
    os.dup2(2, 1)  # What the importer has to say is no part of the answer.
    json.dump([attempt(job) for job in json.load(sys.stdin)], answer)
