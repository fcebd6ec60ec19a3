// Portfolio reads of one chain over JSON-RPC: every read is pinned to one block by its hash.

import { contractCall, createOverrideCaller } from "../chain/contract-calls.ts";
import { baseFeeCall, canonicalHeaderCall, headerCall, readHeader } from "../chain/headers.ts";
import {
  NATIVE_TRANSFERS,
  type TokenTransfer,
  topicLogsCall,
  transfersCall,
} from "../chain/logs/get-logs.ts";
import { readBigQuantity, readData } from "../chain/rpc/hex-values.ts";
import {
  type PinnedRpc,
  type Rpc,
  type RpcCall,
  type RpcResult,
  type RpcResults,
  unwrapResults,
} from "../chain/rpc/types.ts";
import { transactionCall } from "../chain/transactions.ts";
import { decodeWord } from "../lib/abi/return-data.ts";
import { type Clock, systemClock } from "../lib/clock.ts";
import { Fault } from "../lib/fault.ts";
import type { Hex } from "../lib/hex.ts";
import type { BlockHeader } from "../schema/chain-log.ts";
import { BlockResults, ResultsByBlock } from "./contract-reads/read-groups.ts";
import { readWithCaps } from "./contract-reads/scan-contracts.ts";
import { DatedBlocks } from "./dated-blocks.ts";
import { joinRequests, RequestJoiner } from "./joined-requests.ts";
import { PastBlocks } from "./past-blocks.ts";
import type {
  ChainConfig,
  ContractRead,
  PinnedBlock,
  PinnedChain,
  PortfolioChain,
  TransferLog,
} from "./types.ts";

// Enough for any single read of an honest protocol; readers that need more set their own limit.
const READ_GAS_MAX = 10_000_000;

const LOG_ATTEMPTS_MAX = 3;
// Leaves a search by itself most of its five seconds.
const JOINED_LOGS_MS_MAX = 1_500;

// Three scans of 30 million gas one after another.
const JOINED_LARGE_MS_MAX = 3_000;

// Many nodes keep the state of the last blocks only: one more node is tried.
const EARLIER_ATTEMPTS_MAX = 2;
// Blocks may come faster than the chain's average for a while.
const BLOCK_TIME_SLACK = 1.2;

export function createChainAccess(rpc: Rpc, chain: ChainConfig, clock: Clock = systemClock): PortfolioChain {
  const overrides = createOverrideCaller(rpc, clock);
  const pastBlocks = new PastBlocks(rpc, chain, clock);
  const datedBlocks = new DatedBlocks(rpc, chain, clock);
  const results = new ResultsByBlock(() => clock.nowMs());
  return {
    chain,
    async pin(signal, number, wallet) {
      if (number === undefined) {
        const header = await readHeader(rpc, "latest", { signal });
        const at = createPinnedChain({ rpc, chain, overrides }, toPinnedBlock(header), signal);
        return wallet === undefined ? at : { ...at, results: results.at(header.hash).of(wallet) };
      }
      const past = await pastBlocks.find(number, signal);
      // Has its own memory: what other nodes rejected, or rejected before, must not change a read of the past.
      const ownOverrides = createOverrideCaller(past.rpc, clock);
      const at = createPinnedChain(
        { rpc: past.rpc, chain, overrides: ownOverrides },
        toPinnedBlock(past.header),
        signal,
      );
      // Shared by no other read: the results that positions and prices ask for early.
      const ownResults = new BlockResults(clock.nowMs());
      return { ...at, asOf: true, ...(wallet !== undefined && { results: ownResults.of(wallet) }) };
    },
    canPin: (number) => pastBlocks.isKnown(number),
    blockAt: (seconds, signal) => datedBlocks.find(seconds, signal),
    async tryNodes({ number, isPast }, work, signal) {
      return tryNodes(isPast ? (await pastBlocks.find(number, signal)).rpc : rpc, work, signal);
    },
  };
}

// A third node that proves nothing either is not worth its requests.
const TRIED_NODES_MAX = 2;

async function tryNodes<T>(
  rpc: Rpc,
  work: (node: PinnedRpc) => Promise<T | null>,
  signal: AbortSignal,
): Promise<T | null> {
  const exclude: number[] = [];
  const usable = Math.min(rpc.providers().length, TRIED_NODES_MAX);
  while (exclude.length < usable) {
    const result = await rpc.pinned(
      (node) => {
        exclude.push(node.providerIndex);
        return work(node);
      },
      { signal, exclude, attemptsMax: 1 },
    );
    if (result !== null) return result;
  }
  return null;
}

