"""Kinema in Blender: bake a walk onto the ground of the scene, move a motion onto another armature, pull a whole body.

This one file is the add-on. The panel "Kinema" in the sidebar of the 3D view (N) has its buttons. `make blender` packs
it as an extension; Blender 4.2 and later install that with Preferences > Get Extensions > Install from Disk.

How it works: the armature becomes a `kinema.Character` (bones are joints, meshes with an armature modifier are skins),
in Kinema's axes and in world space. What Kinema returns becomes keys of a new action. Nothing is deleted.
"""

import importlib.util
import json
import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import bpy
import numpy as np
from bpy.props import BoolProperty, IntProperty, PointerProperty, StringProperty
from mathutils import Matrix, Quaternion, Vector

bl_info = {
    "name": "Kinema",
    "author": "The Kinema authors",
    "version": (0, 1, 0),
    "blender": (4, 2, 0),
    "location": "3D View > Sidebar > Kinema",
    "description": "Feet on the scene's ground, retargeting, full-body pulls",
    "category": "Animation",
}

Y_UP = Matrix(((1, 0, 0, 0), (0, 0, 1, 0), (0, -1, 0, 0), (0, 0, 0, 1)))
"""From Blender's axes (z up, characters face -y) to Kinema's (y up, characters face +z)."""

UNEVEN = 1e-3
"""Relative difference of an object's scales up to which they count as one."""

MOVED = 1e-5
"""Metres, and shares of a scale: a bone that moves less against its rest gets no keys of location, or of scale."""


class KinemaError(Exception):
    """What is wrong and what is allowed, in one sentence for the status bar."""


# --- installing -------------------------------------------------------------------------------------------------------


def is_installed():
    _find_modules()
    return importlib.util.find_spec("kinema") is not None


def modules_folder():
    """The folder of Python modules in the user's Blender settings, which updates of Blender's files leave alone."""
    return bpy.utils.user_resource("SCRIPTS", path="modules", create=True)


def _find_modules():
    folder = bpy.utils.user_resource("SCRIPTS", path="modules")
    if folder and Path(folder).is_dir() and folder not in sys.path:
        sys.path.append(folder)


def install(source):
    """Install Kinema, from the registry by name or from a wheel, with what Blender's Python lacks. Returns what came.

    Blender's own NumPy stays: pip says what it would install beside what is there, and only that goes into the folder
    of modules.
    """
    local, offline = os.path.exists(source), not getattr(bpy.app, "online_access", True)
    if not local and (os.sep in source or source.endswith(".whl")):
        raise KinemaError(f"Kinema could not be installed: there is no file {source!r}")
    if offline and not local:
        raise KinemaError(
            "Blender may not use the network: allow it in Preferences > System > Network, or choose a wheel on disk"
        )
    _pip("--version") if importlib.util.find_spec("pip") else _python("-m", "ensurepip", "--user")
    with tempfile.TemporaryDirectory() as folder:
        plan, fixed = Path(folder) / "plan.json", Path(folder) / "fixed.txt"
        fixed.write_text(f"numpy=={np.__version__}\n")
        network = ("--no-index",) if offline else ()
        _pip("install", "--dry-run", "--quiet", "--constraint", fixed, "--report", plan, *network, source)
        wanted = json.loads(plan.read_text())["install"]
        exact = [
            source if item.get("is_direct") else f"{item['metadata']['name']}=={item['metadata']['version']}"
            for item in wanted
        ]
        if exact:
            _pip("install", "--quiet", "--no-deps", "--upgrade", "--target", modules_folder(), *network, *exact)
    _find_modules()
    importlib.invalidate_caches()
    return [f"{item['metadata']['name']} {item['metadata']['version']}" for item in wanted]


def _pip(*arguments):
    _python("-m", "pip", "--disable-pip-version-check", *arguments)


def _python(*arguments):
    done = subprocess.run([sys.executable, *map(str, arguments)], capture_output=True, text=True, check=False)
    if done.returncode:
        lines = (done.stderr or done.stdout).strip().splitlines() or ["no reason was given"]
        wrong = [line for line in lines if line.startswith("ERROR")] or lines[-1:]
        raise KinemaError(f"Kinema could not be installed: {' '.join(wrong)[:400]}")


