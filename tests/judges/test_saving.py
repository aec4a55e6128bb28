"""Files that we save are valid by the Khronos validator, and three.js plays what we computed."""

from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from kinema import demo
from kinema.io import files
from kinema.io.gltf.accessors import DocumentBuffers
from kinema.model.character import Character
from tests.assets import FOLDER, asset
from tests.judges import programs
from tests.judges.agreement import AGREES, check_scenes, distance, moments
from tests.judges.programs import serious
from tests.judges.real_files import BVH, GLTF, REFUSED, ROUGH, rotated_clip, with_clip


@dataclass(frozen=True)
class Saved:
    """A character and its file. again: what we read from it. issues: the validator's. world: three.js's scenes."""

    character: Character
    file: Path
    again: Character
    issues: list
    world: tuple


def saved(characters, folder):
    """{name: Saved} of characters by name, each saved as a .glb file in the folder."""
    outputs = {name: folder / f"{k}.glb" for k, name in enumerate(characters)}
    for name, character in characters.items():
        files.save(outputs[name], character)
    issues = programs.validator_issues(outputs.values())
    worlds = programs.three_world(
        [(outputs[name], [moments(clip) for clip in c.clips.values()]) for name, c in characters.items()]
    )
    again = [files.load(output, rig=False) for output in outputs.values()]
    parts = zip(characters.items(), outputs.values(), again, issues, worlds, strict=True)
    return {name: Saved(character, *rest) for (name, character), *rest in parts}


# --- adding to real files --------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def added(tmp_path_factory):
    """Every real file with a clip added."""
    asset("LICENCES.md")
    originals = {path: files.load(FOLDER / path, rig=False) for path in GLTF if path not in REFUSED}
    characters = {path: with_clip(c, rotated_clip(c)) for path, c in originals.items()}
    return saved(characters, tmp_path_factory.mktemp("added"))


def test_a_clip_added_to_a_file_is_no_new_error_or_warning(added):
    before = programs.validator_issues([FOLDER / path for path in added])
    for (path, after), issues in zip(added.items(), before, strict=True):
        assert not serious(after.issues) - serious(issues), path


def test_three_js_plays_the_added_clip_as_we_computed_it_and_the_others_as_ever(added):
    for path, file in added.items():
        check_scenes(file.character, *file.world, ROUGH.get(path, AGREES))


def test_a_file_with_a_clip_added_opens_again(added):
    for path, file in added.items():
        again, clip = file.again, file.character.clips["rotated_clip"]
        assert list(again.clips) == list(file.character.clips), path
        assert again.skeleton.names == file.character.skeleton.names, path
        ours, read = (
            file.character.skeleton.world(c.sample(moments(clip))) for c in (clip, again.clips["rotated_clip"])
        )
        assert distance(ours, read, file.character) < AGREES, path


MAY_CHANGE = {
    "buffers": {"byteLength", "uri"},
    "images": {"uri", "bufferView", "mimeType"},
    "nodes": {"matrix", "translation", "rotation", "scale"},
}
"""The first buffer grows; what was beside the file is inside; a matrix that is animated becomes what it is made of."""


def test_everything_a_file_had_stays(added):
    for path, file in added.items():
        document, again = file.character.source, file.again.source
        assert again.binary.startswith(DocumentBuffers(document).read(0) if document.json.get("buffers") else b""), path
        for key, before in document.json.items():
            after = again.json[key]
            if not isinstance(before, list):
                assert after == before, (path, key)
                continue
            for old, new in zip(before, after[: len(before)], strict=True):
                changed = MAY_CHANGE.get(key, set()) if key != "nodes" or "matrix" in old else set()
                assert without(new, changed) == without(old, changed), (path, key)


def without(thing, keys):
    return {key: value for key, value in thing.items() if key not in keys} if keys else thing


# --- files from nothing ----------------------------------------------------------------------------------------

SCENES = ("humanoid", "quadruped", "spider")


REWRITTEN = [
    path
    for path in GLTF
    if Path(path).stem in ("RobotExpressive", "RecursiveSkeletons", "InterpolationTest", "Animation_Skin_11")
]
"""Many surfaces, hundreds of bones, every kind of key, several roots."""

FBX = [
    f"fbx/{name}.fbx"
    for name in (
        *("three_mixamo", "cmu_91_48", "cmu_91_50", "blender_293_half_skinned_7400_binary"),
        *("max_transformed_skin_7500_binary", "max_geometry_transform_instances_6100_ascii"),
        *("maya_zero_scale_pivot_7700_binary", "maya_mixed_inherit_mode_7700_ascii", "maya_axes_7700_ascii"),
        *("maya_instanced_skin_7700_binary", "blender440_shape_weight_anim_7400_binary"),
    )
    if REWRITTEN
]
"""People, skins, geometry beside its node, scales that are inherited in every way, several instances, blend shapes."""


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    """Our own characters, those of BVH and FBX files, and of some glTF files as if they had none."""
    characters = {name: getattr(demo, name)() for name in ("humanoid", "quadruped", "spider")}
    for path in [*BVH, *REWRITTEN, *FBX]:
        characters[path] = replace(files.load(FOLDER / path, rig=False), source=None)
    return saved(characters, tmp_path_factory.mktemp("written"))


def test_files_from_nothing_have_no_errors_and_no_warnings(written):
    for name, file in written.items():
        assert not serious(file.issues), name


def test_files_from_nothing_play_in_three_js_as_ours_do(written):
    for file in written.values():
        check_scenes(file.character, *file.world)
