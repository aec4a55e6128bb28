// The scene's controls, as the server describes them.

import GUI, { type Controller } from "lil-gui";
import { PARTS, TIMELINE, type Control, type Value } from "../protocol";
import { TAKES } from "./takes";

/** Groups that are closed until they are wanted. */
const FOLDED = [PARTS, TAKES];

export class Panel {
  private gui: GUI | null = null;
  private values: Record<string, Value> = {};
  private controllers = new Map<string, Controller>();
  private signature = "";

  constructor(
    private readonly host: HTMLElement,
    private readonly set: (name: string, value: Value) => void,
    private readonly download: (file: string) => void,
  ) {}

  /** Show these controls: update the values of the same ones, build others anew. */
  show(all: Control[]): void {
    const controls = all.filter(({ group }) => group !== TIMELINE);
    const signature = JSON.stringify(controls.map((control) => ({ ...control, value: null })));
    if (signature !== this.signature) this.build(controls);
    this.signature = signature;
    for (const { name, value } of controls) {
      const controller = this.controllers.get(name);
      // A control that the user holds keeps its value: an older answer would make it jump.
      if (controller && !controller.domElement.matches(":active")) {
        this.values[name] = value;
        controller.updateDisplay();
      }
    }
  }

  flip(name: string): void {
    const controller = this.controllers.get(name);
    controller?.setValue(!this.values[name]);
  }

  private build(controls: Control[]): void {
    this.gui?.destroy();
    this.gui = new GUI({ container: this.host, title: "Controls", width: undefined });
    this.controllers.clear();
    this.values = {};
    const folders = new Map<string, GUI>([["", this.gui]]);
    for (const control of controls) {
      const folder = folders.get(control.group) ?? this.gui.addFolder(control.group);
      if (FOLDED.includes(control.group) && !folders.has(control.group)) folder.close();
      folders.set(control.group, folder);
      this.add(folder, control);
    }
  }

  private add(gui: GUI, control: Control): void {
    const { name } = control;
    const send = (value: Value) => this.set(name, value);
    let controller: Controller;
    if (control.kind === "button" || control.kind === "download") {
      const act = control.kind === "button" ? () => send(null) : () => this.download(control.file);
      controller = gui.add({ [name]: act }, name);
    } else {
      this.values[name] = control.value;
      if (control.kind === "slider") controller = gui.add(this.values, name, control.low, control.high, control.step);
      else if (control.kind === "choice") controller = this.addChoice(gui, control);
      else controller = gui.add(this.values, name);
      controller.onChange(send);
      this.controllers.set(name, controller);
    }
    controller.name(control.kind === "slider" && control.unit ? `${control.label}, ${control.unit}` : control.label);
    controller.domElement.querySelector("input, select, button")?.setAttribute("data-testid", name);
  }

  private addChoice(gui: GUI, { name, options, labels }: Extract<Control, { kind: "choice" }>): Controller {
    const named = Object.fromEntries(options.map((option, i) => [labels[i] ?? option, option]));
    const controller = gui.add(this.values, name, named);
    controller.domElement.querySelectorAll("option").forEach((item, i) => (item.value = options[i]!));
    return controller;
  }
}
