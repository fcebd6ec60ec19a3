// Finds which of hundreds of markets a wallet uses: the calls are encoded once, and a result of nothing is not decoded.
//
// Nearly every wallet uses none of the markets, and each snapshot asks about all of them. Against encoding and decoding
// every call this takes a thirtieth of the time: 0.04 against 1.3 ms on Ethereum (scan-accounts.bench.ts).

import { decodeAggregate3, encodeAggregate3, MULTICALL3 } from "../../../chain/aggregate3.ts";
import { splitIntoChunks } from "../../../lib/chunks.ts";
import type { Hex } from "../../../lib/hex.ts";
import { defineRead, joinEach, toWords } from "../../contract-reads/reads.ts";
import type { ContractRead, PinnedChain } from "../../types.ts";
import type { MorphoBlueMarkets } from "./contracts.ts";

/** A market that a wallet uses. */
export type MorphoAccount = {
  readonly morpho: Hex;
  readonly id: Hex;
  readonly supplyShares: bigint;
  readonly borrowShares: bigint;
  readonly collateral: bigint;
};
type AccountScan = { readonly accounts: readonly MorphoAccount[]; readonly unreadable: number };

const POSITION_WORDS = 3;
const CALLS_PER_MULTICALL_MAX = 200;
/** Five times what this many cold reads of storage take. */
const MULTICALL_GAS_MAX = 10_000_000;

/** Supplied shares, borrowed shares, collateral. */
const position = defineRead("function position(bytes32, address)", toWords(POSITION_WORDS));

/** Stands for the wallet in calls that are encoded once. No address of a market contains it. */
const PLACEHOLDER: Hex = `0x${"5ca9".repeat(10)}`;

type Chunk = {
  readonly morpho: Hex;
  readonly ids: readonly Hex[];
  /** The encoded multicall, split at the positions of the wallet. */
  readonly parts: readonly string[];
  /** The result of the multicall when the wallet has nothing in any of the markets. */
  readonly emptyResult: string;
};

/** One scan for all wallets: encodes at its first use. */
export function createAccountScan(): (
  at: PinnedChain,
  wallet: Hex,
  markets: readonly MorphoBlueMarkets[],
  signal: AbortSignal,
) => Promise<AccountScan> {
  const chunksOf = new WeakMap<readonly MorphoBlueMarkets[], readonly Chunk[]>();
  return async (at, wallet, markets, signal) => {
    const chunks = chunksOf.get(markets) ?? markets.flatMap(encodeChunks);
    chunksOf.set(markets, chunks);
    const returned = await at.read(
      chunks.map((chunk) => fillIn(chunk, wallet)),
      signal,
    );
    const scans = await Promise.all(
      chunks.map((chunk, index) => collectAccounts(at, wallet, chunk, returned[index] ?? null, signal)),
    );
    return {
      accounts: scans.flatMap(({ accounts }) => accounts),
      unreadable: scans.reduce((sum, { unreadable }) => sum + unreadable, 0),
    };
  };
}

export function declarePositions(morpho: Hex, ids: readonly Hex[], wallet: Hex) {
  return joinEach(ids, (id) => position(morpho, [id, wallet]));
}

function encodeChunks({ morpho, ids }: MorphoBlueMarkets): readonly Chunk[] {
  return splitIntoChunks(ids, CALLS_PER_MULTICALL_MAX).map((chunk) => ({
    morpho,
    ids: chunk,
    parts: encodeAggregate3(declarePositions(morpho, chunk, PLACEHOLDER).calls).split(PLACEHOLDER.slice(2)),
    emptyResult: encodeEmptyResult(chunk.length),
  }));
}

function fillIn({ parts }: Chunk, wallet: Hex): ContractRead {
  const data = parts.join(wallet.slice(2).toLowerCase()) as Hex;
  return { to: MULTICALL3, data, gasMax: MULTICALL_GAS_MAX };
}

/** A list of `count` successful calls that each return three zeros, in the ABI's canonical form. */
function encodeEmptyResult(count: number): string {
  const word = (value: number) => value.toString(16).padStart(64, "0");
  // Success, the offset and the length of the data, and the data.
  const entry = [1, 64, 32 * POSITION_WORDS, 0, 0, 0].map(word).join("");
  const entryBytes = entry.length / 2;
  const offsets = Array.from({ length: count }, (_, index) => word(32 * count + entryBytes * index));
  return `0x${word(32)}${word(count)}${offsets.join("")}${entry.repeat(count)}`;
}

async function collectAccounts(
  at: PinnedChain,
  wallet: Hex,
  { morpho, ids, emptyResult }: Chunk,
  result: Hex | null,
  signal: AbortSignal,
): Promise<AccountScan> {
  if (result === emptyResult) return { accounts: [], unreadable: 0 };
  const positions = declarePositions(morpho, ids, wallet);
  // Multicall3 may be missing or run out of gas: ask one by one.
  const results = decodeAggregate3(result ?? "0x", ids.length) ?? (await at.read(positions.calls, signal));
  const read = positions.decode(results);
  const accounts = read.flatMap(([id, words]): MorphoAccount[] => {
    if (words === null || words.every((word) => word === 0n)) return [];
    const [supplyShares, borrowShares, collateral] = words;
    return [{ morpho, id, supplyShares, borrowShares, collateral }];
  });
  return { accounts, unreadable: read.filter(([, words]) => words === null).length };
}
