// Whether a page is well-formed: every element that must be closed is, in order, and no id is given twice.

const VOID = new Set(["meta", "link", "input", "img", "br", "hr"]);
const TAG =
  /<!--[\s\S]*?-->|<!doctype html>|<(\/?)([a-z][a-z0-9]*)((?:\s+[\w:-]+(?:="[^"<]*")?)*)\s*(\/?)>/gi;

export type PageElement = { readonly name: string; readonly attributes: Readonly<Record<string, string>> };

/** The elements of a page, in order; throws if it is not well-formed. */
export function parsePage(text: string): readonly PageElement[] {
  const elements: PageElement[] = [];
  const open: string[] = [];
  let end = 0;
  for (const match of text.matchAll(TAG)) {
    assertText(text.slice(end, match.index));
    end = match.index + match[0].length;
    const [, slash, tag, rest = "", selfClosed] = match;
    const name = tag?.toLowerCase();
    if (name === undefined) continue;
    if (slash === "/") {
      const opened = open.pop();
      if (opened !== name)
        throw new Error(`</${name}> closes <${opened}> before ${text.slice(end, end + 80)}`);
      continue;
    }
    elements.push({ name, attributes: readAttributes(rest) });
    if (!VOID.has(name) && selfClosed !== "/") open.push(name);
  }
  assertText(text.slice(end));
  if (open.length > 0) throw new Error(`<${open.join("> <")}> stays open`);
  assertUniqueIds(elements);
  return elements;
}

function assertText(text: string): void {
  if (/[<>]/.test(text)) throw new Error(`a tag is broken at ${text.slice(0, 200)}`);
}

function readAttributes(text: string): Readonly<Record<string, string>> {
  const pairs = [...text.matchAll(/([\w:-]+)(?:="([^"]*)")?/g)].map(([, name = "", value = ""]) => [
    name.toLowerCase(),
    value,
  ]);
  return Object.fromEntries(pairs);
}

function assertUniqueIds(elements: readonly PageElement[]): void {
  const ids = elements.flatMap(({ attributes }) => (attributes.id === undefined ? [] : [attributes.id]));
  const repeated = ids.filter((id, index) => ids.indexOf(id) !== index);
  if (repeated.length > 0) throw new Error(`ids are given twice: ${repeated.join(", ")}`);
}
