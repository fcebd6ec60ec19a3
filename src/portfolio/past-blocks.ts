// The blocks of a chain that a request may name: found by number with the nodes that have their state, or a 400 that says why not.
import { findOldestState, findPastState, type StateProof } from "../chain/past-state.ts";
import type { Rpc } from "../chain/rpc/types.ts";
import type { Clock } from "../lib/clock.ts";
import { Fault } from "../lib/fault.ts";
import { untilAborted } from "../lib/until-aborted.ts";
import type { BlockHeader } from "../schema/chain-log.ts";
import { createCallEncoder, MULTICALL3 } from "./multicall.ts";
import type { ChainConfig } from "./types.ts";

const getCurrentBlockTimestamp = createCallEncoder(
  "function getCurrentBlockTimestamp() view returns (uint256 timestamp)",
);

// A request for a dropped state is not charged: this often at most it makes us search.
const REMEMBER_MS = 5 * 60_000;
// Twelve probes of one node that responds slowly. The search goes on when a request that waits for it has ended.
const SEARCH_MS_MAX = 60_000;

type DroppedState = {
  /** Null when no node has the state of any block. */
  readonly oldest: number | null;
  /** No node has the state of this block, and so of none before it. */
  readonly dropped: number;
  readonly untilMs: number;
};

type PastBlocks = {
  /** Rejects with INPUT_INVALID above the head, and with STATE_UNAVAILABLE when no node has the state. */
  find(number: number, signal: AbortSignal): Promise<{ readonly header: BlockHeader; readonly rpc: Rpc }>;
};

export function createPastBlocks(rpc: Rpc, chain: ChainConfig, clock: Clock): PastBlocks {
  let known: DroppedState | null = null;
  let searching: Promise<void> | null = null;
  // Readers need Multicall3, so that a state before its deployment is of no use to them.
  const proof: StateProof = getCurrentBlockTimestamp(MULTICALL3);
  const search = async (dropped: number, head: number) => {
    const signal = AbortSignal.timeout(SEARCH_MS_MAX);
    const hasState = async (block: number) =>
      (await findPastState(rpc, block, proof, { signal })).kind === "found";
    const found = await findOldestState(hasState, { dropped, head });
    known = { ...found, untilMs: clock.nowMs() + REMEMBER_MS };
  };
  const rejectDropped = (number: number) => {
    if (known === null || clock.nowMs() >= known.untilMs || number > known.dropped) return;
    throw stateUnavailable(chain, number, known.oldest);
  };
  return {
    async find(number, signal) {
      rejectDropped(number);
      const past = await findPastState(rpc, number, proof, { signal });
      if (past.kind === "found") return past;
      const { head } = past;
      if (past.kind === "later") {
        throw new Fault("INPUT_INVALID", `The newest block of ${chain.name} is ${head}; ${number} is later.`);
      }
      // Requests that find out at the same time share one search. It may end below a block that nodes dropped meanwhile.
      for (;;) {
        rejectDropped(number);
        searching ??= search(number, head).finally(() => {
          searching = null;
        });
        await untilAborted(searching, signal);
      }
    },
  };
}

function stateUnavailable({ name }: ChainConfig, number: number, oldest: number | null): Fault {
  const known =
    oldest === null
      ? "no node has the state of any block"
      : `the oldest block whose state was found is ${oldest}, and nodes drop more with every block`;
  return new Fault("STATE_UNAVAILABLE", `No node of ${name} has the state of block ${number}: ${known}.`);
}
