// View calls about the past: at the block itself if a node still has its state, or at a later block.

import type { Hex } from "../lib/hex.ts";
import type { BlockId } from "../schema/chain-log.ts";
import { callContracts, contractCall } from "./contract-calls.ts";
import { canonicalHeaderCall, readHeader } from "./headers.ts";
import { getLogsCall } from "./logs/get-logs.ts";
import { isTemporaryFailure, missingResult, RpcError } from "./rpc/errors.ts";
import { toQuantity } from "./rpc/hex-values.ts";
import {
  type PinnedRpc,
  type PinOptions,
  type Rpc,
  type RpcCallOptions,
  type RpcResult,
  unwrapResults,
} from "./rpc/types.ts";

type HistoricalCall = {
  readonly to: Hex;
  readonly data: Hex;
  readonly blockNumber: number;
  readonly blockHash: Hex;
};

// Every machine behind a balancer has a block that is this old, and every node has its state: geth keeps 128 blocks.
const DEPTH = 16;
// A provider that is down must not hold up the others; a single one gets the usual number of attempts.
const ATTEMPTS_WITH_OTHERS = 2;

/**
 * Results at the state after each call's block; null if the call reverted or returned nothing, or no provider has
 * that state. Throws while a result is missing and a provider that may have it fails temporarily: an outage proves
 * nothing.
 */
export async function callAtBlocks(
  rpc: Rpc,
  calls: readonly HistoricalCall[],
  options: RpcCallOptions = {},
): Promise<readonly (Hex | null)[]> {
  const results = calls.map((): Hex | null => null);
  let failure: RpcError | null = null;
  let hasResponse = false;
  for (const { only, retries } of providersInOrder(rpc)) {
    const open = [...calls.entries()].filter(([index]) => results[index] === null);
    if (open.length === 0) return results;
    try {
      const pin = { ...options, ...retries, only };
      const found = await rpc.pinned(
        (node) =>
          callNode(
            node,
            open.map(([, call]) => call),
            options,
          ),
        pin,
      );
      for (const [at, [index]] of open.entries()) results[index] = found[at] ?? null;
      hasResponse = true;
    } catch (error) {
      if (!(error instanceof RpcError)) throw error;
      if (failure === null || isTemporaryFailure(error.kind)) failure = error;
    }
  }
  if (failure && (!hasResponse || (isTemporaryFailure(failure.kind) && results.includes(null))))
    throw failure;
  return results;
}

type ProviderTurn = {
  readonly only: number;
  readonly retries: Pick<PinOptions, "attemptsMax" | "waitMsMax">;
};

/** Providers that cool down come last and are not waited for while others are ready; one that rejects us is left out. */
function providersInOrder(rpc: Rpc): readonly ProviderTurn[] {
  const providers = rpc.providers().map((health, only) => ({ ...health, only }));
  const retries = providers.length > 1 ? { attemptsMax: ATTEMPTS_WITH_OTHERS } : {};
  const ready = providers.filter(({ state }) => state === "ready");
  if (ready.length === 0) return providers.map(({ only }) => ({ only, retries }));
  const coolingDown = providers.filter(
    ({ state, lastFailure }) =>
      state === "cooling-down" && (lastFailure === null || isTemporaryFailure(lastFailure)),
  );
  return [
    ...ready.map(({ only }) => ({ only, retries })),
    ...coolingDown.map(({ only }) => ({ only, retries: { ...retries, waitMsMax: 0 } })),
  ];
}

async function callNode(
  node: PinnedRpc,
  calls: readonly HistoricalCall[],
  options: RpcCallOptions,
): Promise<(Hex | null)[]> {
  const located = calls.map(({ to, data, blockHash }) => contractCall({ to, data, block: { blockHash } }));
  return (await node.batch(located, options)).map(resultOf);
}

// A revert or an empty result counts as no state, too: some nodes execute calls on a dropped state as if it were empty.
const NO_STATE: ReadonlySet<RpcError["kind"]> = new Set(["missing", "unsupported", "reverted"]);

function resultOf(result: RpcResult<Hex>): Hex | null {
  if ("ok" in result) return result.ok === "0x" ? null : result.ok;
  if (NO_STATE.has(result.error.kind)) return null;
  throw result.error;
}

/** `at`: the block of the results; null if there was no call. */
type LaterCallResults = {
  readonly at: BlockId | null;
  readonly results: readonly (Hex | null)[];
};

/**
 * Results at one recent block that descends from the block of every call; null for a revert. The blocks must belong to
 * one chain, so that checking the newest checks them all. Throws BLOCK_MISSING, which may be retried, when the newest is
 * not on the node's chain.
 */
export async function callAtLaterBlock(
  rpc: Rpc,
  calls: readonly HistoricalCall[],
  options: RpcCallOptions = {},
): Promise<LaterCallResults> {
  const newest = calls.reduce<HistoricalCall | null>(
    (best, call) => (best && best.blockNumber >= call.blockNumber ? best : call),
    null,
  );
  if (!newest) return { at: null, results: [] };
  return rpc.pinned(async (node) => {
    const at = await laterBlock(node, newest, options);
    const located = calls.map(({ to, data }) => ({ to, data, block: { blockHash: at.hash } }));
    const results = await callContracts(node, located, options);
    // After the calls: both blocks are still on one chain, so the later one descends from the other.
    const chain = [
      canonicalHeaderCall(newest.blockNumber, newest.blockHash),
      canonicalHeaderCall(at.number, at.hash),
    ];
    unwrapResults(await node.batch(chain, options));
    return {
      at: { number: at.number, hash: at.hash },
      results: results.map((result) => ("ok" in result ? result.ok : null)),
    };
  }, options);
}

type LogsSinceQuery = {
  readonly address: Hex;
  readonly topics: readonly (Hex | null)[];
  readonly fromBlock: number;
};

/**
 * Whether there is a log since a block, up to the block `at` of an earlier read. The node must have that block: one
 * that is behind would show fewer logs without an error. Null if no provider searches a range that long. One request
 * per query: our own nodes take any range, and vendors reject it at once.
 */
export async function hasLogsSince(
  rpc: Rpc,
  queries: readonly LogsSinceQuery[],
  at: BlockId,
  options: RpcCallOptions = {},
): Promise<readonly (boolean | null)[]> {
  return rpc.pinned(async (node) => {
    const calls = queries.map(({ address, topics, fromBlock }) => {
      const range = { fromBlock: toQuantity(fromBlock), toBlock: toQuantity(at.number) };
      return getLogsCall({ address, topics, ...range }, (logs) => logs.length > 0);
    });
    const results = await node.batch(calls, options);
    // After the logs: the node has reached that block, and it is on the node's chain.
    await node.request(canonicalHeaderCall(at.number, at.hash), options);
    return results.map((result) => {
      if ("ok" in result) return result.ok;
      if (isTemporaryFailure(result.error.kind) && result.error.kind !== "timeout") throw result.error;
      return null;
    });
  }, options);
}

async function laterBlock(
  node: PinnedRpc,
  { blockNumber, blockHash }: HistoricalCall,
  options: RpcCallOptions,
): Promise<BlockId> {
  const head = await readHeader(node, "latest", options);
  if (head.number < blockNumber) throw missingResult(`block ${blockNumber} not found`);
  const number = head.number - DEPTH;
  return number <= blockNumber ? { number: blockNumber, hash: blockHash } : readHeader(node, number, options);
}
