// The icon of all services, a sextant, as SVG and as the ICO that older clients ask for; and the other small files of every site.
import { FAVICON_PATH, type Html, html, renderHtml } from "../lib/html.ts";
import type { StaticDocument } from "./routes/documents.ts";

// On a square of 32 units: two arms from the apex to the ends of an arc, and an index arm between them.
const SIZE = 32;
const APEX = { x: 16, y: 4 };
const RADIUS = 23;
const STROKE = 3;
const HALF_ANGLE = Math.PI / 6;
const INDEX_ANGLE = -Math.PI / 18;
const COLOUR = { red: 0x1f, green: 0x5f, blue: 0x8b };

/** The point of the arc at an angle from the vertical. */
function pointOnArc(angle: number): { readonly x: number; readonly y: number } {
  return { x: APEX.x + RADIUS * Math.sin(angle), y: APEX.y + RADIUS * Math.cos(angle) };
}

/** The drawing as a path. */
function drawSextant(): string {
  const text = ({ x, y }: { readonly x: number; readonly y: number }) => `${x.toFixed(2)} ${y.toFixed(2)}`;
  const [left, right, index] = [-HALF_ANGLE, HALF_ANGLE, INDEX_ANGLE].map((angle) => text(pointOnArc(angle)));
  const apex = text(APEX);
  return `M${left}L${apex}L${right}A${RADIUS} ${RADIUS} 0 0 1 ${left}M${apex}L${index}`;
}

function renderSvgIcon(): string {
  const colour = [COLOUR.red, COLOUR.green, COLOUR.blue].map((part) => part.toString(16).padStart(2, "0"));
  return renderHtml(
    html`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${SIZE} ${SIZE}"><path d="${drawSextant()}" fill="none" stroke="#${colour.join("")}" stroke-width="${STROKE}" stroke-linejoin="round" stroke-linecap="round"/></svg>\n`,
  );
}

/** For pages, in the colour that their style gives it. */
export function renderMark(): Html {
  return html`<svg class="mark" viewBox="0 0 ${SIZE} ${SIZE}" aria-hidden="true"><path d="${drawSextant()}"/></svg>`;
}

// Samples per pixel in each direction: enough for smooth edges at this size.
const SAMPLES = 4;
const DIRECTORY_BYTES = 22;
const HEADER_BYTES = 40;

/** One image of 32 × 32 pixels with 32 bits each. */
function renderIcoIcon(): Buffer {
  const pixelBytes = SIZE * SIZE * 4;
  // One bit per pixel, in rows of whole 32-bit words; all zero, because the pixels carry their own opacity.
  const maskBytes = SIZE * 4;
  const ico = Buffer.alloc(DIRECTORY_BYTES + HEADER_BYTES + pixelBytes + maskBytes);
  ico.writeUInt16LE(1, 2);
  ico.writeUInt16LE(1, 4);
  ico.writeUInt8(SIZE, 6);
  ico.writeUInt8(SIZE, 7);
  ico.writeUInt16LE(1, 10);
  ico.writeUInt16LE(32, 12);
  ico.writeUInt32LE(HEADER_BYTES + pixelBytes + maskBytes, 14);
  ico.writeUInt32LE(DIRECTORY_BYTES, 18);
  ico.writeUInt32LE(HEADER_BYTES, DIRECTORY_BYTES);
  ico.writeInt32LE(SIZE, DIRECTORY_BYTES + 4);
  // The height counts the mask too.
  ico.writeInt32LE(SIZE * 2, DIRECTORY_BYTES + 8);
  ico.writeUInt16LE(1, DIRECTORY_BYTES + 12);
  ico.writeUInt16LE(32, DIRECTORY_BYTES + 14);
  for (let row = 0; row < SIZE; row += 1) {
    for (let column = 0; column < SIZE; column += 1) {
      // Rows run from the bottom to the top.
      const at = DIRECTORY_BYTES + HEADER_BYTES + ((SIZE - 1 - row) * SIZE + column) * 4;
      ico.set([COLOUR.blue, COLOUR.green, COLOUR.red, opacityAt(column, row)], at);
    }
  }
  return ico;
}

function opacityAt(column: number, row: number): number {
  let inside = 0;
  for (let sample = 0; sample < SAMPLES * SAMPLES; sample += 1) {
    const x = column + ((sample % SAMPLES) + 0.5) / SAMPLES;
    const y = row + (Math.floor(sample / SAMPLES) + 0.5) / SAMPLES;
    if (isDrawn(x, y)) inside += 1;
  }
  return Math.round((inside * 255) / (SAMPLES * SAMPLES));
}

function isDrawn(x: number, y: number): boolean {
  const away = { x: x - APEX.x, y: y - APEX.y };
  const distance = Math.hypot(away.x, away.y);
  const angle = Math.atan2(away.x, away.y);
  if (Math.abs(angle) <= HALF_ANGLE && Math.abs(distance - RADIUS) <= STROKE / 2) return true;
  return [-HALF_ANGLE, HALF_ANGLE, INDEX_ANGLE].some((arm) => {
    const along = Math.min(Math.max(away.x * Math.sin(arm) + away.y * Math.cos(arm), 0), RADIUS);
    return Math.hypot(away.x - along * Math.sin(arm), away.y - along * Math.cos(arm)) <= STROKE / 2;
  });
}

type SiteFile = { readonly path: string; readonly render: () => StaticDocument };

export const siteFiles: readonly SiteFile[] = [
  {
    path: "/robots.txt",
    // Crawlers may read everything; metrics are of no use to them.
    render: () => ({ content: "User-agent: *\nAllow: /\nDisallow: /metrics\n", contentType: "text/plain" }),
  },
  {
    path: FAVICON_PATH,
    render: () => ({ content: renderSvgIcon(), contentType: "image/svg+xml" }),
  },
  {
    // The path that older clients ask for.
    path: "/favicon.ico",
    render: () => ({ content: renderIcoIcon(), contentType: "image/x-icon" }),
  },
];
