// The app: one connection, one view, and the controls around them.

import { Connection, type Input } from "./connection";
import type { Frame, SceneMessage } from "./frames";
import { KEEP, OPEN_FILE, type Introduction, type SceneState, type ServerMessage, type Value } from "./protocol";
import { Arrows } from "./shell/arrows";
import { Film, keepPicture } from "./shell/capture";
import { Compiling } from "./shell/compiling";
import { element, make, setIcon } from "./shell/dom";
import { Dragging } from "./shell/dragging";
import { Files } from "./shell/files";
import { Figures } from "./shell/figures";
import { HandleTools } from "./shell/handle_tools";
import { Help } from "./shell/help";
import { Hint } from "./shell/hint";
import { History } from "./shell/history";
import { Kept } from "./shell/kept";
import { KeyHints } from "./shell/key_hints";
import { forgetFile } from "./shell/browser_store";
import { Keys } from "./shell/keys";
import { Labels } from "./shell/labels";
import { Panel } from "./shell/panel";
import { fileOf, Recent } from "./shell/recent";
import { ScriptSheet } from "./shell/script_sheet";
import { clearState, load, save, share, stateInAddress } from "./shell/sharing";
import { SidePanel } from "./shell/side_panel";
import { Steering } from "./shell/steering";
import { Signs } from "./shell/signs";
import { Tabs } from "./shell/tabs";
import { Themes } from "./shell/theme";
import { Takes } from "./shell/takes";
import { Work } from "./shell/work";
import { Timeline } from "./shell/timeline";
import { SIDES, type CameraState, type Theme, type View } from "./view";
import { VIEWS } from "./views";

/** Most seconds between two pictures that cameras and fades take into account: slow pictures take half of one, and a
 * camera that believed in less would fall behind what it follows. */
const LONGEST_ELAPSED = 1;
/** Least milliseconds between two drags: some mice move a thousand times a second. */
const DRAG_INTERVAL = 8;
/** Least milliseconds between two positions of the pointer that the character looks at. */
const LOOK_INTERVAL = 33;
/** Milliseconds for which a picture is drawn again and again after the last change: cameras and fades come to rest. */
const AWAKE = 700;
/** Pictures that frames may come late by before that: where the processor draws, it computes frames more slowly, too. */
const LATE_PICTURES = 8;
/** What a user does that may change the picture. */
const ACTIVITY = ["pointermove", "pointerdown", "pointerup", "wheel", "keydown", "keyup"] as const;

/** What a description says of a character. */
interface Shown {
  model: number;
  title: string;
  surface: boolean;
}

/** A text as it is on a touch screen, where a pad takes the place of the keys that steer. */
function forFingers(text: string): string {
  return navigator.maxTouchPoints > 0 ? text.replace("W A S D", "the round pad") : text;
}

