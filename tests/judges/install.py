"""Installs the judges: `python -m tests.judges.install`, with `--blender` for Blender too (a gigabyte)."""

import sys

from tests.judges import programs

programs.install_node_modules()
if "--blender" in sys.argv[1:]:
    programs.install_blender()
