"""The public names: what is promised is there, costs nothing until used, and says what it is."""

import ast
import inspect
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import kinema as km
from kinema.demo import humanoid
from kinema.world.function_ground import FunctionGround
from kinema.world.union import Union

SOURCE = Path(km.__file__)


def in_a_fresh_process(code):
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120, check=False)
    assert run.returncode == 0, run.stderr
    return run.stdout.strip()


# --- names -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", km.__all__)
def test_every_name_resolves_and_has_a_docstring(name):
    found = getattr(km, name)
    assert found.__name__ == name
    # A named tuple without a docstring of its own has one made up of its fields.
    assert found.__doc__
    assert len(found.__doc__) > 20
    assert not found.__doc__.startswith(f"{name}(")


def test_names_are_sorted_and_listed():
    assert list(km.__all__) == sorted(set(km.__all__))
    assert set(km.__all__) <= set(dir(km))
    assert "__version__" in dir(km)
    assert dir(km) == sorted(dir(km))
    assert set(dir(km)) == {*km.__all__, "bake", "metrics", "quat", "render", "__version__"}, "public names only"


def test_tools_are_reachable_without_importing_them():
    assert in_a_fresh_process("import kinema as km; print(km.metrics.measure.__name__, km.bake.bake.__name__)") == (
        "measure bake"
    )
    assert in_a_fresh_process("import kinema as km; print(km.render.__name__)") == "kinema.render"


def test_names_are_listed_before_any_of_them_is_used():
    listed = in_a_fresh_process("import kinema; print(*[n for n in dir(kinema) if n in kinema.__all__])")
    assert listed.split() == list(km.__all__)


def test_a_star_import_brings_every_name():
    scope = {}
    exec("from kinema import *", scope)
    assert set(km.__all__) <= set(scope)


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="module 'kinema' has no attribute 'inverse_kinematics'"):
        km.inverse_kinematics  # noqa: B018
    with pytest.raises(ImportError, match="inverse_kinematics"):
        exec("from kinema import inverse_kinematics")


def test_a_name_is_looked_up_once():
    assert km.two_bone is km.two_bone
    km.look_at  # noqa: B018
    assert "look_at" in vars(km)


def test_no_name_is_hidden_by_the_module_it_lives_in():
    """Importing a submodule puts it into the package under its own name, which must not be that of something else."""
    code = """
import importlib, kinema
homes = sorted(set(kinema._HOME.values()))
for home in homes:
    importlib.import_module(home)
print([name for name in kinema.__all__ if getattr(kinema, name) in [importlib.import_module(h) for h in homes]])
"""
    assert in_a_fresh_process(code) == "[]"


def test_the_import_brings_in_nothing_heavy():
    code = "import sys, kinema; print([m for m in ('numpy', 'numba', 'llvmlite', 'typer', 'rich') if m in sys.modules])"
    assert in_a_fresh_process(code) == "[]"


def test_errors_are_found_without_numpy():
    code = "import sys, kinema; kinema.InputError; kinema.KinemaError; print('numpy' in sys.modules)"
    assert in_a_fresh_process(code) == "False"


def test_the_version_is_the_packages():
    from importlib.metadata import version

    assert km.__version__ == version("kinema")


def test_the_names_for_type_checkers_are_those_of_the_table():
    """Parsed from the source: what `if TYPE_CHECKING` imports, from where, is what is loaded on first use."""
    tree = ast.parse(SOURCE.read_text(encoding="utf-8"))
    block = next(n for n in tree.body if isinstance(n, ast.If) and ast.unparse(n.test) == "TYPE_CHECKING")
    imported = {}
    for statement in block.body:
        assert isinstance(statement, ast.ImportFrom)
        for alias in statement.names:
            assert alias.asname == alias.name, f"{alias.name} is not re-exported (import {alias.name} as {alias.name})"
            imported[alias.name] = statement.module
    tools = dict.fromkeys(("bake", "metrics", "quat", "render"), "kinema")
    assert imported == km._HOME | tools
    assert sorted(imported.keys() - tools.keys()) == list(km.__all__)


# --- the contract ----------------------------------------------------------------------------------------------

REQUIRED = inspect.Parameter.empty

SIGNATURES = {
    "two_bone_2d": {"root": REQUIRED, "target": REQUIRED, "lengths": REQUIRED, "bend": 1, "auto_bend": False},
    "two_bone": {
        "root": REQUIRED,
        "target": REQUIRED,
        "lengths": REQUIRED,
        "pole": None,
        "hint": None,
        "soften": 1.0,
        "tolerance": 1e-4,
    },
    "fabrik": {
        "joints": REQUIRED,
        "target": REQUIRED,
        "pole": None,
        "limits": None,
        "base": None,
        "tolerance": 1e-4,
        "max_iterations": None,
    },
    "compensating": {"joints": REQUIRED, "target": REQUIRED, "state": None, "steps": 10, "dt": 1 / 60},
    "look_at": {"position": REQUIRED, "target": REQUIRED, "forward": (0, 0, 1), "up": (0, 1, 0)},
    "Hinge": {"axis": REQUIRED, "low": REQUIRED, "high": REQUIRED},
    "Cone": {"angle": REQUIRED},
    "SwingTwist": {"swing": REQUIRED, "twist_low": REQUIRED, "twist_high": REQUIRED},
}
SIGNATURES["ccd"] = SIGNATURES["fabrik"]


@pytest.mark.parametrize("name", SIGNATURES)
def test_signatures_are_the_contracts(name):
    """Names, order and defaults, all of which may be given by position or by name; more may follow, with defaults."""
    parameters = inspect.signature(getattr(km, name)).parameters
    promised = SIGNATURES[name]
    assert list(parameters)[: len(promised)] == list(promised)
    for parameter, default in promised.items():
        assert parameters[parameter].default == default, parameter
        assert parameters[parameter].kind is inspect.Parameter.POSITIONAL_OR_KEYWORD, parameter
    assert all(parameters[extra].default is not REQUIRED for extra in list(parameters)[len(promised) :])


