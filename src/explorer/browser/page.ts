// Additions of JavaScript to every page: relative times, copying, and a slider for the block.
import { addCopyButtons, showTimes } from "./elements.ts";

const TIMES_MS = 1_000;

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

addSlider();
closeMenus();
showTimes(document);
setInterval(showTimes, TIMES_MS, document);
addCopyButtons(document);