function toPinnedBlock({ number, hash, timestamp }: BlockHeader): PinnedBlock {
  return { number, hash, timestamp };
}

type NodeAccess = {
  readonly rpc: Rpc;
  readonly chain: ChainConfig;
  readonly overrides: ReturnType<typeof createOverrideCaller>;
};

function createPinnedChain(
  { rpc, chain, overrides }: NodeAccess,
  block: PinnedBlock,
  signal: AbortSignal,
): PinnedChain {
  const state = joinRequests(rpc, signal);
  const large = joinRequests(rpc, signal, JOINED_LARGE_MS_MAX);
  const at: PinnedChain = {
    ...createStateReads(state, chain, block),
    ...createHistoryReads({ rpc, state }, block, signal),
    readEarlier: (seconds, calls, abort) => readEarlier(rpc, { chain, block, seconds }, calls, abort),
    callWithOverride: ({ isSmall, isRepeated, ...call }, abort) =>
      overrides.callWithOverride(block, call, abort, isSmall ? state : isRepeated ? large : undefined),
    callAsAccount: (call, abort) => overrides.callAsAccount(block, call, abort),
  };
  // Large scans and sales keep a node busy, and stay requests of their own; bundles of small reads do not.
  const small: Pick<PinnedChain, "read" | "callWithOverride"> = {
    read: at.read,
    callWithOverride: (call, abort) => at.callWithOverride({ ...call, isSmall: true }, abort),
  };
  return { ...at, read: (calls, abort) => readWithCaps(small, calls, abort) };
}

type StateReads = "chain" | "block" | "read" | "nativeBalance" | "baseFee" | "code" | "storage";

function createStateReads(rpc: Rpc, chain: ChainConfig, block: PinnedBlock): Pick<PinnedChain, StateReads> {
  const at = { blockHash: block.hash };
  return {
    chain,
    block,
    async read(calls, signal) {
      if (calls.length === 0) return [];
      const requests = calls.map(({ to, data, gasMax = READ_GAS_MAX }) =>
        contractCall({ to, data, gasMax, block: at }),
      );
      return unwrapCalls(await rpc.batch(requests, { signal }));
    },
    nativeBalance: (wallet, signal) =>
      rpc.request(
        {
          method: "eth_getBalance",
          params: [wallet, at],
          parse: (balance) => readBigQuantity(balance, "the balance"),
        },
        { signal },
      ),
    baseFee: (signal) => rpc.request(baseFeeCall(block.hash), { signal }),
    code: (address, signal) =>
      rpc.request(
        { method: "eth_getCode", params: [address, at], parse: (code) => readData(code, "the code") },
        { signal },
      ),
    storage: (address, slot, signal) =>
      rpc.request(
        {
          method: "eth_getStorageAt",
          params: [address, `0x${slot.toString(16)}`, at],
          parse: (word) => readBigQuantity(word, "the word in storage"),
        },
        { signal },
      ),
  };
}

/** Nodes search logs and old transactions slowly, or not at all: the state of the wallet does not wait for them. */
function createHistoryReads(
  { rpc, state }: { readonly rpc: Rpc; readonly state: Rpc },
  block: PinnedBlock,
  pinSignal: AbortSignal,
): Pick<PinnedChain, "transfers" | "logs" | "blockHash" | "timestamps" | "senders"> {
  const joined = joinRequests(rpc, pinSignal);
  const readLogs = createLogReader(rpc, block, pinSignal);
  return {
    async transfers(filter, signal) {
      requireWithin(block, filter.toBlock);
      return (await readLogs(transfersCall(filter), signal)).map(toTransferLog);
    },
    logs(filter, signal) {
      requireWithin(block, filter.toBlock);
      return readLogs(topicLogsCall(filter), signal);
    },
    async blockHash(number, signal) {
      requireWithin(block, number);
      const { parse, ...call } = headerCall(number);
      const [header] = await readLogs({ ...call, parse: (value: unknown) => [parse(value)] }, signal);
      if (header === undefined) throw new TypeError("A header was parsed to nothing.");
      return header.hash;
    },
    async timestamps(blocks, signal) {
      for (const number of blocks) requireWithin(block, number);
      const distinct = [...new Set(blocks)];
      const headers = unwrapResults(await state.batch(distinct.map(headerCall), { signal }));
      return new Map(headers.map(({ number, timestamp }) => [number, timestamp]));
    },
    async senders(hashes, signal) {
      if (hashes.length === 0) return new Map();
      const results = await joined.batch([...new Set(hashes)].map(transactionCall), { signal });
      const found = results.flatMap((result) => ("ok" in result ? [result.ok] : []));
      return new Map(found.map(([hash, { from }]) => [hash, from]));
    },
  };
}

