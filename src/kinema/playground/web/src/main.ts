// The page: starts everything and keeps it together.

import "uplot/dist/uPlot.min.css";
import "./style.css";
import { App } from "./app";

const app = new App();

declare global {
  interface Window {
    /** For tests, and for the curious: what is on the screen now. */
    kinema: { state(): Record<string, unknown> };
  }
}
window.kinema = { state: () => app.state() };
