"""Write `web/src/protocol.ts`: the types of all messages, and the constants that both sides use.

The build of the page runs `python -m kinema.playground.page_types FILE`.
"""

from __future__ import annotations

import json
import struct
import sys
import types
from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any, Literal, get_args, get_origin, get_type_hints

from kinema.demo.scenes import for_views
from kinema.demo.scenes.scene import INTRODUCED, Control, Scene
from kinema.playground import constants, protocol

HEAD = "// Written by the build from playground/protocol.py (`page_types`): edit that, not this.\n"

CONSTANTS: dict[str, Any] = {
    **{name: value for name, value in vars(for_views).items() if name.isupper()},
    **{name: getattr(constants, name) for name in ("LARGEST_FILE", "LARGEST_MESSAGE")},
    "HEADER_BYTES": protocol.HEADER.size,
    "PARTIAL": protocol.PARTIAL,
    "KEEP": protocol.KEEP,
}

HAND_WRITTEN = """\
export type SceneName = {names};

/** What the user has set in a scene, and what moves in it: for links, files, and whoever comes back to it. */
export interface SceneState {{
  scene: string;
  values: Record<string, Value>;
  own: unknown;
  motion?: unknown;
  paused?: boolean;
  undo?: unknown;
  /** The page adds it. */
  camera?: unknown;
}}

export type Value = number | boolean | string | null;
"""

_SIMPLE = {str: "string", float: "number", int: "number", bool: "boolean", type(None): "null", Any: "unknown"}
_READS = {"I": "Uint32", "f": "Float32", "d": "Float64"}


def typescript() -> str:
    """Return the content of `protocol.ts`."""
    controls, hints = get_args(Control), get_type_hints(Scene)
    inputs = {kind: {"number": protocol.COUNT, **fields} for kind, fields in protocol.INPUTS.items()}
    from_page = {kind: _typed(fields) for kind, fields in (inputs | protocol.REQUESTS).items()}
    parts = [
        HEAD,
        "\n".join(f"export const {name} = {json.dumps(value)};" for name, value in CONSTANTS.items()),
        _header(),
        HAND_WRITTEN.format(names=" | ".join(json.dumps(name) for name in constants.SCENE_NAMES)),
        _interface("Introduction", {name: _type(*get_args(hints[name])) for name in INTRODUCED}),
        *(_interface(control.__name__, _fields_of(control)) for control in controls),
        f"export type Control = {' | '.join(control.__name__ for control in controls)};\n",
        _messages("PageMessage", from_page),
        _messages("ServerMessage", protocol.TO_PAGE),
    ]
    return "\n".join(parts)


def _header() -> str:
    """Return where each field of a frame's header is, and how a `DataView` reads it."""
    lines, at = [], 0
    for name, code in protocol.HEADER_FIELDS.items():
        lines.append(f'  {name}: [{at}, "{_READS[code]}"],')
        at += struct.calcsize(f"<{code}")
    return "\n".join(("export const HEADER = {", *lines, "} as const;\n"))


def _messages(name: str, table: Mapping[str, Mapping[str, str]]) -> str:
    """Return a union of messages. `Extract<..., { type: "scene" }>` is one of them."""
    lines = [f"  | {{ type: {json.dumps(kind)}{_joined(fields)} }}" for kind, fields in table.items()]
    return "\n".join((f"export type {name} =", *lines)) + ";\n"


def _joined(fields: Mapping[str, str]) -> str:
    return "".join(f"; {name}: {kind}" for name, kind in fields.items())


def _typed(fields: Mapping[str, protocol.Kind]) -> dict[str, str]:
    return {name: kind.typescript for name, kind in fields.items()}


def _interface(name: str, members: Mapping[str, str]) -> str:
    return "\n".join((f"export interface {name} {{", *(f"  {n}: {kind};" for n, kind in members.items()), "}\n"))


def _fields_of(control: Any) -> dict[str, str]:
    hints = get_type_hints(control)
    return {field.name: _type(hints[field.name]) for field in fields(control)}


def _type(hint: Any) -> str:
    """Return the type on the page of a Python type."""
    if hint in _SIMPLE:
        return _SIMPLE[hint]
    origin, inner = get_origin(hint), get_args(hint)
    if origin is Literal:
        return " | ".join(json.dumps(value) for value in inner)
    if origin is types.UnionType:
        return " | ".join(_type(one) for one in inner)
    if origin is tuple and inner[-1] is not Ellipsis:
        return f"[{', '.join(_type(one) for one in inner)}]"
    return f"Array<{_type(inner[0])}>"


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(typescript(), encoding="utf-8")
