// JSON of a stranger, indented and bounded.
// The text itself is shown, token by token: neither numbers nor repeated keys change, as they would in a parser.
import { foreignCharacters } from "./foreign-text.ts";
import { type Html, html } from "./html.ts";

// A page stays small whatever a document says; the API has all of it.
const CHARACTERS_MAX = 12_000;
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
  let depth = 0;
  const breakLine = () => parts.push(`\n${"  ".repeat(Math.min(depth, INDENT_LEVELS_MAX))}`);
  for (const [index, token] of tokens.entries()) {
    const [before, after] = [tokens[index - 1] ?? "", tokens[index + 1] ?? ""];
    if (token === "}" || token === "]") {
      depth = Math.max(0, depth - 1);
      if (before !== "{" && before !== "[") breakLine();
      parts.push(token);
    } else if (token === "{" || token === "[") {
      depth += 1;
      parts.push(token);
      if (after !== "}" && after !== "]") breakLine();
    } else if (token === ",") {
      parts.push(token);
      breakLine();
    } else if (token === ":") parts.push(": ");
    else parts.push(after === ":" ? keyOf(token) : literalOf(token));
  }
  const isCut = text.length > CHARACTERS_MAX;
  return { markup: html`<pre class="json" tabindex="0">${parts}${isCut && "\n…"}</pre>`, isCut };
}

const keyOf = (token: string) => html`<span class="json-key">${foreignCharacters(token)}</span>`;

function literalOf(token: string): Html {
  return token.startsWith('"')
    ? html`<span class="json-text">${foreignCharacters(token)}</span>`
    : foreignCharacters(token);
}
