// The highest block that the indexing API has shown: later reads ask for it, so that none goes back in time.
import { SextantError } from "../errors.ts";
import type { WatchItem } from "../watch/watch-item.ts";
import type { Transport } from "./transport.ts";

/** The block that one call sends along, and what becomes of it when all attempts have failed. */
type ObservedCall = { readonly transport: Transport; onFailure(error: unknown): void };

// Every number of so many digits is one that the API takes.
const BLOCK = /^[0-9]{1,18}$/;

export class SeenBlock {
  #highest = 0n;

  /** The block to ask for: the caller's own or the one that was seen; undefined before the first response. */
  raise(minBlock: bigint | number | undefined): bigint | undefined {
    const given = minBlock === undefined ? 0n : BigInt(minBlock);
    if (minBlock === undefined && this.#highest === 0n) return undefined;
    return given > this.#highest ? given : this.#highest;
  }

  observeCall(transport: Transport): ObservedCall {
    let reached = 0n;
    const send: Transport["send"] = async (request) => {
      const response = await transport.send(request);
      // Every response counts: a 404 also says as of which block the record does not exist.
      this.#observe(response.headers.get("x-indexed-block"));
      reached = parseBlock(response.headers.get("x-block-number"));
      return response;
    };
    return {
      transport: { ...transport, send },
      /**
       * The service does not come to the block that was seen, after all attempts: its chain is another one now, or it
       * named a block that never was. The call fails; the next one begins from what the service has. A block of the
       * caller's own, which may lie ahead, changes nothing.
       */
      onFailure: (error) => {
        const isBehind = error instanceof SextantError && error.code === "BLOCK_NOT_INDEXED";
        if (isBehind && reached < this.#highest) this.#highest = reached;
      },
    };
  }

  /** An undo changes nothing: it may be of a reorg long past, after which the index has come further. */
  observeItem(item: WatchItem): void {
    if (item.kind === "event") this.#observe(item.event.block_number);
    else if (item.kind === "progress") this.#observe(item.progress.indexed_block);
  }

  #observe(text: string | null): void {
    const block = parseBlock(text);
    if (block > this.#highest) this.#highest = block;
  }
}

/** 0 for anything but the number of a block. */
function parseBlock(text: string | null): bigint {
  return text !== null && BLOCK.test(text) ? BigInt(text) : 0n;
}
