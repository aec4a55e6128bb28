"""Use the add-on as a person does, and say what Blender shows then. Run by the Python that has bpy.

Takes on stdin {addon, files, wheel}: the file of the add-on, a folder with person.glb and capture.bvh, and a wheel to
install. Prints one line of JSON that begins with "answer ": what the tests look at, measured by Blender alone.
"""

import importlib.util
import json
import math
import os
import sys

import bpy
from mathutils import Vector

SLOPE = math.radians(12)
FPS = 30


def clear():
    bpy.ops.wm.read_factory_settings(use_empty=True)
    if hasattr(bpy.types.Scene, "kinema"):
        addon.unregister()
    addon.register()
    bpy.context.scene.render.fps = FPS


def person():
    """Import the character; its walk is the active action."""
    bpy.ops.import_scene.gltf(filepath=os.path.join(job["files"], "person.glb"))
    armature = next(each for each in bpy.context.selected_objects if each.type == "ARMATURE")
    play(armature, "walk")
    bpy.context.view_layer.objects.active = armature
    return armature


def play(armature, name):
    armature.animation_data.action = next(a for a in bpy.data.actions if a.name.split(".")[0].startswith(name))


def slope():
    bpy.ops.mesh.primitive_plane_add(size=60, rotation=(-SLOPE, 0, 0))


def activate(armature, *others):
    bpy.ops.object.select_all(action="DESELECT")
    for each in (*others, armature):
        each.select_set(True)
    bpy.context.view_layer.objects.active = armature


def lowest(mesh, height):
    """How far the lowest vertex of a mesh is above the ground, now. height: of the ground at (x, y)."""
    now = mesh.evaluated_get(bpy.context.evaluated_depsgraph_get())
    corners = [now.matrix_world @ vertex.co for vertex in now.data.vertices]
    return min(corner.z - height(corner.x, corner.y) for corner in corners)


def skin_of(armature):
    return next(each for each in bpy.data.objects if each.type == "MESH" and each.find_armature() == armature)


def above_ground(armature, height):
    first, last = armature.animation_data.action.frame_range
    skin, found = skin_of(armature), []
    for frame in range(round(first), round(last) + 1):
        bpy.context.scene.frame_set(frame)
        found.append(lowest(skin, height))
    return found


def bone(armature, name):
    """Where the head of a bone is in the world."""
    return list(armature.matrix_world @ armature.pose.bones[name].head)


def pressed(operator, **settings):
    """Press a button. Returns the error that it shows, or None."""
    try:
        operator(**settings)
    except RuntimeError as problem:
        return str(problem).strip()
    return None


def bakes():
    clear()
    armature = person()
    no_ground = pressed(bpy.ops.kinema.bake)
    slope()
    no_armature = pressed(bpy.ops.kinema.bake)
    activate(armature)
    before = [action.name for action in bpy.data.actions]
    pressed(bpy.ops.kinema.bake, loops=3)
    heights = above_ground(armature, lambda x, y: -y * math.tan(SLOPE))
    first, last = armature.animation_data.action.frame_range
    hips = []
    for frame in (first, last):
        bpy.context.scene.frame_set(round(frame))
        hips.append(bone(armature, "hips"))
    return {
        "no_ground": no_ground,
        "no_armature": no_armature,
        "kept": [name for name in before if name in bpy.data.actions],
        "action": armature.animation_data.action.name,
        "frames": [first, last],
        "heights": heights,
        "hips": hips,
    }


def is_turned_and_scaled():
    """The same bake with an armature that is turned, moved and in centimetres: as far above the ground as before."""
    clear()
    armature = person()
    slope()
    armature.rotation_mode = "XYZ"
    armature.rotation_euler = (0.0, 0.0, math.radians(40))
    armature.location = (3.0, 2.0, 0.5)
    armature.scale = (0.7, 0.7, 0.7)
    bpy.context.view_layer.update()
    activate(armature)
    problem = pressed(bpy.ops.kinema.bake, loops=2)
    heights = above_ground(armature, lambda x, y: -y * math.tan(SLOPE))
    armature.scale = (0.7, 0.7, 0.9)
    bpy.context.view_layer.update()
    return {"problem": problem, "heights": heights, "uneven": pressed(bpy.ops.kinema.bake)}


