// The only way to make markup: a template in which every value is escaped, except markup that was made the same way.

/** Not exported as a value: only this module creates it. */
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

/** Values for a template. Null, undefined and false are left out, so that `condition && html…` works. */
export type HtmlValue = Html | string | number | bigint | null | undefined | false | readonly HtmlValue[];

/** Template → for each of its values, whether it stands inside a tag and outside quotes. */
const checkedTemplates = new WeakMap<TemplateStringsArray, readonly boolean[]>();

export function html(parts: TemplateStringsArray, ...values: readonly HtmlValue[]): Html {
  let bare = checkedTemplates.get(parts);
  if (bare === undefined) {
    bare = findBareValues(parts);
    checkedTemplates.set(parts, bare);
  }
  let text = parts[0] ?? "";
  for (const [index, value] of values.entries()) {
    if (bare[index] === true && !isMarkup(value)) {
      throw new TypeError("Inside a tag a template takes whole attributes, made by html``.");
    }
    text += toText(value) + (parts[index + 1] ?? "");
  }
  return new Markup(text);
}

/** An element whose name and attributes are data of ours; values of attributes and children are escaped. */
export function htmlElement(
  tag: string,
  attributes: Readonly<Record<string, string>>,
  children: HtmlValue,
): Html {
  const names = [tag, ...Object.keys(attributes)];
  if (!names.every((name) => /^[a-z][A-Za-z0-9-]*$/.test(name) && !/^on|^(script|style)$/.test(name))) {
    throw new TypeError(`Not a name of an element or attribute: ${names.join(", ")}.`);
  }
  const written = Object.entries(attributes).map(([name, value]) => ` ${name}="${toText(value)}"`);
  return new Markup(`<${tag}${written.join("")}>${toText(children)}</${tag}>`);
}

/** A style that our build made. */
export function inlineStyle(text: string): Html {
  return inline("style", "", text);
}

/** A module that our build made. */
export function inlineModule(text: string): Html {
  return inline("script", ' type="module"', text);
}

/** JSON for the script of a page, which finds it by its id. */
export function inlineJson(id: string, value: unknown): Html {
  const text = JSON.stringify(value).replaceAll("<", "\\u003c");
  return inline("script", ` type="application/json" id="${toText(id)}"`, text);
}

function inline(tag: "script" | "style", attributes: string, text: string): Html {
  // Inside a script, the beginning of a comment changes what ends the script.
  if (/<\/(script|style)|<!--/i.test(text)) throw new TypeError(`This text would end its <${tag}>.`);
  return new Markup(`<${tag}${attributes}>${text}</${tag}>`);
}

export function renderHtml(markup: Html): string {
  return Markup.textOf(markup);
}

function isMarkup(value: HtmlValue): boolean {
  if (Array.isArray(value)) return value.every(isMarkup);
  return value instanceof Markup || value === null || value === undefined || value === false;
}

function toText(value: HtmlValue): string {
  if (value instanceof Markup) return Markup.textOf(value);
  if (Array.isArray(value)) return value.map(toText).join("");
  if (value === null || value === undefined || value === false) return "";
  if (typeof value === "object") throw new TypeError("A template takes text, numbers and markup only.");
  return String(value).replace(SPECIAL, (character) => ENTITIES[character] ?? showCodePoint(character));
}

const ENTITIES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

// Markup, and controls that turn the direction of the text around them: pages have no use for those in any text.
const SPECIAL = /[&<>"'\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

function showCodePoint(character: string): string {
  return `\\u{${character.codePointAt(0)?.toString(16)}}`;
}

/**
 * Follows tags and quotes through the template. A value of an attribute needs quotes, because a blank would end it and
 * the rest would become attributes of its own. Scripts and styles are languages of their own, with other escapes.
 */
function findBareValues(parts: TemplateStringsArray): readonly boolean[] {
  let [isInTag, quote, element] = [false, "", ""];
  return parts.slice(0, -1).map((part) => {
    for (const [token] of part.matchAll(/<[a-z/!][^\s>"']*|[>"']/gi)) {
      if (quote !== "") quote = token === quote ? "" : quote;
      else if (!isInTag && token.startsWith("<")) [isInTag, element] = [true, token.toLowerCase()];
      else if (isInTag && token === ">") isInTag = false;
      else if (isInTag && !token.startsWith("<")) quote = token;
    }
    if (/=\s*$/.test(part)) throw new TypeError("A value of an attribute needs quotes around it.");
    if (/<\/?$/.test(part)) throw new TypeError("A template names its elements itself.");
    if (!isInTag && /^<(script|style)$/.test(element)) {
      throw new TypeError("Scripts and styles take no values.");
    }
    return isInTag && quote === "";
  });
}

export const FAVICON_PATH = "/favicon.svg";

export type DocumentParts = {
  readonly title: string;
  /** Elements of the head that load style and scripts. */
  readonly assets: Html;
  readonly body: Html;
  /** The class of the document until its script runs. */
  readonly className?: string;
};

/** The document around the content of every page. */
export function renderDocument({ title, assets, body, className }: DocumentParts): Html {
  return html`<!doctype html>
<html lang="en"${className !== undefined && html` class="${className}"`}>
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title}</title>
<link rel="icon" type="image/svg+xml" href="${FAVICON_PATH}">
${assets}
</head>
<body>
${body}</body>
</html>
`;
}
