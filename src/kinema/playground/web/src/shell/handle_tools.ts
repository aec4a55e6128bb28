// Buttons beside the chosen handle of a body: pin it where it is, bend its limb the other way, release it.

import type { Handle, View } from "../view";
import { element, make, setIcon } from "./dom";

/** Distance of the buttons from their handle, and from the edge of the stage, CSS pixels. */
const AWAY = 24;
const EDGE = 8;

export class HandleTools {
  private readonly pin = make("button");
  private readonly bend = make("button", { title: "Bend the other way" });
  private readonly drop = make("button", { title: "Release" });
  private readonly box = make("div", { id: "handle-tools", hidden: true }, this.pin, this.bend, this.drop);
  private handle = "";
  private corner: [number, number] = [AWAY, AWAY];

  constructor(actions: { pin(handle: string): void; bend(handle: string): void; release(handle: string): void }) {
    setIcon(this.bend, "bend", "Bend the other way");
    setIcon(this.drop, "close", "Release");
    this.pin.onclick = () => actions.pin(this.handle);
    this.bend.onclick = () => actions.bend(this.handle);
    this.drop.onclick = () => actions.release(this.handle);
    for (const [button, name] of [[this.pin, "handle-pin"], [this.bend, "handle-bend"], [this.drop, "handle-release"]] as const) button.dataset["testid"] = name;
    element("labels").after(this.box);
  }

  /** Show what can be done with a handle, beside it; null for none. Call it for every drawn frame. */
  show(view: View, handle: string | null): void {
    const at = handle === null || !view.body ? undefined : view.handles().find(({ id }) => id === handle);
    this.box.hidden = !at;
    if (!at || !view.body) return;
    const pinned = view.body.isPinned(at.id);
    if (this.handle !== at.id || this.pin.ariaPressed !== String(pinned)) {
      setIcon(this.pin, "pin", pinned ? "Unpin" : "Pin it where it is");
      this.pin.title = pinned ? "Unpin (P)" : "Pin it where it is (P)";
      this.pin.ariaPressed = String(pinned);
    }
    this.handle = at.id;
    this.bend.hidden = !view.body.bends(at.id);
    this.drop.hidden = pinned || !view.body.isHeld(at.id);
    this.pin.hidden = at.id === "gaze";
    this.arrange(at, view.handles());
  }

  /** Put the buttons to a corner of their handle where they cover no other one, if there is such a corner. */
  private arrange(at: Handle, handles: Handle[]): void {
    const stage = element("stage").getBoundingClientRect();
    const { offsetWidth: width, offsetHeight: height } = this.box;
    const corners = [[AWAY, AWAY], [AWAY, -AWAY - height], [-AWAY - width, AWAY], [-AWAY - width, -AWAY - height]] as [number, number][];
    const isFree = ([dx, dy]: [number, number]) => {
      const [x, y] = [at.x + dx, at.y + dy];
      const inside = x > stage.left && y > stage.top && x + width < stage.right && y + height < stage.bottom;
      return inside && handles.every((other) => other.x < x - EDGE || other.x > x + width + EDGE || other.y < y - EDGE || other.y > y + height + EDGE);
    };
    if (!isFree(this.corner)) this.corner = corners.find(isFree) ?? this.corner;
    const x = Math.min(Math.max(at.x - stage.left + this.corner[0], EDGE), stage.width - width - EDGE);
    const y = Math.min(Math.max(at.y - stage.top + this.corner[1], EDGE), stage.height - height - EDGE);
    this.box.style.transform = `translate(${x.toFixed(1)}px, ${y.toFixed(1)}px)`;
  }

  hide(): void {
    this.box.hidden = true;
  }
}
