// Spam detection for unlisted tokens: lures in the name, copied symbols, absurd balances, no price.
import { CHAINLINK_FEEDS } from "../../chain/price-feeds/price-feeds.ts";
import { INVISIBLE } from "../../lib/foreign-text.ts";
import type { Hex } from "../../lib/hex.ts";
import { keepPresent } from "../../lib/lists.ts";
import { AAVE_V3_MARKETS } from "../positions/aave-v3/markets.ts";
import { type ChainConfig, type Holding, isListed } from "../types.ts";
import { replaceLookalikes } from "./lookalikes.ts";

// A hostile contract may return megabytes; the rest cannot be seen anyway.
const TEXT_LENGTH_MAX = 256;

/** Text as the eye reads it: accents, invisible characters and letters of other alphabets become lower-case ASCII. */
function replaceConfusables(text: string): string {
  const plain = text
    .slice(0, TEXT_LENGTH_MAX)
    .normalize("NFKD")
    .replace(/[\p{M}\p{Cf}]/gu, "");
  return replaceLookalikes(plain.replaceAll(INVISIBLE, ""));
}

/** Letters and digits only, with one letter for i, l, 1 and |, which no eye tells apart; empty when there are none. */
export function normalizeSymbol(symbol: string): string {
  return replaceConfusables(symbol)
    .replace(/[i1|]/g, "l")
    .replace(/[^a-z0-9]/g, "");
}

// Ways to write a dot in an address: the ideographic one, in brackets, as a word in brackets, and between spaces.
const DOT = /。|\s?[[({]\s?(?:\.|dot)\s?[\])}]\s?|\s\.\s/gu;
// A name, a dot and an ending of two letters or more, of any alphabet: endings are too many, and too new, for a list.
const WEB_ADDRESS = /https?:|www\.|[\p{L}\p{N}]\.(?:\p{L}{2,63}|xn--[a-z0-9-]{1,59})(?![\p{L}\p{N}])/u;
// Digits and signs stand for letters that they look like.
const LURE =
  /(?<![a-z])(?:c[li1|]a[il1!|]m|v[il1!|]s[il1!|]t|r[e3]ward|a[il1!|]rdr[o0]p|v[o0]uch[e3]r|g[il1!|]v[e3]away|r[e3]d[e3]{2}m)/;
// Single letters with something between them, such as C L A I M.
const SPELLED = /(?<![\p{L}\p{N}])(?:[a-z0-9][\s._-]){3,40}[a-z0-9](?![\p{L}\p{N}])/gu;
// More than 3 × 10^20 whole tokens with 18 decimals: larger than any real holding.
const RAW_BALANCE_MAX = 2n ** 128n;

type SpamContext = {
  readonly chain: ChainConfig;
  /** All price sources were read successfully and none has a price. */
  readonly unpriced: boolean;
  /** A feed, a reserve, deep pools or a factory shows that the token is genuine, whatever its name. */
  readonly proven?: boolean;
};

/** Empty when the token is not spam. The native coin, listed and proven tokens and known stablecoins never are. */
export function findSpamReasons(
  holding: Holding,
  { chain, unpriced, proven = false }: SpamContext,
): readonly string[] {
  const { rawBalance } = holding;
  if (proven || isListed(chain, holding)) return [];
  const text = `${replaceConfusables(holding.symbol ?? "")} ${replaceConfusables(holding.name ?? "")}`;
  const joined = text.replaceAll(SPELLED, (spelled) => spelled.replaceAll(/[\s._-]/g, ""));
  return keepPresent(
    WEB_ADDRESS.test(text.replaceAll(DOT, ".")) && "The name or symbol contains a web address.",
    LURE.test(joined) && "The name or symbol invites to claim, visit or redeem something.",
    knownSymbols(chain).has(normalizeSymbol(holding.symbol ?? "")) &&
      "The symbol reads like that of another, known asset.",
    rawBalance >= RAW_BALANCE_MAX && "The balance is larger than any real token's supply.",
    unpriced && "It is in no token list and no source has a price for it.",
  );
}

// A chain's known symbols never change, so they are normalized once.
const symbolsByChain = new WeakMap<ChainConfig, ReadonlySet<string>>();

function knownSymbols(chain: ChainConfig): ReadonlySet<string> {
  const known = symbolsByChain.get(chain);
  if (known) return known;
  const copied = worthCopying(chain).map((contract) => chain.tokens.get(contract)?.symbol ?? "");
  const symbols = [chain.native.symbol, ...copied];
  const normalized = new Set(symbols.map(normalizeSymbol).filter((symbol) => symbol !== ""));
  symbolsByChain.set(chain, normalized);
  return normalized;
}

/**
 * Stablecoins, reserves and tokens with a feed: the tokens that are worth copying. Thousands of listed tokens share
 * their symbols with honest others by chance. If nothing is pinned, every listed token counts.
 */
function worthCopying({ chainId, stablecoins, tokens }: ChainConfig): readonly Hex[] {
  const feeds = CHAINLINK_FEEDS.get(chainId);
  if (feeds === undefined) return [...tokens.keys()];
  const reserves = (AAVE_V3_MARKETS.get(chainId) ?? []).flatMap((market) => market.reserves);
  const pinned = Object.keys(feeds.tokens) as Hex[];
  return [...stablecoins, ...pinned, ...reserves.map(({ underlying }) => underlying)];
}
