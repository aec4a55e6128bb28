// Light and dark: as the system has it, or as the person chose.

import type { Theme } from "../view";
import { element, setIcon } from "./dom";

const KEY = "kinema-theme";

export class Themes {
  private readonly system = matchMedia("(prefers-color-scheme: dark)");

  constructor(private readonly changed: (theme: Theme) => void) {
    const button = element("theme");
    button.onclick = () => this.choose(!this.dark);
    this.system.onchange = () => this.apply();
    this.apply();
  }

  private get dark(): boolean {
    const chosen = stored();
    return chosen === null ? this.system.matches : chosen === "dark";
  }

  private choose(dark: boolean): void {
    try {
      localStorage.setItem(KEY, dark ? "dark" : "light");
    } catch {
      // Private windows may refuse: then it holds for this page.
    }
    this.apply(dark);
  }

  private apply(dark = this.dark): void {
    document.documentElement.dataset["theme"] = dark ? "dark" : "light";
    setIcon(element("theme"), dark ? "light" : "dark", dark ? "Light colours" : "Dark colours");
    this.changed(this.theme(dark));
  }

  private theme(dark: boolean): Theme {
    const style = getComputedStyle(document.documentElement);
    const colour = (name: string) => parseInt(style.getPropertyValue(`--${name}`).trim().slice(1), 16);
    return {
      dark,
      background: colour("stage"),
      surface: colour("surface"),
      ink: colour("ink"),
      faint: colour("dots"),
      target: colour("target"),
      root: colour("root"),
      palette: Array.from({ length: 12 }, (_, i) => colour(`chain-${i + 1}`)),
    };
  }
}

function stored(): string | null {
  try {
    return localStorage.getItem(KEY);
  } catch {
    return null;
  }
}
