// The blocks of a chain that a request may name: found by number with the nodes that have their state, or a 400 that says why not.

import { MULTICALL3 } from "../chain/aggregate3.ts";
import { findOldestState, findPastState, type StateProof } from "../chain/past-state.ts";
import type { Rpc } from "../chain/rpc/types.ts";
import { createSignatureCodec } from "../lib/abi/codec.ts";
import type { Clock } from "../lib/clock.ts";
import { untilAborted } from "../lib/deadline.ts";
import { Fault } from "../lib/fault.ts";
import type { BlockHeader } from "../schema/chain-log.ts";
import type { ChainConfig } from "./types.ts";

const getCurrentBlockTimestamp = createSignatureCodec(
  "function getCurrentBlockTimestamp() view returns (uint256 timestamp)",
);

// A request for a dropped state is not charged: this often at most it makes us search.
const REMEMBER_MS = 5 * 60_000;
// Anyone may name a block that was dropped a moment ago, without a payment: a search is a dozen probes of every node.
const SEARCH_EVERY_MS = 30_000;
// Twelve probes of one node that responds slowly. The search goes on when a request that waits for it has ended.
const SEARCH_MS_MAX = 60_000;
// A node that drops states has dropped thirty more by then, at two seconds a block. A wrong head is forgotten, too.
const READABLE_MS = 60_000;

type DroppedState = {
  /** Null when no node has the state of any block. */
  readonly oldest: number | null;
  /** No node has the state of this block, and so of none before it. */
  readonly dropped: number;
  /** The newest block at the time of the search. */
  readonly head: number;
  readonly searchedMs: number;
};

/** Blocks of which nodes have shown the state, from the oldest to the newest of them. */
type ReadableBlocks = { readonly oldest: number; readonly head: number; readonly untilMs: number };

export class PastBlocks {
  readonly #rpc: Rpc;
  readonly #chain: ChainConfig;
  readonly #clock: Clock;
  // Readers need Multicall3, so that a state before its deployment is of no use to them.
  readonly #proof: StateProof = { to: MULTICALL3, data: getCurrentBlockTimestamp.encodeCall([]) };
  #dropped: DroppedState | null = null;
  #readable: ReadableBlocks | null = null;
  #searching: Promise<void> | null = null;

  constructor(rpc: Rpc, chain: ChainConfig, clock: Clock) {
    this.#rpc = rpc;
    this.#chain = chain;
    this.#clock = clock;
  }

  /** Rejects with INPUT_INVALID above the head, and with STATE_UNAVAILABLE when no node has the state. */
  async find(
    number: number,
    signal: AbortSignal,
  ): Promise<{ readonly header: BlockHeader; readonly rpc: Rpc }> {
    this.#rejectDropped(number);
    const past = await findPastState(this.#rpc, number, this.#proof, { signal });
    const { head } = past;
    if (past.kind === "found") {
      this.#rememberReadable(number, head);
      return past;
    }
    if (past.kind === "later") {
      throw new Fault(
        "INPUT_INVALID",
        `The newest block of ${this.#chain.name} is ${head}; ${number} is later.`,
      );
    }
    this.#rememberDropped(number, head);
    // Requests that find out at the same time share one search. It may end below a block that nodes dropped meanwhile.
    for (;;) {
      this.#rejectDropped(number);
      this.#searching ??= this.#search(number, head).finally(() => {
        this.#searching = null;
      });
      await untilAborted(this.#searching, signal);
    }
  }

  /** Whether reads of the last minute show that `find` finds the block; throws if they show that it is dropped. */
  isKnown(number: number): boolean {
    this.#rejectDropped(number);
    const readable = this.#findReadable();
    return readable !== null && number >= readable.oldest && number <= readable.head;
  }

  #findReadable(): ReadableBlocks | null {
    return this.#readable !== null && this.#clock.nowMs() < this.#readable.untilMs ? this.#readable : null;
  }

  #rememberReadable(number: number, head: number): void {
    const known = this.#findReadable();
    // The older block counts for the rest of its minute: a newer one proves nothing about it.
    this.#readable =
      known !== null && known.oldest < number
        ? { ...known, head: Math.max(known.head, head) }
        : { oldest: number, head, untilMs: this.#clock.nowMs() + READABLE_MS };
  }

  async #search(dropped: number, head: number): Promise<void> {
    const signal = AbortSignal.timeout(SEARCH_MS_MAX);
    const hasState = async (block: number) =>
      (await findPastState(this.#rpc, block, this.#proof, { signal })).kind === "found";
    const found = await findOldestState(hasState, { dropped, head });
    this.#dropped = { ...found, head, searchedMs: this.#clock.nowMs() };
  }

  /** Right after a search another one is not worth its probes: nodes keep as many blocks as they kept then. */
  #rememberDropped(number: number, head: number): void {
    const known = this.#dropped;
    if (known === null || this.#clock.nowMs() >= known.searchedMs + SEARCH_EVERY_MS) return;
    const oldest = known.oldest === null ? null : Math.max(number + 1, known.oldest + head - known.head);
    this.#dropped = { ...known, oldest, head, dropped: Math.max(number, known.dropped) };
  }

  #rejectDropped(number: number): void {
    const known = this.#dropped;
    if (known === null || this.#clock.nowMs() >= known.searchedMs + REMEMBER_MS) return;
    if (number <= known.dropped) throw stateUnavailable(this.#chain, number, known.oldest);
  }
}

function stateUnavailable({ name }: ChainConfig, number: number, oldest: number | null): Fault {
  const known =
    oldest === null
      ? "no node has the state of any block"
      : `the oldest block whose state was found is ${oldest}, and nodes drop more with every block`;
  return new Fault("STATE_UNAVAILABLE", `No node of ${name} has the state of block ${number}: ${known}.`);
}
