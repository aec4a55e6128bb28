"""Joint limits of every kind, for tests of the solvers."""

import pytest

import kinema as km

LIMITS = [
    km.Hinge((0, 0, 1), -0.4, 1.1),
    km.Hinge((1, 1, 0), -4.0, 4.0),
    km.Hinge((1, 0, 1), -2.9, 2.8),
    km.Cone(0.6),
    km.SwingTwist(0.7, -0.2, 0.9),
    km.SwingTwist(2.0, -0.2, 0.2),
]
NAMES = ["hinge", "free hinge", "wide hinge", "cone", "swing-twist", "twist"]
kinds = pytest.mark.parametrize("limit", LIMITS, ids=NAMES)
