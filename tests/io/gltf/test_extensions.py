"""Extensions that files require: harmless, or refused by name."""

import pytest

from kinema.errors import FileError
from tests.assets import asset
from tests.io.gltf.build import arm

FINE = [
    *("KHR_mesh_quantization", "KHR_texture_transform", "KHR_materials_unlit", "KHR_materials_variants", "VRM"),
    *("KHR_lights_punctual", "KHR_texture_basisu", "EXT_texture_webp", "KHR_node_visibility", "VRMC_vrm"),
    *("VRMC_springBone", "KHR_draco_mesh_compression", "KHR_animation_pointer", "KHR_xmp_json_ld"),
]


@pytest.mark.parametrize("name", FINE)
def test_extensions_that_do_not_affect_skeletons_are_accepted(name):
    assert len(arm(extensionsRequired=[name]).read().skeleton) == 3


@pytest.mark.parametrize(
    "name", ["EXT_meshopt_compression", "KHR_meshopt_compression", "ACME_bones", "", "VRMX", "KHR_"]
)
def test_unsupported_required_extensions_are_errors(name):
    with pytest.raises(FileError, match=rf"made\.glb: extensionsRequired\[1\] is '{name}', which is not supported"):
        arm(extensionsRequired=["KHR_materials_unlit", name]).read()


@pytest.mark.parametrize(("value", "message"), [([3], r"extensionsRequired\[0\] is 3"), ("VRM", "expected an array")])
def test_what_is_no_list_of_names(value, message):
    with pytest.raises(FileError, match=message):
        arm(extensionsRequired=value).read()


def test_what_is_only_used_may_be_anything():
    assert len(arm(extensionsUsed=["ACME_bones"]).read().skeleton) == 3


def test_the_fox_compressed_has_the_same_clips():
    import kinema as km

    plain, draco = (km.load(asset(f), rig=False) for f in ("gltf/Fox.glb", "torture/Fox_gt_draco.glb"))
    assert list(plain.clips) == list(draco.clips)
    assert not draco.skins
    for name, clip in plain.clips.items():
        assert abs(clip.sample(0.3).rotations - draco.clips[name].sample(0.3).rotations).max() < 1e-6
