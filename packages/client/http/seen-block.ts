// The highest block that the indexing API has shown: later reads ask for it, so that none goes back in time.
import { SextantError } from "../errors.ts";
import type { WatchItem } from "../watch/watch-item.ts";
import type { Transport } from "./transport.ts";

const BLOCK = /^[0-9]{1,19}$/;

export class SeenBlock {
  #highest = 0n;

  /** The block to ask for: the caller's own or the one that was seen; undefined before the first response. */
  raise(minBlock: bigint | number | undefined): bigint | undefined {
    const given = minBlock === undefined ? 0n : BigInt(minBlock);
    if (minBlock === undefined && this.#highest === 0n) return undefined;
    return given > this.#highest ? given : this.#highest;
  }

  /** Every response counts: a 404 also says as of which block there is no such record. */
  observing(transport: Transport): Transport {
    const send: Transport["send"] = async (request) => {
      const response = await transport.send(request);
      this.#raiseTo(response.headers.get("x-indexed-block") ?? "");
      return response;
    };
    return { ...transport, send };
  }

  /** An event shows its block, a progress the newest one, and an undo that the blocks after it are gone. */
  observeItem(item: WatchItem): void {
    if (item.kind === "event") this.#raiseTo(item.event.block_number);
    else if (item.kind === "progress") this.#raiseTo(item.progress.indexed_block);
    else if (BigInt(item.undo.block_number) < this.#highest) this.#highest = BigInt(item.undo.block_number);
  }

  #raiseTo(block: string): void {
    if (BLOCK.test(block) && BigInt(block) > this.#highest) this.#highest = BigInt(block);
  }

  /**
   * The service does not come to the block, after all attempts: its chain is another one now, or it named a block that
   * never was. The call fails; the next one begins from what the service has.
   */
  onFailure(error: unknown): void {
    if (error instanceof SextantError && error.code === "BLOCK_NOT_INDEXED") this.#highest = 0n;
  }
}
