// Remembers where tokens keep their balances and allowances, and for which wallets this could not be found, for a limited time.
import type { Clock } from "../../lib/clock.ts";
import type { Hex } from "../../lib/hex.ts";
import { LruMap } from "../../lib/lru-map.ts";
import type { Layout, MappingKeys } from "./layouts.ts";

// A few hundred bytes each: more tokens than a service meets on its chains in a day.
const TOKENS_MAX = 20_000;
// Proxies get new code without a change of their own.
const KNOWN_MS = 24 * 60 * 60_000;
const FAILURES_MAX = 20_000;
// A balance of a vendor may be of another block than the word was.
const FAILURE_MS = 10 * 60_000;

/** Why no layout was found: the token keeps other amounts than it reports, or more than one word has its amount. */
export type UnknownLayout = "no_layout" | "rebasing" | "ambiguous_layout";

/** A layout and the code that it was found with. */
type FoundLayout = { readonly layout: Layout; readonly codeHash: Hex };

type MappingName = { readonly chainId: number; readonly token: Hex; readonly of: MappingKeys["of"] };
type WalletMapping = MappingName & { readonly wallet: Hex };

export class LayoutMemory {
  readonly #layouts: ExpiringMap<FoundLayout>;
  readonly #failures: ExpiringMap<UnknownLayout>;

  constructor(clock: Clock) {
    this.#layouts = new ExpiringMap(clock, TOKENS_MAX, KNOWN_MS);
    this.#failures = new ExpiringMap(clock, FAILURES_MAX, FAILURE_MS);
  }

  /** Found for any wallet: each use is proven again. */
  findLayout(mapping: MappingName): FoundLayout | null {
    return this.#layouts.get(keyOf(mapping));
  }

  keepLayout(mapping: MappingName, found: FoundLayout): void {
    this.#layouts.set(keyOf(mapping), found);
  }

  /** Only of this wallet: another amount may show the layout, and nothing proves what a node has sent for this one. */
  findFailure(mapping: WalletMapping): UnknownLayout | null {
    return this.#failures.get(`${keyOf(mapping)} ${mapping.wallet}`);
  }

  keepFailure(mapping: WalletMapping, failure: UnknownLayout): void {
    this.#failures.set(`${keyOf(mapping)} ${mapping.wallet}`, failure);
  }
}

class ExpiringMap<T> {
  readonly #clock: Clock;
  readonly #ms: number;
  readonly #entries: LruMap<string, { readonly value: T; readonly untilMs: number }>;

  constructor(clock: Clock, sizeMax: number, ms: number) {
    this.#clock = clock;
    this.#ms = ms;
    this.#entries = new LruMap(sizeMax);
  }

  get(key: string): T | null {
    const known = this.#entries.get(key);
    return known !== undefined && this.#clock.nowMs() < known.untilMs ? known.value : null;
  }

  set(key: string, value: T): void {
    this.#entries.set(key, { value, untilMs: this.#clock.nowMs() + this.#ms });
  }
}

function keyOf({ chainId, token, of }: MappingName): string {
  return `${chainId} ${token} ${of}`;
}
