// Finds the pools of tokens by asking the known factories: all in one call if the node supports state overrides.
import { poolFinderRuntimeBytecode as code, poolFinderAbi } from "@sextant/contracts/generated/pool-finder";
import { createFunctionCodec, createSignatureCodec } from "../../lib/abi/codec.ts";
import { decodeAddress, decodeWordArray, wordToAddress } from "../../lib/abi/return-data.ts";
import { splitIntoChunks } from "../../lib/chunks.ts";
import type { Hex } from "../../lib/hex.ts";
import { readGroups } from "../contract-reads/read-groups.ts";
import { Reads } from "../contract-reads/reads.ts";
import type { AssetKey, PinnedChain } from "../types.ts";
import type { PoolFactory, QuoteToken, SpotMarket } from "./spot-markets.ts";
import { findPoolKind, type PoolKind } from "./spot-pools.ts";

// A lookup takes about 4,000 gas: half of what every node gives a call.
const LOOKUPS_PER_CALL_MAX = 4_000;
// Enough for 500 tokens without a feed on Base and 880 on Ethereum, more than nearly every wallet has.
const LOOKUPS_MAX = 16_000;
// A token has a handful of pools; an attacker who deploys thousands must not slow the snapshot.
const POOLS_MAX = 1_000;

/** Several keys when the native coin and its wrapped token are both wanted. */
export type PoolToken = {
  readonly contract: Hex;
  readonly decimals: number;
  readonly keys: readonly AssetKey[];
  /** On a list, or the wrapped native coin: not made by anyone for this wallet. */
  readonly isListed: boolean;
  /** How much of it is held as far as that is known; of an unlisted token, in the wallet itself. */
  readonly held: bigint;
};

export type Pool = {
  readonly address: Hex;
  readonly kind: PoolKind;
  readonly token: PoolToken;
  readonly quote: QuoteToken;
};

/** A way to ask for a token's pool. */
type Lookup = {
  readonly factory: Hex;
  readonly selector: Hex;
  readonly quote: QuoteToken;
  readonly variant: bigint;
  readonly kind: PoolKind;
};

const find = createFunctionCodec(poolFinderAbi, "find");

/** One round trip. `unasked` are the tokens for which it found no time. */
export async function findPools(
  at: PinnedChain,
  market: SpotMarket,
  tokens: readonly PoolToken[],
  signal: AbortSignal,
): Promise<{ readonly pools: readonly Pool[]; readonly unasked: readonly PoolToken[] }> {
  const lookups = listLookups(market);
  if (lookups.length === 0) return { pools: [], unasked: [] };
  const asked = tokens.slice(0, Math.floor(LOOKUPS_MAX / lookups.length));
  const parts = splitIntoChunks(asked, Math.floor(LOOKUPS_PER_CALL_MAX / lookups.length));
  const found = await Promise.all(parts.map((part) => findPart(at, lookups, part, signal)));
  const pools = found.flat();
  const cutOff = pools.slice(POOLS_MAX).map(({ token }) => token);
  return {
    pools: pools.slice(0, POOLS_MAX),
    unasked: [...new Set([...tokens.slice(asked.length), ...cutOff])],
  };
}

function listLookups({ quotes, factories }: SpotMarket): readonly Lookup[] {
  return quotes.flatMap((quote) =>
    factories.flatMap((each) =>
      listVariants(each).map((variant) => ({
        factory: each.factory,
        selector: selectorOf(each.kind),
        quote,
        variant: BigInt(variant),
        kind: findPoolKind(each),
      })),
    ),
  );
}

function listVariants(factory: PoolFactory): readonly number[] {
  switch (factory.kind) {
    case "uniswap-v2":
      return [0];
    case "solidly":
      // Volatile and stable.
      return [0, 1];
    case "uniswap-v3":
      return factory.fees;
    case "slipstream":
      return factory.tickSpacings;
  }
}

const LOOKUP_SIGNATURES: Readonly<Record<PoolFactory["kind"], string>> = {
  "uniswap-v2": "function getPair(address, address) view returns (address)",
  solidly: "function getPool(address, address, bool) view returns (address)",
  "uniswap-v3": "function getPool(address, address, uint24) view returns (address)",
  slipstream: "function getPool(address, address, int24) view returns (address)",
};

const selectors = new Map<PoolFactory["kind"], Hex>();

function selectorOf(kind: PoolFactory["kind"]): Hex {
  const selector = selectors.get(kind) ?? createSignatureCodec(LOOKUP_SIGNATURES[kind]).selector;
  selectors.set(kind, selector);
  return selector;
}

const ADDRESS_BITS = 160n;
const ADDRESS_MASK = (1n << ADDRESS_BITS) - 1n;

async function findPart(
  at: PinnedChain,
  lookups: readonly Lookup[],
  tokens: readonly PoolToken[],
  signal: AbortSignal,
): Promise<readonly Pool[]> {
  const addresses = await readByFinder(at, lookups, tokens, signal);
  const all = addresses ?? (await readOneByOne(at, lookups, tokens, signal));
  return [...all].flatMap(([position, address]): Pool[] => {
    const token = tokens[Math.floor(position / lookups.length)];
    const lookup = lookups[position % lookups.length];
    if (token === undefined || lookup === undefined || lookup.quote.token === token.contract) return [];
    return [{ address, token, quote: lookup.quote, kind: lookup.kind }];
  });
}

/** Addresses by the position of token and lookup; null when the node does not place our code. */
async function readByFinder(
  at: PinnedChain,
  lookups: readonly Lookup[],
  tokens: readonly PoolToken[],
  signal: AbortSignal,
): Promise<ReadonlyMap<number, Hex> | null> {
  const data = find.encodeCall([
    tokens.map(({ contract }) => contract),
    lookups.map(({ factory, selector, quote, variant }) => ({
      ...{ factory, selector, quote: quote.token, variant },
    })),
  ]);
  const words = decodeWordArray(
    await at.callWithOverride({ code, data }, signal),
    tokens.length * lookups.length,
  );
  if (words === null) return null;
  const pools = words.map(
    (word) => [Number(word >> ADDRESS_BITS), wordToAddress(word & ADDRESS_MASK)] as const,
  );
  return new Map(pools.flatMap(([position, address]) => (address === null ? [] : [[position, address]])));
}

async function readOneByOne(
  at: PinnedChain,
  lookups: readonly Lookup[],
  tokens: readonly PoolToken[],
  signal: AbortSignal,
): Promise<ReadonlyMap<number, Hex>> {
  const reads = tokens.flatMap((token) => lookups.map((lookup) => declareLookup(lookup, token.contract)));
  const addresses = await readGroups(at, signal, reads);
  return new Map(
    addresses.flatMap((address, position) => (address === null ? [] : [[position, address] as const])),
  );
}

/** A function without a variant ignores the third word. */
function declareLookup({ factory, selector, quote, variant }: Lookup, token: Hex): Reads<Hex | null> {
  const words = [token.slice(2), quote.token.slice(2), variant.toString(16)];
  const data: Hex = `${selector}${words.map((word) => word.padStart(64, "0")).join("")}`;
  return new Reads([{ to: factory, data }], (results, start) => decodeAddress(results[start] ?? null));
}
