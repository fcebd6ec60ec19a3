// Amounts of the index for people: symbol and decimals of tokens that the deployment names, raw units of others.
import type { Sextant } from "@sextant/client/sextant";
import { formatUnits } from "../../explorer/format.ts";
import { AMOUNT_TOKENS } from "../../schema/amount-tokens.ts";
import { toPlainText } from "./plain-text.ts";

type Fields = Readonly<Record<string, unknown>>;
/** Keyed by address. */
type Tokens = ReadonlyMap<string, { readonly symbol: string; readonly decimals: number }>;

// As deep as records are shown.
const DEPTH_MAX = 9;
// A service may send anything.
const DECIMALS_MAX = 80;
const UNITS = /^[0-9]{1,80}$/;
// Only zeros would be seen of it.
const TINY = /^0\.0{6}…$/;

type Reader = Pick<Sextant, "getDeployments" | "getIntent">;

/** Reads the tokens with the first amount, in one request, and none for records without amounts. */
export class TokenAmounts {
  readonly #sextant: Reader;
  readonly #signal: AbortSignal;
  #tokens: Promise<Tokens> | null = null;
  #intent: Promise<Fields> | null = null;

  constructor(sextant: Reader, signal: AbortSignal) {
    this.#sextant = sextant;
    this.#signal = signal;
  }

  /**
   * The records, in which text that people can read replaces the amounts. Bids have the tokens of their intent, which is
   * read in one request more.
   */
  async name<T extends Fields>(
    records: readonly T[],
    intentOfBids: string | null = null,
  ): Promise<readonly T[]> {
    if (!records.some((each) => hasAmount(each))) return records;
    const [tokens, around] = await Promise.all([this.#read(), this.#readIntent(intentOfBids)]);
    return records.map((each) => nameAmounts(each, around, tokens) as T);
  }

  /** Null if the token is not known. */
  async format(units: string, token: string | null): Promise<string | null> {
    return token === null ? null : formatKnown(units, token, await this.#read());
  }

  #read(): Promise<Tokens> {
    // Raw units are better than nothing; an earlier version of the service names no tokens.
    this.#tokens ??= this.#sextant
      .getDeployments({ signal: this.#signal })
      .then(({ tokens = [] }) => new Map(tokens.map((each) => [each.address, each])))
      .catch(() => new Map());
    return this.#tokens;
  }

  async #readIntent(id: string | null): Promise<Fields> {
    if (id === null) return {};
    this.#intent ??= this.#sextant
      .getIntent({ id }, { signal: this.#signal })
      .then(({ input_token, output_token }) => ({ input_token, output_token }))
      .catch(() => ({}));
    return this.#intent;
  }
}

function hasAmount(value: unknown, depth = 0): boolean {
  if (typeof value !== "object" || value === null || depth > DEPTH_MAX) return false;
  return Object.entries(value).some(
    ([name, each]) => (Object.hasOwn(AMOUNT_TOKENS, name) && each !== null) || hasAmount(each, depth + 1),
  );
}

/** A nested record, such as the fill of an intent, has the tokens of the record around it. */
function nameAmounts(value: unknown, around: Fields, tokens: Tokens, depth = 0): unknown {
  if (typeof value !== "object" || value === null || depth > DEPTH_MAX) return value;
  if (Array.isArray(value)) return value.map((each) => nameAmounts(each, around, tokens, depth + 1));
  const fields: Fields = { ...around, ...value };
  return Object.fromEntries(
    Object.entries(value).map(([name, each]) => {
      // A solver states the fee of a bid without its token.
      if (name === "fee" && typeof each === "string") return [name, `${formatUnits(each, null).text} units`];
      if (!Object.hasOwn(AMOUNT_TOKENS, name) || typeof each !== "string")
        return [name, nameAmounts(each, fields, tokens, depth + 1)];
      const token = fields[AMOUNT_TOKENS[name] ?? ""];
      return [name, (typeof token === "string" && formatKnown(each, token, tokens)) || each];
    }),
  );
}

function formatKnown(units: string, token: string, tokens: Tokens): string | null {
  const known = tokens.get(token);
  if (known === undefined || !UNITS.test(units) || !(known.decimals <= DECIMALS_MAX)) return null;
  const { text } = formatUnits(units, known.decimals);
  return toPlainText(TINY.test(text) ? `${units} units of ${known.symbol}` : `${text} ${known.symbol}`);
}
