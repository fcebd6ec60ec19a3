// Makes nodes of the elements that views consist of.

/**
 * @typedef {import("./elements.js").ViewChild} ViewChild
 */

const HTML_NAMESPACE = "http://www.w3.org/1999/xhtml";
const SVG_NAMESPACE = "http://www.w3.org/2000/svg";

/** @param {ViewChild} view @param {string} parentNamespace @returns {Node} */
export function buildNode(view, parentNamespace = HTML_NAMESPACE) {
  if (typeof view === "string") return document.createTextNode(view);
  const namespace = view.tag === "svg" ? SVG_NAMESPACE : parentNamespace;
  const node = document.createElementNS(namespace, view.tag);
  for (const [name, value] of Object.entries(view.attributes)) node.setAttribute(name, value);
  node.append(...view.children.map((child) => buildNode(child, namespace)));
  return node;
}

/** @param {string} id @returns {HTMLElement} */
export function findById(id) {
  const found = document.getElementById(id);
  if (!found) throw new Error(`The page has no #${id}.`);
  return found;
}
