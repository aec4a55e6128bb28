// Share links and saved sessions: what the user has set, in an address or in a file.

import { LARGEST_FILE, LARGEST_MESSAGE, type SceneState } from "../protocol";
import { keepFile, keptFile, nameOf } from "./browser_store";
import { download } from "./capture";
import { filesOf } from "./recent";

/** Part of an address before the state: `#planar?state=...`. */
const MARK = "?state=";
/** Addresses longer than this are cut off by some programs, characters. */
const LONGEST = 8000;

/** Bytes of a saved session: the server takes little more in a message. */
const LARGEST = 0.97 * LARGEST_MESSAGE;

/** The name of the scene in the address. */
export function sceneInAddress(): string {
  const name = location.hash.slice(1).split("?")[0]!;
  try {
    return decodeURIComponent(name);
  } catch {
    return name;
  }
}

/** The state in the address; null if there is none. Throws if it cannot be read. */
export function stateInAddress(): SceneState | null {
  const at = location.hash.indexOf(MARK);
  if (at < 0) return null;
  const binary = atob(location.hash.slice(at + MARK.length).replaceAll("-", "+").replaceAll("_", "/"));
  const state = JSON.parse(new TextDecoder().decode(Uint8Array.from(binary, (letter) => letter.charCodeAt(0)))) as SceneState;
  if (state.scene !== sceneInAddress()) throw new Error("it belongs to another scene");
  return state;
}

/** Put a state into the address and copy it. Returns what to tell the user. */
export async function share(state: SceneState): Promise<string> {
  const binary = String.fromCharCode(...new TextEncoder().encode(JSON.stringify(state)));
  const hash = `#${state.scene}${MARK}${btoa(binary).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "")}`;
  if (hash.length > LONGEST) return "This scene is too large for a link. Save it as a file instead.";
  history.replaceState(null, "", hash);
  try {
    await navigator.clipboard.writeText(location.href);
    return "The link to this scene is copied. It opens what you see, in any Kinema playground on this port.";
  } catch {
    return "The link to this scene is in the address bar: copy it from there.";
  }
}

/** Forget the state in the address: what is on the screen has changed. */
export function clearState(): void {
  if (location.hash.includes(MARK)) history.replaceState(null, "", `#${sceneInAddress()}`);
}

/** A saved session: a state with the files that it needs, by name, as data addresses. */
type Saved = SceneState & { files?: Record<string, string> };

/** Download a state as a file, with the files that it was made with. */
export async function save(state: SceneState): Promise<void> {
  const files: Record<string, string> = {};
  for (const name of filesOf(state)) {
    const file = await keptFile(name);
    if (file) files[nameOf(file)] = await dataAddress(file);
  }
  const saved: Saved = Object.keys(files).length ? { ...state, files } : state;
  download(new Blob([JSON.stringify(saved)], { type: "application/json" }), `${state.scene}.kinema.json`);
}

/** Read a saved session, and keep the files that are in it. Throws if it is none. */
export async function load(file: File): Promise<SceneState> {
  if (file.size > LARGEST + 4 * LARGEST_FILE) throw new Error("it is too large for a saved session");
  const { files, ...state } = JSON.parse(await file.text()) as Saved;
  if (typeof state.scene !== "string" || typeof state.values !== "object") throw new Error("this is not a saved session");
  if (JSON.stringify(state).length > LARGEST) throw new Error("it is too large for a saved session");
  for (const [name, address] of Object.entries(files ?? {})) {
    if (!String(address).startsWith("data:")) throw new Error(`the file ${name} in it is damaged`);
    await keepFile(new File([await (await fetch(address)).blob()], name));
  }
  return state;
}

function dataAddress(file: File): Promise<string> {
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.onload = () => resolve(reader.result as string);
    reader.onerror = () => reject(reader.error ?? new Error("it cannot be read"));
    reader.readAsDataURL(file);
  });
}
