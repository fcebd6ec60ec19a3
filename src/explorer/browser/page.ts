// Additions of JavaScript to every page: local times, copying, and a slider for the block.
import { addCopyButtons, showLocalTimes } from "./elements.ts";

const AGE_MS = 1_000;

/** A slider next to the number; letting it go shows that block. */
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
  const close = (except: EventTarget | null) => {
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

function formatAge(ms: number) {
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
