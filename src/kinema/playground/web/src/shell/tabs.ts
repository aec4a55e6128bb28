// The tabs of the scenes, on a narrow screen a menu; `/#planar` opens one directly.

import type { Introduction } from "../protocol";
import { VIEWS } from "../views";
import { element, make } from "./dom";
import { sceneInAddress } from "./sharing";

export class Tabs {
  private readonly menu = element<HTMLSelectElement>("scenes");
  private scenes: Introduction[] = [];

  /** The scene that is open. */
  private shown = "";

  constructor(
    private readonly open: (name: string) => void,
    private readonly say: (text: string) => void,
  ) {
    addEventListener("hashchange", () => this.select());
    element("tabs").addEventListener("keydown", (event) => this.key(event));
    this.menu.onchange = () => (location.hash = this.menu.value);
  }

  get current(): string {
    const wanted = sceneInAddress();
    return this.scenes.some(({ name }) => name === wanted) ? wanted : (this.scenes[0]?.name ?? "");
  }

  introduction(name: string): Introduction | undefined {
    return this.scenes.find((scene) => scene.name === name);
  }

  /** A scene that takes this file. */
  taking(file: string): Introduction | undefined {
    return this.scenes.find(({ takes }) => takes.some((ending) => file.toLowerCase().endsWith(ending)));
  }

  /** Show the scenes that this page can draw. */
  fill(scenes: Introduction[]): void {
    this.scenes = scenes.filter(({ name }) => name in VIEWS);
    this.correct();
    element("tabs").replaceChildren(...this.scenes.map((scene) => this.tab(scene)));
    this.menu.replaceChildren(...this.scenes.map(({ name, title }) => make("option", { value: name, textContent: title })));
    this.mark();
  }

  private tab({ name, title, about }: Introduction): HTMLElement {
    const tab = make("a", { href: `#${name}`, textContent: title, title: about, role: "tab" });
    tab.dataset["testid"] = `scene-${name}`;
    tab.dataset["scene"] = name;
    return tab;
  }

  private select(): void {
    if (this.correct()) return;
    this.mark();
    this.open(this.current);
  }

  /** Go back from an address that names no scene: the user's work stays. Returns whether it did. */
  private correct(): boolean {
    const wanted = sceneInAddress();
    const known = this.current === wanted;
    if (!known && wanted) this.say(`There is no scene "${wanted.slice(0, 40)}".`);
    if (!known) history.replaceState(null, "", `#${this.shown || this.current}`);
    const isOpen = this.shown !== "";
    this.shown = this.current;
    return !known && isOpen;
  }

  private mark(): void {
    this.menu.value = this.current;
    for (const tab of element("tabs").querySelectorAll<HTMLElement>("[role=tab]")) {
      const on = tab.dataset["scene"] === this.current;
      tab.setAttribute("aria-selected", String(on));
      tab.tabIndex = on ? 0 : -1;
    }
  }

  private key(event: KeyboardEvent): void {
    const by = event.key === "ArrowRight" ? 1 : event.key === "ArrowLeft" ? -1 : 0;
    if (!by) return;
    event.preventDefault();
    event.stopPropagation();
    const names = this.scenes.map(({ name }) => name);
    const next = names[(names.indexOf(this.current) + by + names.length) % names.length]!;
    location.hash = next;
    element("tabs").querySelector<HTMLElement>(`[data-scene=${next}]`)?.focus();
  }
}
