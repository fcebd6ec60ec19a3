// View calls about the past: at the block itself where a node still has its state, or at a later block of the same chain.
import type { Hex } from "../lib/hex.ts";
import { callContracts, contractCall } from "./contract-calls.ts";
import { canonicalHeaderCall, readHeader } from "./headers.ts";
import {
  malformedResponse,
  missingResult,
  RPC_FAILURES,
  RpcError,
  type RpcFailureKind,
} from "./rpc/errors.ts";
import { toQuantity } from "./rpc/hex-values.ts";
import {
  type PinnedRpc,
  type PinOptions,
  type Rpc,
  type RpcCallOptions,
  type RpcResult,
  unwrapResults,
} from "./rpc/types.ts";

export type HistoricalCall = {
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
 * Results at the state after each call's block; null where the call reverted or returned nothing, or no provider has that
 * state. Throws while a result is missing and a provider that may have it fails in passing: an outage is no absence.
 */
export async function callAtBlocks(
  rpc: Rpc,
  calls: readonly HistoricalCall[],
  options: RpcCallOptions = {},
): Promise<readonly (Hex | null)[]> {
  const results = calls.map((): Hex | null => null);
  let failure: RpcError | null = null;
  let heard = false;
  for (const { only, patience } of inOrder(rpc)) {
    const open = [...calls.entries()].filter(([index]) => results[index] === null);
    if (open.length === 0) return results;
    try {
      const asked = open.map(([, call]) => call);
      const pin = { ...options, ...patience, only };
      const found = await rpc.pinned((node) => askNode(node, asked, options), pin);
      for (const [at, [index]] of open.entries()) results[index] = found[at] ?? null;
      heard = true;
    } catch (error) {
      if (!(error instanceof RpcError)) throw error;
      if (failure === null || passes(error.kind)) failure = error;
    }
  }
  if (failure && (!heard || (passes(failure.kind) && results.includes(null)))) throw failure;
  return results;
}

type Turn = { readonly only: number; readonly patience: Pick<PinOptions, "attemptsMax" | "waitMsMax"> };

/** Those that rest come last and are not waited for while others are ready; one that refuses us is left out. */
function inOrder(rpc: Rpc): readonly Turn[] {
  const providers = rpc.providers().map((health, only) => ({ ...health, only }));
  const attempts = providers.length > 1 ? { attemptsMax: ATTEMPTS_WITH_OTHERS } : {};
  const ready = providers.filter(({ state }) => state === "ready");
  if (ready.length === 0) return providers.map(({ only }) => ({ only, patience: attempts }));
  const resting = providers.filter(
    ({ state, lastFailure }) => state === "resting" && (lastFailure === null || passes(lastFailure)),
  );
  return [
    ...ready.map(({ only }) => ({ only, patience: attempts })),
    ...resting.map(({ only }) => ({ only, patience: { ...attempts, waitMsMax: 0 } })),
  ];
}

function passes(kind: RpcFailureKind): boolean {
  return RPC_FAILURES[kind].next === "retry";
}

async function askNode(
  node: PinnedRpc,
  calls: readonly HistoricalCall[],
  options: RpcCallOptions,
): Promise<(Hex | null)[]> {
  const located = calls.map(({ to, data, blockHash }) => contractCall({ to, data, block: { blockHash } }));
  return (await node.batch(located, options)).map(resultOf);
}

// A revert or an empty result counts as no state, too: some nodes execute calls on a state that they dropped as if it
// were empty.
const NO_STATE: ReadonlySet<RpcError["kind"]> = new Set(["missing", "unsupported", "reverted"]);

function resultOf(answer: RpcResult<Hex>): Hex | null {
  if ("ok" in answer) return answer.ok === "0x" ? null : answer.ok;
  if (NO_STATE.has(answer.error.kind)) return null;
  throw answer.error;
}

export type HistoricalBlock = { readonly number: number; readonly hash: Hex };

/** `at`: the block that was read at; null where there was no call. */
export type LaterCallResults = {
  readonly at: HistoricalBlock | null;
  readonly results: readonly (Hex | null)[];
};

/**
 * Results at one recent block that descends from the block of every call; null for a revert. The blocks must belong to
 * one chain: then the newest of them vouches for the others. Throws BLOCK_MISSING, which may be retried, when the newest
 * is not on the node's chain.
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
    // After the calls: both blocks still stand on one chain, so the later one descends from the other.
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

export type LogsSinceQuery = {
  readonly address: Hex;
  readonly topics: readonly Hex[];
  readonly fromBlock: number;
};

/**
 * Whether there is a log since a block, up to the block that `callAfterBlocks` has read at, which the node must have: one
 * that is behind would show fewer logs without an error. Null where no provider searches a range that long. One request per query: nodes of one's own take any range, and vendors refuse it at once.
 */
export async function hasLogsSince(
  rpc: Rpc,
  queries: readonly LogsSinceQuery[],
  at: HistoricalBlock,
  options: RpcCallOptions = {},
): Promise<readonly (boolean | null)[]> {
  return rpc.pinned(async (node) => {
    const answers = await node.batch(
      queries.map(({ address, topics, fromBlock }) => ({
        method: "eth_getLogs",
        params: [
          {
            address,
            topics,
            fromBlock: toQuantity(fromBlock),
            toBlock: toQuantity(at.number),
          },
        ],
        parse: (logs: unknown) => {
          if (!Array.isArray(logs)) throw malformedResponse("the logs are not a list");
          return logs.length > 0;
        },
      })),
      options,
    );
    // After the logs: the node has come to that block, and it is on the node's chain.
    unwrapResults(await node.batch([canonicalHeaderCall(at.number, at.hash)], options));
    return answers.map((answer) => {
      if ("ok" in answer) return answer.ok;
      if (RPC_FAILURES[answer.error.kind].next === "retry" && answer.error.kind !== "timeout")
        throw answer.error;
      return null;
    });
  }, options);
}

async function laterBlock(
  node: PinnedRpc,
  { blockNumber, blockHash }: HistoricalCall,
  options: RpcCallOptions,
): Promise<HistoricalBlock> {
  const head = await readHeader(node, "latest", options);
  if (head.number < blockNumber) throw missingResult(`block ${blockNumber} is not there`);
  const number = head.number - DEPTH;
  return number <= blockNumber ? { number: blockNumber, hash: blockHash } : readHeader(node, number, options);
}
