// The newest state of every truck in columns: a truck is a slot, and a slot is a place in every array.

const MAGIC = 0x53504754;
const HEADER_BYTES = 32;
const NO_STATE = 255;
/** In the order of the frame's status byte; "alert" is the page's own. */
export const STATUSES = ["moving", "stopped", "idle", "silent", "unknown", "alert"];
export const ALERT = 5;
/** How a status is called on the page. */
export const called = (status) => (status === "alert" ? "in alert" : status);

export class Fleet {
  count = 0;
  frame_ms = 0;
  ids = [];
  counts = new Uint32Array(STATUSES.length);
  newest_s = Infinity;
  /** Seconds from measured to here, of the fixes that came with the last frame that had any. */
  delay_s = null;
  /** The statuses that are shown, one bit each. */
  shown = 0xff;
  #slots = new Map();
  #capacity = 0;
  #delays = new Uint32Array(256);

  constructor() {
    this.#grow(1024);
  }

  slotOf(truck_id) {
    const slot = this.#slots.get(truck_id);
    return slot !== undefined && slot < this.count && this.kind[slot] !== NO_STATE ? slot : null;
  }

  /** A server that was started anew hands out its slots anew. */
  takeSlots(first, ids) {
    if (first === 0) [this.ids, this.#slots] = [[], new Map()];
    ids.forEach((truck_id, index) => {
      this.ids[first + index] = truck_id;
      this.#slots.set(truck_id, first + index);
    });
  }

  /** Takes over a frame of the live stream; the layout is that of dashboard_api/frames.py. */
  takeFrame(buffer) {
    const head = new DataView(buffer);
    const count = head.getUint32(8, true);
    if (head.getUint32(0, true) !== MAGIC || buffer.byteLength < HEADER_BYTES + 12 * count) throw new Error("not a frame");
    if (count > this.#capacity) this.#grow(Math.max(count, 2 * this.#capacity));
    this.frame_ms = Number(head.getBigUint64(16, true));
    const wide = (index) => new Int32Array(buffer, HEADER_BYTES + 4 * count * index, count);
    const narrow = (index) => new Uint8Array(buffer, HEADER_BYTES + 8 * count + count * index, count);
    this.heading.set(narrow(0));
    this.speed.set(narrow(1));
    this.status.set(narrow(2));
    this.age.set(narrow(3));
    this.#move(wide(0), wide(1), count);
    this.count = count;
    this.judge();
  }

  /** What each truck is shown as: in alert where it has open alerts, else by its status. */
  judge() {
    const { kind, status, alerts, age, counts } = this;
    let newest_s = Infinity;
    counts.fill(0);
    for (let slot = 0; slot < this.count; slot++) {
      const found = status[slot] === NO_STATE ? NO_STATE : alerts[slot] ? ALERT : status[slot];
      kind[slot] = found;
      if (found === NO_STATE) continue;
      counts[found]++;
      if (age[slot] < newest_s) newest_s = age[slot];
    }
    this.newest_s = newest_s;
  }

  setAlerts(truckIds) {
    this.alerts.fill(0);
    for (const truck_id of truckIds) if (this.#slots.has(truck_id)) this.alerts[this.#slots.get(truck_id)] = 1;
    this.judge();
  }

  isShown(slot) {
    return this.kind[slot] !== NO_STATE && (this.shown >> this.kind[slot]) & 1;
  }

  position(slot) {
    return { lat: this.lat[slot] / 1e6, lon: this.lon[slot] / 1e6 };
  }

  #move(lon, lat, count) {
    const delays = this.#delays.fill(0);
    let moved = 0;
    this.fromX.set(this.x);
    this.fromY.set(this.y);
    for (let slot = 0; slot < count; slot++) {
      if (lon[slot] === this.lon[slot] && lat[slot] === this.lat[slot]) continue;
      const sine = Math.sin((lat[slot] / 1e6) * (Math.PI / 180));
      this.x[slot] = lon[slot] / 360e6 + 0.5;
      this.y[slot] = 0.5 - Math.log((1 + sine) / (1 - sine)) / (4 * Math.PI);
      if (slot < this.count && ++moved) delays[this.age[slot]]++;
    }
    this.lon.set(lon);
    this.lat.set(lat);
    if (moved) this.delay_s = median(delays, moved);
  }

  #grow(capacity) {
    const columns = { heading: Uint8Array, speed: Uint8Array, status: Uint8Array, age: Uint8Array, kind: Uint8Array, alerts: Uint8Array,
      lon: Int32Array, lat: Int32Array, x: Float64Array, y: Float64Array, fromX: Float64Array, fromY: Float64Array };
    for (const [name, Kind] of Object.entries(columns)) {
      const grown = new Kind(capacity);
      if (this[name]) grown.set(this[name]);
      this[name] = grown;
    }
    this.#capacity = capacity;
  }
}

function median(histogram, total) {
  let seen = 0;
  for (let value = 0; value < histogram.length; value++) if ((seen += histogram[value]) * 2 >= total) return value;
  return null;
}
