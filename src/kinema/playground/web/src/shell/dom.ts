// The page's own elements.

/** An element of index.html by its id. */
export function element<T extends HTMLElement = HTMLElement>(id: string): T {
  const found = document.getElementById(id);
  if (!found) throw new Error(`index.html has no #${id}`);
  return found as T;
}

export function make<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  properties: Partial<HTMLElementTagNameMap[K]> = {},
  ...children: (Node | string)[]
): HTMLElementTagNameMap[K] {
  const made = Object.assign(document.createElement(tag), properties);
  made.append(...children);
  return made;
}

/** A small screen, upright or sideways: the same as in style.css. */
export const PHONE = matchMedia("(max-width: 820px), (max-height: 500px)");

/** Line icons, drawn on 24 by 24. */
const ICONS = {
  pause: "M8 5v14M16 5v14",
  play: "M7 4.5v15l12-7.5z",
  step: "M6 5v14l9-7zM19 5v14",
  reset: "M4 12a8 8 0 1 0 2.6-5.9M4 4v5h5",
  camera: "M4 8h3l2-3h6l2 3h3v11H4zM12 16.5a3.5 3.5 0 1 0 0-7 3.5 3.5 0 0 0 0 7z",
  film: "M12 17a5 5 0 1 0 0-10 5 5 0 0 0 0 10z",
  gif: "M9 9.500a3.200 3.200 0 1 0 0 5V12H7.200M13 8.500v7M20 8.500h-3.500v7M16.500 12h3",
  stop: "M7 7h10v10H7z",
  light: "M12 16.5a4.5 4.5 0 1 0 0-9 4.5 4.5 0 0 0 0 9zM12 2v2M12 20v2M2 12h2M20 12h2M5 5l1.4 1.4M17.6 17.6L19 19M5 19l1.4-1.4M17.6 6.4L19 5",
  dark: "M20 14.5A8.5 8.5 0 0 1 9.5 4 8.5 8.5 0 1 0 20 14.5z",
  undo: "M8 5L4 9l4 4M4 9h10a5.5 5.5 0 0 1 0 11h-3",
  redo: "M16 5l4 4-4 4M20 9H10a5.5 5.5 0 0 0 0 11h3",
  share: "M10 14a4 4 0 0 0 5.7 0l3-3a4 4 0 0 0-5.7-5.7l-1 1M14 10a4 4 0 0 0-5.7 0l-3 3A4 4 0 0 0 11 18.700l1-1",
  save: "M12 4v11M7.500 11l4.500 4.500 4.500-4.500M5 20h14",
  layer: "M4 9l8-4 8 4-8 4zM4 14l8 4 8-4",
  pin: "M9 4h6l-1 6 4 4H6l4-4zM12 14v6",
  bend: "M5 5h6v6M5 19c6 0 11-4 11-9M12.500 12.500L16 9l3.500 3.500",
  close: "M6 6l12 12M18 6L6 18",
  recent: "M12 20a8 8 0 1 0-8-8M4 7v5h5M12 8v4.500l3 2",
  home: "M4 11l8-7 8 7M6.5 9.5V19h11V9.5",
  follow: "M12 15.5a3.5 3.5 0 1 0 0-7 3.5 3.5 0 0 0 0 7zM12 2v4M12 18v4M2 12h4M18 12h4",
  add: "M12 5v14M5 12h14",
  mirror: "M12 3v18M9 7v10H3zM15 7v10h6z",
  sliders: "M4 7h9M17 7h3M4 17h3M11 17h9M15 4.5v5M9 14.5v5",
} as const;

export function setIcon(button: HTMLElement, icon: keyof typeof ICONS, label: string): void {
  button.innerHTML = `<svg viewBox="0 0 24 24" aria-hidden="true"><path d="${ICONS[icon]}"/></svg>`;
  button.setAttribute("aria-label", label);
}