export class App {
  private readonly stage = element("stage");
  private readonly signs = new Signs(() => this.connection.connect());
  private readonly tabs = new Tabs((name) => this.open(name), (text) => this.signs.notice(text));
  private readonly files = new Files(this.stage, (text) => this.signs.notice(text), (files) => this.bring(files), (file) => this.load(file), (file) => this.offerMotion(file));
  private readonly panel = new Panel(
    element("controls"),
    (name, value) => this.takes.set(name, value) || this.setControl(name, value),
    (file) => void this.files.keep(file),
  );
  private readonly timeline = new Timeline({
    set: (name, value) => this.connection.input({ type: "set", name, value }),
    layer: (pose, span) => this.connection.input({ type: "layer", pose, span }),
    pause: () => this.paused || this.pause(true),
    play: () => this.paused && this.pause(false),
  });
  private readonly compiling = new Compiling();
  private readonly figures = new Figures();
  private readonly history = new History(element("history"));
  private readonly labels = new Labels(element("labels"));
  private readonly arrows = new Arrows();
  private readonly help = new Help();
  private readonly hint = new Hint();
  private readonly scriptSheet = new ScriptSheet();
  private readonly keyHints: KeyHints;
  private readonly takes = new Takes();
  private readonly film = new Film();
  private readonly work = new Work();
  private readonly kept = new Kept(() => this.keepCamera());
  private readonly recent = new Recent({
    open: (state) => this.openState(state),
    introduction: (scene) => this.tabs.introduction(scene),
  });
  private readonly dragging = new Dragging(this.stage, {
    drag: (handle, position) => this.drag(handle, position),
    drop: (handle) => this.drop(handle),
    grab: (handle, point) => this.connection.input({ type: "grab", handle, point }),
    rotate: (handle, rotation) => this.rotate(handle, rotation),
    cancel: () => this.cancelDrags(),
    announce: (text) => (element("announcements").textContent = text),
    pin: (handle) => this.connection.input({ type: "pin", handle }),
    release: (handle) => this.connection.input({ type: "release", handle }),
  });
  private readonly handleTools = new HandleTools({
    pin: (handle) => this.dragging.pinOrRelease(handle),
    bend: (handle) => this.connection.input({ type: "bend", handle }),
    release: (handle) => this.connection.input({ type: "release", handle }),
  });
  private readonly steering = new Steering((turn, ahead) => {
    this.hint.done();
    this.connection.input({ type: "steer", turn, ahead });
  });
  private readonly connection: Connection;
  private view: View | null = null;
  private scene: SceneMessage | null = null;
  private frame: Frame | null = null;
  private theme!: Theme;
  private paused = false;
  /** A file on its way to another scene. */
  private brought: File[] = [];
  /** A saved session or a link that the next scene shows. */
  private loaded: SceneState | null = null;
  /** A scene that starts anew: the last state of its session before does not count. */
  private forgotten = "";
  /** What to do with the next description. */
  private onceDescribed: ((description: Shown) => void) | null = null;
  private described = false;
  /** The model of the last frame. */
  private model: number | undefined;
  /** The scene whose session is known to have begun. */
  private opened = "";
  private wantsPicture = false;
  private drawnAt = performance.now();
  /** When something last changed that is drawn; null once a fine picture of it is there. */
  private changedAt: number | null = 0;
  /** Number of the first picture with everything in it; null before it is drawn. */
  private firstPicture: number | null = null;
  private toldDrawn = false;
  /** Handles that are dragged, or were until the server has answered: they are drawn where the user has them. */
  private readonly held = new Map<string, { input: number; dropped: boolean }>();
  /** The newest drag of each handle that has not been sent. */
  private readonly waiting = new Map<string, Extract<Input, { type: "drag" | "rotate" }>>();
  private lookedAt = 0;
  /** Position of the pointer on the page that the character has not been told of. */
  private lookTo: [number, number] | null = null;
  private sentAt = 0;
  private timer = 0;

  constructor() {
    new Themes((theme) => this.paint(theme));
    const keys = new Keys(this.dragging, {
      pause: () => this.pause(!this.paused),
      step: () => this.step(),
      reset: () => this.connection.send({ type: "reset" }),
      help: () => this.help.toggle(),
      mirror: () => this.panel.flip("mirror"),
      home: () => this.view?.camera?.home(),
      follow: () => this.toggleFollowing(),
      pin: () => this.dragging.pinOrRelease(),
      steer: (event) => this.steering.key(event),
      look: (view) => this.view?.camera?.lookFrom(SIDES[view]!),
      undo: () => this.undo(false),
      redo: () => this.undo(true),
      scene: (key) => this.connection.input({ type: "key", key, position: this.dragging.position() }),
    });
    this.keyHints = new KeyHints((key) => keys.press(key));
    this.connection = new Connection({
      message: (message) => this.receive(message),
      connected: (connected) => this.signs.connected(connected),
      input: clearState,
    });
    this.wireButtons();
    new ResizeObserver(() => this.resize()).observe(this.stage);
    this.stage.addEventListener("pointermove", ({ clientX, clientY }) => (this.lookTo = [clientX, clientY]), { passive: true });
    for (const kind of ACTIVITY) addEventListener(kind, () => this.redraw(), { capture: true, passive: true });
    document.addEventListener("visibilitychange", () => this.tellVisible());
    requestAnimationFrame(() => this.tick());
  }

