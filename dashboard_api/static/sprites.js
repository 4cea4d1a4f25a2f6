// Pictures of a truck, drawn once for each status and heading, and kept as lists of pixels that can be copied fast.
import { css } from "./dom.js";
import { STATUSES } from "./fleet.js";

export const HEADINGS = 24;
const UNKNOWN = 255;
const STEPS = Uint8Array.from({ length: 256 }, (_, heading) => (heading === UNKNOWN ? HEADINGS : Math.round((heading * 2 * HEADINGS) / 360) % HEADINGS));

/** Each status has a shape of its own, so that colour is never the only difference. */
const SHAPES = {
  moving(pen, r) {
    pen.moveTo(0, -r);
    pen.lineTo(r * 0.74, r * 0.86);
    pen.lineTo(0, r * 0.46);
    pen.lineTo(-r * 0.74, r * 0.86);
  },
  idle: (pen, r) => pen.arc(0, 0, r * 0.62, 0, 2 * Math.PI),
  stopped: (pen, r) => pen.rect(-r * 0.54, -r * 0.54, r * 1.08, r * 1.08),
  silent: (pen, r) => pen.arc(0, 0, r * 0.5, 0, 2 * Math.PI),
  unknown: (pen, r) => pen.arc(0, 0, r * 0.4, 0, 2 * Math.PI),
  alert(pen, r) {
    pen.moveTo(0, -r);
    pen.lineTo(r, 0);
    pen.lineTo(0, r);
    pen.lineTo(-r, 0);
  },
};

function draw(status, step, radius, far, ratio) {
  const size = Math.ceil((2 * radius + 5) * ratio);
  const canvas = new OffscreenCanvas(size, size);
  const pen = canvas.getContext("2d", { willReadFrequently: true });
  pen.translate(size / 2, size / 2);
  pen.scale(ratio, ratio);
  if (step) pen.rotate((step / HEADINGS) * 2 * Math.PI);
  pen.beginPath();
  if (far && status !== "alert") pen.arc(0, 0, radius, 0, 2 * Math.PI);
  else SHAPES[step === null && status === "moving" ? "idle" : status](pen, radius);
  pen.closePath();
  pen.lineJoin = "round";
  pen.strokeStyle = css("--outline");
  pen.lineWidth = far ? 1 : 2.5;
  pen.stroke();
  if (status === "silent" && !far) {
    pen.strokeStyle = css("--silent");
    pen.lineWidth = 1.8;
    pen.stroke();
  } else {
    pen.fillStyle = css(`--${status}`);
    pen.fill();
  }
  return pen.getImageData(0, 0, size, size);
}

/** The pixels that are not transparent: where they are from the middle, in a buffer of that width, and their colours. */
function pixels(picture, stride) {
  const colours = new Uint32Array(picture.data.buffer);
  const middle = picture.width >> 1;
  const [solid, soft] = [[], []];
  colours.forEach((colour, index) => {
    const alpha = colour >>> 24;
    const offset = (Math.floor(index / picture.width) - middle) * stride + (index % picture.width) - middle;
    if (alpha > 24) (alpha > 150 ? solid : soft).push([offset, colour]);
  });
  const both = [...solid, ...soft];
  return {
    offsets: Int32Array.from(both, ([offset]) => offset), colours: Uint32Array.from(both, ([, colour]) => colour),
    solid: solid.length, reach: middle + 1,
  };
}

export class Sprites {
  #made = [];
  #key = "";

  /** Prepared for one size, ratio and width of buffer; asking for the same again costs nothing. */
  prepare(radius, far, ratio, stride) {
    const key = [radius, far, ratio, stride].join();
    if (key === this.#key) return;
    this.#key = key;
    this.#made = STATUSES.flatMap((status) => {
      const turns = status === "moving" && !far ? HEADINGS : 0;
      const still = pixels(draw(status, null, status === "alert" ? radius + (far ? 3 : 1) : radius, far, ratio), stride);
      return Array.from({ length: HEADINGS + 1 }, (_, step) =>
        step < turns ? pixels(draw(status, step, radius, far, ratio), stride) : still);
    });
  }

  /** A theme has changed: draw anew. */
  forget() {
    this.#key = "";
  }

  /** kind: index of a status; heading: as in a frame, in steps of two degrees. */
  of(kind, heading) {
    return this.#made[kind * (HEADINGS + 1) + STEPS[heading]];
  }
}

/** Copies a sprite; the soft pixels of its edge never cover what is there already. */
export function blit(buffer, base, sprite) {
  const { offsets, colours, solid } = sprite;
  let index = 0;
  for (; index < solid; index++) buffer[base + offsets[index]] = colours[index];
  for (; index < offsets.length; index++) {
    const at = base + offsets[index];
    if (buffer[at] === 0) buffer[at] = colours[index];
  }
}
