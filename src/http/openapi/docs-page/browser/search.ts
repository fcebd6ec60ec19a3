// Search: narrows the page and its navigation to the operations and records that contain every word.

type SearchEntry = {
  card: HTMLDetailsElement;
  /** The entry of the navigation. */
  link: HTMLElement | null;
  /** The text that its card shows while it is closed. */
  head: string;
  /** Its parameters or fields. */
  parts: { name: string; text: string }[];
  /** All of its text. */
  text: string;
};

export function startSearch(input: HTMLInputElement, status: HTMLElement) {
  const entries = [...document.querySelectorAll("details.card")].map((card) =>
    readEntry(card as HTMLDetailsElement),
  );
  const apply = () => {
    const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
    const found = entries.filter((entry) => showEntry(entry, words));
    for (const group of document.querySelectorAll("section.group, nav li.group")) {
      toggleHidden(
        group,
        group.querySelector(":scope > .card:not([hidden]), .entries > li:not([hidden])") === null,
      );
    }
    status.textContent = words.length === 0 ? "" : describeCount(found.length);
    return found;
  };
  input.addEventListener("input", apply);
  input.addEventListener("keydown", (event) => {
    if (event.key === "Escape") {
      event.preventDefault();
      input.value = "";
      apply();
    }
    const [first] = event.key === "Enter" || event.key === "ArrowDown" ? apply() : [];
    if (first === undefined) return;
    event.preventDefault();
    if (event.key === "Enter") first.card.open = true;
    first.card.querySelector("summary")?.focus();
  });
  document.addEventListener("keydown", (event) => {
    if (event.key !== "/" || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.target instanceof Element && event.target.closest("input, select, textarea")) return;
    event.preventDefault();
    input.focus();
    input.select();
  });
  return {
    clear() {
      input.value = "";
      apply();
    },
  };
}

function readEntry(card: HTMLDetailsElement): SearchEntry {
  const id = card.querySelector("[id]")?.id ?? "";
  const head = lowerText(card.querySelector("summary")) + id.toLowerCase();
  const parts = [...card.querySelectorAll("[data-part]")].map((part) => ({
    name: part.getAttribute("data-part") ?? "",
    text: lowerText(part),
  }));
  const description = lowerText(card.querySelector(".description"));
  const text = [head, description, ...parts.map((part) => part.text)].join(" ");
  const links = document.querySelectorAll("nav .entries a") as NodeListOf<HTMLAnchorElement>;
  const link = [...links].find(({ hash }) => hash === `#${id}`)?.closest("li") ?? null;
  return { card, link, head, parts, text };
}

/** Whether it contains every word. */
function showEntry(entry: SearchEntry, words: string[]) {
  const matches = words.every((word) => entry.text.includes(word));
  toggleHidden(entry.card, !matches);
  if (entry.link) toggleHidden(entry.link, !matches);
  const hint = entry.card.querySelector("summary .hint");
  const missing = words.filter((word) => !entry.head.includes(word));
  const part = entry.parts.find(({ text }) => missing.some((word) => text.includes(word)));
  if (hint) hint.textContent = matches && missing.length > 0 && part ? `contains ${part.name}` : "";
  return matches;
}

function describeCount(count: number) {
  if (count === 0) return "Nothing contains all of these words.";
  return count === 1 ? "1 match; Enter opens it." : `${count} matches; Enter opens the first.`;
}

function toggleHidden(element: Element, isHidden: boolean) {
  element.toggleAttribute("hidden", isHidden);
}

function lowerText(element: Element | null) {
  return (element?.textContent ?? "").toLowerCase();
}
