// The only way to make markup: a template in which every value is escaped, except markup that was made the same way.
import { escapeHtml } from "../lib/html.ts";

/** Not exported as a value: only the template below creates it. */
class Markup {
  readonly #text: string;

  constructor(text: string) {
    this.#text = text;
  }

  static textOf(markup: Markup): string {
    return markup.#text;
  }
}

export type Html = Markup;

/** What a template takes. Null, undefined and false are left out, so that `condition && html…` works. */
export type HtmlValue = Html | string | number | bigint | null | undefined | false | readonly HtmlValue[];

const checked = new WeakSet<TemplateStringsArray>();

export function html(parts: TemplateStringsArray, ...values: readonly HtmlValue[]): Html {
  if (!checked.has(parts)) {
    assertQuoted(parts);
    checked.add(parts);
  }
  let text = parts[0] ?? "";
  for (const [index, value] of values.entries()) text += toText(value) + (parts[index + 1] ?? "");
  return new Markup(text);
}

export function renderHtml(markup: Html): string {
  return Markup.textOf(markup);
}

function toText(value: HtmlValue): string {
  if (value instanceof Markup) return Markup.textOf(value);
  if (Array.isArray(value)) return value.map(toText).join("");
  if (value === null || value === undefined || value === false) return "";
  if (typeof value === "object") throw new TypeError("A template takes text, numbers and markup only.");
  return escapeHtml(value).replace(
    REORDERING,
    (character) => `\\u{${character.codePointAt(0)?.toString(16)}}`,
  );
}

// Controls that turn the direction of what stands beside them: no page has any use for them, wherever a text comes from.
const REORDERING = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

/** A blank would end an attribute without quotes, and the rest of the value would become attributes of its own. */
function assertQuoted(parts: TemplateStringsArray): void {
  for (const part of parts.slice(0, -1)) {
    if (/=\s*$/.test(part)) throw new TypeError("A value of an attribute needs quotes around it.");
  }
}
