"""The names of all sections. Importing this loads nothing else."""

SECTIONS = (
    "two_bone_batch",
    "two_bone_single",
    "chains",
    "full_body",
    "retargeting",
    "frames",
    "files",
    "playground",
    "startup",
)
"""Each is a module of this package with `rows(quick) -> list[Row]`."""
