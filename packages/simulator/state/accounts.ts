// The simulator's forty accounts: its own, so that other senders do not disturb their nonces.
import { parseEther } from "viem";
import { allowMinter, sendEtherToMany } from "../transactions/tokens.ts";
import type { Wallet, World } from "../world.ts";

export type SimulatorAccounts = {
  /** Mints the dollars. */
  readonly treasury: Wallet;
  /** Own agents and policy accounts, submit intents, pay. */
  readonly owners: readonly Wallet[];
  readonly solvers: readonly Wallet[];
  readonly merchants: readonly Wallet[];
  readonly facilitators: readonly Wallet[];
  readonly attesters: readonly Wallet[];
  readonly guardians: readonly Wallet[];
  /** Send calls that others signed. */
  readonly relayers: readonly Wallet[];
  /** Sign for policy accounts and need no ether. */
  readonly sessionKeys: readonly Wallet[];
};

/** Beyond every account that a local chain funds at genesis or that users take by hand. */
export const FIRST_ACCOUNT_INDEX = 1_000;

/** At 0.0002 ETH per transaction it lasts for five million transactions. */
const STARTING_BALANCE = parseEther("1000");

/** Funds the accounts and lets their treasury mint: the only two transactions of the local chain's owner. */
export async function fundAccounts(world: World, firstIndex: number): Promise<SimulatorAccounts> {
  let next = firstIndex;
  const wallets = (count: number): Wallet[] => Array.from({ length: count }, () => world.wallet(next++));
  const [treasury = world.wallet(next)] = wallets(1);
  const accounts: SimulatorAccounts = {
    treasury,
    owners: wallets(12),
    solvers: wallets(6),
    merchants: wallets(6),
    facilitators: wallets(4),
    attesters: wallets(4),
    guardians: wallets(2),
    relayers: wallets(2),
    sessionKeys: wallets(3),
  };
  const { owner } = world.actors;
  const recipients = Object.values(accounts).flat() as Wallet[];
  await sendEtherToMany(
    world,
    owner,
    recipients.map(({ address }) => address),
    STARTING_BALANCE,
  );
  await allowMinter(world, owner, accounts.treasury.address);
  return accounts;
}