# --- from Blender to Kinema and back ----------------------------------------------------------------------------------


@dataclass
class Actor:
    """An armature as Kinema sees it."""

    armature: object
    bones: list
    """Names of its bones, parents first: those that deform and those above them."""
    parents: list
    """For each the index of its parent, -1 for none."""
    character: object
    """A `kinema.Character`; its clip is called "action"."""


def read(armature, frames=()):
    """Make an `Actor` of an armature. frames: those of the scene that become its clip; none: no clip."""
    import kinema as km
    from kinema import roles

    bones = _joints_of(armature)
    parents = [bones.index(bone.parent.name) if bone.parent else -1 for bone in _data_bones(armature, bones)]
    space = _space(armature)
    rest = _pose([bone.matrix_local for bone in _data_bones(armature, bones)], parents, space)
    skeleton = km.Skeleton(bones, parents, km.Pose(*rest))
    skins = [skin for mesh in _meshes_of(armature) if (skin := _skin(mesh, armature, bones)) is not None]
    clips = {}
    if frames:
        poses = [np.stack(parts) for parts in zip(*_played(armature, bones, parents, frames), strict=True)]
        clips["action"] = km.Clip.from_poses("action", skeleton, km.Pose(*poses), fps=_fps())
    given = bpy.path.abspath(armature.kinema_roles)
    overrides = roles.read_overrides(given) if given else roles.Overrides()
    rig = roles.find(skeleton, clips, overrides=overrides.over(roles.Overrides(up=(0, 1, 0))), skins=skins)
    return Actor(armature, bones, parents, km.Character(skeleton, clips, rig, skins, armature.name))


def _joints_of(armature):
    """Bones that deform and those above them, parents first; all bones where none deforms."""
    every = list(armature.data.bones)
    wanted = {bone.name for bone in every if bone.use_deform} or {bone.name for bone in every}
    wanted |= {parent.name for bone in every if bone.name in wanted for parent in bone.parent_recursive}
    if not wanted:
        raise KinemaError(f"{armature.name!r} has no bones")
    return [bone.name for bone in sorted(every, key=lambda bone: len(bone.parent_recursive)) if bone.name in wanted]


def _data_bones(armature, names):
    return [armature.data.bones[name] for name in names]


def _space(armature):
    """From the armature's space to Kinema's: a rotation, a shift and one scale."""
    scale = armature.matrix_world.to_scale()
    if max(scale) - min(scale) > UNEVEN * max(scale) or armature.matrix_world.is_negative:
        raise KinemaError(f"{armature.name!r} is scaled by {tuple(round(s, 3) for s in scale)}; apply its scale first")
    return Y_UP @ armature.matrix_world


def _pose(matrices, parents, space):
    """Translations, rotations (x, y, z, w) and scales of joints below their parents. matrices: in armature space."""
    size = space.to_scale()[0]
    upright = space.to_quaternion()
    t, r, s = (np.empty((len(matrices), width)) for width in (3, 4, 3))
    for joint, (matrix, parent) in enumerate(zip(matrices, parents, strict=True)):
        local = matrix if parent < 0 else matrices[parent].inverted_safe() @ matrix
        place, rotation, scale = local.decompose()
        if parent < 0:
            place, rotation = space @ place, upright @ rotation
        else:
            place = size * place
        t[joint], r[joint], s[joint] = place, (rotation.x, rotation.y, rotation.z, rotation.w), scale
    return t, r, s


def _played(armature, bones, parents, frames):
    """Yield the pose of the armature in each frame, with its constraints and whatever else moves it."""
    scene, before = bpy.context.scene, bpy.context.scene.frame_current
    for frame in frames:
        scene.frame_set(frame)
        now = armature.evaluated_get(bpy.context.evaluated_depsgraph_get())
        yield _pose([now.pose.bones[name].matrix.copy() for name in bones], parents, _space(now))
    scene.frame_set(before)


def _fps():
    render = bpy.context.scene.render
    return render.fps / render.fps_base


