"""The architecture: who may import whom, and who may talk to the compiler."""

import ast
import re
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

import kinema

PACKAGE = Path(kinema.__file__).parent
ROOT = PACKAGE.parents[1]

MODULES = sorted(PACKAGE.rglob("*.py"))

COMPILERS = {"njit", "jit", "vectorize", "guvectorize", "stencil", "cfunc", "generated_jit", "jit_module"}


@cache
def nodes_of(path):
    """The syntax tree of a module, as a list: two tests look at every one."""
    return list(ast.walk(ast.parse(path.read_text(encoding="utf-8"))))


def module_name(path):
    return path.relative_to(PACKAGE).as_posix()


def lint_imports(folder):
    command = shutil.which("lint-imports", path=str(Path(sys.executable).parent)) or shutil.which("lint-imports")
    if command is None:
        pytest.skip("import-linter is not installed")
    return subprocess.run([command, "--no-cache"], cwd=folder, capture_output=True, text=True, timeout=120, check=False)


def test_the_contract_holds():
    run = lint_imports(ROOT)
    assert run.returncode == 0, run.stdout + run.stderr
    assert "0 broken" in run.stdout


def test_the_contract_names_every_part_of_the_package():
    """A part that no layer names is one that nothing holds in place."""
    import tomllib

    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    rooms = settings["tool"]["importlinter"]["contracts"][0]
    layers = {part.strip() for row in rooms["layers"] for part in row.split("|")}
    parts = {f"kinema.{p.stem}" for p in PACKAGE.iterdir() if p.suffix == ".py" or (p / "__init__.py").exists()}
    assert layers <= parts
    assert parts - layers <= {"kinema.__init__", "kinema.__main__"}


def test_the_contract_can_break(tmp_path):
    """The check checks: a low layer that imports a high one is found."""
    package = tmp_path / "kinema"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "low.py").write_text("import kinema.high\n")
    (package / "high.py").write_text("")
    (tmp_path / "pyproject.toml").write_text(
        '[tool.importlinter]\nroot_package = "kinema"\n[[tool.importlinter.contracts]]\nname = "layers"\n'
        'type = "layers"\nlayers = ["kinema.high", "kinema.low"]\n'
    )
    run = lint_imports(tmp_path)
    assert run.returncode == 1, run.stdout + run.stderr
    assert "1 broken" in run.stdout, run.stdout + run.stderr


# --- the compiler ----------------------------------------------------------------------------------------------


def compiler_uses(nodes):
    """Lines where numba's decorators are imported or called by name, or `cache=True` is passed."""
    aliases = {"numba"}
    for node in nodes:
        if isinstance(node, ast.Import):
            aliases |= {a.asname or a.name.partition(".")[0] for a in node.names if a.name.partition(".")[0] == "numba"}
    found = []
    for node in nodes:
        if isinstance(node, ast.ImportFrom) and (node.module or "").partition(".")[0] == "numba":
            found += [node.lineno for alias in node.names if alias.name in COMPILERS]
        elif isinstance(node, ast.Attribute) and node.attr in COMPILERS:
            if isinstance(node.value, ast.Name) and node.value.id in aliases:
                found.append(node.lineno)
        elif isinstance(node, ast.keyword) and node.arg == "cache" and ast.unparse(node.value) != "False":
            found.append(node.value.lineno)
    return found


@pytest.mark.parametrize("path", MODULES, ids=module_name)
def test_only_jit_talks_to_the_compiler(path):
    """All other modules import `kernel`, `routine` and `batch` from there; `cuda.jit` has its own module."""
    if module_name(path) in ("compile/jit.py", "compile/numba_version.py"):
        pytest.skip("these are the ones that may")
    assert compiler_uses(nodes_of(path)) == []


KERNELS = [path for path in MODULES if re.search(r"^@(kernel|routine|batch)\b", path.read_text("utf-8"), re.MULTILINE)]


@pytest.mark.parametrize("path", KERNELS, ids=module_name)
def test_a_module_with_kernels_has_a_test_of_its_stem(path):
    module = path.relative_to(PACKAGE)
    assert (ROOT / "tests" / module.with_name(f"test_{module.name}")).exists()


ON_THE_GPU = {f"solvers/gpu/{name}.py" for name in ("cuda", "device_memory", "thread_memory")}


@pytest.mark.parametrize("path", MODULES, ids=module_name)
def test_only_the_gpus_files_talk_to_the_gpu(path):
    mentioned = [
        node.lineno
        for node in nodes_of(path)
        if (isinstance(node, ast.ImportFrom) and node.module == "numba" and any(a.name == "cuda" for a in node.names))
        or (isinstance(node, (ast.Import, ast.ImportFrom)) and "numba.cuda" in ast.unparse(node))
    ]
    assert not mentioned or module_name(path) in ON_THE_GPU or module_name(path).startswith("stages/device/")


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("from numba import njit", True),
        ("from numba import types, vectorize", True),
        ("import numba\n@numba.njit\ndef f(): pass", True),
        ("import numba as nb\n@nb.jit(nopython=True)\ndef f(): pass", True),
        ("decorate(cache=True)", True),
        ("decorate(cache=flag)", True),
        ("decorate(cache=False)", False),
        ("from numba import config, types", False),
        ("from kinema.compile.jit import kernel", False),
        ("@cuda.jit\ndef f(): pass", False),
        ("from functools import cache", False),
    ],
)
def test_the_search_finds_what_it_looks_for(source, found):
    assert bool(compiler_uses(list(ast.walk(ast.parse(source))))) == found


def test_jit_itself_keeps_to_its_own_way_of_caching():
    """`cache=True` would put compiled code where edits in helper files go unnoticed."""
    tree = ast.parse((PACKAGE / "compile/jit.py").read_text(encoding="utf-8"))
    given = [k for k in ast.walk(tree) if isinstance(k, ast.keyword) and k.arg == "cache"]
    assert given == []
    assert not any(isinstance(k, ast.keyword) and k.arg == "fastmath" for k in ast.walk(tree))
