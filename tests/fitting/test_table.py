"""The tables of the page are those of the committed figures, and what is judged for them."""

import numpy as np
import pytest

from tests.fitting.judging import contact_slides
from tests.fitting.table import DOCUMENT, page


def test_the_page_has_the_committed_figures():
    assert page() == DOCUMENT.read_text(encoding="utf-8")


def test_slides_are_those_of_each_contact():
    points, stands = np.zeros((20, 1, 2, 3)), np.zeros((20, 1, 2), bool)
    stands[2:8, 0, 0] = stands[10:12, 0, 1] = stands[14:19, 0, 1] = True
    points[5, 0, 0, 0], points[16, 0, 1, 2], points[11, 0, 1, 0] = 0.03, -0.02, 9.0
    points[:, 0, 0, 1] = np.arange(20)
    assert contact_slides(points, stands) == pytest.approx([0.03, 0.02])
