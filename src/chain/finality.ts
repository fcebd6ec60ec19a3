// The newest block that can not be undone any more, never going back within this process.
import type { Header } from "../schema/chain-log.ts";
import { malformed } from "./bad-answer.ts";
import { canonicalHeaderCall, headerCall, readHeader } from "./blocks.ts";
import type { CallOptions, PinnedRpc, Rpc } from "./rpc/call.ts";
import { RpcError } from "./rpc/failure.ts";

export type FinalityOptions = CallOptions & {
  /** Blocks below the head that count as final where a node does not know the finalized tag. */
  readonly depthFallback: number;
};

// What a node without the tag says: unknown method parameter, no such block, or something internal.
const NO_TAG = new Set(["invalid-request", "unsupported", "internal", "missing"]);

const newest = new WeakMap<Rpc, Header>();

/** The finalized header; an older one than before (another provider, a restarted node) is answered with the newer. */
export async function readFinalized(rpc: Rpc, options: FinalityOptions): Promise<Header> {
  const kept = newest.get(rpc);
  const found = await rpc.pinned(async (node) => {
    const told = await finalizedOf(node, options);
    if (kept && kept.number >= told.number) return kept;
    // It is kept for good, so a number that no block has would never be reached: it is asked for by that number.
    const { method, params, parse } = canonicalHeaderCall(told.number, told.hash);
    return node.request(method, params, parse ? { ...options, parse } : options);
  }, options);
  newest.set(rpc, found);
  return found;
}

async function finalizedOf(node: PinnedRpc, options: FinalityOptions): Promise<Header> {
  const [final, head] = await node.batch([headerCall("finalized"), headerCall("latest")], options);
  if (!head || "error" in head) throw head?.error ?? malformed("the head was not answered");
  if (final && "ok" in final) {
    if (final.ok.number > head.ok.number) {
      throw malformed(`block ${final.ok.number} is called final, but the head is ${head.ok.number}`);
    }
    return final.ok;
  }
  if (final && final.error instanceof RpcError && !NO_TAG.has(final.error.kind)) throw final.error;
  return readHeader(node, Math.max(0, head.ok.number - options.depthFallback), options);
}
