// Loans in Euler: what the accounts of a wallet owe, and the shares that secure it.

import { decodeAddress, decodeTokenAmount, decodeWord } from "../../../lib/abi/return-data.ts";
import type { Hex } from "../../../lib/hex.ts";
import { ask, type ReadRoutine } from "../../contract-reads/read-groups.ts";
import { defineRead, joinEach, toAddressArray } from "../../contract-reads/reads.ts";
import { erc20 } from "../../tokens/erc20.ts";
import type { Asset } from "../../types.ts";
import { declareAssets, getAsset } from "../asset-metadata.ts";
import type { PositionRead, PositionReadWithTokens } from "../position-read.ts";
import { declareBelief, type VaultProof, type VaultRegistry } from "./registries.ts";
import type { Shares } from "./resolve-shares.ts";

/** An owner has this many accounts: the addresses that differ from its own in the last byte at most. */
const ACCOUNTS = 256;
/** An account can borrow from one vault at a time, and Euler allows this many vaults as its collateral. */
const COLLATERALS_MAX = 10;
/** More than people use; a warning says when there are more. */
const DEBTORS_MAX = 32;
/** A storage read behind a proxy or two. The owner may have named any contract as collateral. */
const VIEW_GAS_MAX = 100_000;
/** Interest accrues first, at the rate of a model that the vault's governor chose. */
const DEBT_GAS_MAX = 500_000;

const getAccountOwner = defineRead("function getAccountOwner(address)", (data) => data);
const getControllers = defineRead("function getControllers(address)", toAddressArray(1));
const getCollaterals = defineRead("function getCollaterals(address)", toAddressArray(COLLATERALS_MAX));
const debtOf = defineRead("function debtOf(address)", decodeTokenAmount, DEBT_GAS_MAX);
const loanAsset = defineRead("function asset()", decodeAddress, VIEW_GAS_MAX);
const dToken = defineRead("function dToken()", decodeAddress, VIEW_GAS_MAX);

type EulerLoan = {
  readonly vault: Hex;
  readonly asset: Asset;
  /** Rounded up, as the vault demands it. */
  readonly owed: bigint;
  /** Represents the debt; null when the vault does not say which token does. */
  readonly debtToken: Hex | null;
};

/** An account that may borrow: it has given a vault the right to seize its collateral. */
export type EulerAccount = {
  readonly account: Hex;
  /** Null while it owes nothing. */
  readonly loan: EulerLoan | null;
  /** Shares that secure the loan; without those of which the account has none. */
  readonly collateral: readonly Shares[];
};

export type EulerAccounts = {
  readonly accounts: readonly EulerAccount[];
  /** False when there may be more that the wallet owes. */
  readonly isComplete: boolean;
};

export const NO_ACCOUNTS: EulerAccounts = { accounts: [], isComplete: true };
const UNREAD: EulerAccounts = { accounts: [], isComplete: false };

type Debtor = { readonly account: Hex; readonly controller: Hex };

/**
 * The connector registers an owner before any of its accounts can borrow, so that one call suffices for a wallet that
 * never did. It needs no tokens. Null without Euler.
 */
export async function readEulerOwner(
  run: PositionRead,
  { eulerConnector: connector }: VaultRegistry,
): Promise<Hex | null> {
  return connector === undefined ? null : run.ask(getAccountOwner(connector, [run.wallet]));
}

/**
 * The owner is asked for here if that was not done while tokens were read. `onDebtors` learns early which accounts may
 * borrow.
 */
export function* readEulerAccounts(
  run: PositionReadWithTokens,
  { eulerConnector: connector, proofs }: VaultRegistry,
  knownOwner: Hex | null | undefined,
  onDebtors: (accounts: readonly Hex[]) => void,
): ReadRoutine<EulerAccounts> {
  if (connector === undefined) return NO_ACCOUNTS;
  const { wallet } = run;
  const ownerResult =
    knownOwner === undefined ? yield* ask(getAccountOwner(connector, [wallet])) : knownOwner;
  // No contract there: a chain of a developer.
  if (ownerResult === "0x") return NO_ACCOUNTS;
  const owner = decodeWord(ownerResult);
  if (owner === null) return UNREAD;
  if (owner === 0n) return NO_ACCOUNTS;
  // A wallet may itself be an account of another owner, whose other accounts are not its own.
  const accounts = owner === BigInt(wallet) ? listAccounts(wallet) : [wallet];
  const lists = yield* ask(joinEach(accounts, (account) => getControllers(connector, [account])));
  const found = lists.flatMap(([account, list]): readonly Debtor[] =>
    (list ?? []).map((controller) => ({ account, controller })),
  );
  const debtors = found.slice(0, DEBTORS_MAX);
  const isComplete = lists.every(([, list]) => list !== null) && debtors.length === found.length;
  if (debtors.length === 0) return { accounts: [], isComplete };
  onDebtors(debtors.map(({ account }) => account));
  const factories = proofs.filter(({ kind }) => kind === "eulerFactory");
  const described = yield* readDebtors(run, connector, factories, debtors);
  return { accounts: described.accounts, isComplete: isComplete && described.isComplete };
}

/** The wallet's own first. */
function listAccounts(wallet: Hex): readonly Hex[] {
  const own = BigInt(wallet);
  return Array.from(
    { length: ACCOUNTS },
    (_, index): Hex => `0x${(own ^ BigInt(index)).toString(16).padStart(40, "0")}`,
  );
}

/** Debts and collateral, then the balances of the collateral and the names of all. */
function* readDebtors(
  run: PositionReadWithTokens,
  connector: Hex,
  factories: readonly VaultProof[],
  found: readonly Debtor[],
): ReadRoutine<EulerAccounts> {
  const read = yield* ask(
    joinEach(found, ({ account, controller }) => ({
      collaterals: getCollaterals(connector, [account]),
      owed: debtOf(controller, [account]),
      asset: loanAsset(controller),
      debtToken: dToken(controller),
      belief: declareBelief(factories, controller, controller),
    })),
  );
  // Only of Euler's own code it is known that it tells what is owed.
  const debtors = read.map(([debtor, { belief, ...own }]) => ({
    ...debtor,
    ...own,
    owed: belief === null ? null : own.owed,
  }));
  const pledges = debtors.flatMap(({ account, collaterals }) =>
    (collaterals ?? []).map((vault) => ({ account, vault })),
  );
  const contracts = [...debtors.flatMap(({ asset }) => asset ?? []), ...pledges.map(({ vault }) => vault)];
  const { balances, assets } = yield* ask({
    balances: joinEach(pledges, ({ account, vault }) => erc20.balanceOf(vault, [account], VIEW_GAS_MAX)),
    assets: declareAssets(run, contracts),
  });
  const accounts = debtors.map(
    ({ account, controller, owed, asset, debtToken }): EulerAccount => ({
      account,
      loan: owed && asset ? { vault: controller, asset: getAsset(assets, asset), owed, debtToken } : null,
      collateral: balances.flatMap(([pledge, rawBalance]): Shares[] => {
        if (pledge.account !== account || !rawBalance) return [];
        return [{ ...getAsset(assets, pledge.vault), contract: pledge.vault, rawBalance }];
      }),
    }),
  );
  const isComplete =
    balances.every(([, balance]) => balance !== null) &&
    debtors.every(({ owed, asset, collaterals }) => owed !== null && asset !== null && collaterals !== null);
  return { accounts, isComplete };
}
