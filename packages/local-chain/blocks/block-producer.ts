// Mines blocks, with a snapshot after each; callers hold the write queue.

import type { EdrProvider } from "../edr-provider.ts";
import { JSON_RPC_CODES, JsonRpcError } from "../rpc/json-rpc-error.ts";
import type { BlockHistory } from "./block-history.ts";

/** Mining one by one costs about 0.1 ms each; more than this in one call would stall every other request. */
export const MINE_BLOCKS_MAX = 100_000;

/** Default block interval of `hardhat_mine`. */
const HARDHAT_INTERVAL_SECONDS = 1n;

export class BlockProducer {
  readonly #edr: EdrProvider;
  readonly #history: BlockHistory;

  constructor(edr: EdrProvider, history: BlockHistory) {
    this.#edr = edr;
    this.#history = history;
  }

  /** Forwards a request that may mine. */
  async forward(method: string, params: readonly unknown[]): Promise<string> {
    const result = await this.#edr.request(method, params);
    await this.#history.snapshotNewHead();
    return result;
  }

  /** Accepts transactions with a nonce gap too: nodes queue them, but EDR rejects them while it automines. */
  async send(method: string, params: readonly unknown[]): Promise<string> {
    try {
      return await this.forward(method, params);
    } catch (error) {
      if (!(error instanceof JsonRpcError) || !error.message.includes("can't be queued when automining"))
        throw error;
      return this.withoutAutomine(() => this.#edr.request(method, params));
    }
  }

  /** Mines `count` blocks; the first takes the pending transactions. */
  async mine(count: number): Promise<void> {
    for (let mined = 0; mined < count; mined += 1) {
      await this.#edr.request("evm_mine", []);
      // Only the last ones can be returned to, so only they need a snapshot.
      if (count - mined <= this.#history.depthMax + 1) await this.#history.snapshotNewHead();
    }
    await this.#history.snapshotNewHead();
  }

  /** `hardhat_mine` with a snapshot after each block that a reorg may return to. */
  async hardhatMine(params: readonly unknown[]): Promise<string> {
    const count = quantity(params[0] ?? "0x1");
    const interval = quantity(params[1] ?? HARDHAT_INTERVAL_SECONDS);
    const stepped = BigInt(Math.max(this.#history.depthMax, 1));
    const atOnce = count > stepped ? count - stepped : 0n;
    if (atOnce > 0n) await this.forward("hardhat_mine", [hex(atOnce), hex(interval)]);
    for (let mined = atOnce; mined < count; mined += 1n) {
      await this.forward("evm_mine", mined === 0n ? [] : [hex((await this.#headTimestamp()) + interval)]);
    }
    return "true";
  }

  async withoutAutomine<T>(task: () => Promise<T>): Promise<T> {
    const automine = JSON.parse(await this.#edr.request("hardhat_getAutomine", [])) === true;
    if (!automine) return task();
    await this.#edr.request("evm_setAutomine", [false]);
    try {
      return await task();
    } finally {
      await this.#edr.request("evm_setAutomine", [true]);
    }
  }

  async #headTimestamp(): Promise<bigint> {
    const head: { timestamp: string } = JSON.parse(
      await this.#edr.request("eth_getBlockByNumber", ["latest", false]),
    );
    return BigInt(head.timestamp);
  }
}

function hex(value: bigint): string {
  return `0x${value.toString(16)}`;
}

function quantity(value: unknown): bigint {
  const isQuantity =
    typeof value === "bigint" || (typeof value === "string" && /^0x[0-9a-f]{1,16}$/i.test(value));
  const isInteger = typeof value === "number" && Number.isSafeInteger(value) && value >= 0;
  if (!isQuantity && !isInteger)
    throw new JsonRpcError(JSON_RPC_CODES.invalidParams, "Expected a hexadecimal quantity");
  return BigInt(value);
}
