// Sentences of the API about events: records and addresses as links, amounts with symbol and decimals if known.
import { type Html, html } from "../lib/html.ts";
import type { Sentence, SentencePart } from "../schema/sentence.ts";
import { addressLink, amount, findToken, hash, recordLink, time, token } from "./components.ts";
import type { PageContext } from "./context.ts";
import { renderForeignText } from "./foreign-text.ts";

export function renderSentence(page: PageContext, parts: Sentence): Html {
  return html`<span class="sentence">${parts.map((part) => showPart(page, part))}</span>`;
}

function showPart(page: PageContext, part: SentencePart): Html | string {
  switch (part.kind) {
    case "text":
      return part.text;
    case "quoted":
      return renderForeignText(part.text);
    case "address":
      return addressLink(page, part.text);
    case "token":
      return token(page, part.text);
    case "hash":
      return hash(page, part.text);
    case "time":
      return time(part.text);
    case "record":
      return part.text === part.id
        ? hash(page, part.id, part.record)
        : recordLink(page, part.record, part.id, part.text);
    case "amount":
      if (findToken(page, part.token) !== null) return amount(page, part.amount, part.token);
      return part.text === part.amount ? part.text : html`${part.amount} of ${token(page, part.token)}`;
  }
}

/** The tokens of the intent that is bid on or filled; empty for any other event. */
export function intentTokens({ args, parts }: { readonly args: object; readonly parts: Sentence }) {
  if (!("amountIn" in args)) return {};
  const [input_token, output_token] = parts.flatMap((part) => (part.kind === "amount" ? [part.token] : []));
  return { input_token, output_token };
}
