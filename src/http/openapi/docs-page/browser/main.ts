// Makes the page interactive: deep links, search, samples, copying, records inside records, requests.
import { startSearch } from "./search.ts";
import { sendRequest, updateSamples } from "./try-it.ts";

document.documentElement.classList.remove("static");
const search = startSearch(
  document.querySelector("#search") as HTMLInputElement,
  document.querySelector("#search-status") as HTMLElement,
);

/** Opens the operation that the address names, also if a search has hidden it. */
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
function fillRecord(reference: HTMLDetailsElement) {
  const record = document.getElementById(reference.dataset.record ?? "");
  if (!record || reference.dataset.filled !== undefined) return;
  reference.dataset.filled = "";
  reference.append(...[...record.childNodes].map((node) => node.cloneNode(true)));
}

async function copySample(button: HTMLElement) {
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
    for (const other of others) (other as HTMLInputElement).checked = true;
    return;
  }
  const form = target.closest("form");
  if (form) updateSamples(form);
});

document.addEventListener("click", ({ target }) => {
  const button = target instanceof Element ? target.closest("button.copy") : null;
  if (button) void copySample(button as HTMLElement);
});

document.addEventListener("submit", (event) => {
  event.preventDefault();
  if (event.target instanceof HTMLFormElement) void sendRequest(event.target);
});

openTarget();
