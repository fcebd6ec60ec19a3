// Reads at a block that the caller names: which nodes still have its state, and a client that uses only those.
import { decodeWord } from "../lib/abi/return-data.ts";
import type { Hex } from "../lib/hex.ts";
import type { BlockHeader } from "../schema/chain-log.ts";
import { contractCall } from "./contract-calls.ts";
import { headerCall } from "./headers.ts";
import { isTemporaryFailure, RPC_FAILURES, RpcError, type RpcFailureKind } from "./rpc/errors.ts";
import {
  type PinnedRpc,
  type PinOptions,
  type Rpc,
  type RpcCall,
  type RpcCallOptions,
  type RpcResults,
  unwrapResults,
} from "./rpc/types.ts";

/**
 * A call that returns the timestamp of its block. A node that dropped the state may execute the call on an empty one, and
 * one that ignores the block on the newest: neither returns that time.
 */
export type StateProof = { readonly to: Hex; readonly data: Hex };

/** `head`: the newest block of any node that responded. */
type PastState = { readonly head: number } & (
  | { readonly kind: "found"; readonly header: BlockHeader; readonly rpc: Rpc }
  | { readonly kind: "later" | "dropped" }
);

type NodeState = { readonly head: number; readonly header: BlockHeader | null };

// A node that is down must not hold up the others; a single one gets the usual attempts.
const ATTEMPTS_WITH_OTHERS = 2;
const PROOF_GAS_MAX = 100_000;

/** Throws while no node has the state and one that may have it fails temporarily: an outage proves nothing. */
export async function findPastState(
  rpc: Rpc,
  number: number,
  proof: StateProof,
  options: RpcCallOptions = {},
): Promise<PastState> {
  const providers = rpc.providers();
  const retries = providers.length > 1 ? { attemptsMax: ATTEMPTS_WITH_OTHERS, waitMsMax: 0 } : {};
  const outcomes = await Promise.allSettled(
    providers.map((_, only) =>
      rpc.pinned((node) => readNodeState(node, number, proof, options), { ...options, ...retries, only }),
    ),
  );
  options.signal?.throwIfAborted();
  const states = outcomes.map((outcome) => (outcome.status === "fulfilled" ? outcome.value : null));
  const heads = states.flatMap((state) => (state === null ? [] : [state.head]));
  const head = Math.max(...heads);
  const header = chooseHeader(states.flatMap((state) => state?.header ?? []));
  if (header !== null) {
    const exclude = states.flatMap((state, index) => (state?.header?.hash === header.hash ? [] : [index]));
    return { kind: "found", header, rpc: excludeProviders(rpc, exclude), head };
  }
  const reasons = outcomes.flatMap((outcome) => (outcome.status === "rejected" ? [outcome.reason] : []));
  const outage = reasons.find((reason) => !(reason instanceof RpcError) || isTemporaryFailure(reason.kind));
  if (outage !== undefined || heads.length === 0) throw outage ?? reasons[0];
  return { kind: head < number ? "later" : "dropped", head };
}

/** The block that most of the nodes with the state have; the first node decides between equals. */
function chooseHeader(headers: readonly BlockHeader[]): BlockHeader | null {
  const votes = (hash: Hex) => headers.filter((header) => header.hash === hash).length;
  return headers.reduce<BlockHeader | null>(
    (best, header) => (best !== null && votes(best.hash) >= votes(header.hash) ? best : header),
    null,
  );
}

/** The header is null if the node has not the block, or not its state. */
async function readNodeState(
  node: PinnedRpc,
  number: number,
  { to, data }: StateProof,
  options: RpcCallOptions,
): Promise<NodeState> {
  const [latest, found] = await node.batch([headerCall("latest"), headerCall(number)], options);
  const [{ number: head }] = unwrapResults([latest]);
  const header = okOrNull(found);
  if (header === null || head < number) return { head, header: null };
  const call = contractCall({ to, data, gasMax: PROOF_GAS_MAX, block: { blockHash: header.hash } });
  const [proven] = await node.batch([call], options);
  const time = okOrNull(proven);
  return { head, header: decodeWord(time) === BigInt(header.timestamp) ? header : null };
}

// Nodes word a dropped state in many ways, so that an unknown error means the same.
const NO_STATE: ReadonlySet<RpcFailureKind> = new Set([
  "missing",
  "unsupported",
  "reverted",
  "invalid-request",
  "internal",
]);

function okOrNull<T>(result: { readonly ok: T } | { readonly error: RpcError }): T | null {
  if ("ok" in result) return result.ok;
  if (NO_STATE.has(result.error.kind)) return null;
  throw result.error;
}

// geth keeps the state of 128 blocks; two may come while we look.
const USUAL_DEPTH = 126;
const GALLOP_BY = 8;
// Six steps from 126 blocks to four million, and as many to halve what is left.
const PROBES_MAX = 12;

/**
 * The oldest block above `dropped` whose state is found, by at most PROBES_MAX probes: the usual depth of a node, then
 * ever older blocks, then halves. Null when not even the newest block has it.
 */
export async function findOldestState(
  hasState: (block: number) => Promise<boolean>,
  range: { readonly dropped: number; readonly head: number },
): Promise<{ readonly oldest: number | null; readonly dropped: number }> {
  const { head } = range;
  let { dropped } = range;
  let oldest: number | null = null;
  for (let probes = 0; probes < PROBES_MAX && (oldest ?? head + 1) - dropped > 1; probes += 1) {
    const next = chooseProbe(oldest, { dropped, head, isFirst: probes === 0 });
    if (await hasState(next)) oldest = next;
    else dropped = next;
    if (dropped === head) break;
  }
  return { oldest, dropped };
}

function chooseProbe(
  oldest: number | null,
  { dropped, head, isFirst }: { readonly dropped: number; readonly head: number; readonly isFirst: boolean },
): number {
  if (oldest === null) return isFirst ? Math.max(dropped + 1, head - USUAL_DEPTH) : head;
  const older = head - Math.max(1, head - oldest) * GALLOP_BY;
  return older > dropped ? older : Math.floor((oldest + dropped) / 2);
}

/** The client without some of its providers: not even a failure of all others brings them back. */
function excludeProviders(rpc: Rpc, exclude: readonly number[]): Rpc {
  const withExcluded = (pin: PinOptions = {}): PinOptions => ({
    ...pin,
    exclude: [...exclude, ...(pin.exclude ?? [])],
  });
  const pinned: Rpc["pinned"] = (work, pin) => rpc.pinned(work, withExcluded(pin));
  return {
    pinned,
    request: (call, options = {}) => pinned((node) => node.request(call, options), options),
    batch: (calls, options = {}) => batchPinned(pinned, calls, options),
    providers: () => rpc.providers().filter((_, index) => !exclude.includes(index)),
    close: rpc.close,
  };
}

/** All on one provider: the next one reads everything again while a call fails that it may serve. */
async function batchPinned<const Calls extends readonly RpcCall[]>(
  pinned: Rpc["pinned"],
  calls: Calls,
  options: RpcCallOptions,
): Promise<RpcResults<Calls>> {
  try {
    return await pinned(async (node) => {
      const results = await node.batch(calls, options);
      for (const result of results as readonly ({ readonly error?: RpcError } | object)[]) {
        const error = "error" in result ? result.error : undefined;
        if (error !== undefined && RPC_FAILURES[error.kind].next !== "give-up") throw error;
      }
      return results;
    }, options);
  } catch (error) {
    if (!(error instanceof RpcError)) throw error;
    return calls.map(() => ({ error })) as unknown as RpcResults<Calls>;
  }
}
