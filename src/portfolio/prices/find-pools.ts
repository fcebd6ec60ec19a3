// Finds the pools of tokens by asking the known factories, and reads what stood in them for half an hour.
import { createHash } from "node:crypto";
import { poolFinderRuntimeBytecode as code, poolFinderAbi } from "@sextant/contracts/generated/pool-finder";
import { createFunctionCodec, createSignatureCodec } from "../../lib/abi/codec.ts";
import { decodeAddress, decodeWordArray, wordToAddress } from "../../lib/abi/return-data.ts";
import { splitIntoChunks } from "../../lib/chunks.ts";
import { Deadline } from "../../lib/deadline.ts";
import type { Hex } from "../../lib/hex.ts";
import { readEach, readGroups } from "../contract-reads/read-groups.ts";
import { Reads } from "../contract-reads/reads.ts";
import type { AssetKey, ContractRead, KnownResults, PinnedChain } from "../types.ts";
import type { PoolFactory, QuoteToken, SpotMarket } from "./spot-markets.ts";
import { findPoolKind, type PoolKind, type PoolState, type Ratio, STOOD_SECONDS } from "./spot-pools.ts";

// A lookup takes about 4,000 gas: half of what every node gives a call.
const LOOKUPS_PER_CALL_MAX = 4_000;
// Enough for 500 tokens without a feed on Base and 880 on Ethereum, more than nearly every wallet has.
const LOOKUPS_MAX = 16_000;
// A token has a handful of pools; an attacker who deploys thousands must not slow the snapshot.
const POOLS_MAX = 1_000;
/** A factory takes about 10,000 gas for each. */
const SMALL_LOOKUPS_MAX = 400;

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
  const list = listLookups(market);
  const { lookups } = list;
  if (lookups.length === 0) return { pools: [], unasked: [] };
  const asked = tokens.slice(0, Math.floor(LOOKUPS_MAX / lookups.length));
  const parts = splitIntoChunks(asked, Math.floor(LOOKUPS_PER_CALL_MAX / lookups.length));
  const found = await Promise.all(parts.map((part) => findPart(at, list, part, signal)));
  const pools = found.flat();
  const cutOff = pools.slice(POOLS_MAX).map(({ token }) => token);
  return {
    pools: pools.slice(0, POOLS_MAX),
    unasked: [...new Set([...tokens.slice(asked.length), ...cutOff])],
  };
}

/** `id` tells lists apart that ask for the pools of the same tokens. */
type LookupList = { readonly lookups: readonly Lookup[]; readonly id: string };

const listsOf = new WeakMap<SpotMarket, LookupList>();

