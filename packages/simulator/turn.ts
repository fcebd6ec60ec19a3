// One turn of the simulator: the world, the known records, and which of them this turn already uses.
import type { Random } from "./random.ts";
import type { SimulatorAccounts } from "./state/accounts.ts";
import type { SimulatorState } from "./state/simulator-state.ts";
import type { World } from "./world.ts";

/** An action of several blocks must not hit a deadline that was fine when it was chosen. */
const MARGIN_SECONDS = 60n;

/** One kind of action. `prepare` makes all random choices; the function it returns only sends. */
export type SimulatorAction = {
  readonly name: string;
  /** Likelihood compared with the others. */
  readonly weight: number;
  /** Set if the action shares no block with others. */
  readonly alone?: true;
  /** Undefined when the action is not possible now. */
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

  constructor(world: World, accounts: SimulatorAccounts, state: SimulatorState) {
    this.world = world;
    this.random = world.random;
    this.accounts = accounts;
    this.state = state;
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

  /** A random record that fits and that no other action of this turn uses. */
  take<T extends object>(things: Iterable<T>, fits: (thing: T) => boolean = () => true): T | undefined {
    const free = [...things].filter((thing) => !this.#taken.has(thing) && fits(thing));
    if (free.length === 0) return undefined;
    const chosen = this.random.pick(free);
    this.#taken.add(chosen);
    return chosen;
  }

  /** Takes this record; false when another action of this turn uses it. */
  claim(thing: object): boolean {
    if (this.#taken.has(thing)) return false;
    this.#taken.add(thing);
    return true;
  }

  /** A document URI in one of the forms found in practice. */
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
