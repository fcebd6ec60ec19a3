// What the page does beyond showing itself: deep links, search, samples, copying, records inside records, requests.
import { startSearch } from "./search.js";
import { sendRequest, updateSamples } from "./try-it.js";

document.documentElement.classList.remove("static");
const search = startSearch(
  /** @type {HTMLInputElement} */ (document.querySelector("#search")),
  /** @type {HTMLElement} */ (document.querySelector("#search-status")),
);

/** Opens what the address names, also where a search has hidden it. */
function openTarget() {
  const target = document.getElementById(location.hash.slice(1));
  if (!target) return;
  if (target.closest("[hidden]")) search.clear();
  for (let part = target.closest("details"); part; part = part.parentElement?.closest("details") ?? null) {
    part.open = true;
  }
  (target.closest(".card") ?? target).scrollIntoView();
}

/** A record inside a record is copied when it is opened: the page would be many times as large with all of them. */
function fillRecord(/** @type {HTMLDetailsElement} */ reference) {
  const record = document.getElementById(reference.dataset.record ?? "");
  if (!record || reference.dataset.filled !== undefined) return;
  reference.dataset.filled = "";
  reference.append(...[...record.childNodes].map((node) => node.cloneNode(true)));
}

async function copySample(/** @type {HTMLElement} */ button) {
  const form = button.closest("form");
  if (form) updateSamples(form);
  const samples = [...(button.closest(".samples")?.querySelectorAll("pre") ?? [])];
  const shown = samples.find((sample) => sample.offsetParent !== null);
  if (!shown) return;
  try {
    await navigator.clipboard.writeText(shown.textContent ?? "");
    button.textContent = "Copied";
  } catch {
    // Without https a page may not write to the clipboard.
    getSelection()?.selectAllChildren(shown);
    button.textContent = "Selected: press Ctrl+C";
  }
  setTimeout(() => {
    button.textContent = "Copy";
  }, 2_000);
}

addEventListener("hashchange", openTarget);

// These events do not bubble.
document.addEventListener(
  "toggle",
  ({ target }) => {
    if (!(target instanceof HTMLDetailsElement) || !target.open) return;
    if (target.dataset.record !== undefined) fillRecord(target);
    const form = target.querySelector("form");
    if (!target.matches(".card")) return;
    if (form) updateSamples(form);
    // The address can be shared: it opens what was opened last.
    history.replaceState(null, "", `#${target.querySelector("[id]")?.id ?? ""}`);
  },
  true,
);

document.addEventListener("input", ({ target }) => {
  if (!(target instanceof HTMLElement)) return;
  if (target instanceof HTMLInputElement && target.type === "radio") {
    const others = document.querySelectorAll(`.samples input[value="${CSS.escape(target.value)}"]`);
    for (const other of others) /** @type {HTMLInputElement} */ (other).checked = true;
    return;
  }
  const form = target.closest("form");
  if (form) updateSamples(form);
});

document.addEventListener("click", ({ target }) => {
  const button = target instanceof Element ? target.closest("button.copy") : null;
  if (button) void copySample(/** @type {HTMLElement} */ (button));
});

document.addEventListener("submit", (event) => {
  event.preventDefault();
  if (event.target instanceof HTMLFormElement) void sendRequest(event.target);
});

openTarget();