def _meshes_of(armature):
    return [
        each
        for each in bpy.context.scene.objects
        if each.type == "MESH"
        and any(part.type == "ARMATURE" and part.object == armature for part in each.modifiers)
        and len(each.data.vertices)
    ]


def _skin(mesh, armature, bones):
    """The mesh as a skin: the four strongest weights of each vertex. None where it follows no bone."""
    import kinema as km

    joint_of_group = {group.index: bones.index(group.name) for group in mesh.vertex_groups if group.name in set(bones)}
    joints, weights = np.zeros((len(mesh.data.vertices), 4), np.int64), np.zeros((len(mesh.data.vertices), 4))
    for vertex in mesh.data.vertices:
        groups = [g for g in vertex.groups if g.group in joint_of_group and g.weight > 0.0]
        for k, group in enumerate(sorted(groups, key=lambda g: -g.weight)[:4]):
            joints[vertex.index, k], weights[vertex.index, k] = joint_of_group[group.group], group.weight
    total = weights.sum(axis=1, keepdims=True)
    if not total.any():
        return None
    weights = np.where(total > 0, weights / np.where(total > 0, total, 1.0), (1.0, 0.0, 0.0, 0.0))
    corners, triangles, normals = _surface(mesh.data, Y_UP @ mesh.matrix_world)
    return km.Skin(corners, triangles, joints, weights, normals)


def _surface(data, matrix):
    """Vertices (V, 3), triangles (T, 3) and normals (V, 3) of a mesh, moved by a matrix."""
    data.calc_loop_triangles()
    corners, normals = np.empty(3 * len(data.vertices), np.float32), np.empty(3 * len(data.vertices), np.float32)
    triangles = np.empty(3 * len(data.loop_triangles), np.int32)
    data.vertices.foreach_get("co", corners)
    data.vertices.foreach_get("normal", normals)
    data.loop_triangles.foreach_get("vertices", triangles)
    across = np.array(matrix.to_3x3())
    normals = normals.reshape(-1, 3) @ np.linalg.pinv(across)
    length = np.linalg.norm(normals, axis=1, keepdims=True)
    normals = np.where(length > 0, normals / np.where(length > 0, length, 1.0), (0.0, 1.0, 0.0))
    return corners.reshape(-1, 3) @ across.T + np.array(matrix.translation), triangles.reshape(-1, 3), normals


def scene_ground(actors):
    """All visible meshes that no armature deforms or carries, as one `kinema.TriangleMesh`; None without any."""
    import kinema as km

    corners, triangles, count = [], [], 0
    depsgraph = bpy.context.evaluated_depsgraph_get()
    for each in bpy.context.scene.objects:
        carried = each.parent is not None and each.parent.type == "ARMATURE"
        deformed = any(part.type == "ARMATURE" for part in each.modifiers)
        if each.type != "MESH" or carried or deformed or not each.visible_get() or each in actors:
            continue
        now = each.evaluated_get(depsgraph)
        data = now.to_mesh()
        points, faces, _ = _surface(data, Y_UP @ now.matrix_world)
        now.to_mesh_clear()
        corners.append(points)
        triangles.append(faces + count)
        count += len(points)
    return km.TriangleMesh(np.concatenate(corners), np.concatenate(triangles)) if count else None


def write(actor, clip, name, start):
    """Key a clip from a frame on, into a new action of the armature. Returns the last frame."""
    armature = actor.armature
    _keep_old_action(armature)
    armature.animation_data.action = bpy.data.actions.new(name)
    count = round(float(clip.duration) * _fps()) + 1
    poses = clip.sample(np.arange(count) / _fps())
    bases = [_bases(actor, poses[frame]) for frame in range(count)]
    away = np.array([[[*base.translation] for base in bases[k]] for k in range(count)])
    sizes = np.array([[[*base.to_scale()] for base in bases[k]] for k in range(count)])
    moves = np.abs(away).max(axis=(0, 2)) > MOVED
    grows = np.abs(sizes - 1.0).max(axis=(0, 2)) > MOVED
    for k in range(count):
        for joint, bone in enumerate(actor.bones):
            _set_basis(armature.pose.bones[bone], bases[k][joint], k > 0)
            _key(armature.pose.bones[bone], start + k, moves[joint], grows[joint])
    return start + count - 1


