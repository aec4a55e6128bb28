"""What counts as what: every number with its unit and its reason."""

VERSION = 1
"""Of what `facts` gives. It grows when a key goes away or means something else; new keys do not change it."""

DOUBTFUL = 0.6
"""How sure a role has to be not to be marked: below, it is more by luck than by evidence."""

TRAVELS = 0.25
"""Body sizes from start to end of a clip from which it counts as travelling: less than a step is swaying."""

UNITS = {"metres": 1.0, "centimetres": 0.01, "millimetres": 0.001}
"""Units that files come in, in metres."""

TYPICAL_SIZE = 1.7
"""Metres: a person. Other creatures are nearer to it than to a hundred times more or less."""

SURE_FACTOR = 2.0
"""How many times smaller or larger than that a person may be for the unit to count as known."""

LIKELY_FACTOR = 5.0
"""How many times smaller or larger anything may be for there to be a guess at all."""

EVEN = 0.02
"""Share by which the times between keys may differ and still count as frames: they are often rounded."""

NOTHING = 1e-3
"""Body sizes: lengths below are shown as 0."""

MOST_PROBLEMS = 20
"""Problems that are listed in a terminal; the rest is counted."""
