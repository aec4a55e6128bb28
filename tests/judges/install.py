"""Install the programs: `python -m tests.judges.install`; with `--blender` only Blender, which is a gigabyte."""

import sys

from tests.judges import programs

if "--blender" in sys.argv[1:]:
    programs.install_blender()
else:
    programs.install_node_modules()
