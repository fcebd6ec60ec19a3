// Calls to code that a node lends to an empty address for one call, in the way the node allows.

import { type Clock, systemClock } from "../lib/clock.ts";
import type { Hex } from "../lib/hex.ts";
import type { BlockHeader } from "../schema/chain-log.ts";
import { contractCall } from "./contract-calls.ts";
import { canonicalHeaderCall } from "./headers.ts";
import { RpcError, type RpcFailureKind } from "./rpc/errors.ts";
import type { Rpc, RpcCall } from "./rpc/types.ts";

type BlockToCallAt = Pick<BlockHeader, "number" | "hash">;

export type OverrideCall = { readonly code: Hex; readonly data: Hex; readonly gasMax?: number };

export type OverrideCaller = {
  /** Null when the node does not lend, or can not finish this call. */
  callWithOverride(block: BlockToCallAt, call: OverrideCall, signal: AbortSignal): Promise<Hex | null>;
};

// Made up, so nothing is deployed there: the code that is lent meets no state.
const BORROWER: Hex = "0x5e87a9705ca99e12c0de1e97000000000000c0de";

// The block gas of Ethereum for years: no node refuses a call for asking as much, and most allow more.
const LENT_GAS_MAX = 30_000_000;

// A refusal is a property of the node's software or plan; asked again this often, an upgrade is soon noticed.
const REFUSAL_MS = 10 * 60_000;

const REFUSALS: ReadonlySet<RpcFailureKind> = new Set(["unsupported", "invalid-request"]);

// This call was too much for the contract or the node (its gas, its size, its time); the next may be fine.
const FAILURES_OF_THE_CALL: ReadonlySet<RpcFailureKind> = new Set([
  "reverted",
  "internal",
  "response-too-large",
]);

type Ask = (rpc: Rpc, block: BlockToCallAt, call: OverrideCall, signal: AbortSignal) => Promise<Hex>;

export function createOverrideCaller(rpc: Rpc, clock: Clock = systemClock): OverrideCaller {
  // Some nodes lend code only at a block that is named by its number.
  const manners: { readonly ask: Ask; refusedUntilMs: number }[] = [
    { ask: askByHash, refusedUntilMs: 0 },
    { ask: askByNumber, refusedUntilMs: 0 },
  ];
  return {
    async callWithOverride(block, call, signal) {
      for (const manner of manners) {
        if (clock.nowMs() < manner.refusedUntilMs) continue;
        const answer = await orKind(manner.ask(rpc, block, call, signal));
        if (answer === "failed") return null;
        // A node that does not know the third parameter may ignore it: then an empty account was called.
        if (answer !== "refused" && answer !== "0x") return answer;
        manner.refusedUntilMs = clock.nowMs() + REFUSAL_MS;
      }
      return null;
    },
  };
}

async function orKind(asked: Promise<Hex>): Promise<Hex | "refused" | "failed"> {
  try {
    return await asked;
  } catch (error) {
    if (error instanceof RpcError && REFUSALS.has(error.kind)) return "refused";
    if (error instanceof RpcError && FAILURES_OF_THE_CALL.has(error.kind)) return "failed";
    throw error;
  }
}

const askByHash: Ask = (rpc, block, call, signal) =>
  ask(rpc, lentCall(call, { blockHash: block.hash }), signal);

// A reorg may put another block under the number, so the header is looked at afterwards. Not in a batch with the call:
// a gateway that refuses a whole batch for one member would be taken for one that takes no batches at all.
const askByNumber: Ask = (rpc, block, call, signal) =>
  rpc.pinned(
    async (node) => {
      const answer = await ask(node, lentCall(call, block.number), signal);
      await ask(node, canonicalHeaderCall(block.number, block.hash), signal);
      return answer;
    },
    { signal },
  );

function ask<T>(rpc: Rpc, { method, params, parse }: RpcCall<T>, signal: AbortSignal): Promise<T> {
  return rpc.request(method, params, parse ? { signal, parse } : { signal });
}

function lentCall({ code, data, gasMax = LENT_GAS_MAX }: OverrideCall, block: number | { blockHash: Hex }) {
  return contractCall({ to: BORROWER, data, gasMax, codeOverride: code, block });
}
