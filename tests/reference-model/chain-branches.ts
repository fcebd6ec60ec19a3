// Every block that a chain has had, on all of its branches, with the reference model as of each.
import type { ProtocolDeployment } from "@sextant/contracts/deploy/deployment";
import type { RpcRequestFunction } from "@sextant/contracts/deploy/rpc-request";
import { extendModel, withTotals } from "./fold-events.ts";
import { type ModelEvent, readModelEvents } from "./model-events.ts";
import type { ReadModel } from "./read-model.ts";

/** A block of some branch, and what the model has there. */
type BranchBlock = {
  readonly hash: string;
  readonly number: number;
  readonly timestamp: bigint;
  /** The number of the read that found it first: of two branches the later one has the higher number. */
  readonly branch: number;
  readonly parent: BranchBlock | null;
  readonly events: readonly ModelEvent[];
  /** Without totals. */
  readonly model: ReadModel;
};

type RpcBlock = {
  readonly hash: string;
  readonly parentHash: string;
  readonly number: string;
  readonly timestamp: string;
};

export class ChainBranches {
  readonly #request: RpcRequestFunction;
  readonly #deployment: ProtocolDeployment;
  readonly #blocks = new Map<string, BranchBlock>();
  #looks = 0;

  constructor(request: RpcRequestFunction, deployment: ProtocolDeployment) {
    this.#request = request;
    this.#deployment = deployment;
  }

  /** Adds the blocks of the present branch, and returns its head. Look before a branch is left: then it is gone. */
  async look(): Promise<BranchBlock> {
    const found: RpcBlock[] = [];
    const { startBlock } = this.#deployment;
    let block = (await this.#request("eth_getBlockByNumber", ["latest", false])) as RpcBlock;
    while (!this.#blocks.has(block.hash) && Number(block.number) >= startBlock) {
      found.push(block);
      block = (await this.#request("eth_getBlockByHash", [block.parentHash, false])) as RpcBlock;
    }
    let head = this.#blocks.get(block.hash) ?? null;
    const first = found.at(-1);
    const events = first ? await this.#readEvents(Number(first.number)) : new Map<number, ModelEvent[]>();
    for (const each of found.reverse()) head = this.#add(each, head, events.get(Number(each.number)) ?? []);
    this.#looks += 1;
    if (head === null) throw new Error("the chain has no block of the deployment");
    return head;
  }

  get(hash: string): BranchBlock | null {
    return this.#blocks.get(hash) ?? null;
  }

  #add(block: RpcBlock, parent: BranchBlock | null, events: readonly ModelEvent[]): BranchBlock {
    const added: BranchBlock = {
      hash: block.hash,
      number: Number(block.number),
      timestamp: BigInt(block.timestamp),
      branch: this.#looks,
      parent,
      events,
      model: extendModel(parent?.model ?? null, events),
    };
    this.#blocks.set(added.hash, added);
    return added;
  }

  async #readEvents(fromBlock: number): Promise<Map<number, ModelEvent[]>> {
    const byBlock = new Map<number, ModelEvent[]>();
    for (const event of await readModelEvents(this.#request, this.#deployment, fromBlock)) {
      const before = byBlock.get(event.block) ?? [];
      byBlock.set(event.block, [...before, event]);
    }
    return byBlock;
  }
}

/** The model of a block, with what API responses need besides rows: time, past events, and sorted lists. */
export class BlockState {
  readonly block: BranchBlock;
  readonly #sorted = new Map<string, ReturnType<ReadModel["rows"]>>();
  #path: readonly BranchBlock[] | null = null;
  #totals: ReadModel | null = null;

  constructor(block: BranchBlock) {
    this.block = block;
  }

  get model(): ReadModel {
    return this.block.model;
  }

  get withTotals(): ReadModel {
    this.#totals ??= withTotals(
      this.block.model,
      this.path.flatMap(({ events }) => events),
    );
    return this.#totals;
  }

  /** Blocks from the first one of the deployment to this one. */
  get path(): readonly BranchBlock[] {
    if (this.#path) return this.#path;
    const path: BranchBlock[] = [];
    for (let each: BranchBlock | null = this.block; each; each = each.parent) path.push(each);
    this.#path = path.reverse();
    return this.#path;
  }

  /** The block of this branch with the number. */
  ancestor(number: number): BranchBlock {
    const found = this.path[number - (this.path[0]?.number ?? 0)];
    if (found?.number !== number) throw new Error(`block ${this.block.number} has no ancestor ${number}`);
    return found;
  }

  /** Rows with a numeric id, the lowest first. */
  sorted(table: string, id: string): ReturnType<ReadModel["rows"]> {
    const known = this.#sorted.get(table);
    if (known) return known;
    const rows = this.model.rows(table).toSorted((a, b) => compareIds(String(a[id]), String(b[id])));
    this.#sorted.set(table, rows);
    return rows;
  }
}

/** Decimal text without leading zeros. */
export function compareIds(a: string, b: string): number {
  if (a.length !== b.length) return a.length - b.length;
  return a < b ? -1 : a > b ? 1 : 0;
}
