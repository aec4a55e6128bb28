// The search runs in a worker, which browsers refuse to pages that were opened from a folder. There, a hidden frame takes
// its place: the same script, messages in and out.
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    constructor(address) {
      super();
      const frame = document.createElement("iframe");
      frame.hidden = true;
      document.documentElement.append(frame);
      this.inside = frame.contentWindow;
      this.inside.postMessage = (data) => this.dispatchEvent(new MessageEvent("message", { data }));
      this.inside.__index = window.__index;
      this.inside.importScripts = (...addresses) => Promise.all(addresses.map((each) => this.load(each)));
      this.ready = this.load(new URL(address, document.baseURI));
    }
    load(address) {
      return new Promise((done, failed) => {
        const script = this.inside.document.createElement("script");
        Object.assign(script, { src: address, onload: done, onerror: failed });
        this.inside.document.documentElement.append(script);
      });
    }
    async postMessage(data) {
      await this.ready;
      this.inside.dispatchEvent(new this.inside.MessageEvent("message", { data }));
    }
    terminate() {}
  };
}
