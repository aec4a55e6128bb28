"""Hooks of `make docs`: pages that lie elsewhere in the repository, a page of each public name, and formulas.

- README, CHANGELOG, CONTRIBUTING and the benchmarks' page become pages; examples and other files are shown as code.
- Links between them are rewritten, so that the same texts work in the repository and on the site.
- `api/NAME.md` documents each public name from its docstring; a name without a page fails the build.
- Formulas become MathML, which browsers draw without a script.
"""

from __future__ import annotations

import json
import posixpath
import re
from pathlib import Path
from typing import Any

import latex2mathml.converter
from mkdocs.structure.files import File, Files

import kinema as km

ROOT = Path(__file__).parents[2]
PAGES = {
    "README.md": "index.md",
    "CHANGELOG.md": "changes.md",
    "CONTRIBUTING.md": "contributing.md",
    "benchmarks/README.md": "benchmarks.md",
}
"""Pages of the repository by their names on the site."""

OWN = {"_site.css": "site.css", "_worker.js": "worker.js"}
"""Our files of the site."""

REMOTE = re.compile(r'<script src="https://unpkg.com/iframe-worker/shim"></script>')
"""What the theme loads so that pages from a folder can search; `worker.js` takes its place."""

LOADED = re.compile(
    r'<(?:script|img|iframe|source)[^>]* src="(https?:[^"]*)"|<link[^>]*rel="stylesheet"[^>]*href="http'
)

SHOWN = {".py": "python", ".json": "json", ".yml": "yaml", ".html": "html"}
"""Files that are shown as code when a page links to them."""

BEHIND = ("api/", "files/", "reference.md", "changes.md", "contributing.md")
"""Pages that the search lists behind those of tasks."""

LARGEST = 40_000
"""Characters of a file that are shown."""

LINK = re.compile(r"(\]\()([^)#:\s]+)(#[^)]*)?(\))")
CODE = re.compile(r"(```.*?```|`[^`\n]*`)", re.S)
FORMULA = re.compile(r"\$\$(.+?)\$\$|\$([^$\n]+?)\$", re.S)


def on_files(files: Files, config: Any) -> Files:
    """Add the pages that do not lie in `docs`."""
    for source, page in PAGES.items():
        files.append(File.generated(config, page, content=(ROOT / source).read_text("utf-8")))
    linked = {target for page in _sources() for target in _linked_files(page)}
    for path in sorted(linked):
        files.append(File.generated(config, _shown_as(path), content=_code_page(path)))
    names = sorted((name for name in km.__all__ if not name.startswith("_")), key=str.lower)
    for name in names:
        files.append(File.generated(config, f"api/{name}.md", content=_api_page(name)))
    files.append(File.generated(config, "api/index.md", content=_api_list(names)))
    for name, source in OWN.items():
        files.append(File.generated(config, name, content=Path(__file__).with_name(source).read_text("utf-8")))
    return files


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Rewrite links and formulas, outside of code."""
    if page.file.src_uri.startswith(BEHIND):
        page.meta["search"] = {"boost": 0.3}
    here = next((source for source, name in PAGES.items() if name == page.file.src_uri), f"docs/{page.file.src_uri}")
    parts = CODE.split(re.sub(r"<!--.*?-->", "", markdown, flags=re.S))
    for k in range(0, len(parts), 2):
        parts[k] = FORMULA.sub(_as_mathml, LINK.sub(lambda link: _rewritten(link, here, page.file.src_uri), parts[k]))
    return "".join(parts)


def on_post_page(output: str, page: Any, **_: Any) -> str:
    """Let nothing be loaded from elsewhere."""
    own = f"{'../' * page.url.count('/')}_worker.js"
    return REMOTE.sub(f'<script src="{own}"></script>', output)


def on_post_template(output_content: str, **_: Any) -> str:
    """Do the same with the page of errors, which has no search."""
    return REMOTE.sub("", output_content)


def on_post_build(config: Any) -> None:
    """Fail if a page loads anything from elsewhere."""
    for path in Path(config["site_dir"]).rglob("*.html"):
        if found := LOADED.search(path.read_text("utf-8")):
            raise ValueError(f"{path.name} loads {found[1]}; pages load nothing from elsewhere")


def _sources() -> list[Path]:
    return [*sorted((ROOT / "docs").glob("*.md")), *map(ROOT.joinpath, PAGES)]


def _linked_files(page: Path) -> set[str]:
    """Paths in the repository of the files outside of `docs` that a page links to."""
    found = set()
    for _, path, _, _ in LINK.findall(page.read_text("utf-8")):
        target = (page.parent / path).resolve()
        if target.is_file() and ROOT in target.parents:
            name = target.relative_to(ROOT).as_posix()
            if name not in PAGES and not name.startswith("docs/"):
                found.add(name)
    return found


def _shown_as(path: str) -> str:
    return f"files/{path}.md"


def _code_page(path: str) -> str:
    text = (ROOT / path).read_text("utf-8")
    if path.endswith(".md"):
        return text
    if path.endswith(".ipynb"):
        cells = [(cell["cell_type"], "".join(cell["source"])) for cell in json.loads(text)["cells"]]
        return "\n\n".join(text if kind == "markdown" else f"```python\n{text}\n```" for kind, text in cells)
    cut = "" if len(text) <= LARGEST else f"\nThe first {LARGEST:,} characters.\n"
    return f"# {path}\n{cut}\n````{SHOWN.get(Path(path).suffix, '')}\n{text[:LARGEST]}\n````\n"


def _rewritten(link: re.Match[str], here: str, page: str) -> str:
    """A link as it is on the site. here: the page's path in the repository; page: that on the site."""
    opening, path, anchor, closing = link.groups()
    target = posixpath.normpath(posixpath.join(posixpath.dirname(here), path))
    if target in PAGES:
        name = PAGES[target]
    elif target == "examples":
        name = PAGES["README.md"]
    elif target.startswith("docs/"):
        name = target.removeprefix("docs/")
    elif (ROOT / target).is_file():
        name = _shown_as(target)
    else:
        return link[0]
    return f"{opening}{posixpath.relpath(name, posixpath.dirname(page) or '.')}{anchor or ''}{closing}"


def _as_mathml(found: re.Match[str]) -> str:
    block, inline = found.groups()
    formula = latex2mathml.converter.convert((block or inline).strip(), display="block" if block else "inline")
    return f"<div>{formula}</div>" if block else f"<span>{formula}</span>"  # A line may begin with a formula.


def _api_page(name: str) -> str:
    item = getattr(km, name)
    module = getattr(item, "__module__", "") if not hasattr(item, "__path__") and hasattr(item, "__qualname__") else ""
    place = f"{module}.{item.__qualname__}" if module else f"kinema.{name}"
    return f"::: {place}\n"


def _api_list(names: list[str]) -> str:
    rows = "\n".join(f"| [`km.{name}`]({name}.md) | {_summary(name)} |" for name in names)
    return f"# Public names\n\nAll {len(names)} names of `import kinema as km`.\n\n| name | |\n| --- | --- |\n{rows}\n"


def _summary(name: str) -> str:
    text = (getattr(km, name).__doc__ or "").strip()
    if not text:
        raise ValueError(f"km.{name} has no docstring")
    return " ".join(text.split("\n\n")[0].split()).replace("|", "\\|")