  private wireButtons(): void {
    this.showPaused(false);
    setIcon(element("step"), "step", "One frame");
    setIcon(element("reset"), "reset", "Reset");
    setIcon(element("screenshot"), "camera", "Download a picture");
    setIcon(element("show-panel"), "sliders", "Controls");
    setIcon(element("home"), "home", "Back to the first view");
    setIcon(element("follow"), "follow", "Follow with the camera");
    setIcon(element("undo"), "undo", "Undo");
    setIcon(element("redo"), "redo", "Redo");
    setIcon(element("share"), "share", "Copy a link to what you see");
    setIcon(element("save"), "save", "Save this session as a file");
    setIcon(element("recent"), "recent", "Recent");
    element("undo").onclick = () => this.undo(false);
    element("redo").onclick = () => this.undo(true);
    for (const purpose of ["share", "save"]) element(purpose).onclick = () => this.connection.send({ type: "state", purpose });
    element("views").append(...SIDES.map((side) => this.viewButton(side)));
    element("home").onclick = () => this.view?.camera?.home();
    element("follow").onclick = () => this.toggleFollowing();
    element("pause").onclick = () => this.pause(!this.paused);
    element("step").onclick = () => this.step();
    element("reset").onclick = () => this.connection.send({ type: "reset" });
    element("screenshot").onclick = () => (this.wantsPicture = true);
    element("record").onclick = () => this.record("video");
    element("record-gif").onclick = () => this.record("gif");
    element("copy-python").onclick = () => this.connection.send({ type: "python" });
    new SidePanel(() => this.scene && this.history.start(this.introduction()?.unit ?? ""));
  }

  private viewButton(side: (typeof SIDES)[number]): HTMLElement {
    const button = make("button", { textContent: side[0]!.toUpperCase() + side.slice(1), title: `Look from the ${side} (${SIDES.indexOf(side) + 1})` });
    button.dataset["testid"] = `view-${side}`;
    button.onclick = () => this.view?.camera?.lookFrom(side);
    return button;
  }

  // From the server.

  private receive(message: ServerMessage): void {
    switch (message.type) {
      case "hello":
        this.files.session = message.session;
        this.tabs.fill(message.scenes);
        void this.recent.ready.then(() => this.open(this.tabs.current));
        break;
      case "progress":
        this.compiling.show(message);
        break;
      case "scene":
        this.describe(message);
        break;
      case "python":
        void this.scriptSheet.show(message.text);
        break;
      case "state":
        this.takeState(message.purpose, message.state);
        break;
      case "wants":
        void this.bringFile(message.file, message.needed);
        break;
      case "work":
        this.work.show(message.file, message.share);
        break;
      case "notice":
        this.signs.notice(message.message);
        break;
      case "end":
        this.signs.ended(message.message);
        break;
    }
  }

  private describe(message: SceneMessage): void {
    if (message.scene !== this.tabs.current) return;
    this.scene = message;
    this.described = false;
    if (this.isComplete) this.compiling.hide();
    else this.compiling.drawing();
    this.panel.show([...message.controls, ...this.takes.controls]);
    const { poses, layers } = message.description as { poses?: number[]; layers?: ([number, number] | null)[] };
    this.timeline.show(message.controls, poses ?? [], layers ?? []);
    this.showPaused(message.paused);
    this.onceDescribed?.(message.description as unknown as Shown);
    this.onceDescribed = null;
    const isFirst = this.opened !== message.scene;
    if (isFirst && this.loaded) this.showState(this.loaded);
    if (this.brought.length) void this.files.dropAll(this.brought);
    this.brought = [];
    this.loaded = null;
    this.opened = message.scene;
    this.forgotten = "";
  }

  private takeState(purpose: string, state: SceneState): void {
    const camera = this.view?.camera?.state() ?? undefined;
    if (purpose === KEEP) this.keep(state, camera);
    else if (purpose === "save") void save({ ...state, camera });
    else void share({ ...state, camera }).then((text) => this.signs.notice(text));
  }

