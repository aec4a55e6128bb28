// The socket to the server: comes back by itself when the server does.

import { unpackFrame, type Frame, type PageMessage, type SceneMessage, type ServerMessage } from "./protocol";

const RETRY_MS = 800;

type Unnumbered<T> = T extends { number: number } ? Omit<T, "number"> : never;
export type Input = Unnumbered<PageMessage>;

export interface Listener {
  message(message: ServerMessage): void;
  /** Connected, or not any more. */
  connected(connected: boolean): void;
}

export class Connection {
  /** The newest frame that has come, until it is taken. */
  private newest: Frame | null = null;
  private scene: SceneMessage | null = null;
  private socket: WebSocket | null = null;
  private inputs = 0;
  private ended = false;

  constructor(private readonly listener: Listener) {
    this.connect();
  }

  connect(): void {
    this.ended = false;
    const socket = new WebSocket(`${location.protocol === "https:" ? "wss" : "ws"}://${location.host}/session`);
    socket.binaryType = "arraybuffer";
    socket.onmessage = (event) => this.receive(event.data as string | ArrayBuffer);
    socket.onclose = () => this.lost();
    this.socket = socket;
  }

  /** The newest frame, once. */
  take(): Frame | null {
    const frame = this.newest;
    this.newest = null;
    if (frame) this.send({ type: "seen", tick: frame.tick });
    return frame;
  }

  send(message: PageMessage): void {
    if (this.socket?.readyState === WebSocket.OPEN) this.socket.send(JSON.stringify(message));
  }

  /** Send something a frame will answer. Returns its number: that frame's `input` is no smaller. */
  input(input: Input): number {
    this.inputs += 1;
    this.send({ ...input, number: this.inputs } as PageMessage);
    return this.inputs;
  }

  private receive(data: string | ArrayBuffer): void {
    if (typeof data !== "string") {
      const frame = this.scene && unpackFrame(data, this.scene);
      if (frame) this.newest = frame;
      else this.send({ type: "seen", tick: new DataView(data).getUint32(4, true) });
      return;
    }
    const message = JSON.parse(data) as ServerMessage;
    if (message.type === "hello") this.listener.connected(true);
    if (message.type === "scene") {
      this.scene = message;
      this.take(); // What came before is over. But the server waits to hear that it has come.
    }
    if (message.type === "end") this.ended = true;
    this.listener.message(message);
  }

  private lost(): void {
    this.newest = null;
    this.listener.connected(false);
    if (!this.ended) setTimeout(() => this.connect(), RETRY_MS);
  }
}
