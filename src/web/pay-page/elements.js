// Elements made from data: every text goes in as text, because names of tokens are whatever a stranger chose.

/**
 * @param {string} tag
 * @param {Record<string, string>} attributes
 * @param {(Node | string | null)[]} children
 * @returns {HTMLElement}
 */
export function element(tag, attributes, ...children) {
  return filled(document.createElement(tag), attributes, children);
}

/**
 * @param {string} tag
 * @param {Record<string, string>} attributes
 * @param {(Node | string | null)[]} children
 * @returns {SVGElement}
 */
export function drawing(tag, attributes, ...children) {
  return filled(
    /** @type {SVGElement} */ (document.createElementNS("http://www.w3.org/2000/svg", tag)),
    attributes,
    children,
  );
}

/**
 * @template {Element} T
 * @param {T} node
 * @param {Record<string, string>} attributes
 * @param {(Node | string | null)[]} children
 * @returns {T}
 */
function filled(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  node.append(...children.filter((child) => child !== null));
  return node;
}

/** @param {string} title @param {Node[]} children */
export function card(title, ...children) {
  return element("section", { class: "card" }, element("h2", {}, title), ...children);
}

// A name longer than this is no name; the rest is there for whoever points at it.
const NAME_LENGTH_MAX = 40;

/** @param {string} text */
export function named(text) {
  const letters = [...text];
  return letters.length > NAME_LENGTH_MAX ? `${letters.slice(0, NAME_LENGTH_MAX).join("")}…` : text;
}

/** @param {string} iso */
export function moment(iso) {
  return new Date(iso).toLocaleString(undefined, { dateStyle: "medium", timeStyle: "short" });
}

/** @param {string} text */
export function shortened(text) {
  return text.length > 14 ? `${text.slice(0, 8)}…${text.slice(-4)}` : text;
}

/** A transaction, as a link where somebody shows that chain. @param {string} hash @param {string | null | undefined} page */
export function transactionLink(hash, page) {
  const shown = element("code", { title: hash }, shortened(hash));
  if (!page || !/^0x[0-9a-fA-F]{64}$/.test(hash)) return shown;
  const href = page.replace("{hash}", hash);
  return element("a", { href, target: "_blank", rel: "noopener noreferrer" }, shown);
}