  /** Keep a state for this tab, and for later visits once the user has done something. */
  private keep(state: SceneState, camera: CameraState | undefined): void {
    if (state.scene === this.forgotten) return;
    this.kept.put(state);
    const undo = state.undo as { before?: unknown[] } | undefined;
    const whole = this.kept.get(state.scene);
    if (undo?.before?.length && whole) this.recent.put({ ...whole, camera: state.scene === this.opened ? camera : whole.camera });
  }

  private keepCamera(): void {
    if (!this.opened) return;
    const camera = this.view?.camera?.state() ?? undefined;
    this.kept.put({ scene: this.opened, camera });
    this.recent.putCamera(this.opened, camera);
  }

  /** Show a state in the scene that is open. It can be undone. */
  private showState(state: SceneState): void {
    this.connection.input({ type: "restore", state });
    if (state.camera) this.view?.camera?.restore(state.camera as CameraState);
  }

  /** Give the scene the file that its state needs, or ask for it. */
  private async bringFile(name: string, needed: boolean): Promise<void> {
    if ((await this.files.bringBack(name)) || !needed) return;
    this.signs.ask(`This needs ${name}: drop it here or open it.`, "Open a file", () => this.files.choose());
  }

  /** The state in the address. A damaged one opens nothing over the user's work. */
  private linked(): SceneState | null {
    try {
      return stateInAddress();
    } catch {
      this.signs.notice("This link is damaged: it shows nothing. Ask for it again, or for the session as a file.");
      return null;
    }
  }

  /** A file is about to be opened. If it has no surface, maybe its motion is meant for the character that is shown: once
   * it is open, ask. */
  private offerMotion(file: File): () => void {
    const before = this.shown();
    const offer = ({ surface }: Shown) => {
      if (surface || !before) return;
      this.signs.ask(`${file.name} is open. Its motion can go onto ${before.title}.`, `Put it on ${before.title}`, () => {
        this.undo(false);
        void this.files.drop(file, true);
      });
    };
    return () => {
      const now = this.shown();
      if (!before?.surface || !now) return;
      if (now.model !== before.model) offer(now);
      else this.onceDescribed = offer;
    };
  }

  /** Open a scene that takes the files, and give it the files once it is open. */
  private bring(files: File[]): boolean {
    const scene = this.tabs.taking(files[0]!.name);
    if (!scene || scene.name === this.tabs.current) return false;
    this.brought = files;
    location.hash = scene.name;
    return true;
  }

  /** Open a saved session in its scene. */
  private async load(file: File): Promise<void> {
    this.openState(await load(file));
    this.signs.notice(`${file.name} is loaded.`);
  }

  /** Show a state in its scene. It can be undone. */
  private openState(state: SceneState): void {
    if (state.scene === this.tabs.current) return this.showState(state);
    this.loaded = state;
    location.hash = state.scene;
  }

  /** Open the scene as it is at first; what was done before stays under "Recent". */
  private startAnew(): void {
    const scene = this.tabs.current;
    this.kept.forget(scene);
    this.forgotten = scene;
    this.open(scene, true);
  }

  private forgetFile(): void {
    const kept = this.kept.get(this.tabs.current);
    if (kept) void forgetFile(fileOf(kept));
    const ours = this.scene?.controls.find(({ name }) => name === "character");
    if (ours?.kind === "choice") this.connection.input({ type: "set", name: "character", value: ours.options[1] ?? ours.value });
  }

  private undo(again: boolean): void {
    this.connection.input({ type: "undo", again });
  }

