// Creates elements from data: every text is set as text, because anyone can choose the name of a token.

/**
 * @param {string} tag
 * @param {Record<string, string>} attributes
 * @param {(Node | string | null)[]} children
 * @returns {HTMLElement}
 */
export function createHtmlElement(tag, attributes, ...children) {
  return appendAll(document.createElement(tag), attributes, children);
}

/**
 * @param {string} tag
 * @param {Record<string, string>} attributes
 * @param {(Node | string | null)[]} children
 * @returns {SVGElement}
 */
export function createSvgElement(tag, attributes, ...children) {
  return appendAll(
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
function appendAll(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  node.append(...children.filter((child) => child !== null));
  return node;
}

/** @param {string} title @param {Node[]} children */
export function renderCard(title, ...children) {
  return createHtmlElement("section", { class: "card" }, createHtmlElement("h2", {}, title), ...children);
}

// Longer names are cut; the full text is in the tooltip.
const NAME_LENGTH_MAX = 40;

/** @param {string} text */
export function truncateName(text) {
  const characters = [...text];
  return characters.length > NAME_LENGTH_MAX ? `${characters.slice(0, NAME_LENGTH_MAX).join("")}…` : text;
}

/** @param {string} iso */
export function formatTime(iso) {
  return new Date(iso).toLocaleString(undefined, { dateStyle: "medium", timeStyle: "short" });
}

/** @param {string} text */
export function shortenHex(text) {
  return text.length > 14 ? `${text.slice(0, 8)}…${text.slice(-4)}` : text;
}

/** A transaction hash, as a link if the chain has an explorer. @param {string} hash @param {string | null | undefined} explorerTxUrl */
export function transactionLink(hash, explorerTxUrl) {
  const code = createHtmlElement("code", { title: hash }, shortenHex(hash));
  if (!explorerTxUrl || !/^0x[0-9a-fA-F]{64}$/.test(hash)) return code;
  const href = explorerTxUrl.replace("{hash}", hash);
  return createHtmlElement("a", { href, target: "_blank", rel: "noopener noreferrer" }, code);
}