function unwrapCalls(results: readonly RpcResult<Hex>[]): readonly (Hex | null)[] {
  return results.map((result) => {
    if ("ok" in result) return result.ok;
    // The contract causes a single oversized result: treat it like a revert, so that other calls are unaffected.
    if (result.error.kind === "reverted" || result.error.kind === "response-too-large") return null;
    throw result.error;
  });
}

async function readEarlier(
  rpc: Rpc,
  query: { readonly chain: ChainConfig; readonly block: PinnedBlock; readonly seconds: number },
  calls: readonly ContractRead[],
  signal: AbortSignal,
): Promise<readonly (Hex | null)[] | null> {
  const { chain, block, seconds } = query;
  const number = block.number - Math.ceil((seconds * 1_000 * BLOCK_TIME_SLACK) / chain.blockTimeMs);
  if (number < 0) return null;
  const requests = calls.map(({ to, data, gasMax = READ_GAS_MAX }) =>
    contractCall({ to, data, gasMax, block: number }),
  );
  const read = async (node: Rpc) => {
    const [header, ...results] = await node.batch([headerCall(number), ...requests], { signal });
    const [{ timestamp }] = unwrapResults([header]);
    return timestamp <= block.timestamp - seconds ? unwrapCalls(results) : null;
  };
  try {
    return await rpc.pinned(read, { signal, attemptsMax: EARLIER_ATTEMPTS_MAX });
  } catch (error) {
    signal.throwIfAborted();
    // Nodes word a pruned state in many ways, so that every failure means the same here: the state cannot be had.
    if (error instanceof Fault) return null;
    throw error;
  }
}

/** Searches of the same moment share a request, and the header in it. */
function createLogReader(rpc: Rpc, block: PinnedBlock, pinSignal: AbortSignal) {
  // In the same batch it proves that the node has the range: a lagging node would return fewer logs.
  const header = canonicalHeaderCall(block.number, block.hash);
  const joiner = new RequestJoiner(rpc, pinSignal, JOINED_LOGS_MS_MAX);
  return <T>(call: RpcCall<readonly T[]>, signal: AbortSignal): Promise<readonly T[]> => {
    const calls = [call, header] as const;
    const interpret = (results: readonly RpcResult[]) => {
      const [logs] = unwrapResults(results as RpcResults<typeof calls>);
      return logs;
    };
    // Logs are optional: fails early instead of delaying the snapshot.
    const readAlone = () =>
      rpc.pinned(async (node) => interpret(await readRange(node, calls, signal)), {
        signal,
        attemptsMax: LOG_ATTEMPTS_MAX,
      });
    return joiner.read({ calls, interpret, readAlone }, signal);
  };
}

async function readRange<const Calls extends readonly RpcCall[]>(
  node: Rpc,
  calls: Calls,
  signal: AbortSignal,
): Promise<RpcResults<Calls>> {
  const results = await node.batch(calls, { signal });
  const [logs] = results as readonly RpcResult[];
  // A slow range and a slow node look the same; a smaller range helps with both.
  if (logs && "error" in logs && logs.error.kind === "timeout") {
    throw new Fault("LOGS_TOO_LARGE", logs.error.message, { cause: logs.error });
  }
  return results;
}

function toTransferLog({ log, from, to, isErc721, tokenId }: TokenTransfer): TransferLog {
  return {
    contract: log.address === NATIVE_TRANSFERS ? null : log.address,
    from,
    to,
    transactionHash: log.transactionHash,
    blockNumber: log.blockNumber,
    blockTimestamp: log.blockTimestamp,
    logIndex: log.logIndex,
    amount: isErc721 ? null : decodeWord(log.data),
    isErc721,
    tokenId,
  };
}

function requireWithin(block: PinnedBlock, number: number): void {
  if (number <= block.number) return;
  throw new Fault("INTERNAL", `Block ${number} lies above the pinned block ${block.number}.`);
}
