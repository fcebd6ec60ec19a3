// What tokens call themselves: decimals, symbol and name from the chain first, from the lists where it does not say.
import type { Hex } from "../../lib/hex.ts";
import type { Asset, ContractRead, Holding, PinnedChain } from "../types.ts";
import { sanitizeText, TOKEN_NAME_LENGTH_MAX, TOKEN_SYMBOL_LENGTH_MAX } from "./sanitize-text.ts";

export type DescribedHoldings = {
  readonly holdings: readonly Holding[];
  readonly warnings: readonly string[];
};

// decimals(), symbol(), name()
const SELECTORS = ["0x313ce567", "0x95d89b41", "0x06fdde03"] as const;

// Several proxies deep and a long name: about 60,000. A token that wants more is not worth waiting for.
const GAS_MAX = 150_000;

// A text that is longer than this is no name; it is refused instead of cut.
const TEXT_BYTES_MAX = 1_024;

const WORD = 32;

/** Every holding in its place, whatever the contracts do. Logos come from lists only: no contract may place a link. */
export async function readTokenMetadata(
  at: PinnedChain,
  holdings: readonly Holding[],
  signal: AbortSignal,
): Promise<DescribedHoldings> {
  const contracts = [...new Set(holdings.flatMap(({ contract }) => contract ?? []))];
  const calls = contracts.flatMap((to) =>
    SELECTORS.map((data): ContractRead => ({ to, data, gasMax: GAS_MAX })),
  );
  const warnings: string[] = [];
  let answers: readonly (Hex | null)[] = [];
  try {
    answers = await at.read(calls, signal);
  } catch (error) {
    if (signal.aborted) throw error;
    warnings.push(
      `${at.chain.name}: names and decimals of tokens could not be read from the chain; those of the lists are shown.`,
    );
  }
  const placeOf = new Map(contracts.map((contract, i) => [contract, i * SELECTORS.length]));
  const described = holdings.map((holding): Holding => {
    const place = holding.contract === null ? undefined : placeOf.get(holding.contract);
    if (place === undefined) return holding;
    return describe(holding, answers.slice(place, place + SELECTORS.length), listedAs(at, holding));
  });
  return { holdings: described, warnings };
}

function describe(holding: Holding, answers: readonly (Hex | null)[], listed: Asset): Holding {
  const [decimals, symbol, name] = answers;
  return {
    contract: holding.contract,
    rawBalance: holding.rawBalance,
    decimals: decodeTokenDecimals(decimals) ?? listed.decimals,
    symbol: decodeTokenText(symbol, TOKEN_SYMBOL_LENGTH_MAX) ?? listed.symbol,
    name: decodeTokenText(name, TOKEN_NAME_LENGTH_MAX) ?? listed.name,
    logo: listed.logo,
  };
}

/** What the lists say, else what came with the holding. */
function listedAs(at: PinnedChain, holding: Holding): Asset {
  return (holding.contract === null ? undefined : at.chain.tokens.get(holding.contract)) ?? holding;
}

/** Exactly one word that fits a byte: cutting 274 to 18 would move the point of every balance. */
export function decodeTokenDecimals(answer: Hex | null | undefined): number | null {
  if (!answer || answer.length !== 2 + 2 * WORD) return null;
  const value = BigInt(answer);
  return value <= 255n ? Number(value) : null;
}

/** An ABI string, or the bytes32 of old tokens that ends at its first zero; null for anything else. */
export function decodeTokenText(answer: Hex | null | undefined, lengthMax: number): string | null {
  // Twice: offset, length and padding need room beside the text itself.
  if (!answer || answer.length > 2 + 2 * 2 * TEXT_BYTES_MAX) return null;
  const bytes = Buffer.from(answer.slice(2), "hex");
  const text = bytes.length === WORD ? untilZero(bytes) : abiString(bytes);
  return text === null ? null : sanitizeText(new TextDecoder().decode(text), lengthMax);
}

function untilZero(bytes: Buffer): Buffer {
  const end = bytes.indexOf(0);
  return end === -1 ? bytes : bytes.subarray(0, end);
}

function abiString(bytes: Buffer): Buffer | null {
  const offset = wordAt(bytes, 0);
  const length = offset === null ? null : wordAt(bytes, offset);
  if (offset === null || length === null || length > TEXT_BYTES_MAX) return null;
  const start = offset + WORD;
  return start + length <= bytes.length ? bytes.subarray(start, start + length) : null;
}

/** A word as a small number; null where there is none, or where it points far beyond any answer. */
function wordAt(bytes: Buffer, offset: number): number | null {
  if (offset + WORD > bytes.length) return null;
  const value = BigInt(`0x${bytes.subarray(offset, offset + WORD).toString("hex")}`);
  return value <= 0xffffn ? Number(value) : null;
}