  /** Create a scene's view and add it to the stage. camera: where it was when the user left. */
  private show(name: string, camera?: CameraState): void {
    const Kind = VIEWS[name];
    if (!Kind) return;
    const isShown = () => this.view === view;
    const view: View = new Kind({
      file: (file) => this.files.get(file, isShown),
      choose: () => this.files.choose(),
      forget: () => this.forgetFile(),
      follow: (joint, source) => this.connection.input({ type: "follow", joint, source }),
      say: (text) => this.signs.notice(text),
      redraw: () => this.redraw(),
    });
    this.view = view;
    this.view.canvas.tabIndex = 0;
    this.view.canvas.setAttribute("aria-label", `${this.introduction()?.title ?? name}: [ and ] choose a handle, arrow keys move it`);
    this.stage.prepend(this.view.canvas);
    const onStage = this.view.overlayOnStage || matchMedia("(max-width: 820px) and (min-height: 501px)").matches;
    if (this.view.overlay) (onStage ? this.stage : element("side")).append(this.view.overlay);
    this.view.paint(this.theme);
    this.resize();
    if (camera) this.view.camera?.restore(camera);
    this.dragging.attach(this.view);
    this.firstPicture = null;
    this.view.warmUp();
  }

  // To the server.

  private open(name: string, anew = false): void {
    if (!anew) this.keepCamera();
    this.film.stop();
    this.work.hide();
    this.view?.canvas.remove();
    this.view?.overlay?.remove();
    this.view?.dispose();
    this.view = this.scene = this.frame = this.firstPicture = null;
    this.held.clear();
    this.waiting.clear();
    this.handleTools.hide();
    this.dragging.attach(null);
    this.labels.show([]);
    this.arrows.show([]);
    this.panel.show([]);
    this.timeline.show([], [], []);
    this.opened = "";
    this.steering.start(this.introduction()?.steers ?? false);
    this.figures.clear();
    this.showCamera();
    const introduction = this.introduction();
    if (introduction) {
      this.help.fill(introduction);
      this.files.takes = introduction.takes;
      element("about").textContent = forFingers(introduction.about);
      this.keyHints.show(introduction.keys);
      this.hint.start(name, introduction.hint);
    }
    this.history.start(introduction?.unit ?? "");
    this.loaded ??= this.linked();
    clearState();
    const kept = this.kept.get(name);
    const last = kept || this.loaded || anew ? null : this.recent.latest(name);
    const state = kept ?? this.loaded ?? last;
    if (!kept) this.loaded = null;
    if (last) this.signs.ask("You go on where you left off.", "Start anew", () => this.startAnew(), true);
    this.connection.send({ type: "open", scene: name, still: matchMedia("(prefers-reduced-motion: reduce)").matches, state });
    this.tellVisible();
    this.show(name, state?.camera as CameraState | undefined); // While the server starts the scene.
  }

  /** The character in the picture. */
  private shown(): Shown | undefined {
    return this.scene?.description as unknown as Shown | undefined;
  }

  private introduction(): Introduction | undefined {
    return this.tabs.introduction(this.tabs.current);
  }

  private tellVisible(): void {
    this.connection.send({ type: "visible", visible: document.visibilityState === "visible" });
  }

  private drag(handle: string, position: number[]): void {
    this.hint.done();
    this.held.set(handle, { input: Infinity, dropped: false });
    this.waiting.set(handle, { type: "drag", handle, position });
    this.view?.hold(handle, position);
    this.sendDrag();
  }

  private rotate(handle: string, rotation: number[]): void {
    this.hint.done();
    this.waiting.set(handle, { type: "rotate", handle, rotation });
    this.sendDrag();
  }

  /** Send the newest drag: at once, or as soon as the last one is long enough ago. */
  private sendDrag(): void {
    const left = this.sentAt + DRAG_INTERVAL - performance.now();
    if (left > 0) this.timer ||= window.setTimeout(() => this.sendNow(), left);
    else this.sendNow();
  }

  private sendNow(): void {
    clearTimeout(this.timer);
    this.timer = 0;
    for (const [handle, drag] of this.waiting) {
      const number = this.connection.input(drag);
      const held = this.held.get(handle);
      if (held) held.input = number;
    }
    this.waiting.clear();
    this.sentAt = performance.now();
  }

  private drop(handle: string): void {
    this.sendNow();
    const number = this.connection.input({ type: "drop", handle });
    this.held.set(handle, { input: number, dropped: true });
  }

  private cancelDrags(): void {
    this.waiting.clear();
    const input = this.connection.input({ type: "cancel" });
    for (const handle of this.held.keys()) this.held.set(handle, { input, dropped: true });
  }

