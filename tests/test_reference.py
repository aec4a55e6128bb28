"""The reference: every public name is documented, every field of a public record says what it is."""

import re
from pathlib import Path

import pytest

import kinema as km
from tests.documents import documents
from tests.reference import PAGE, fields_of, page, records

ROOT = Path(__file__).parents[1]


def test_the_page_is_as_the_sources_say():
    assert PAGE.read_text(encoding="utf-8") == page(), "write it anew: python -m tests.reference"


@pytest.mark.parametrize("name", km.__all__)
def test_every_public_name_is_documented(name):
    assert any(re.search(rf"\b{name}\b", document.read_text(encoding="utf-8")) for document in documents(ROOT))


@pytest.mark.parametrize(
    "kind", [kind for kinds in records().values() for kind in kinds], ids=lambda kind: kind.__name__
)
def test_every_field_says_what_it_is(kind):
    silent = [name for name, text in fields_of(kind).items() if not text]
    assert not silent