def _keep_old_action(armature):
    data = armature.animation_data or armature.animation_data_create()
    if data.action is not None:
        data.action.use_fake_user = True


def _bases(actor, pose):
    """For each bone what Blender keeps as location, rotation and scale, as a matrix."""
    space = _space(actor.armature)
    size, upright = space.to_scale()[0], space.to_quaternion().inverted()
    inverse, matrices, bases = space.inverted_safe(), [], []
    for joint, (bone, parent) in enumerate(zip(_data_bones(actor.armature, actor.bones), actor.parents, strict=True)):
        x, y, z, w = pose.rotations[joint]
        place, rotation, scale = Vector(pose.translations[joint]), Quaternion((w, x, y, z)), Vector(pose.scales[joint])
        if parent < 0:
            matrix = Matrix.LocRotScale(inverse @ place, upright @ rotation, scale)
            bases.append(bone.convert_local_to_pose(matrix, bone.matrix_local, invert=True))
        else:
            matrix = matrices[parent] @ Matrix.LocRotScale(place / size, rotation, scale)
            above = {"parent_matrix": matrices[parent], "parent_matrix_local": bone.parent.matrix_local}
            bases.append(bone.convert_local_to_pose(matrix, bone.matrix_local, **above, invert=True))
        matrices.append(matrix)
    return bases


def _set_basis(bone, basis, go_on):
    """Set a pose bone. go_on: numbers go on from those that it has, without jumps by whole turns."""
    place, rotation, scale = basis.decompose()
    bone.location, bone.scale = place, scale
    if bone.rotation_mode == "QUATERNION":
        if go_on:
            rotation.make_compatible(bone.rotation_quaternion)
        bone.rotation_quaternion = rotation
    elif bone.rotation_mode == "AXIS_ANGLE":
        axis, angle = rotation.to_axis_angle()
        bone.rotation_axis_angle = angle, *axis
    else:
        before = (bone.rotation_euler,) if go_on else ()
        bone.rotation_euler = rotation.to_euler(bone.rotation_mode, *before)


def _key(bone, frame, moves=True, grows=True):
    modes = {"QUATERNION": "rotation_quaternion", "AXIS_ANGLE": "rotation_axis_angle"}
    paths = [modes.get(bone.rotation_mode, "rotation_euler"), *["location"] * bool(moves), *["scale"] * bool(grows)]
    for path in paths:
        bone.keyframe_insert(path, frame=frame, group=bone.name)


def mute_constraints(actor):
    """Mute the constraints of the bones that got keys, which would move them again. Returns how many."""
    active = [c for name in actor.bones for c in actor.armature.pose.bones[name].constraints if not c.mute]
    for constraint in active:
        constraint.mute = True
    return len(active)


# --- the buttons ------------------------------------------------------------------------------------------------------


class Button(bpy.types.Operator):
    """A button that says in one line what went wrong, and what Kinema warns of."""

    bl_options: ClassVar = {"REGISTER", "UNDO"}

    def execute(self, context):
        if not is_installed():
            self.report({"ERROR"}, "Kinema is not installed in Blender's Python: press Install Kinema")
            return {"CANCELLED"}
        from kinema.errors import KinemaError as LibraryError

        try:
            message = self.work(context)
        except (KinemaError, LibraryError) as problem:
            self.report({"ERROR"}, str(problem))
            return {"CANCELLED"}
        self.report({"INFO"}, message)
        return {"FINISHED"}

    def warn(self, sentences):
        for sentence in sentences:
            self.report({"WARNING"}, sentence)


def _armature(context):
    if context.object is None or context.object.type != "ARMATURE":
        kind = "nothing" if context.object is None else f"a {context.object.type.lower()}"
        raise KinemaError(f"the active object is {kind}; select an armature")
    return context.object


