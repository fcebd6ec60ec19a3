// Makes nodes of the elements that views consist of.
import type { ViewChild } from "../elements.ts";

const HTML_NAMESPACE = "http://www.w3.org/1999/xhtml";
const SVG_NAMESPACE = "http://www.w3.org/2000/svg";

export function buildNode(view: ViewChild, parentNamespace = HTML_NAMESPACE): Node {
  if (typeof view === "string") return document.createTextNode(view);
  const namespace = view.tag === "svg" ? SVG_NAMESPACE : parentNamespace;
  const node = document.createElementNS(namespace, view.tag);
  for (const [name, value] of Object.entries(view.attributes)) node.setAttribute(name, value);
  node.append(...view.children.map((child) => buildNode(child, namespace)));
  return node;
}

export function findById(id: string): HTMLElement {
  const found = document.getElementById(id);
  if (!found) throw new Error(`The page has no #${id}.`);
  return found;
}
