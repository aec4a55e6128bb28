// The socket to the server. Reconnects by itself.

import { unpackFrame, type Frame, type SceneMessage } from "./frames";
import type { PageMessage, ServerMessage } from "./protocol";

const RETRY_MS = 800;

type Unnumbered<T> = T extends { number: number } ? Omit<T, "number"> : never;
export type Input = Unnumbered<PageMessage>;

export interface Listener {
  message(message: ServerMessage): void;
  /** The connection was made or lost. */
  connected(connected: boolean): void;
  /** An input goes out. */
  input(): void;
}

export class Connection {
  /** The newest frame, until it is taken. */
  private newest: Frame | null = null;
  /** The last frame of the scene, taken or not: answers change some rows of it. */
  private last: Frame | null = null;
  /** The last frame that has arrived, and the last one that the server knows to have. */
  private arrived = 0;
  private confirmed = 0;
  private scene: SceneMessage | null = null;
  private socket: WebSocket | null = null;
  private inputs = 0;
  /** Inputs of earlier scenes, which no frame of this one answers. */
  private earlier = 0;
  private ended = false;
  /** Milliseconds that the last picture took: the server computes less for a page that draws slowly. */
  pictureMs = 0;

  constructor(private readonly listener: Listener) {
    this.connect();
  }

  connect(): void {
    this.ended = false;
    this.arrived = this.confirmed = 0;
    const socket = new WebSocket(`${location.protocol === "https:" ? "wss" : "ws"}://${location.host}/session`);
    socket.binaryType = "arraybuffer";
    socket.onmessage = (event) => this.receive(event.data as string | ArrayBuffer);
    socket.onclose = () => this.lost();
    this.socket = socket;
  }

  /** Take the newest frame. */
  take(): Frame | null {
    const frame = this.newest;
    this.newest = null;
    this.confirm();
    return frame;
  }

  /** Tell the server which frames have arrived: it sends only some more than that. */
  private confirm(): void {
    if (this.arrived === this.confirmed) return;
    this.confirmed = this.arrived;
    this.send({ type: "seen", tick: this.arrived, picture: Math.round(this.pictureMs) });
  }

  send(message: PageMessage): void {
    if (message.type === "open") this.earlier = this.inputs;
    if (this.socket?.readyState === WebSocket.OPEN) this.socket.send(JSON.stringify(message));
  }

  /** Send an input. Returns its number: the frame that answers it has an `input` at least as large. */
  input(input: Input): number {
    this.inputs += 1;
    this.listener.input();
    this.confirm(); // A page that draws slowly has not confirmed many, and the answer would wait for that.
    this.send({ ...input, number: this.inputs } as PageMessage);
    return this.inputs;
  }

  private receive(data: string | ArrayBuffer): void {
    if (typeof data !== "string") {
      const frame = this.scene && unpackFrame(data, this.scene, this.last);
      this.arrived = new DataView(data).getUint32(4, true);
      if (frame) this.newest = this.last = frame;
      if (!frame || Math.max(frame.input, this.earlier) < this.inputs) this.confirm();
      return;
    }
    const message = JSON.parse(data) as ServerMessage;
    if (message.type === "hello") this.listener.connected(true);
    if (message.type === "scene") {
      this.scene = message;
      this.last = null;
      this.take(); // Older frames are obsolete, but the server waits for their confirmation.
    }
    if (message.type === "end") this.ended = true;
    this.listener.message(message);
  }

  private lost(): void {
    this.newest = this.last = null;
    this.listener.connected(false);
    if (!this.ended) setTimeout(() => this.connect(), RETRY_MS);
  }
}
