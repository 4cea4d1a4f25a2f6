// Pictures of a truck, drawn once for each colour and heading.
import { css } from "./dom.js";

const HEADINGS = 24;

function arrow(pen, size) {
  pen.beginPath();
  pen.moveTo(0, -size * 0.5);
  pen.lineTo(size * 0.36, size * 0.42);
  pen.lineTo(0, size * 0.22);
  pen.lineTo(-size * 0.36, size * 0.42);
  pen.closePath();
}

function dot(pen, size) {
  pen.beginPath();
  pen.arc(0, 0, size * 0.3, 0, 2 * Math.PI);
}

function draw(status, step, size, ratio) {
  const canvas = document.createElement("canvas");
  canvas.width = canvas.height = Math.ceil((size + 4) * ratio);
  const pen = canvas.getContext("2d");
  pen.scale(ratio, ratio);
  pen.translate((size + 4) / 2, (size + 4) / 2);
  if (step === null) dot(pen, size);
  else {
    pen.rotate((step / HEADINGS) * 2 * Math.PI);
    arrow(pen, size);
  }
  pen.fillStyle = css(`--${status}`);
  pen.strokeStyle = css("--outline");
  pen.lineWidth = 1.5;
  pen.lineJoin = "round";
  pen.stroke();
  pen.fill();
  return canvas;
}

export class Sprites {
  #drawn = new Map();

  /** A theme has changed: draw anew. */
  forget() {
    this.#drawn.clear();
  }

  /** A truck that moves is an arrow, any other a dot. */
  of(truck, size, ratio) {
    const points = truck.status === "moving" && truck.heading_deg !== null;
    const step = points ? Math.round((truck.heading_deg / 360) * HEADINGS) % HEADINGS : null;
    const key = `${truck.status}/${step}/${size}/${ratio}`;
    if (!this.#drawn.has(key)) this.#drawn.set(key, draw(truck.status, step, size, ratio));
    return this.#drawn.get(key);
  }
}
