// A sentence of the API in parts: text, addresses and hashes, and amounts with what they are amounts of.
// The server and the live feed run the same file, so that a sentence reads the same in both.

/**
 * `isToken` is an address of which the sentence says that it is a token's: zero is the coin there, and none elsewhere.
 * `named` is an amount whose token the sentence names right after it: `5 of 0x…`.
 */
export type SentencePart =
  | { kind: "text"; text: string }
  | { kind: "id"; id: string; isToken: boolean }
  | { kind: "amount"; units: string; token: string; named: boolean };
export type TokensOfIntent = { input_token: string; output_token: string };

// The coin of the chain, in which bonds are.
const NATIVE = `0x${"0".repeat(40)}`;

const MARKED = new RegExp(
  [
    "(?<units>[0-9]+) of (?<token>0x[0-9a-f]{40})(?![0-9a-f…])",
    "(?<id>0x[0-9a-f]{40}(?:[0-9a-f]{24})?)(?![0-9a-f…])",
    // Of the token that the sentence named before.
    "(?<=; )(?<spent>[0-9]+)(?= in its current window)",
    "(?<= to )(?<limit>[0-9]+)(?= a day)",
    "(?<= with a bond of |^Bond of solver #[0-9]+ is now )(?<bond>[0-9]+)$",
    // Of the tokens of the intent.
    "(?<=: )(?<given>[0-9]+)(?= in\\b)",
    "(?<=: [0-9]+ in(?: for|,) )(?<taken>[0-9]+)(?= out\\b)",
  ].join("|"),
  "g",
);

const OFFERING_EVENTS = ["SolverBidSubmitted", "IntentFilled"];

/** The intent whose tokens the amounts of this event are of; null where they are of no intent. */
export function findOfferedIntent({
  type,
  description,
}: {
  type: string;
  description: string;
}): string | null {
  if (!OFFERING_EVENTS.includes(type)) return null;
  return /\bintent #([0-9]{1,78})\b/i.exec(description)?.[1] ?? null;
}

/** Only for sentences that quote no stranger: a quoted text could have the words of another sentence. */
export function splitSentence(text: string, intent: TokensOfIntent | null = null): SentencePart[] {
  const parts: SentencePart[] = [];
  let [end, last] = [0, ""];
  for (const match of text.matchAll(MARKED)) {
    const { units, token, id, spent, limit, bond, given, taken } = match.groups ?? {};
    if (match.index > end) parts.push({ kind: "text", text: text.slice(end, match.index) });
    end = match.index + match[0].length;
    if (id !== undefined) {
      const isToken = /(?:spending|Payments) of $/.test(text.slice(0, match.index));
      if (isToken) last = id;
      parts.push({ kind: "id", id, isToken });
      continue;
    }
    if (token !== undefined) last = token;
    const of = token ?? (bond !== undefined ? NATIVE : (tokenOf(given, taken, intent) ?? last));
    const counted = units ?? spent ?? limit ?? bond ?? given ?? taken ?? "";
    parts.push({ kind: "amount", units: counted, token: of, named: token !== undefined });
  }
  if (end < text.length) parts.push({ kind: "text", text: text.slice(end) });
  return parts;
}

/** Empty if the intent is not known; null for an amount of no intent. */
function tokenOf(
  given: string | undefined,
  taken: string | undefined,
  intent: TokensOfIntent | null,
): string | null {
  if (given !== undefined) return intent?.input_token ?? "";
  return taken !== undefined ? (intent?.output_token ?? "") : null;
}
