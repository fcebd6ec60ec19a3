// Sentences of the API about events: addresses and hashes by their ends, amounts with symbol and decimals where known.
import { type Html, html } from "../lib/html.ts";
import { ZERO_ADDRESS } from "../schema/table.ts";
import type { ApiReader } from "./api-reader.ts";
import { address, amount, findToken, hash, token } from "./components.ts";
import type { PageContext } from "./context.ts";
import { foreignText } from "./foreign-text.ts";
import {
  findOfferedIntent,
  type SentencePart,
  splitSentence,
  type TokensOfIntent,
} from "./sentence-parts.ts";

type DescribedEvent = { readonly type: string; readonly description: string };

/** Tokens of intents by their ids: bids and fills name the intent alone. */
export type IntentTokens = ReadonlyMap<string, TokensOfIntent>;

const NO_INTENTS: IntentTokens = new Map();
// Each is a request to the API, of forty that a page may make.
const INTENTS_MAX = 12;

/** Of the intents that these events bid on or fill; of the last ones where there are many. */
export async function readIntentTokens(
  api: ApiReader,
  events: readonly DescribedEvent[],
): Promise<IntentTokens> {
  const ids = new Set(events.map(findOfferedIntent).filter((id) => id !== null));
  const found = await Promise.all(
    [...ids].slice(-INTENTS_MAX).map((id) => api.find<TokensOfIntent>("/intents/:id", { params: { id } })),
  );
  return new Map(
    found.flatMap((each) => (each === null ? [] : [[each.call.params.id ?? "", each.body] as const])),
  );
}

// Longer than any of ours.
const SENTENCE_LENGTH_MAX = 600;

/**
 * Events whose sentences quote what a stranger wrote. Nothing in them becomes an amount or a link: the quoted text could
 * have the words of another sentence.
 */
export const QUOTING_EVENTS: readonly string[] = ["ServiceRegistered"];

/** The sentence of the API about an event. */
export function sentence(page: PageContext, event: DescribedEvent, intents = NO_INTENTS): Html {
  if (QUOTING_EVENTS.includes(event.type))
    return html`<span class="sentence">${foreignText(event.description)}</span>`;
  const intent = findOfferedIntent(event);
  return showSentence(page, event.description, intent === null ? null : (intents.get(intent) ?? null));
}

/** A sentence of the API that quotes no text: addresses and hashes by their ends, amounts of known tokens as people read them. */
export function ownSentence(page: PageContext, value: string): Html {
  return showSentence(page, value, null);
}

function showSentence(page: PageContext, value: string, intent: TokensOfIntent | null): Html {
  const shown = value.length > SENTENCE_LENGTH_MAX ? `${value.slice(0, SENTENCE_LENGTH_MAX)}…` : value;
  return html`<span class="sentence">${splitSentence(shown, intent).map((part) => showPart(page, part))}</span>`;
}

function showPart(page: PageContext, part: SentencePart): Html {
  if (part.kind === "text") return foreignText(part.text);
  if (part.kind === "id") {
    if (part.id.length > 42) return hash(page, part.id);
    return part.id === ZERO_ADDRESS && !part.isToken ? address(page, part.id) : token(page, part.id);
  }
  if (findToken(page, part.token) !== null) return amount(page, part.units, part.token);
  return part.named ? html`${part.units} of ${token(page, part.token)}` : html`${part.units}`;
}