def _frames_of(armature):
    action = armature.animation_data.action if armature.animation_data else None
    if action is None:
        raise KinemaError(f"{armature.name!r} has no active action; choose one in the Action editor")
    first, last = (round(frame) for frame in action.frame_range)
    if last <= first:
        raise KinemaError(f"the action {action.name!r} has one frame; a clip needs two or more")
    return action.name, range(first, last + 1)


def _body(actor):
    if actor.character.rig is None:
        raise KinemaError(f"{actor.armature.name!r} has no body: no legs, arms or spine are found")
    return actor


class KINEMA_OT_install(bpy.types.Operator):
    """Install Kinema and what it needs into your Blender settings; Blender's own modules stay as they are"""

    bl_idname = "kinema.install"
    bl_label = "Install Kinema"

    def execute(self, context):
        source = bpy.path.abspath(context.scene.kinema.source.strip()) or "kinema"
        try:
            came = install(source)
        except KinemaError as problem:
            self.report({"ERROR"}, str(problem))
            return {"CANCELLED"}
        self.report({"INFO"}, f"Installed into {modules_folder()}: {', '.join(came) or 'nothing was missing'}")
        return {"FINISHED"}


class KINEMA_OT_bake(Button):
    """Adapt the active action to the ground: all visible meshes of the scene that no armature deforms"""

    bl_idname = "kinema.bake"
    bl_label = "Bake onto the ground"

    loops: IntProperty(name="Loops", default=1, min=1, max=1000, description="How often the action is repeated")
    keep_strides: BoolProperty(name="Keep strides", description="Keep strides as long as they are, however steep it is")

    def work(self, context):
        from kinema.bake import BakeSettings, bake

        armature = _armature(context)
        name, frames = _frames_of(armature)
        actor = _body(read(armature, frames))
        ground = scene_ground([armature])
        if ground is None:
            raise KinemaError("the scene has no ground: no visible mesh that no armature deforms")
        character, clip = actor.character, actor.character.clips["action"]
        hips = character.skeleton.world(clip.sample(0.0))[character.rig.hips, :3, 3]
        indoors = bool(ground.cast(hips, (0, -1, 0), 1e9).hit)  # It starts on the ground below its hips, not on a roof.
        settings = BakeSettings(
            ground=ground,
            at=(0.0, float(hips[1]), 0.0) if indoors else (0.0, 0.0),
            loops=self.loops,
            keep_strides=self.keep_strides,
            fps=_fps(),
        )
        context.window_manager.progress_begin(0, 100)
        try:
            baked = bake(character, clip, settings, progress=lambda share: _progress(context, share))
        finally:
            context.window_manager.progress_end()
        last = write(actor, baked.clip, f"{name} baked", frames[0])
        muted = mute_constraints(actor)
        self.warn(baked.problems)
        slides = f"feet slide by {baked.after.worst_slide:.3g} m at most, before {baked.before.worst_slide:.3g} m"
        return f"{name} baked: frames {frames[0]} to {last}, {slides}" + (f"; {muted} constraints muted" * bool(muted))


def _progress(context, share):
    context.window_manager.progress_update(round(100 * share))


class KINEMA_OT_retarget(Button):
    """Move the action of the other selected armature onto the active one"""

    bl_idname = "kinema.retarget"
    bl_label = "Retarget"

    onto_ground: BoolProperty(name="Onto the ground", description="Bake the result onto the meshes of the scene")
    mirror: BoolProperty(name="Mirror", description="Swap left and right")

    def work(self, context):
        import kinema as km

        target = _armature(context)
        others = [each for each in context.selected_objects if each.type == "ARMATURE" and each != target]
        if len(others) != 1:
            raise KinemaError(f"{len(others)} other armatures are selected; select the source, then the target")
        name, frames = _frames_of(others[0])
        source, actor = _body(read(others[0], frames)), _body(read(target))
        ground = scene_ground([target, others[0]]) if self.onto_ground else "auto"
        if ground is None:
            raise KinemaError("the scene has no ground: no visible mesh that no armature deforms")
        clip, report = km.retarget(
            source.character, "action", actor.character, ground=ground, mirror=self.mirror, fps=_fps(), report=True
        )
        last = write(actor, clip, f"{name} on {target.name}", frames[0])
        muted = mute_constraints(actor)
        self.warn(report.warnings)
        return f"{name} on {target.name}: frames {frames[0]} to {last}" + (f"; {muted} constraints muted" * bool(muted))


