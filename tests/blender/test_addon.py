"""The add-on for Blender, used in Blender itself, as the module bpy. `make judges` installs it; elsewhere skipped.

Blender measures: the lowest vertex of the skin above the ground, heads of bones in the world. Kinema only moves.
"""

import ast
import json
import os
import subprocess
import tomllib
import zipfile
from pathlib import Path

import numpy as np
import pytest
from blender.pack import pack

from kinema.demo.samples import write
from kinema.version import __version__
from tests.judges.programs import BLENDER, LONGEST, blender_python

ROOT = Path(__file__).parents[2]
ADDON = ROOT / "blender" / "kinema_addon.py"

needs_blender = pytest.mark.skipif(not blender_python().exists(), reason=f"`make judges` installs Blender in {BLENDER}")


@pytest.fixture(scope="module")
def seen(tmp_path_factory):
    """What Blender shows after each button, by scene."""
    folder = tmp_path_factory.mktemp("blender")
    write(["person.glb", "capture.bvh"], folder)
    job = {"addon": str(ADDON), "files": str(folder), "wheel": str(small_wheel(folder))}
    done = subprocess.run(
        [blender_python(), Path(__file__).with_name("scenes.py")],
        input=json.dumps(job),
        env={**os.environ, "PYTHONPATH": str(ROOT / "src"), "BLENDER_USER_RESOURCES": str(folder / "settings")},
        capture_output=True,
        text=True,
        timeout=LONGEST,
        check=False,
    )
    answers = [line for line in done.stdout.splitlines() if line.startswith("answer ")]
    assert done.returncode == 0, done.stderr[-3000:]
    assert answers, done.stderr[-3000:]
    return json.loads(answers[0].removeprefix("answer "))


def small_wheel(folder):
    """A wheel that needs a NumPy, so that its installation shows whether Blender's own stays."""
    path = folder / "kinema_test_wheel-1.0-py3-none-any.whl"
    about = "kinema_test_wheel-1.0.dist-info"
    with zipfile.ZipFile(path, "w") as file:
        file.writestr("kinema_test_wheel.py", "")
        file.writestr(
            f"{about}/METADATA", "Metadata-Version: 2.1\nName: kinema-test-wheel\nVersion: 1.0\nRequires-Dist: numpy\n"
        )
        file.writestr(f"{about}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        file.writestr(f"{about}/RECORD", "")
    return path


@needs_blender
def test_a_bake_puts_the_soles_on_the_slope(seen):
    bakes = seen["bakes"]
    heights = np.array(bakes["heights"])
    assert np.abs(heights).max() < 0.02
    assert len(heights) > 60


@needs_blender
def test_a_bake_climbs_the_slope(seen):
    start, end = seen["bakes"]["hips"]
    way = np.subtract(end, start)
    assert way[1] < -1.0  # Characters face -y in Blender.
    assert way[2] == pytest.approx(-way[1] * np.tan(np.radians(12)), abs=0.05)


@needs_blender
def test_a_bake_is_a_new_action_and_keeps_the_old_ones(seen):
    assert seen["bakes"]["action"] == "walk baked"
    assert {"walk", "idle", "run"} <= {name.split("_")[0] for name in seen["bakes"]["kept"]}


@needs_blender
def test_a_bake_says_what_is_missing(seen):
    assert "the scene has no ground" in seen["bakes"]["no_ground"]
    assert "the active object is a mesh; select an armature" in seen["bakes"]["no_armature"]


@needs_blender
def test_armatures_may_be_moved_turned_and_scaled(seen):
    turned = seen["is_turned_and_scaled"]
    assert turned["problem"] is None
    assert np.abs(turned["heights"]).max() < 0.02


@needs_blender
def test_uneven_scales_are_refused(seen):
    assert "apply its scale first" in seen["is_turned_and_scaled"]["uneven"]


@needs_blender
def test_retargeted_limbs_point_where_they_pointed(seen):
    source, target = np.swapaxes(seen["retargets"]["directions"], 0, 1)
    off = np.degrees(np.arccos(np.clip((source * target).sum(axis=-1), -1, 1)))
    assert off.max() < 10.0
    assert np.ptp(source, axis=0).max() > 0.3  # The legs do move.


@needs_blender
def test_retargeted_feet_stand_on_the_floor(seen):
    heights = np.array(seen["retargets"]["heights"])
    assert np.abs(heights).max() < 0.03


@needs_blender
def test_retargeting_needs_two_armatures(seen):
    assert "0 other armatures are selected" in seen["retargets"]["alone"]
    assert seen["retargets"]["problem"] is None


@needs_blender
def test_a_pulled_hand_reaches_its_target_and_feet_stay(seen):
    pulls = seen["pulls"]
    assert pulls["problem"] is None
    assert pulls["reached"] < 0.003
    assert max(pulls["feet"].values()) < 0.001
    assert pulls["stretched"] < 1e-4
    assert pulls["keyed"]


@needs_blender
def test_feet_stay_where_a_hand_is_pulled_out_of_reach(seen):
    assert seen["pulls"]["far"] is None
    assert max(seen["pulls"]["far_feet"].values()) < 0.001


@needs_blender
def test_the_button_installs_a_wheel_beside_the_modules_of_blender(seen):
    installs = seen["installs"]
    assert installs["problem"] is None
    assert installs["found"]
    assert [name for name in installs["modules"] if "kinema" in name and name.endswith(".py")]
    assert not [name for name in installs["modules"] if name.startswith("numpy")]


@needs_blender
def test_a_wheel_that_is_not_there_gives_a_clear_message(seen):
    assert "Kinema could not be installed: there is no file '/nowhere/kinema-1.whl'" in seen["installs"]["wrong"]


@needs_blender
def test_without_a_network_the_button_says_what_to_allow(seen):
    assert "allow it in Preferences > System > Network, or choose a wheel" in seen["installs"]["offline"]


def test_the_extension_is_one_file_and_its_manifest(tmp_path):
    with zipfile.ZipFile(pack(tmp_path)) as file:
        assert sorted(file.namelist()) == ["__init__.py", "blender_manifest.toml"]
        assert file.read("__init__.py") == ADDON.read_bytes()
        manifest = file.read("blender_manifest.toml").decode()
    stated = tomllib.loads(manifest)
    assert (stated["id"], stated["version"]) == ("kinema", __version__)


def test_the_add_on_has_the_version_of_the_package():
    assigned = next(node for node in ast.parse(ADDON.read_text()).body if isinstance(node, ast.Assign))
    assert ".".join(map(str, ast.literal_eval(assigned.value)["version"])) == __version__
