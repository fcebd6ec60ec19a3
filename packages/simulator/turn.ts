// What a player sees when it is its turn: the world, what exists in it, and what nobody else uses in this turn.
import type { Random } from "./random.ts";
import type { SimulatorAccounts } from "./state/accounts.ts";
import type { SimulatorState } from "./state/simulator-state.ts";
import type { World } from "./world.ts";

/** A play of several blocks must not run into a deadline that was fine when it was chosen. */
const MARGIN_SECONDS = 60n;

/** What can be done in the economy. Everything is decided in `prepare`; the play only carries it out. */
export type SimulatorAction = {
  readonly name: string;
  /** How likely, compared with others. */
  readonly weight: number;
  /** Set where the move shares no block with others. */
  readonly alone?: true;
  /** The play, or nothing when the move is not possible now. */
  prepare(turn: Turn): (() => Promise<unknown>) | undefined;
};

export class Turn {
  readonly world: World;
  readonly random: Random;
  readonly accounts: SimulatorAccounts;
  readonly state: SimulatorState;
  #now = 0n;
  #documents = 0;
  readonly #taken = new Set<object>();

  constructor(world: World, cast: SimulatorAccounts, ledger: SimulatorState) {
    this.world = world;
    this.random = world.random;
    this.accounts = cast;
    this.state = ledger;
  }

  get now(): bigint {
    return this.#now;
  }

  begin(now: bigint): void {
    this.#now = now;
    this.#taken.clear();
    const { intents, quotes } = this.state;
    intents.retain(({ intent }) => this.isTimely(intent.constraints.deadline));
    quotes.retain(({ expiresAt }) => this.isTimely(expiresAt));
  }

  /** Whether there is still time before the deadline. */
  isTimely(deadline: bigint): boolean {
    return deadline > this.#now + MARGIN_SECONDS;
  }

  /** Something that fits and is used by no other play of this turn. */
  take<T extends object>(things: Iterable<T>, fits: (thing: T) => boolean = () => true): T | undefined {
    const free = [...things].filter((thing) => !this.#taken.has(thing) && fits(thing));
    if (free.length === 0) return undefined;
    const chosen = this.random.pick(free);
    this.#taken.add(chosen);
    return chosen;
  }

  /** Takes this very thing; false when another play uses it. */
  claim(thing: object): boolean {
    if (this.#taken.has(thing)) return false;
    this.#taken.add(thing);
    return true;
  }

  /** The address of a document about something, in the ways people write them. */
  uri(about: string): string {
    this.#documents += 1;
    const name = `${about}-${this.#documents}`;
    return this.random.pick([
      `ipfs://bafy${this.random.bytes32().slice(2, 34)}/${name}.json`,
      `https://example.org/${about}/${this.#documents}?v=${this.random.below(9)}`,
      `data:application/json,{"name":"${name} “Ünïcode” 🧭"}`,
      "",
    ]);
  }

  /** A deadline minutes, hours or days ahead. */
  deadline(): bigint {
    const ahead = this.random.pick<readonly [bigint, bigint]>([
      [120n, 1_200n],
      [3_600n, 36_000n],
      [36_000n, 345_600n],
      [36_000n, 345_600n],
    ]);
    return this.#now + this.random.between(...ahead);
  }
}
