// Names, URIs and documents that others wrote: isolated, their controls made visible, linked only if it is safe.
import { type Html, html } from "../lib/html.ts";

// Everything that reorders, hides or breaks text: controls, marks of direction, characters without width, tags.
const HIDDEN =
  /[\p{Cc}\p{Cf}\p{Co}\p{Cs}\p{Zl}\p{Zp}\p{Variation_Selector}\u115f\u1160\u2800\u3164\uffa0\u{1d159}]/u;
// Scripts with letters that look like Latin ones.
const LOOKALIKE = /[\p{Script=Cyrillic}\p{Script=Greek}\p{Script=Armenian}\p{Script=Cherokee}]/u;
const LATIN = /\p{Script=Latin}/u;

// A page stays small whatever a record says; the API has all of it.
const LENGTH_MAX = 400;
// Each takes some 70 characters of markup. A text with more of them is an attack on its reader, and nothing to read.
const HIDDEN_MAX = 24;

/** Third-party text, set apart from ours: it neither reorders the text around it nor hides what it contains. */
export function renderForeignText(value: string, lengthMax = LENGTH_MAX): Html {
  const characters = [...value.slice(0, 2 * lengthMax)];
  const fitting = cutAfterHidden(characters.slice(0, lengthMax));
  const shown = fitting.map(showCharacter);
  const isCut = fitting.length < characters.length || value.length > 2 * lengthMax;
  const mixed = LATIN.test(value) && LOOKALIKE.test(value);
  return html`<bdi class="foreign">${shown}${isCut && "…"}</bdi>${mixed && html` <span class="badge warn" title="Letters of several alphabets that look alike">mixed alphabets</span>`}`;
}

/** The characters up to the last hidden one that is shown. */
function cutAfterHidden(characters: readonly string[]): readonly string[] {
  let hidden = 0;
  const end = characters.findIndex((each) => HIDDEN.test(each) && ++hidden > HIDDEN_MAX);
  return end === -1 ? characters : characters.slice(0, end);
}

function showCharacter(character: string): Html | string {
  if (!HIDDEN.test(character)) return character;
  const code = codeOf(character);
  return html`<span class="escape" title="Hidden character U+${code.toUpperCase()}">\\u{${code}}</span>`;
}

function codeOf(character: string): string {
  return (character.codePointAt(0) ?? 0).toString(16).padStart(4, "0");
}

// As long as a heading stays legible.
const TITLE_LENGTH_MAX = 80;

/** Third-party text without markup, such as for a title. */
export function visibleText(value: string, lengthMax = TITLE_LENGTH_MAX): string {
  const characters = [...value.slice(0, 2 * lengthMax)];
  const shown = characters
    .slice(0, lengthMax)
    .map((each) => (HIDDEN.test(each) ? `\\u{${codeOf(each)}}` : each));
  return `${shown.join("")}${characters.length > lengthMax || value.length > 2 * lengthMax ? "…" : ""}`;
}

/** A longer third-party text, or a part of one: without isolation, for a block of its own. */
export function foreignCharacters(value: string): Html {
  return HIDDEN.test(value) ? html`${[...value].map(showCharacter)}` : html`${value}`;
}

const REL = "noopener noreferrer nofollow ugc";

/** A third-party URI: a link if it leads to a website, otherwise text. Nothing is ever loaded from it. */
export function foreignUri(value: string): Html {
  const url = toWebUrl(value);
  if (url === null) return renderForeignText(value);
  return html`<a href="${url}" rel="${REL}">${renderForeignText(value)}</a>`;
}

/** Null unless the text is plainly an address on the web: no other scheme, no credentials, nothing hidden. */
function toWebUrl(value: string): string | null {
  if (!/^https?:\/\/[^\s"'<>\\^`{|}]+$/i.test(value) || HIDDEN.test(value)) return null;
  try {
    const url = new URL(value);
    const isPlain = url.username === "" && url.password === "";
    return isPlain && /^https?:$/.test(url.protocol) ? url.href : null;
  } catch {
    return null;
  }
}
