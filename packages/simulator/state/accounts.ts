// Who takes part in the economy: forty accounts of their own, so that nobody else's nonces get in the way.
import { parseEther } from "viem";
import { allowMinter, sendEtherToMany } from "../transactions/tokens.ts";
import type { Wallet, World } from "../world.ts";

export type SimulatorAccounts = {
  /** Makes the money. */
  readonly treasury: Wallet;
  /** Own agents and accounts, want things, pay. */
  readonly owners: readonly Wallet[];
  readonly solvers: readonly Wallet[];
  readonly merchants: readonly Wallet[];
  readonly facilitators: readonly Wallet[];
  readonly attesters: readonly Wallet[];
  readonly guardians: readonly Wallet[];
  /** Send what others signed. */
  readonly relayers: readonly Wallet[];
  /** Sign for policy accounts and need no money. */
  readonly sessionKeys: readonly Wallet[];
};

/** Beyond every account a local chain funds at genesis, or that people use by hand. */
export const FIRST_ACCOUNT_INDEX = 1_000;

/** At a fifth of a thousandth ETH a transaction it lasts for five million transactions each. */
const STARTING_BALANCE = parseEther("1000");

/** Pays the cast and lets its treasury mint: two transactions of the local chain's owner, and the last. */
export async function fundAccounts(world: World, firstIndex: number): Promise<SimulatorAccounts> {
  let next = firstIndex;
  const people = (count: number): Wallet[] => Array.from({ length: count }, () => world.wallet(next++));
  const [treasury = world.wallet(next)] = people(1);
  const cast: SimulatorAccounts = {
    treasury,
    owners: people(12),
    solvers: people(6),
    merchants: people(6),
    facilitators: people(4),
    attesters: people(4),
    guardians: people(2),
    relayers: people(2),
    sessionKeys: people(3),
  };
  const { owner } = world.actors;
  const recipients = Object.values(cast).flat() as Wallet[];
  await sendEtherToMany(
    world,
    owner,
    recipients.map(({ address }) => address),
    STARTING_BALANCE,
  );
  await allowMinter(world, owner, cast.treasury.address);
  return cast;
}
