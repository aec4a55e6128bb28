"""The text form: comments, strings, arrays, values on several lines."""

import numpy as np
import pytest

from kinema.errors import FileError
from kinema.io.fbx import ascii
from kinema.io.fbx.element import Budget
from tests.io.fbx import build
from tests.io.fbx.build import element


def parsed(written):
    data = written if isinstance(written, bytes) else written.encode()
    return ascii.parse(data, Budget("a.fbx", len(data)))


def test_values_and_elements():
    root = parsed('; a comment\nA: 1,-2.5e1, "a, b: {;}", T { ; more\n  B: 3\n}\nC:\nD: "x" {\n}\n')
    assert root.at("A").values == [1, -25.0, b"a, b: {;}", b"T"]
    assert root.at("A").at("B").whole() == 3
    assert root.at("C").values == []
    assert root.at("D").children == []


def test_everything_on_one_line():
    root = parsed('A: "x" { B: "y" { C: 1 } }\nD: 2')
    assert root.at("A").at("B").at("C").whole() == 1
    assert root.at("D").whole() == 2


@pytest.mark.parametrize("written", ["A: *3 {\n a: 1,2,\n3\n}", "A: 1,2\n  ,3\n", "A: \n\t1,2,3", "A: 1,2,3,\n"])
def test_arrays_in_every_way_they_are_written(written):
    assert parsed(written + "\nB: 1").at("A").numbers().tolist() == [1, 2, 3]


def test_long_arrays_are_read_by_numpy():
    numbers = [0.25 * n for n in range(1000)]
    values = parsed(f"A: {','.join(map(str, numbers))}\n").at("A").values
    assert len(values) == 1
    assert values[0].tolist() == numbers


def test_whole_numbers_keep_64_bits():
    big = 2**62 + 1
    assert parsed(f"A: {big}").at("A").whole() == big
    assert parsed(f"A: *2 {{ a: {big},1 }}").at("A").numbers(np.int64).tolist() == [big, 1]


def test_an_empty_array():
    assert parsed("A: *0 {\n a: \n}").at("A").numbers().tolist() == []


@pytest.mark.parametrize("ends", ["\n", "\r\n", "\r"])
def test_ends_of_lines_and_a_byte_order_mark(ends):
    written = ends.join(("; a comment", "A: 1 {", "  B: 2 ; more", "}", "C: 3", ""))
    root = parsed(b"\xef\xbb\xbf" + written.encode())
    assert (root.at("A").at("B").whole(), root.at("C").whole()) == (2, 3)


def test_strings_that_go_on_in_the_next_line():
    root = parsed('Clip: {\n  Content: ,\n    "iVBO{;",\n    "Rw0}"\n  After: 1\n}\n').at("Clip")
    assert root.at("Content").values[1:] == [b"iVBO{;", b"Rw0}"]
    assert root.at("After").whole() == 1


def test_quotes_in_strings():
    assert parsed(build.text([element("A", 'say "hi"')])).at("A").text() == 'say "hi"'


@pytest.mark.parametrize(
    ("written", "message"),
    [
        ("A: *2 {\n a: 1,x\n}", "line 1: A has numbers that cannot be read"),
        ("A: 1\n\n = 3", r"line 3: found b'= 3'; expected `Name: values`"),
        ("A: {" * 80, "line 1: .*is inside 65 elements; at most 64"),
        ('A: 1\nB: "x', "found"),
        ("A: 1 {\n B: {\n C: 1\n }\n", "line 1: A is not closed; the file is cut off or has lost a brace"),
    ],
)
def test_mistakes_are_named_with_their_line(written, message):
    with pytest.raises(FileError, match=message):
        parsed(written).at("A").numbers()


@pytest.mark.parametrize(
    ("data", "version"),
    [
        (b"; FBX 6.1.0 project file\n", 6100),
        (b"; FBX 7.3.0 project file\nFBXHeaderExtension:  {\n\tFBXVersion: 7400\n", 7400),
        (b"FBXHeaderExtension:  {\n\tFBXVersion: 7700\n}", 7700),
    ],
)
def test_the_version(data, version):
    assert ascii.version(data, "a.fbx") == version


def test_a_file_without_version_is_refused():
    with pytest.raises(FileError, match="does not tell its FBXVersion"):
        ascii.version(b"FBXHeaderExtension: {}", "a.fbx")
