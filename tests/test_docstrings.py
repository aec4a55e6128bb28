"""What `help` and editors show: public functions and classes describe what they take, and their examples run."""

import ast
import inspect
import re
import textwrap
from itertools import pairwise
from pathlib import Path

import pytest

import kinema as km
from tests.documents import run_examples, write_samples

OBJECTS = {name: getattr(km, name) for name in km.__all__ if callable(getattr(km, name))}
FUNCTIONS = [name for name, item in OBJECTS.items() if not inspect.isclass(item)]
CLASSES = [name for name, item in OBJECTS.items() if inspect.isclass(item)]

RETURNED = (
    "Report",
    "Result",
    "Pose",
    "Frame",
    "Hits",
    "Sprites",
    "Solution",
    "Error",
    "Context",
    "State",
    "Trace",
    "Transform",
    "Motion",
)
"""Endings of classes that Kinema makes and hands out. Their fields are documented one by one instead."""

CONSTRUCTED = [name for name in CLASSES if not name.endswith(RETURNED) and name not in {"Ground", "Crowd", "Stage"}]


@pytest.fixture(scope="module")
def samples(tmp_path_factory):
    folder = tmp_path_factory.mktemp("samples")
    write_samples(folder)
    return folder


def test_no_text_begins_with_a_reference_to_another():
    """Each docstring and each note of a constant says itself what it describes."""
    sources = Path(km.__file__).parent.rglob("*.py")
    found = [path.name for path in sources if re.search(r'"""The same\b', path.read_text("utf-8"))]
    assert found == []


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_have_every_section(name):
    text = inspect.getdoc(OBJECTS[name])
    for section in ("Parameters", "Returns", "Raises", "Examples"):
        assert f"\n{section}\n{'-' * len(section)}\n" in text, f"{name} lacks {section}"


@pytest.mark.parametrize("name", CONSTRUCTED)
def test_classes_show_an_example(name):
    assert "\nExamples\n--------\n" in inspect.getdoc(OBJECTS[name])


@pytest.mark.parametrize("name", FUNCTIONS + CONSTRUCTED)
def test_every_parameter_is_described(name):
    assert set(inspect.signature(OBJECTS[name]).parameters) <= described(OBJECTS[name])


def described(item):
    """Names below Parameters in a docstring and, for a class, of fields with a string under them."""
    _, _, text = inspect.getdoc(item).partition("\nParameters\n----------\n")
    names = {part.strip(" *") for line in text.splitlines() if line[:1].strip() for part in line.split(",")}
    for kind in inspect.getmro(item)[:-1] if inspect.isclass(item) else ():
        (definition,) = ast.parse(textwrap.dedent(inspect.getsource(kind))).body
        for field, comment in pairwise(definition.body):
            if isinstance(field, ast.AnnAssign) and isinstance(comment, ast.Expr):
                names.add(field.target.id)
    return names


@pytest.mark.parametrize("name", CLASSES)
def test_public_members_are_described(name):
    for member, item in vars(OBJECTS[name]).items():
        if not member.startswith("_") and (callable(item) or isinstance(item, (property, classmethod, staticmethod))):
            assert inspect.getdoc(getattr(OBJECTS[name], member)), f"{name}.{member}"


@pytest.mark.parametrize("name", OBJECTS)
def test_examples_in_docstrings_run(name, samples, monkeypatch):
    monkeypatch.chdir(samples)
    assert run_examples(name) == 0
