"""What counts as what: every number with its unit and its reason."""

VERSION = 1
"""Of what `facts` gives. It grows when a key goes away or means something else; new keys do not change it."""

DOUBTFUL = 0.6
"""How sure a role has to be not to be marked: below, it is more by luck than by evidence."""

TRAVELS = 0.25
"""Body sizes from start to end of a clip from which it counts as travelling: less than a step is swaying."""

SURE_UNIT = 0.6
"""How sure a unit has to be, 0 to 1, not to be called a guess: a body within about half of its usual size is."""

EVEN = 0.02
"""Share by which the times between keys may differ and still count as frames: they are often rounded."""

NOTHING = 1e-3
"""Body sizes: lengths below are shown as 0."""

NAME_WIDTH = 30
"""Characters of a terminal's width that are kept for a joint's name and role, however deep it hangs."""

MOST_PROBLEMS = 20
"""Problems that are listed in a terminal; the rest is counted."""
