// The newest block that no reorg can undo: what two nodes agree on, and never going back within this process.
import { type Clock, systemClock } from "../../lib/clock.ts";
import type { BlockHeader } from "../../schema/chain-log.ts";
import { canonicalHeaderCall, headerCall } from "../headers.ts";
import { malformedResponse, RpcError } from "../rpc/errors.ts";
import type { PinnedRpc, Rpc, RpcCallOptions } from "../rpc/types.ts";

export type FinalizedHeaderOptions = RpcCallOptions & {
  /** Blocks below the head that count as final where a node has no finalized tag, or no second node confirms it. */
  readonly depthFallback: number;
  /** The finalized block is never closer to the head than this, whatever nodes claim. */
  readonly depthMin: number;
  /** How long to wait for the second node. */
  readonly waitMsMax?: number;
  readonly clock?: Clock;
};

/** What one node says about the chain's end. `tagged` is null where it has no finalized tag. */
type Claim = {
  readonly provider: number;
  readonly head: number;
  readonly final: number;
  readonly tagged: BlockHeader | null;
};

type Knowledge = {
  newest: BlockHeader | null;
  second: (Claim & { readonly atMs: number }) | null;
  asking: { readonly sinceMs: number; readonly over: Promise<void> } | null;
};

// Error kinds of a node without the tag: unknown parameter, no such block, or something internal.
const NO_TAG = new Set(["invalid-request", "unsupported", "internal", "missing"]);
// The caller follows the head: a node that hangs must not delay each block by a whole request timeout.
const WAIT_MS_MAX = 1_000;
// Finality only advances, so an old claim is merely low; after this it would hold finality back.
const CLAIM_AGE_MS_MAX = 30_000;

const knowledge = new WeakMap<Rpc, Knowledge>();

/**
 * The finalized header. A claim counts when a second node makes it too, so the lower of two claims decides. A claim
 * of one node alone (the other is down, hangs or lags) counts only down to the fallback depth. With a single node
 * configured there is nothing to compare with but the head: the minimum depth bounds its claim.
 */
export async function readFinalizedHeader(rpc: Rpc, options: FinalizedHeaderOptions): Promise<BlockHeader> {
  const known = knowledgeOf(rpc);
  const found = await rpc.pinned(async (node) => {
    const own = await claimOf(node, options);
    if (known.newest && isNear(known.newest, own, options)) return known.newest;
    const second = await secondClaim(rpc, own.provider, known, options);
    const number = finalNumber(own, second, rpc.providers().length > 1, options);
    if (known.newest && known.newest.number >= number) return known.newest;
    // Stored for good, so a number that no block has would never be reached: the block is read by that number.
    const { method, params, parse } =
      own.tagged?.number === number ? canonicalHeaderCall(number, own.tagged.hash) : headerCall(number);
    return node.request(method, params, parse ? { ...options, parse } : options);
  }, options);
  if (!known.newest || known.newest.number < found.number) known.newest = found;
  return known.newest;
}

function knowledgeOf(rpc: Rpc): Knowledge {
  const known = knowledge.get(rpc) ?? { newest: null, second: null, asking: null };
  knowledge.set(rpc, known);
  return known;
}

/** Nothing to gain from a second node: no claim beyond what is known, which is not suspiciously far from the head. */
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

/** The claim of another node than the first; null where no other node responds in time. */
async function secondClaim(
  rpc: Rpc,
  first: number,
  known: Knowledge,
  options: FinalizedHeaderOptions,
): Promise<Claim | null> {
  if (rpc.providers().length < 2) return null;
  const clock = options.clock ?? systemClock;
  known.asking ??= { sinceMs: clock.nowMs(), over: askSecond(rpc, first, known, clock, options) };
  const { sinceMs, over } = known.asking;
  const leftMs = sinceMs + (options.waitMsMax ?? WAIT_MS_MAX) - clock.nowMs();
  if (leftMs > 0) {
    const enough = new AbortController();
    await Promise.race([over, clock.sleep(leftMs, enough.signal).catch(() => undefined)]);
    enough.abort();
  }
  options.signal?.throwIfAborted();
  const { second } = known;
  if (!second || second.provider === first) return null;
  return clock.nowMs() - second.atMs <= CLAIM_AGE_MS_MAX ? second : null;
}

// Without the caller's signal: the response serves the next caller when this one has stopped waiting.
async function askSecond(
  rpc: Rpc,
  first: number,
  known: Knowledge,
  clock: Clock,
  options: FinalizedHeaderOptions,
): Promise<void> {
  const { signal: _, ...patient } = options;
  try {
    const claim = await rpc.pinned(
      // With no other provider fit the client falls back to the first one, which confirms nothing.
      async (node) => (node.providerIndex === first ? null : claimOf(node, patient)),
      { avoid: [first], attemptsMax: 1 },
    );
    if (claim) known.second = { ...claim, atMs: clock.nowMs() };
  } catch {
    // Already in the provider's health and the log; the claim stays unconfirmed.
  } finally {
    known.asking = null;
  }
}

async function claimOf(node: PinnedRpc, options: FinalizedHeaderOptions): Promise<Claim> {
  const [final, head] = await node.batch([headerCall("finalized"), headerCall("latest")], options);
  if (!head || "error" in head) throw head?.error ?? malformedResponse("the head was not answered");
  const at = { provider: node.providerIndex, head: head.ok.number };
  if (final && "ok" in final) {
    if (final.ok.number > at.head) {
      throw malformedResponse(`block ${final.ok.number} is called final, but the head is ${at.head}`);
    }
    return { ...at, final: final.ok.number, tagged: final.ok };
  }
  if (final && final.error instanceof RpcError && !NO_TAG.has(final.error.kind)) throw final.error;
  return { ...at, final: Math.max(0, at.head - options.depthFallback), tagged: null };
}
