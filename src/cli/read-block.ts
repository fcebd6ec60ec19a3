// Says at a terminal which block a read of the past has read: `--at 7d` names only a time.
import type { Sextant } from "@sextant/client/sextant";
import type { ClientContext } from "./command.ts";
import { formatTime } from "./display/time.ts";
import { fetchOverHttp } from "./http-fetch.ts";

const BLOCK = /^[0-9]{1,18}$/;

/** Sends the requests of one command and keeps the block of the first response that names one. */
export class ReadBlock {
  readonly #context: Pick<ClientContext, "filters" | "options" | "display" | "stop">;
  #block: string | null;

  constructor(context: Pick<ClientContext, "filters" | "options" | "display" | "stop">) {
    this.#context = context;
    this.#block = context.filters.block ?? null;
  }

  readonly fetch: typeof fetch = async (...given) => {
    const response = await fetchOverHttp(...given);
    const block = response.headers.get("x-block-number");
    if (block !== null && BLOCK.test(block)) this.#block ??= block;
    return response;
  };

  /** Prints nothing next to JSON, in a pipe, and for a read of the present. */
  async show(sextant: Sextant): Promise<void> {
    const { filters, options, display, stop } = this.#context;
    const isPast = filters.at !== undefined || filters.block !== undefined;
    if (!isPast || this.#block === null || options.json === true || display.columns === null) return;
    const block = this.#block;
    // The number alone is better than nothing.
    const time = await sextant
      .at(BigInt(block))
      .getHead({ signal: stop })
      .then(({ block_timestamp: time }) => (time === null ? "" : `, ${formatTime(time)} UTC`))
      .catch(() => "");
    display.note(display.style("dim", `As of block ${block}${time}`));
  }
}
