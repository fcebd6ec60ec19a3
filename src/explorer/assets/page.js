// What every page gains with JavaScript: local times, copying, and a slider for the block.

const LOCAL = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "medium" });
const COPIED_MS = 1_500;
const AGE_MS = 1_000;

/**
 * Times are in UTC until here; UTC stays in the title.
 * @param {ParentNode} root
 */
export function showLocalTimes(root) {
  for (const element of root.querySelectorAll("time[datetime]")) {
    const date = new Date(element.getAttribute("datetime") ?? "");
    if (!Number.isNaN(date.getTime())) element.textContent = LOCAL.format(date);
  }
}

const SVG = "http://www.w3.org/2000/svg";
// On a square of 16 units: two sheets, a tick, a cross.
const ICONS = {
  copy: "M5.5 5.5h8v8h-8zM10.5 5.5v-3h-8v8h3",
  done: "M3 8.5l3.5 3.5L13 4.5",
  failed: "M4 4l8 8M12 4l-8 8",
};

/** @param {keyof typeof ICONS} name */
function icon(name) {
  const svg = document.createElementNS(SVG, "svg");
  svg.setAttribute("viewBox", "0 0 16 16");
  svg.setAttribute("aria-hidden", "true");
  const path = document.createElementNS(SVG, "path");
  path.setAttribute("d", ICONS[name]);
  svg.append(path);
  return svg;
}

/**
 * A button beside everything that is shortened or made for copying.
 * @param {ParentNode} root
 */
export function addCopyButtons(root) {
  for (const element of root.querySelectorAll("[data-copy]")) {
    const button = document.createElement("button");
    button.type = "button";
    button.className = "copy";
    button.title = "Copy";
    button.setAttribute("aria-label", `Copy ${element.textContent}`);
    button.append(icon("copy"));
    button.addEventListener("click", () => copy(element.getAttribute("data-copy") ?? "", button));
    // Beside a link, not inside it, and on the same line.
    const place = element.closest("a, pre") ?? element;
    const both = document.createElement("span");
    both.className = place.localName === "pre" ? "" : "nowrap";
    place.replaceWith(both);
    both.append(place, button);
  }
}

/**
 * @param {string} text
 * @param {HTMLButtonElement} button
 */
async function copy(text, button) {
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

/** A slider beside the number; letting it go shows that block. */
function addSlider() {
  const form = document.querySelector("form[data-slider]");
  const number = form?.querySelector("input[type=number]");
  if (!(form instanceof HTMLFormElement) || !(number instanceof HTMLInputElement)) return;
  const range = document.createElement("input");
  range.type = "range";
  for (const name of ["min", "max", "step"]) range.setAttribute(name, number.getAttribute(name) ?? "");
  range.value = number.value;
  range.setAttribute("aria-label", "Block");
  range.addEventListener("input", () => {
    number.value = range.value;
  });
  range.addEventListener("change", () => form.requestSubmit());
  number.addEventListener("input", () => {
    range.value = number.value;
  });
  form.append(range);
}

/** A menu closes by Escape, and when the visitor goes on elsewhere. */
function closeMenus() {
  /** @param {EventTarget | null} except */
  const close = (except) => {
    for (const menu of document.querySelectorAll(".menu[open]")) {
      if (!(except instanceof Node && menu.contains(except))) menu.removeAttribute("open");
    }
  };
  document.addEventListener("click", ({ target }) => close(target));
  document.addEventListener("focusin", ({ target }) => close(target));
  document.addEventListener("keydown", ({ key }) => {
    if (key !== "Escape") return;
    const open = document.querySelector(".menu[open]");
    // The focus must not stay on what is no longer there.
    if (open?.contains(document.activeElement)) open.querySelector("summary")?.focus();
    close(null);
  });
}

/** How old the newest block is: what the server wrote grows old with the page. */
function showAge() {
  const time = document.querySelector("[data-age] time");
  const at = new Date(time?.getAttribute("datetime") ?? "").getTime();
  if (time === null || Number.isNaN(at)) return;
  const note = document.createElement("span");
  note.className = "soft";
  time.after(note);
  const update = () => {
    note.textContent = ` (${formatAge(Math.max(0, Date.now() - at))} ago)`;
  };
  update();
  setInterval(update, AGE_MS);
}

/** @param {number} ms */
function formatAge(ms) {
  const seconds = Math.floor(ms / 1_000);
  if (seconds < 120) return `${seconds} s`;
  if (seconds < 7_200) return `${Math.floor(seconds / 60)} min`;
  if (seconds < 172_800) return `${Math.floor(seconds / 3_600)} h`;
  return `${Math.floor(seconds / 86_400)} days`;
}

addSlider();
closeMenus();
showAge();
showLocalTimes(document);
addCopyButtons(document);