  /** Let the character look at the pointer, if it is to. */
  private look(now: number): void {
    if (!this.lookTo || this.dragging.isDragging || now - this.lookedAt < LOOK_INTERVAL) return;
    const watches = this.scene?.controls.some(({ name, value }) => name === "watch" && value === true);
    const position = watches ? this.view?.body?.gazeAt(...this.lookTo) : null;
    this.lookTo = null;
    if (!position) return;
    this.lookedAt = now;
    this.connection.input({ type: "look", position });
  }

  /** Set a control of the scene. A pose of the library is shown at rest. */
  private setControl(name: string, value: Value): void {
    if (name === OPEN_FILE) return this.files.choose();
    if (name === "library") {
      this.timeline.awaitPicture();
      if (!this.paused) this.pause(true);
    }
    this.connection.input({ type: "set", name, value });
  }

  /** Stop a film, or ask how long the next one is to be and start it. One of a certain length plays the scene, and leaves
   * it as it was. */
  private record(kind: "video" | "gif"): void {
    if (this.film.isRecording) return this.film.stop();
    this.takes.ask(element(kind === "video" ? "record" : "record-gif"), this.scene?.controls ?? [], (take) => {
      const number = take.from === null ? 0 : this.connection.input({ type: "set", name: "time", value: take.from });
      const wasPaused = this.paused && take.seconds !== Infinity;
      if (wasPaused) this.pause(false);
      this.film.start(kind, `kinema-${this.tabs.current}`, { ...take, number, isClear: this.takes.finish.background !== "shown" }, () => wasPaused && this.pause(true));
      this.redraw();
    });
  }

  private toggleFollowing(): void {
    const camera = this.view?.camera;
    if (camera?.following !== null) camera?.setFollowing(!camera.following);
  }

  /** Show the camera's buttons where there is a camera, and whether it follows. */
  private showCamera(): void {
    const camera = this.view?.camera ?? null;
    const following = camera?.following ?? null;
    element("home").hidden = camera === null;
    element("views").hidden = camera === null;
    element("follow").hidden = following === null;
    element("follow").setAttribute("aria-pressed", String(following === true));
  }

  private pause(paused: boolean): void {
    this.showPaused(paused);
    this.connection.send({ type: "pause", paused });
  }

  private step(): void {
    if (!this.paused) this.pause(true);
    this.connection.send({ type: "step" });
  }

  private showPaused(paused: boolean): void {
    this.paused = paused;
    setIcon(element("pause"), paused ? "play" : "pause", paused ? "Play" : "Pause");
    element("pause").setAttribute("aria-pressed", String(paused));
  }

  // The picture.

  private paint(theme: Theme): void {
    this.theme = theme;
    this.view?.paint(theme);
    this.history.paint(theme);
    this.redraw();
  }

  private resize(): void {
    const { clientWidth, clientHeight } = this.stage;
    if (clientWidth && clientHeight) this.view?.resize(clientWidth, clientHeight);
    this.history.paint(this.theme);
    this.redraw();
  }

  /** Something that is drawn has changed. */
  private redraw(): void {
    this.changedAt = performance.now();
  }

  /** Once per frame of the screen: draw the newest frame, unless the last picture is still being drawn. */
  private tick(): void {
    requestAnimationFrame(() => this.tick());
    this.steering.drawn();
    this.look(performance.now());
    const { view } = this;
    if (!view || view.pace.busy) return; // Meanwhile the page listens to the pointer and to the server.
    if (this.dragging.isDragging && view.pace.rests) return;
    const now = performance.now();
    const elapsed = Math.min((now - this.drawnAt) / 1000, LONGEST_ELAPSED);
    this.drawnAt = now;
    if (this.isComplete) this.completed();
    this.connection.pictureMs = view.pace.ms;
    const frame = this.connection.take();
    if (frame && this.scene) this.take(frame); // Before its description comes, a frame is of the last scene.
    if (!this.frame) return;
    if (view.camera) view.camera.steered = this.steering.isActive;
    this.draw(view, now, elapsed);
    this.timeline.drawn(this.frame);
    this.labels.show(view.labels());
    this.dragging.drawn(now);
    const handles = view.handles();
    const chosen = this.dragging.resting !== null; // Its own texts and buttons are where the hint would be.
    this.hint.drawn(chosen ? [] : handles, this.isComplete ? elapsed : 0); // Its seconds begin with the first whole picture.
    this.arrows.show(handles);
    this.handleTools.show(view, this.dragging.resting);
    this.showCamera();
  }