def retargets():
    clear()
    target = person()
    bpy.ops.import_anim.bvh(filepath=os.path.join(job["files"], "capture.bvh"), use_fps_scale=True, global_scale=0.6)
    source = bpy.context.object
    activate(target)
    alone = pressed(bpy.ops.kinema.retarget)
    activate(target, source)
    problem = pressed(bpy.ops.kinema.retarget)
    first, last = (round(frame) for frame in target.animation_data.action.frame_range)
    directions = []
    for frame in range(first, last + 1, 10):
        bpy.context.scene.frame_set(frame)
        for upper, lower in (("thigh_l", "shin_l"), ("shin_r", "foot_r"), ("upper_arm_l", "forearm_l")):
            pair = []
            for armature in (source, target):
                start, end = (Vector(bone(armature, name)) for name in (upper, lower))
                pair.append(list((end - start).normalized()))
            directions.append(pair)
    return {
        "alone": alone,
        "problem": problem,
        "action": target.animation_data.action.name,
        "directions": directions,
        "heights": above_ground(target, lambda x, y: 0.0),
        "source": source.animation_data.action.name,
    }


def pulls():
    clear()
    armature = person()
    armature.animation_data.action = None
    for each in armature.pose.bones:
        each.matrix_basis.identity()
    bpy.ops.object.empty_add(location=(0.5, -0.5, 1.5))
    target = bpy.context.object
    bpy.context.scene.kinema.target = target
    activate(armature)
    bpy.ops.object.mode_set(mode="POSE")
    armature.data.bones.active = armature.data.bones["hand_l"]
    feet = {name: bone(armature, name) for name in ("foot_l", "foot_r")}
    lengths = [each.length for each in armature.pose.bones]
    problem = pressed(bpy.ops.kinema.pull, key=True)
    reached = bone(armature, "hand_l")
    moved = {name: math.dist(bone(armature, name), feet[name]) for name in feet}
    stretched = max(abs(each.length - length) for each, length in zip(armature.pose.bones, lengths, strict=True))
    target.location = (5.0, 0.0, 1.0)
    bpy.context.view_layer.update()
    far = pressed(bpy.ops.kinema.pull)
    return {
        "problem": problem,
        "reached": math.dist(reached, (0.5, -0.5, 1.5)),
        "feet": moved,
        "stretched": stretched,
        "keyed": armature.animation_data.action is not None,
        "far": far,
        "far_feet": {name: math.dist(bone(armature, name), feet[name]) for name in feet},
    }


def installs():
    """Install a wheel with the button into an empty folder of modules."""
    clear()
    bpy.context.scene.kinema.source = "/nowhere/kinema-1.whl"
    wrong = pressed(bpy.ops.kinema.install)
    bpy.context.scene.kinema.source = "kinema"
    offline = pressed(bpy.ops.kinema.install)  # As Blender comes.
    bpy.context.scene.kinema.source = job["wheel"]
    problem = pressed(bpy.ops.kinema.install)
    folder = addon.modules_folder()
    return {
        "wrong": wrong,
        "offline": offline,
        "problem": problem,
        "modules": sorted(os.listdir(folder)),
        "found": importlib.util.find_spec("kinema_test_wheel") is not None,
    }


job = json.loads(sys.stdin.read())
spec = importlib.util.spec_from_file_location("kinema_addon", job["addon"])
addon = importlib.util.module_from_spec(spec)
spec.loader.exec_module(addon)
scenes = (bakes, is_turned_and_scaled, retargets, pulls, installs)
print("answer " + json.dumps({scene.__name__: scene() for scene in scenes}))
