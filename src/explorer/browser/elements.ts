// Improves elements of the server and of the live feed alike: times become relative, and long texts can be copied.
import { formatDistance, formatDistanceFromBlock } from "../format.ts";

const LOCAL = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "medium" });
const COPIED_MS = 1_500;

/**
 * Times are in UTC until here; the title has the local time and UTC. Called again, it renews the distance from now. On a
 * page as of a block, times of the chain count from that block: a deadline is ahead as long as the page shows it open.
 */
export function showTimes(root: ParentNode) {
  for (const element of root.querySelectorAll<HTMLTimeElement>("time[datetime]")) {
    const date = new Date(element.dateTime);
    if (Number.isNaN(date.getTime())) continue;
    if (element.textContent === element.title) element.title = `${LOCAL.format(date)} · ${element.title}`;
    const text = distanceOf(element, date.getTime());
    if (element.textContent !== text) element.textContent = text;
  }
}

function distanceOf(element: HTMLTimeElement, at: number): string {
  const shown = element.closest<HTMLElement>("[data-block-time]")?.dataset.blockTime;
  const isOfChain = element.dataset.clock === undefined;
  return shown !== undefined && isOfChain
    ? formatDistanceFromBlock(at - Date.parse(shown))
    : formatDistance(at - Date.now());
}

const SVG = "http://www.w3.org/2000/svg";
// On a square of 16 units: two sheets, a tick, a cross.
const ICONS = {
  copy: "M5.5 5.5h8v8h-8zM10.5 5.5v-3h-8v8h3",
  done: "M3 8.5l3.5 3.5L13 4.5",
  failed: "M4 4l8 8M12 4l-8 8",
};

function icon(name: keyof typeof ICONS) {
  const svg = document.createElementNS(SVG, "svg");
  svg.setAttribute("viewBox", "0 0 16 16");
  svg.setAttribute("aria-hidden", "true");
  const path = document.createElementNS(SVG, "path");
  path.setAttribute("d", ICONS[name]);
  svg.append(path);
  return svg;
}

/** A button next to everything that is shortened or made for copying. */
export function addCopyButtons(root: ParentNode) {
  for (const element of root.querySelectorAll("[data-copy]")) {
    const button = document.createElement("button");
    button.type = "button";
    button.className = "copy";
    button.title = "Copy";
    button.setAttribute("aria-label", `Copy ${element.textContent}`);
    button.append(icon("copy"));
    button.addEventListener("click", () => copy(element.getAttribute("data-copy") ?? "", button));
    // Next to a link, not inside it, and on the same line.
    const place = element.closest("a, pre") ?? element;
    const both = document.createElement("span");
    both.className = place.localName === "pre" ? "" : "nowrap";
    place.replaceWith(both);
    both.append(place, button);
  }
}

async function copy(text: string, button: HTMLButtonElement) {
  // Only pages on https and on this machine may write to the clipboard.
  const isDone = await Promise.resolve(navigator.clipboard?.writeText(text)).then(
    () => navigator.clipboard !== undefined,
    () => false,
  );
  button.replaceChildren(icon(isDone ? "done" : "failed"));
  button.title = isDone ? "Copied" : "The browser does not allow copying here";
  setTimeout(() => {
    button.replaceChildren(icon("copy"));
    button.title = "Copy";
  }, COPIED_MS);
}
