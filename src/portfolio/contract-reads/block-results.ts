// Results of calls at one block, for all wallets that are read there: what does not name the wallet is the same for each.
import type { Hex } from "../../lib/hex.ts";
import { LruMap } from "../../lib/lru-map.ts";
import type { ContractRead, KnownResults } from "../types.ts";

/** Snapshots that run at the same time are of a few neighbouring blocks. */
const BLOCKS_MAX = 4;
/** A chain without new blocks is read again: what a node returned once does not last. */
const AGE_MS_MAX = 30_000;

/** Prices, rates and reserves of every protocol of a chain are some hundred results of a few hundred characters. */
const TRUSTED_CHARS_MAX = 2_000_000;
/** Contracts of anyone have their own part: junk that is sent to wallets pushes out only its like. */
const UNTRUSTED_CHARS_MAX = 500_000;
/** A longer result is rare, and nothing that many wallets need. */
const RESULT_CHARS_MAX = 20_000;
/** Beyond the characters: the entry itself. */
const CHARS_PER_ENTRY = 100;

/** Sub-accounts differ from their wallet in the last byte. */
const WALLET_DIGITS = 38;

/** Identifies equal calls. */
export function keyOfCall({ to, data, gasMax }: ContractRead): string {
  return gasMax === undefined ? `${to} ${data}` : `${to} ${data} ${gasMax}`;
}

/** A block is named by its hash: another one of the same height shares nothing. */
export class ResultsByBlock {
  readonly #blocks = new LruMap<Hex, BlockResults>(BLOCKS_MAX);
  readonly #nowMs: () => number;

  constructor(nowMs: () => number) {
    this.#nowMs = nowMs;
  }

  at(blockHash: Hex): BlockResults {
    const nowMs = this.#nowMs();
    const known = this.#blocks.get(blockHash);
    if (known !== undefined && nowMs - known.sinceMs < AGE_MS_MAX) return known;
    const results = new BlockResults(nowMs);
    this.#blocks.set(blockHash, results);
    return results;
  }
}

export class BlockResults {
  readonly sinceMs: number;
  readonly #results = new Map<string, Hex | null>();
  #trustedLeft = TRUSTED_CHARS_MAX;
  #untrustedLeft = UNTRUSTED_CHARS_MAX;

  constructor(sinceMs: number) {
    this.sinceMs = sinceMs;
  }

  of(wallet: Hex): KnownResults {
    const digits = wallet.slice(2, 2 + WALLET_DIGITS).toLowerCase();
    return {
      find: (key) => this.#results.get(key),
      keep: (key, call, result) => {
        if (!key.includes(digits)) this.#keep(key, call, result);
      },
    };
  }

  #keep(key: string, { gasMax }: ContractRead, result: Hex | null): void {
    // Without gas of its own a call fails for what its neighbours in a multicall use up, and a node may know no code.
    const isTrusted = gasMax === undefined;
    if (isTrusted && (result === null || result === "0x")) return;
    const length = result?.length ?? 0;
    const chars = key.length + length + CHARS_PER_ENTRY;
    if (length > RESULT_CHARS_MAX || chars > (isTrusted ? this.#trustedLeft : this.#untrustedLeft)) return;
    if (this.#results.has(key)) return;
    if (isTrusted) this.#trustedLeft -= chars;
    else this.#untrustedLeft -= chars;
    this.#results.set(copyText(key), result === null ? null : copyText(result));
  }
}

/** A part of a text keeps the whole alive: here a response of any size. */
function copyText<T extends string>(text: T): T {
  return Buffer.from(text, "latin1").toString("latin1") as T;
}
