"""Objects, connections, templates, versions."""

import pytest

import kinema as km
from kinema.errors import FileError
from kinema.io.fbx.document import detect, parse
from tests.io.fbx import build
from tests.io.fbx.build import element, file, model, properties


@pytest.mark.parametrize(("form", "version"), build.FORMS)
def test_all_forms_say_the_same(form, version):
    document = parse(form(build.leg(), version), "a.fbx")
    assert document.version in (version, 7400)
    assert [each.name for each in document.each("Model")] == ["Hips", "Knee", "Skin", "Other"]
    geometry, smile, _ = document.each("Geometry")
    assert [link.object.subtype for link in document.below(geometry, "Deformer")] == ["Skin", "BlendShape"]
    assert [link.object.name for link in document.above(geometry, "Model")] == ["Skin", "Other"]
    assert [link.object.name for link in document.above(smile, "Deformer")] == ["Mood"]


@pytest.mark.parametrize("form", [build.binary, build.text])
def test_old_files_name_their_objects(form):
    document = parse(form(build.old_leg(), 6100), "a.fbx")
    hips, knee, _ = document.each("Model")
    assert document.is_top(hips)
    assert [link.object for link in document.below(hips, "Model")] == [knee]


@pytest.mark.parametrize("version", [5000, 6000, 8000, 9999])
def test_other_versions_are_refused_by_name(version):
    with pytest.raises(FileError, match=rf"FBX version {version}; versions 6100 to 7700 are read\. Open it in Blender"):
        parse(build.binary([], version), "a.fbx")


def test_templates_say_what_objects_do_not():
    template = element("PropertyTemplate", "FbxNode", inside=[properties(InheritType=2, Lcl_Scaling=(3.0, 3.0, 3.0))])
    definitions = element("Definitions", inside=[element("ObjectType", "Model", inside=[template])])
    bare = element("Model", 1, "Model::A", "Null", inside=[properties(InheritType=1)])
    document = parse(build.binary([definitions, *file([bare], [])]), "a.fbx")
    (node,) = document.each("Model")
    assert node.properties.whole("InheritType") == 1
    assert node.properties.vector("Lcl Scaling") == (3.0, 3.0, 3.0)
    assert node.properties.maybe_whole("TimeMode") is None


def test_the_content_tells_the_format(tmp_path):
    assert detect(b"Kaydara FBX Binary  \0\x1a\0")
    assert detect(b"; FBX 7.4.0 project file")
    assert detect(b"FBXHeaderExtension:  {")
    assert not detect(b"; a comment")
    path = tmp_path / "leg.txt"
    path.write_bytes(build.binary(file([model(1, "A")], [])))
    assert km.load(path, rig=False).skeleton.names == ("A",)


def test_a_file_without_nodes_is_refused():
    with pytest.raises(FileError, match="has no nodes"):
        build.read([])
