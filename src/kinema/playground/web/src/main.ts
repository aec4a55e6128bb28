// Entry point of the page.

import "uplot/dist/uPlot.min.css";
import "./style.css";
import { App } from "./app";

const app = new App();

declare global {
  interface Window {
    /** What is on the screen now, for tests. */
    kinema: { state(): Record<string, unknown> };
  }
}
window.kinema = { state: () => app.state() };
