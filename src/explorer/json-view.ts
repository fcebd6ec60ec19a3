// Third-party JSON, indented and bounded.
// The text itself is shown, token by token: neither numbers nor repeated keys change, as they would in a parser.
import { type Html, html, renderHtml } from "../lib/html.ts";
import { foreignCharacters } from "./format.ts";

// A page stays small whatever a document says; the API has all of it.
const CHARACTERS_MAX = 12_000;
// A hidden character takes some 70 characters of markup, a bracket as many as its line is indented.
const MARKUP_MAX = 50_000;
const INDENT_LEVELS_MAX = 16;

const TOKEN = /"(?:[^"\\]|\\[\s\S])*"?|[{}[\],:]|[^\s{}[\],:"]+/g;

type JsonView = {
  readonly markup: Html;
  /** Whether the text goes on. */
  readonly isCut: boolean;
};

export function jsonView(text: string): JsonView {
  const tokens = text.slice(0, CHARACTERS_MAX).match(TOKEN) ?? [];
  const parts: (Html | string)[] = [];
  let [depth, room] = [0, MARKUP_MAX];
  let isFull = false;
  const add = (part: Html | string) => {
    room -= lengthOf(part);
    parts.push(part);
  };
  const breakLine = () => add(`\n${"  ".repeat(Math.min(depth, INDENT_LEVELS_MAX))}`);
  for (const [index, token] of tokens.entries()) {
    const [before, after] = [tokens[index - 1] ?? "", tokens[index + 1] ?? ""];
    if (token === "}" || token === "]") {
      depth = Math.max(0, depth - 1);
      if (before !== "{" && before !== "[") breakLine();
      add(token);
    } else if (token === "{" || token === "[") {
      depth += 1;
      add(token);
      if (after !== "}" && after !== "]") breakLine();
    } else if (token === ",") {
      add(token);
      breakLine();
    } else if (token === ":") add(": ");
    else {
      const show = after === ":" ? keyOf : literalOf;
      const fitting = cutToFit(token, show, room);
      add(show(fitting));
      isFull = fitting !== token;
    }
    isFull ||= room <= 0 && index < tokens.length - 1;
    if (isFull) break;
  }
  const isCut = text.length > CHARACTERS_MAX || isFull;
  return { markup: html`<pre class="json" tabindex="0">${parts}${isCut && "\n…"}</pre>`, isCut };
}

const lengthOf = (part: Html | string) => (typeof part === "string" ? part : renderHtml(part)).length;

/** The token, or a beginning of it that is no longer than the room. */
function cutToFit(token: string, show: (text: string) => Html, room: number): string {
  if (lengthOf(show(token)) <= room) return token;
  let characters = [...token];
  while (characters.length > 0 && lengthOf(show(characters.join(""))) > room)
    characters = characters.slice(0, characters.length >> 1);
  return characters.join("");
}

const keyOf = (token: string) => html`<span class="json-key">${foreignCharacters(token)}</span>`;

function literalOf(token: string): Html {
  return token.startsWith('"')
    ? html`<span class="json-text">${foreignCharacters(token)}</span>`
    : foreignCharacters(token);
}