  /** Draw what has changed, and once it rests, once more as fine as can be. */
  private draw(view: View, now: number, elapsed: number): void {
    const rests = this.changedAt === null || now - this.changedAt > AWAKE + LATE_PICTURES * view.pace.ms;
    const kept = this.wantsPicture || this.film.isRecording || this.recent.isDue(this.opened, now);
    if (this.changedAt === null && !kept) return;
    const finish = this.wantsPicture || this.film.isRecording ? this.takes.finish : null;
    view.finish = finish;
    view.pace.fine = rests || this.wantsPicture || Boolean(finish?.side);
    view.draw(elapsed);
    if (rests && !finish) {
      this.changedAt = null;
      this.keepCamera();
    }
    if (finish) this.redraw(); // The next picture is the screen's own again.
    this.recent.drawn(view.canvas, this.opened, now);
    if (view.isLoaded) this.firstPicture ??= view.pace.finished + 1;
    const portrait = view.portrait();
    if (portrait) this.timeline.takePicture(view.canvas, portrait);
    const shot = { canvas: view.canvas, labels: finish?.handles ? view.labels() : [], theme: this.theme };
    this.film.drawn(shot, this.frame!);
    if (this.wantsPicture) keepPicture(shot, `kinema-${this.tabs.current}`);
    this.wantsPicture = false;
    this.figures.drawn(now, this.frame!, this.introduction()?.unit ?? "");
  }

  /** Whether a picture with everything in it is on the screen. */
  private get isComplete(): boolean {
    return this.firstPicture !== null && this.view !== null && this.view.pace.finished >= this.firstPicture;
  }

  /** Tell the server, once: what else it has to compile would have slowed down the first picture. */
  private completed(): void {
    if (!this.compiling.isHidden) this.compiling.hide();
    if (this.toldDrawn) return;
    this.toldDrawn = true;
    this.connection.send({ type: "drawn" });
  }

  private take(frame: Frame): void {
    // A description applies from the first frame of its layout on.
    const isNew = !this.described && this.scene !== null;
    if (isNew) this.view?.describe(this.scene!.description);
    this.described = true;
    this.frame = frame;
    this.redraw();
    for (const [handle, { input, dropped }] of this.held) {
      if (!dropped || frame.input < input) continue;
      this.held.delete(handle);
      this.view?.hold(handle, null);
    }
    this.view?.show(frame);
    if (isNew) this.dragging.forgetMissing(this.model !== this.shown()?.model);
    this.model = this.shown()?.model;
    this.history.add(frame);
  }

  state(): Record<string, unknown> {
    const frame = this.frame;
    return {
      scene: this.tabs.current,
      connected: this.signs.isConnected,
      paused: this.paused,
      fps: this.figures.fps,
      solve_ms: frame?.solveMs ?? null,
      error: frame?.error ?? null,
      reached: frame?.reached ?? 0,
      count: frame?.count ?? 0,
      time: frame?.time ?? 0,
      tick: frame?.tick ?? 0,
      input: frame?.input ?? 0,
      controls: Object.fromEntries((this.scene?.controls ?? []).map(({ name, value }) => [name, value])),
      draggables: this.view?.handles() ?? [],
      chains: this.frame ? (this.view?.chains() ?? []) : [],
      held: [...this.held.keys()].at(-1) ?? null,
      complete: this.isComplete,
      resting: this.changedAt === null && this.view !== null && !this.view.pace.busy,
      picture: this.view && { ms: this.view.pace.ms, count: this.view.pace.finished, ...this.view.pace.quality },
      following: this.view?.camera?.following ?? null,
      ...(this.view?.state() ?? {}),
    };
  }
}
