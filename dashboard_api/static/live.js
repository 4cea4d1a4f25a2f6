// The live stream over a WebSocket: opens it, and opens it again when it ends, with longer and longer pauses.

const PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 10_000;
/** Frames come every second: without any for so long, the connection is dead whatever the browser thinks. */
const SILENT_MS = 8_000;

export class Live {
  state = "loading";
  #handlers;
  #heard_ms = 0;
  #socket = null;
  #failures = 0;
  #lastId = null;
  #begun = false;

  /** handlers: frame(buffer), slots(first, ids), alert(change), reset(), state() */
  constructor(handlers) {
    this.#handlers = handlers;
    setInterval(() => this.#watch(), 1000);
    addEventListener("online", () => this.#socket || this.open());
  }

  open() {
    const address = new URL("/api/live/socket", location.href.replace(/^http/, "ws"));
    // Goes on where it was: what came meanwhile is told first.
    if (this.#lastId) address.searchParams.set("after", this.#lastId);
    const socket = new WebSocket(address);
    socket.binaryType = "arraybuffer";
    this.#heard_ms = Date.now();
    socket.onmessage = ({ data }) => this.#hear(data);
    socket.onclose = () => this.#end(socket);
    this.#socket = socket;
  }

  #hear(data) {
    this.#heard_ms = Date.now();
    if (typeof data !== "string") return this.#handlers.frame(data);
    const told = JSON.parse(data);
    if (told.id) this.#lastId = told.id;
    if (told.type === "hello" || told.type === "reset") this.#begin(told.type);
    else if (told.type === "slots") this.#handlers.slots(told.first, told.ids);
    else if (told.type === "alert") this.#handlers.alert(told);
  }

  #begin(type) {
    this.#failures = 0;
    this.#enter("live");
    if (!this.#begun || type === "reset") this.#handlers.reset();
    this.#begun = true;
  }

  #end(socket) {
    if (socket !== this.#socket) return;
    this.#socket = null;
    const pause_ms = Math.min(LONGEST_PAUSE_MS, PAUSE_MS * 2 ** this.#failures);
    this.#failures += 1;
    this.#enter("reconnecting");
    // Not all at once: a server that comes back would have every page at its door in the same moment.
    setTimeout(() => this.#socket || this.open(), pause_ms * (0.75 + Math.random() / 2));
  }

  #watch() {
    const socket = this.#socket;
    if (!socket || Date.now() - this.#heard_ms < SILENT_MS) return;
    this.#end(socket);
    socket.close();
  }

  #enter(state) {
    this.state = state;
    this.#handlers.state();
  }
}
