// The newest block that no reorg can undo, on which two nodes agree; it never decreases within this process.
import { type Clock, systemClock } from "../../lib/clock.ts";
import type { BlockHeader } from "../../schema/chain-log.ts";
import { canonicalHeaderCall, headerCall } from "../headers.ts";
import { malformedResponse, type RpcFailureKind } from "../rpc/errors.ts";
import type { PinnedRpc, Rpc, RpcCallOptions } from "../rpc/types.ts";

type FinalizedHeaderOptions = RpcCallOptions & {
  /** Blocks below the head that count as final if a node has no finalized tag, or no second node confirms it. */
  readonly depthFallback: number;
  /** The finalized block is never closer to the head than this, whatever nodes claim. */
  readonly depthMin: number;
  /** Whether to ask for the safe block too, which `getClaimedSafeBlock` then has. */
  readonly withSafe?: boolean;
  /** How long to wait for the second node. */
  readonly waitMsMax?: number;
  readonly clock?: Clock;
};

/** One node's report about the end of the chain. `tagged` is null if it has no finalized tag. */
type Claim = {
  readonly provider: number;
  readonly head: number;
  readonly final: number;
  readonly tagged: BlockHeader | null;
  /** Null if it has no safe tag, or was not asked. */
  readonly safe: number | null;
};

type FinalityState = {
  newest: BlockHeader | null;
  safe: number | null;
  second: (Claim & { readonly atMs: number }) | null;
  /** The read of a second claim that is under way. */
  pending: { readonly sinceMs: number; readonly done: Promise<void> } | null;
};

// Error kinds of a node without the tag: unknown parameter, no such block, or something internal.
const NO_TAG: ReadonlySet<RpcFailureKind> = new Set([
  "invalid-request",
  "unsupported",
  "internal",
  "missing",
]);
// The caller follows the head: a node that hangs must not delay each block by a whole request timeout.
const WAIT_MS_MAX = 1_000;
// Finality only advances, so an old claim is merely low; after this it would hold finality back.
const CLAIM_AGE_MS_MAX = 30_000;

// Per client, so that every caller on the same nodes shares what is known.
const states = new WeakMap<Rpc, FinalityState>();

/**
 * The finalized header. A claim counts when a second node makes it too, so the lower of two claims decides. The claim
 * of one node alone (the other is down, hangs or lags) counts only down to the fallback depth. A single configured node
 * has only its own head to compare with: the minimum depth bounds its claim.
 */
export async function readFinalizedHeader(rpc: Rpc, options: FinalizedHeaderOptions): Promise<BlockHeader> {
  const state = stateOf(rpc);
  const found = await rpc.pinned(async (node) => {
    const own = await readClaim(node, options);
    if (options.withSafe) state.safe = own.safe;
    if (state.newest && isNear(state.newest, own, options)) return state.newest;
    const second = await readSecondClaim(rpc, own.provider, state, options);
    const number = finalNumber(own, second, rpc.providers().length > 1, options);
    if (state.newest && state.newest.number >= number) return state.newest;
    // Stored for good, so a number without a block would stay wrong forever: read the block by that number.
    const isTagged = own.tagged?.number === number;
    return node.request(
      isTagged ? canonicalHeaderCall(number, own.tagged.hash) : headerCall(number),
      options,
    );
  }, options);
  if (!state.newest || state.newest.number < found.number) state.newest = found;
  return state.newest;
}

/**
 * The safe block that a node claimed when the finalized one was last read; null if it has no such tag. No second node
 * confirms it: what depends on it must bear that a reorg undoes it, as it may on an honest node.
 */
export function getClaimedSafeBlock(rpc: Rpc): number | null {
  return stateOf(rpc).safe;
}

function stateOf(rpc: Rpc): FinalityState {
  const state = states.get(rpc) ?? { newest: null, safe: null, second: null, pending: null };
  states.set(rpc, state);
  return state;
}

/** A second node adds nothing: no claim goes beyond what is known, which is not suspiciously far from the head. */
function isNear(newest: BlockHeader, own: Claim, { depthFallback }: FinalizedHeaderOptions): boolean {
  return own.final <= newest.number && own.head - newest.number <= depthFallback;
}

function finalNumber(
  own: Claim,
  second: Claim | null,
  several: boolean,
  { depthFallback, depthMin }: FinalizedHeaderOptions,
): number {
  const head = Math.min(own.head, second?.head ?? own.head);
  const alone = several ? 0 : own.final;
  const confirmed = second ? Math.min(own.final, second.final) : alone;
  const claimed = Math.max(own.final, second?.final ?? 0);
  const deep = Math.min(claimed, head - depthFallback);
  return Math.max(0, Math.min(Math.max(confirmed, deep), head - depthMin));
}

/** The claim of another node than the first; null if no other node responds in time. */
async function readSecondClaim(
  rpc: Rpc,
  first: number,
  state: FinalityState,
  options: FinalizedHeaderOptions,
): Promise<Claim | null> {
  if (rpc.providers().length < 2) return null;
  const clock = options.clock ?? systemClock;
  state.pending ??= { sinceMs: clock.nowMs(), done: updateSecondClaim(rpc, first, state, clock, options) };
  const { sinceMs, done } = state.pending;
  const leftMs = sinceMs + (options.waitMsMax ?? WAIT_MS_MAX) - clock.nowMs();
  if (leftMs > 0) {
    const stopWaiting = new AbortController();
    await Promise.race([done, clock.sleep(leftMs, stopWaiting.signal).catch(() => undefined)]);
    stopWaiting.abort();
  }
  options.signal?.throwIfAborted();
  const { second } = state;
  if (!second || second.provider === first) return null;
  return clock.nowMs() - second.atMs <= CLAIM_AGE_MS_MAX ? second : null;
}

// Without the caller's signal: the claim serves the next caller when this one has stopped waiting.
async function updateSecondClaim(
  rpc: Rpc,
  first: number,
  state: FinalityState,
  clock: Clock,
  options: FinalizedHeaderOptions,
): Promise<void> {
  const { signal: _, ...withoutSignal } = options;
  try {
    const claim = await rpc.pinned(
      // With no other provider available the client falls back to the first one, which confirms nothing.
      // Only the first node's safe block is used.
      async (node) =>
        node.providerIndex === first ? null : readClaim(node, { ...withoutSignal, withSafe: false }),
      { avoid: [first], attemptsMax: 1 },
    );
    if (claim) state.second = { ...claim, atMs: clock.nowMs() };
  } catch {
    // The provider's health and the log have it already; the claim stays unconfirmed.
  } finally {
    state.pending = null;
  }
}

async function readClaim(node: PinnedRpc, options: FinalizedHeaderOptions): Promise<Claim> {
  const ends = [headerCall("finalized"), headerCall("latest")] as const;
  const [finalized, latest, safe] = options.withSafe
    ? await node.batch([...ends, headerCall("safe")], options)
    : await node.batch(ends, options);
  if ("error" in latest) throw latest.error;
  const at = {
    provider: node.providerIndex,
    head: latest.ok.number,
    safe: safe && "ok" in safe ? Math.min(safe.ok.number, latest.ok.number) : null,
  };
  if ("ok" in finalized) {
    if (finalized.ok.number > at.head) {
      throw malformedResponse(`block ${finalized.ok.number} is called final, but the head is ${at.head}`);
    }
    return { ...at, final: finalized.ok.number, tagged: finalized.ok };
  }
  if (!NO_TAG.has(finalized.error.kind)) throw finalized.error;
  return { ...at, final: Math.max(0, at.head - options.depthFallback), tagged: null };
}
