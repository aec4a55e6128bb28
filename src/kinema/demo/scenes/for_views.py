"""What scenes and the views that draw them agree on. The build of the page copies these into `protocol.ts`."""

from __future__ import annotations

MODEL, GROUND = "model.glb", "ground.bin"
"""Files that a scene gives its view: a character's surface, and the ground as `packed_mesh` packs it."""

PEOPLE = "people_{}.bin"
"""File of a level of detail of the crowd's characters, by its number."""

TIMELINE = "Timeline"
"""Group of the controls that the page shows as a timeline instead of in the panel."""

PARTS = "How much each part does"
"""Group of controls that the page shows folded: few need them."""

AGAINST = 5.0
"""Degrees from which a knee or an elbow that is bent against its way is pointed out."""

STEPS_A_METRE = 8192
"""Matrices of a crowd go to the page as whole numbers of 16 bits: 0.1 mm apart, up to 4 m from the character."""

LOOKS = 12
"""Number of different colourings of a crowd's characters."""

OPEN_FILE = "open_file"
"""Name of a button for which the page shows the browser's file dialog."""
