// Amounts and numbers of the index for people: symbol and decimals of tokens that the deployment names, units of others.
import type { Sextant } from "@sextant/client/sextant";
import { describeNumber, formatDuration, formatUnits } from "../../explorer/format.ts";
import { AMOUNT_TOKENS } from "../../schema/amount-tokens.ts";
import { ZERO_ADDRESS } from "../../schema/table.ts";
import { toPlainText } from "./plain-text.ts";
import { formatTime } from "./time.ts";

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
// A volume is of one token if the record names it, otherwise a sum over several.
const VOLUME = /(?:^|_)(?:volume|protocol_fees)$/;
const TOKEN = /(?:^|_)token$/;
const MEAN = /^\d{1,12}(?:\.\d{1,9})?$/;
const SHARE = /^(?:0(?:\.\d{1,9})?|1(?:\.0{1,9})?)$/;

type Reader = Pick<Sextant, "getDeployments" | "getIntent">;

/** Terminals also get words for numbers, and tokens by symbol: alone in a cell, or with the address. */
type TokenForm = "symbol" | "symbol and address";

/** Reads the tokens with the first amount, in one request, and none for records without amounts. */
export class TokenAmounts {
  readonly #sextant: Reader;
  readonly #signal: AbortSignal;
  readonly #form: TokenForm | null;
  #tokens: Promise<Tokens> | null = null;
  #intent: Promise<Fields> | null = null;

  constructor(sextant: Reader, signal: AbortSignal, form: TokenForm | null = null) {
    this.#sextant = sextant;
    this.#signal = signal;
    this.#form = form;
  }

  /**
   * The records, in which text that people can read replaces the amounts. Bids have the tokens of their intent, which is
   * read in one request more.
   */
  async name<T extends Fields>(
    records: readonly T[],
    intentOfBids: string | null = null,
  ): Promise<readonly T[]> {
    const isNeeded = records.some((each) => hasAmount(each, this.#form));
    if (!isNeeded && this.#form === null) return records;
    const [tokens, around] = await Promise.all([
      isNeeded ? this.#read() : (new Map() as Tokens),
      this.#readIntent(intentOfBids),
    ]);
    return records.map((each) => nameAmounts(each, around, { tokens, form: this.#form }) as T);
  }

  /** Null if the token is not known. */
  async format(units: string, token: string | null): Promise<string | null> {
    return token === null ? null : formatKnown(units, token, await this.#read());
  }

  /** Null if the token is not known. */
  async symbol(token: string): Promise<string | null> {
    const known = (await this.#read()).get(token);
    return known === undefined ? null : toPlainText(known.symbol);
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

function hasAmount(value: unknown, form: TokenForm | null, depth = 0): boolean {
  if (typeof value !== "object" || value === null || depth > DEPTH_MAX) return false;
  const isAmount = (name: string) =>
    Object.hasOwn(AMOUNT_TOKENS, name) || (form !== null && (name === "bond" || VOLUME.test(name)));
  return Object.entries(value).some(
    ([name, each]) => (isAmount(name) && each !== null) || hasAmount(each, form, depth + 1),
  );
}

type Naming = { readonly tokens: Tokens; readonly form: TokenForm | null };

/** A nested record, such as the fill of an intent, has the tokens of the record around it. */
function nameAmounts(value: unknown, around: Fields, naming: Naming, depth = 0): unknown {
  if (typeof value !== "object" || value === null || depth > DEPTH_MAX) return value;
  if (Array.isArray(value)) {
    // A list of records is a table, whose cells have room for symbols only.
    const inTable: Naming = { ...naming, form: naming.form === null ? null : "symbol" };
    const list = naming.form === null || around.token !== undefined ? value : rankByReceipts(value);
    return list.map((each) => nameAmounts(each, around, inTable, depth + 1));
  }
  const fields: Fields = { ...around, ...value };
  const shown = Object.entries(value).filter(([name]) => naming.form === null || !isMixed(name, fields));
  return Object.fromEntries(
    shown.map(([name, each]) => [
      name,
      nameAmount(name, each, fields, naming) ?? nameAmounts(each, fields, naming, depth + 1),
    ]),
  );
}

/** The API ranks by amounts, of which those of different tokens do not compare; the receipts of each do. */
function rankByReceipts(list: readonly unknown[]): readonly unknown[] {
  const receipts = list.map((each) => {
    const { settled_volume, receipts: count } = (each ?? {}) as Fields;
    return settled_volume !== undefined && UNITS.test(String(count)) ? BigInt(String(count)) : null;
  });
  if (receipts.includes(null)) return list;
  const countOf = new Map(list.map((each, index) => [each, receipts[index] ?? 0n]));
  return [...list].sort((a, b) => Number((countOf.get(b) ?? 0n) - (countOf.get(a) ?? 0n)));
}

/** Sums and means over several tokens, which say nothing to people and are left out. */
export const isMixed = (name: string, { token }: Fields) =>
  name === "avg_surplus_out" || (token === undefined && VOLUME.test(name));

/** Null for what stays as it is. */
function nameAmount(name: string, value: unknown, fields: Fields, { tokens, form }: Naming): string | null {
  if (typeof value !== "string" && (form === null || typeof value !== "number")) return null;
  const text = String(value);
  // A solver states the fee of a bid without its token.
  if (name === "fee") return `${formatUnits(text, null).text} units`;
  if (Object.hasOwn(AMOUNT_TOKENS, name)) {
    const words = form === null ? null : describeNumber(name, text);
    return words ?? formatKnown(text, fields[AMOUNT_TOKENS[name] ?? ""], tokens);
  }
  if (form === null) return null;
  // The registry holds bonds in the coin of the chain.
  if (name === "bond") return formatKnown(text, ZERO_ADDRESS, tokens);
  if (VOLUME.test(name))
    return formatKnown(text, fields.token, tokens) ?? `${formatUnits(text, null).text} units`;
  if (name === "win_rate" && SHARE.test(text)) return `${(Number(text) * 100).toFixed(1)} %`;
  if (name === "avg_latency_seconds" && MEAN.test(text))
    return formatDuration(Math.round(Number(text)) * 1_000);
  const symbol = TOKEN.test(name) ? tokens.get(text)?.symbol : undefined;
  if (symbol !== undefined) return toPlainText(form === "symbol" ? symbol : `${symbol} ${text}`);
  return isTime(name, text) ? formatTime(text) : describeNumber(name, text);
}

/** The ends of a range in seconds, and every time in ISO 8601. */
function isTime(name: string, text: string): boolean {
  return /^(?:from|to)$/.test(name) ? /^\d{10}$/.test(text) : /^\d{4}-\d{2}-\d{2}T[\d:.]+Z$/.test(text);
}

function formatKnown(units: string, token: unknown, tokens: Tokens): string | null {
  const known = typeof token === "string" ? tokens.get(token) : undefined;
  if (known === undefined || !UNITS.test(units) || !(known.decimals <= DECIMALS_MAX)) return null;
  const { text } = formatUnits(units, known.decimals);
  return toPlainText(TINY.test(text) ? `${units} units of ${known.symbol}` : `${text} ${known.symbol}`);
}
