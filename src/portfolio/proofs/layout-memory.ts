// Remembers per token where its balances and allowances are, and that this could not be found, for a limited time.
import type { Clock } from "../../lib/clock.ts";
import type { Hex } from "../../lib/hex.ts";
import { LruMap } from "../../lib/lru-map.ts";
import type { Layout, MappingKeys } from "./layouts.ts";

// A few hundred bytes each: more tokens than a service meets on its chains in a day.
const TOKENS_MAX = 20_000;
// Proxies get new code without a change of their own.
const KNOWN_MS = 24 * 60 * 60_000;
// A balance of a vendor may be of another block than the word was.
const UNKNOWN_MS = 10 * 60_000;

/** Why no layout was found: the token keeps other amounts than it reports, or more than one word has its amount. */
export type UnknownLayout = "no_layout" | "rebasing" | "ambiguous_layout";

type RememberedLayout = {
  readonly layout: Layout | UnknownLayout;
  /** The code that the layout was found with; null for one that was not found. */
  readonly codeHash: Hex | null;
};

type MappingName = { readonly chainId: number; readonly token: Hex; readonly of: MappingKeys["of"] };

export class LayoutMemory {
  readonly #entries = new LruMap<string, RememberedLayout & { readonly untilMs: number }>(TOKENS_MAX);
  readonly #clock: Clock;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  find(mapping: MappingName): RememberedLayout | null {
    const known = this.#entries.get(keyOf(mapping));
    return known !== undefined && this.#clock.nowMs() < known.untilMs ? known : null;
  }

  keep(mapping: MappingName, found: RememberedLayout): void {
    const ms = typeof found.layout === "string" ? UNKNOWN_MS : KNOWN_MS;
    this.#entries.set(keyOf(mapping), { ...found, untilMs: this.#clock.nowMs() + ms });
  }
}

function keyOf({ chainId, token, of }: MappingName): string {
  return `${chainId} ${token} ${of}`;
}