function listLookups(market: SpotMarket): LookupList {
  const known = listsOf.get(market);
  if (known !== undefined) return known;
  const lookups = market.quotes.flatMap((quote) =>
    market.factories.flatMap((each) =>
      listVariants(each).map((variant) => ({
        factory: each.factory,
        selector: SELECTORS[each.kind],
        quote,
        variant: BigInt(variant),
        kind: findPoolKind(each),
      })),
    ),
  );
  const id = createHash("sha256").update(encodeSearch([], lookups)).digest("base64");
  listsOf.set(market, { lookups, id });
  return { lookups, id };
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

const selectorOf = (signature: string) => createSignatureCodec<string>(signature).selector;
const SELECTORS: Readonly<Record<PoolFactory["kind"], Hex>> = {
  "uniswap-v2": selectorOf("function getPair(address, address)"),
  solidly: selectorOf("function getPool(address, address, bool)"),
  "uniswap-v3": selectorOf("function getPool(address, address, uint24)"),
  slipstream: selectorOf("function getPool(address, address, int24)"),
};

const ADDRESS_BITS = 160n;
const ADDRESS_MASK = (1n << ADDRESS_BITS) - 1n;

/** Asks only for tokens that no wallet has asked for at this block. */
async function findPart(
  at: PinnedChain,
  { lookups, id }: LookupList,
  tokens: readonly PoolToken[],
  signal: AbortSignal,
): Promise<readonly Pool[]> {
  const known = new Map(tokens.map(({ contract }) => [contract, at.results?.find(`${contract} ${id}`)]));
  const open = tokens.filter(({ contract }) => !known.get(contract));
  if (open.length > 0) {
    const found = await readByFinder(at, lookups, open, signal);
    const addresses = found ?? (await readOneByOne(at, lookups, open, signal));
    for (const [position, { contract }] of open.entries()) {
      const packed = packAddresses(addresses, position * lookups.length, lookups.length);
      known.set(contract, packed);
      // Anyone makes tokens: these results take the place of those that their contracts return.
      if (found) at.results?.keep(`${contract} ${id}`, { to: contract, data: "0x", gasMax: 0 }, packed);
    }
  }
  return tokens.flatMap((token) =>
    unpackAddresses(known.get(token.contract) ?? "0x").flatMap(([position, address]): Pool[] => {
      const lookup = lookups[position];
      if (lookup === undefined || lookup.quote.token === token.contract) return [];
      return [{ address, token, quote: lookup.quote, kind: lookup.kind }];
    }),
  );
}

/** Digits of a position and an address. */
const POSITION_DIGITS = 8;
const ADDRESS_DIGITS = 40;
const ENTRY_DIGITS = POSITION_DIGITS + ADDRESS_DIGITS;

/** The found addresses among `count` lookups from `start` on, each behind its position. */
function packAddresses(addresses: ReadonlyMap<number, Hex>, start: number, count: number): Hex {
  let packed: Hex = "0x";
  for (let position = 0; position < count; position += 1) {
    const address = addresses.get(start + position);
    if (address) packed += position.toString(16).padStart(POSITION_DIGITS, "0") + address.slice(2);
  }
  return packed;
}

function unpackAddresses(packed: Hex): readonly (readonly [position: number, address: Hex])[] {
  return Array.from({ length: (packed.length - 2) / ENTRY_DIGITS }, (_, index) => {
    const start = 2 + index * ENTRY_DIGITS;
    const middle = start + POSITION_DIGITS;
    return [
      Number.parseInt(packed.slice(start, middle), 16),
      `0x${packed.slice(middle, start + ENTRY_DIGITS)}`,
    ];
  });
}

function encodeSearch(tokens: readonly PoolToken[], lookups: readonly Lookup[]): Hex {
  return find.encodeCall([
    tokens.map(({ contract }) => contract),
    lookups.map((lookup) => ({ ...lookup, quote: lookup.quote.token })),
  ]);
}

/** Addresses by the position of token and lookup; null when the node does not place our code. */
async function readByFinder(
  at: PinnedChain,
  lookups: readonly Lookup[],
  tokens: readonly PoolToken[],
  signal: AbortSignal,
): Promise<ReadonlyMap<number, Hex> | null> {
  const data = encodeSearch(tokens, lookups);
  const count = tokens.length * lookups.length;
  const words = decodeWordArray(
    await at.callWithOverride({ code, data, isSmall: count <= SMALL_LOOKUPS_MAX }, signal),
    count,
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

// The state of half an hour ago is worth a wait, but not the whole time that prices have.
const EARLIER_MS_MAX = 2_500;
// A token may move this much in half an hour; a price that moved more was perhaps moved for us.
const TIME_DIFFERENCE_PERCENT_MAX = 25n;

/** The coins that stood, at today's rate; null when nothing did, undefined when that cannot be known. */
export type PoolReading = Pool & { readonly standing: PoolState | null | undefined };

/**
 * Two round trips at most: the pools as they are with what they remember, then as they were if that is too little. A
 * pool of concentrated liquidity forgets how many coins stood: a sliver of them around the price counts there like a
 * fortune. So its earlier state counts too; without one its memory suffices for listed tokens only.
 */
export async function readPools(
  at: PinnedChain,
  pools: readonly Pool[],
  signal: AbortSignal,
): Promise<readonly PoolReading[]> {
  const known = await readEach(shareByTrust(at, pools), signal, pools, (pool) => ({
    now: declareState(pool),
    remembered: pool.kind.declareMemory(pool.address, sideOf(pool), at.block.timestamp),
  }));
  const open = known.flatMap(([pool, { now, remembered }]) =>
    now !== null && (remembered === null || pool.kind.forgetsCoins) ? [pool] : [],
  );
  const earlier = await readEarlierStates(at, open, signal);
  return known.map(([pool, { now, remembered }]) => {
    if (now === null) return { ...pool, standing: null };
    const stood = remembered === null ? now : findStanding(now, remembered);
    if (!open.includes(pool)) return { ...pool, standing: stood };
    if (earlier === null) {
      return { ...pool, standing: remembered !== null && pool.token.isListed ? stood : undefined };
    }
    const was = earlier.get(pool);
    return { ...pool, standing: stood && was ? findStanding(stood, was) : null };
  });
}

/** Anyone makes pools for a token of theirs: results of those take the place of what contracts of anyone return. */
function shareByTrust(
  at: PinnedChain,
  pools: readonly Pool[],
): Pick<PinnedChain, "read" | "results" | "early"> {
  const { read, results } = at;
  if (results === undefined) return { read };
  const ofAnyone = new Set(pools.filter(({ token }) => !token.isListed).map(({ address }) => address));
  // The calls go to a pool, or ask a token what a pool has.
  const isOfAnyone = ({ to, data }: ContractRead) =>
    ofAnyone.has(to) || ofAnyone.has(`0x${data.slice(-ADDRESS_DIGITS)}`);
  const keep: KnownResults["keep"] = (key, call, result) => {
    if (!isOfAnyone(call)) results.keep(key, call, result);
    else if (result !== null && result !== "0x") results.keep(key, { ...call, gasMax: 0 }, result);
  };
  return { ...at, results: { find: results.find, keep } };
}

function declareState(pool: Pool) {
  return pool.kind.declareState(pool.address, sideOf(pool));
}

function sideOf({ token, quote }: Pool): { quote: Hex; isTokenFirst: boolean } {
  return { quote: quote.token, isTokenFirst: token.contract < quote.token };
}

/** Null if no node has the state of that time. */
async function readEarlierStates(
  at: PinnedChain,
  pools: readonly Pool[],
  signal: AbortSignal,
): Promise<ReadonlyMap<Pool, PoolState | null> | null> {
  if (pools.length === 0) return new Map();
  if (at.readEarlier === undefined) return null;
  const deadline = new Deadline(EARLIER_MS_MAX, signal);
  let isMissing = false;
  const read: PinnedChain["read"] = async (group, abort) => {
    const results = (await at.readEarlier?.(STOOD_SECONDS, group, abort)) ?? null;
    isMissing ||= results === null;
    return results ?? group.map(() => null);
  };
  try {
    const states = await readEach({ read }, deadline.signal, pools, declareState);
    return isMissing ? null : new Map(states);
  } catch (error) {
    // Too slow is as good as missing; what the caller aborts stays aborted.
    if (signal.aborted || !deadline.isLate) throw error;
    return null;
  } finally {
    deadline.end();
  }
}

function findStanding(now: PoolState, before: PoolState): PoolState | null {
  if (!agree(now.rate, before.rate, TIME_DIFFERENCE_PERCENT_MAX)) return null;
  return { ...now, depth: now.depth < before.depth ? now.depth : before.depth };
}

function agree([a, b]: Ratio, [c, d]: Ratio, percentMax: bigint): boolean {
  const difference = a * d - c * b;
  return (difference < 0n ? -difference : difference) * 100n <= c * b * percentMax;
}
