// Compares what clients have read with the reference model once the blocks that responses name are known.
import { setImmediate as yieldTurn } from "node:timers/promises";
import { isDeepStrictEqual } from "node:util";
import { expect } from "vitest";
import { BlockState, type ChainBranches } from "../../reference-model/chain-branches.ts";
import type { ModelRead } from "./model-reads.ts";

export type ReadResponse = {
  readonly status: number;
  /** The code of an error. */
  readonly code: string;
  readonly hash: string;
  readonly block: number;
  readonly text: string;
};

/** Reads of one client through one process, one after the other: the hashes of the blocks, each once in a row. */
export type ReadSequence = string[];

type PendingRead = { readonly read: ModelRead; readonly response: ReadResponse; count: number };

export class ReadLog {
  /** Responses compared with the model, equal ones too. */
  compared = 0;
  /** The number of different reads: another block, path or body. */
  different = 0;
  readonly #sequences: ReadSequence[] = [];
  readonly #pending = new Map<string, Map<string, PendingRead>>();

  openSequence(): ReadSequence {
    const sequence: ReadSequence = [];
    this.#sequences.push(sequence);
    return sequence;
  }

  add(read: ModelRead, response: ReadResponse): void {
    const ofBlock = this.#pending.get(response.hash) ?? new Map<string, PendingRead>();
    this.#pending.set(response.hash, ofBlock);
    const key = `${read.path} ${response.status} ${response.text}`;
    const known = ofBlock.get(key);
    if (known) known.count += 1;
    else ofBlock.set(key, { read, response, count: 1 });
  }

  /** Reads of blocks that the branches do not have yet stay for later. */
  async compare(branches: ChainBranches): Promise<void> {
    for (const [hash, responses] of [...this.#pending]) {
      const block = branches.get(hash);
      if (block === null) continue;
      this.#pending.delete(hash);
      const state = new BlockState(block);
      for (const { read, response, count } of responses.values()) {
        expectModel(state, read, response);
        this.compared += count;
        this.different += 1;
      }
      // Clients go on meanwhile.
      await yieldTurn();
    }
  }

  /** After a look at the whole chain: every response named a block that was on some branch, and no process led back. */
  expectComplete(branches: ChainBranches): void {
    expect([...this.#pending.keys()], "blocks that were on no branch").toEqual([]);
    for (const sequence of this.#sequences) {
      const order = sequence.map((hash) => branches.get(hash)?.branch ?? -1);
      expect(order, "a process showed a branch that it had left").toEqual(order.toSorted((a, b) => a - b));
    }
  }
}

function expectModel(state: BlockState, read: ModelRead, response: ReadResponse): void {
  const { status, block, text } = response;
  const body = JSON.parse(text) as Readonly<Record<string, unknown>>;
  const expected = read.expect(state, body);
  const isEqual = expected === null ? status === 404 : status === 200 && isDeepStrictEqual(body, expected);
  if (isEqual && block === state.block.number) return;
  const place = `${read.path} at block ${state.block.number} ${state.block.hash}`;
  expect({ status, block, body }, place).toEqual({
    status: expected === null ? 404 : 200,
    block: state.block.number,
    body: expected ?? body,
  });
}