FIELDS = {
    "two_bone_2d": "knee end theta1 theta2 phi psi gamma radius bend clamped",
    "two_bone": "mid end reached error reach",
    "fabrik": "joints error iterations reached",
    "ccd": "joints error iterations reached",
    "compensating": "joints error iterations reached state",
}

CALLS = {
    "two_bone_2d": ((0, 0), (1, 0.5), (1, 1)),
    "two_bone": ((0, 0, 0), (1, 0.5, 0), (1, 1)),
    "fabrik": ([[0, 0, 0], [0, 1, 0], [0, 2, 0]], (1, 0.5, 0)),
    "ccd": ([[0, 0, 0], [0, 1, 0], [0, 2, 0]], (1, 0.5, 0)),
    "compensating": ([[0, 0, 0], [0, 1, 0], [0, 2, 0]], (1, 0.5, 0)),
}


@pytest.mark.parametrize("name", FIELDS)
def test_results_have_the_contracts_fields(name):
    answer = getattr(km, name)(*CALLS[name])
    for field in FIELDS[name].split():
        assert hasattr(answer, field), field
    if "joints" in FIELDS[name].split():
        assert answer.rotations().shape == (2, 4)
        assert answer.rotations(axis=(1, 0, 0)).shape == (2, 4)


@pytest.mark.parametrize("name", [n for n in km.__all__ if hasattr(getattr(km, n), "_fields")])
def test_every_field_of_a_result_is_documented(name):
    """Parsed from the source: a string under each field; those of solvers start with its shape."""
    result = getattr(km, name)
    tree = ast.parse(inspect.getsource(result)).body[0]
    fields = [
        (n.target.id, after) for n, after in zip(tree.body, tree.body[1:], strict=False) if isinstance(n, ast.AnnAssign)
    ]
    assert [field for field, _ in fields] == list(result._fields)
    for field, after in fields:
        reported = isinstance(after, ast.Expr) and isinstance(after.value, ast.Constant) and after.value.value
        assert isinstance(reported, str), f"{name}.{field} is not documented"
        assert reported.startswith("(") or not name.endswith("Result"), f"{name}.{field} does not say its shape"
        assert getattr(result, field).__doc__ == inspect.cleandoc(reported), f"help does not describe {name}.{field}"


def test_help_describes_the_fields_of_results_that_were_not_asked_for_by_name():
    code = "import kinema as km; r = km.fabrik([(0, 0), (0, 1), (0, 2)], (1, 1)); print(type(r).error.__doc__)"
    assert "distance from the last joint to the target" in in_a_fresh_process(code)


@pytest.mark.parametrize(
    ("make", "expected"),
    [
        (lambda: km.Plane((0, 0.5, 0)), "Plane(point=(0, 0.5, 0), normal=(0, 1, 0))"),
        (lambda: km.Sphere((0, 0, 0), 2), "Sphere(centre=(0, 0, 0), radius=2)"),
        (lambda: km.HeightField(np.zeros((3, 4)), spacing=0.5), "HeightField(3 by 4 heights, spacing 0.5 by 0.5)"),
        (lambda: km.VoxelGrid(np.ones((2, 3, 4), bool)), "VoxelGrid(2 by 3 by 4 cells of 1 by 1 by 1, 24 filled)"),
        (
            lambda: km.TriangleMesh([(-1, 0, -1), (0, 0, 1), (1, 0, -1)], [(0, 1, 2)]),
            "TriangleMesh(1 triangles, from (-1, 0, -1) to (1, 0, 1))",
        ),
        (lambda: km.Rope2D((0, 0), links=8, length=2), "Rope2D(8 links, length 2, free end)"),
        (
            lambda: Union(km.Sphere(), FunctionGround(max)),
            "Union(Sphere(centre=(0, 0, 0), radius=1), FunctionGround(max))",
        ),
        (lambda: km.Animator(humanoid(), [km.Recoil()])["recoil"], "<RecoilState: kick>"),
    ],
    ids=["plane", "sphere", "height field", "voxel grid", "triangle mesh", "rope", "union", "stage"],
)
def test_what_is_printed_says_what_it_is(make, expected):
    assert repr(make()) == expected


def test_errors_are_value_errors_and_ours():
    assert issubclass(km.InputError, ValueError)
    assert issubclass(km.InputError, km.KinemaError)
    assert issubclass(km.DeviceError, km.KinemaError)
    assert not issubclass(km.DeviceError, ValueError)
    with pytest.raises(km.InputError):
        km.two_bone((0, 0), (1, 1, 1), (1, 1))


def test_an_array_on_a_gpu_without_one_is_a_device_error():
    """Where there is no CUDA: a clear error, not a crash. In a process of its own, whatever this machine has."""
    code = """
import sys
sys.modules['numba.cuda'] = None
import kinema as km

class OnDevice:
    __cuda_array_interface__ = {}
    dtype = 'float32'

try:
    km.two_bone(OnDevice(), OnDevice(), OnDevice())
except km.DeviceError as problem:
    print(problem)
"""
    assert "need numba-cuda: pip install numba-cuda" in in_a_fresh_process(code)


def test_a_name_that_another_thread_has_just_described_is_left_alone(monkeypatch):
    class Taken(dict):
        """Names that are gone by the time they are looked at."""

        def items(self):
            return [("Pose", "kinema.model.pose")]

    assert km.Pose is not None
    monkeypatch.setattr(km, "_undescribed", Taken())
    km._describe_results()