class KINEMA_OT_pull(Button):
    """Pull the active bone to the target, or to the 3D cursor: the whole body follows, the feet stay"""

    bl_idname = "kinema.pull"
    bl_label = "Pull the body"

    pin_feet: BoolProperty(name="Pin feet", default=True, description="Feet stay where they are")
    key: BoolProperty(name="Key", description="Key the pose in this frame, also without auto keying")

    def work(self, context):
        import kinema as km

        armature = _armature(context)
        active = context.active_pose_bone or armature.data.bones.active
        actor = _body(read(armature))
        if active is None or active.name not in actor.bones:
            raise KinemaError("no bone is active; select the one to pull in pose mode")
        target = context.scene.kinema.target
        point = context.scene.cursor.location if target is None else target.matrix_world.translation
        matrices = [armature.pose.bones[name].matrix for name in actor.bones]
        pose = km.Pose(*_pose(matrices, actor.parents, _space(armature)))
        pulled = actor.bones.index(active.name)
        effectors = [km.Effector(pulled, tuple(Y_UP @ point))]
        feet = [leg.joints[-1] for leg in actor.character.rig.legs] if self.pin_feet else []
        effectors += [km.Effector(foot, pin=True) for foot in feet if foot != pulled]
        pose, report = km.FullBody(actor.character).solve(pose, effectors)
        keys = self.key or context.scene.tool_settings.use_keyframe_insert_auto
        for bone, basis in zip(actor.bones, _bases(actor, pose), strict=True):
            _set_basis(armature.pose.bones[bone], basis, True)
            if keys:
                _key(armature.pose.bones[bone], context.scene.frame_current)
        context.view_layer.update()
        missed = float(report.error[0])
        return f"{active.name} reached" if report.reached else f"{active.name} is {missed:.3g} m short of its target"


class KINEMA_PT_panel(bpy.types.Panel):
    """The panel in the sidebar."""

    bl_label = "Kinema"
    bl_space_type = "VIEW_3D"
    bl_region_type = "UI"
    bl_category = "Kinema"

    def draw(self, context):
        layout = self.layout
        if not is_installed():
            layout.label(text="Kinema is not in Blender's Python yet.", icon="INFO")
            layout.prop(context.scene.kinema, "source")
            layout.operator(KINEMA_OT_install.bl_idname)
            return
        layout.operator(KINEMA_OT_bake.bl_idname)
        layout.operator(KINEMA_OT_retarget.bl_idname)
        if context.object is not None and context.object.type == "ARMATURE":
            layout.prop(context.object, "kinema_roles")
        layout.separator()
        layout.prop(context.scene.kinema, "target")
        layout.operator(KINEMA_OT_pull.bl_idname)


class KinemaSettings(bpy.types.PropertyGroup):
    """What the panel remembers in the scene."""

    source: StringProperty(
        name="From",
        default="kinema",
        subtype="FILE_PATH",
        description="A wheel on disk, or a name in the registry",
    )
    target: PointerProperty(
        name="Target", type=bpy.types.Object, description="Where to pull to. Default: the 3D cursor"
    )


CLASSES = (KinemaSettings, KINEMA_OT_install, KINEMA_OT_bake, KINEMA_OT_retarget, KINEMA_OT_pull, KINEMA_PT_panel)


def register():
    for each in CLASSES:
        bpy.utils.register_class(each)
    bpy.types.Scene.kinema = PointerProperty(type=KinemaSettings)
    bpy.types.Object.kinema_roles = StringProperty(
        name="Roles", subtype="FILE_PATH", description="A TOML file of roles that are not found by themselves"
    )


def unregister():
    del bpy.types.Scene.kinema, bpy.types.Object.kinema_roles
    for each in reversed(CLASSES):
        bpy.utils.unregister_class(each)


if __name__ == "__main__":
    register()
