// Whether a token nobody listed is spam, and why: lures in its name, borrowed symbols, absurd amounts, no market.
import type { ChainConfig, Holding } from "../types.ts";

// Text as the eye reads it: accents, invisible signs and letters of other alphabets folded to plain small ASCII.

// A hostile contract may return megabytes; nobody reads further than this.

const TEXT_LENGTH_MAX = 256;

// Pairs of a letter and what it passes for, after lower-casing; Greek ones by the look of their capitals.
const LOOKALIKES = new Map(
  (
    "аa вb сc ԁd еe һh іi јj кk ӏl мm нh оo рp ԛq ѕs тt уy ѵv ԝw хx үy ԍg " +
    "αa βb εe ζz ηh ιi κk μm νn οo ρp τt υy χx " +
    "ıi ɩi łl øo đd ħh ŧt ƀb ɡg ɑa ₮t $s ¢c €e £l ꜱs ʀr ɴn"
  )
    .split(" ")
    .map((pair) => [pair.slice(0, -1), pair.slice(-1)]),
);

export function replaceConfusables(text: string): string {
  const plain = text
    .slice(0, TEXT_LENGTH_MAX)
    .normalize("NFKD")
    .replace(/[\p{M}\p{Cf}]/gu, "")
    .toLowerCase();
  return Array.from(plain, (letter) => LOOKALIKES.get(letter) ?? letter).join("");
}

/** Letters and digits only; empty when there are none. */
export function normalizeSymbol(symbol: string): string {
  return replaceConfusables(symbol).replace(/[^a-z0-9]/g, "");
}

// Nothing repeats in these patterns, so that they take time linear in the text.
const WEB_ADDRESS =
  /https?:|www\.|[a-z0-9]\.(?:com|net|org|io|xyz|app|finance|fi|co|me|info|site|online|club|top|link|live|pro|gifts?|claims?|cash|events?|vip|cc|ru|us|dev|fun|lol|world|network|tech|space|website|store|shop|win|click|gg|ly|gd|limo|exchange|trade|fund|money|bid|cfd)(?![a-z0-9])/;
const LURE = /(?<![a-z])(?:claim|visit|reward|airdrop|voucher|giveaway|redeem)/;
// More than 3 × 10^20 whole tokens of 18 decimals: no market has a token of which that is a holding.
const RAW_BALANCE_MAX = 2n ** 128n;

const REASONS = {
  webAddress: "The name or symbol contains a web address.",
  lure: "The name or symbol invites to claim, visit or redeem something.",
  borrowedSymbol: "The symbol reads like that of another, listed asset.",
  absurdBalance: "The balance is larger than any real token's supply.",
  unknown: "It is in no token list and nobody has a price for it.",
};

type SpamEvidence = {
  readonly chain: ChainConfig;
  /** Every price source was asked and none has a price. */
  readonly unpriced: boolean;
};

/** Sentences; none for what counts. What is listed, a pinned stablecoin or the native coin is never spam. */
export function findSpamReasons(holding: Holding, { chain, unpriced }: SpamEvidence): readonly string[] {
  const { contract, rawBalance } = holding;
  if (contract === null || chain.tokens.has(contract) || chain.stablecoins.has(contract)) return [];
  const words = `${replaceConfusables(holding.symbol ?? "")} ${replaceConfusables(holding.name ?? "")}`;
  return [
    ...(WEB_ADDRESS.test(words) ? [REASONS.webAddress] : []),
    ...(LURE.test(words) ? [REASONS.lure] : []),
    ...(knownSymbols(chain).has(normalizeSymbol(holding.symbol ?? "")) ? [REASONS.borrowedSymbol] : []),
    ...(rawBalance >= RAW_BALANCE_MAX ? [REASONS.absurdBalance] : []),
    ...(unpriced ? [REASONS.unknown] : []),
  ];
}

// A chain lists thousands of symbols and never changes them: they are folded once.
const symbolsByChain = new WeakMap<ChainConfig, ReadonlySet<string>>();

function knownSymbols(chain: ChainConfig): ReadonlySet<string> {
  const known = symbolsByChain.get(chain);
  if (known) return known;
  const symbols = [chain.native.symbol, ...[...chain.tokens.values()].map(({ symbol }) => symbol ?? "")];
  const folded = new Set(symbols.map(normalizeSymbol).filter((symbol) => symbol !== ""));
  symbolsByChain.set(chain, folded);
  return folded;
}
