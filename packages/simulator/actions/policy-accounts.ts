// Policy account actions: open, fund, set rules, freeze.
import { type Address, type Hex, parseEther, zeroAddress } from "viem";
import { createPolicyHolder, type SimulatedPolicyAccount } from "../state/simulator-state.ts";
import {
  policiesOfAccount,
  setFrozen,
  setFunctionAllowed,
  setFunctionMode,
  setGuardian,
  setSpendLimit,
  setTargetAllowed,
} from "../transactions/policies.ts";
import { openPolicyAccount, setAccountFrozen, setSessionKey } from "../transactions/policy-accounts.ts";
import { mintUsd, sendEther } from "../transactions/tokens.ts";
import type { SimulatorAction } from "../turn.ts";
import type { World } from "../world.ts";
import { drawSpendLimit, rememberSpendLimit } from "./policies.ts";

/** Each lasts for many payments; more accounts add nothing. */
const ACCOUNTS_MAX = 8;

/** Some hundred payments. */
const USD_SUPPLY = 2_000_000_000n;
const ETHER_SUPPLY = parseEther("0.1");

/** A day to two weeks: some keys expire in a run that skips time, others do not. */
export const KEY_LIFE_SECONDS = [86_400n, 1_209_600n] as const;

export const policyAccountActions: readonly SimulatorAction[] = [
  {
    name: "open a policy account",
    weight: 2,
    prepare: (turn) => {
      const { world, random, accounts, state } = turn;
      if (state.accounts.size >= ACCOUNTS_MAX || !turn.claim(state.accounts)) return undefined;
      const signer = random.pick(accounts.owners);
      const key = random.pick(accounts.sessionKeys);
      const payee = random.pick(accounts.merchants);
      const expiresAt = turn.now + random.between(...KEY_LIFE_SECONDS);
      const usdPerDay = random.between(100_000_000n, USD_SUPPLY);
      const etherPerDay = random.between(ETHER_SUPPLY / 10n, ETHER_SUPPLY);
      return async () => {
        const address = await openPolicyAccount(world, signer);
        const policies = policiesOfAccount(signer, address);
        await world.inOneBlock([
          ...[payee.address, ...callable(world).map(([target]) => target)].map(
            (target) => () => setTargetAllowed(policies, target, true),
          ),
          () => setSpendLimit(policies, world.local.UsdCoin, usdPerDay),
          () => setSpendLimit(policies, zeroAddress, etherPerDay),
          () => setSessionKey(signer, address, key.address, expiresAt, true),
          () => mintUsd(world, accounts.treasury, address, USD_SUPPLY),
          () => sendEther(accounts.treasury, address, ETHER_SUPPLY),
        ]);
        const account: SimulatedPolicyAccount = {
          ...createPolicyHolder(),
          address,
          signer,
          payee,
          keys: [{ wallet: key, expiresAt, active: true, nextNonce: 1n }],
          functionsListed: false,
          usd: USD_SUPPLY,
          ether: ETHER_SUPPLY,
        };
        rememberSpendLimit(account, world.local.UsdCoin, usdPerDay);
        rememberSpendLimit(account, zeroAddress, etherPerDay);
        state.accounts.add(account);
      };
    },
  },
  {
    name: "supply a policy account",
    weight: 2,
    prepare: (turn) => {
      const { world, accounts, state } = turn;
      const account = turn.take(
        state.accounts,
        ({ usd, ether }) => usd < USD_SUPPLY / 2n || ether < ETHER_SUPPLY / 2n,
      );
      if (account === undefined) return undefined;
      return async () => {
        await world.inOneBlock([
          () => mintUsd(world, accounts.treasury, account.address, USD_SUPPLY),
          () => sendEther(accounts.treasury, account.address, ETHER_SUPPLY),
        ]);
        account.usd += USD_SUPPLY;
        account.ether += ETHER_SUPPLY;
      };
    },
  },
  {
    name: "limit the spending of a policy account",
    weight: 2,
    prepare: (turn) => {
      const account = turn.take(turn.state.accounts);
      if (account === undefined) return undefined;
      const { token, max } = drawSpendLimit(turn);
      return async () => {
        await setSpendLimit(policiesOfAccount(account.signer, account.address), token, max);
        rememberSpendLimit(account, token, max);
      };
    },
  },
  {
    name: "list a target or function of a policy account",
    weight: 2,
    prepare: (turn) => {
      const { random, state } = turn;
      const account = turn.take(state.accounts);
      if (account === undefined) return undefined;
      const policies = policiesOfAccount(account.signer, account.address);
      // Only unrelated targets change: what the account really calls stays listed.
      const target = random.address();
      const allowed = random.chance(50);
      if (random.chance(50)) return () => setTargetAllowed(policies, target, allowed);
      return () => setFunctionAllowed(policies, target, "0xa9059cbb", allowed);
    },
  },
  {
    name: "switch the function list of a policy account",
    weight: 2,
    prepare: (turn) => {
      const { world, random, state } = turn;
      const account = turn.take(state.accounts);
      if (account === undefined) return undefined;
      const policies = policiesOfAccount(account.signer, account.address);
      if (account.functionsListed) {
        const enabled = random.chance(50);
        return () => setFunctionMode(policies, enabled);
      }
      account.functionsListed = true;
      const listings = callable(world).flatMap(([target, selectors]) =>
        selectors.map((selector) => () => setFunctionAllowed(policies, target, selector, true)),
      );
      return async () => {
        await world.inOneBlock(listings);
        await setFunctionMode(policies, true);
      };
    },
  },
  {
    name: "choose the guardian of a policy account",
    weight: 2,
    prepare: (turn) => {
      const { random, accounts, state } = turn;
      const account = turn.take(state.accounts);
      if (account === undefined) return undefined;
      const guardian = random.pick(accounts.guardians);
      return async () => {
        await setGuardian(policiesOfAccount(account.signer, account.address), guardian.address);
        account.guardian = guardian;
      };
    },
  },
  {
    name: "freeze a policy account",
    weight: 1,
    prepare: (turn) => {
      const { world, state } = turn;
      const account = turn.take(state.accounts, ({ frozen }) => !frozen);
      if (account === undefined) return undefined;
      account.frozen = true;
      const { guardian, signer, address } = account;
      if (guardian === undefined) return () => setAccountFrozen(signer, address, true);
      return () => setFrozen(world, guardian, address, true);
    },
  },
  {
    name: "release a policy account",
    weight: 5,
    prepare: (turn) => {
      const account = turn.take(turn.state.accounts, ({ frozen }) => frozen);
      if (account === undefined) return undefined;
      account.frozen = false;
      return () => setAccountFrozen(account.signer, account.address, false);
    },
  },
];

/** The calls of policy accounts: transfer, setValue, the agent functions, payment policies. */
function callable(world: World): readonly (readonly [target: Address, selectors: readonly Hex[]])[] {
  return [
    [world.local.UsdCoin, ["0xa9059cbb"]],
    [world.local.DemoTarget, ["0x55241077"]],
    [world.contracts.AgentRegistry, ["0x5398cd77", "0x2c1e8639", "0xba7550d4"]],
    [world.contracts.PolicyModule, ["0xcccd0244", "0xb42a0da2"]],
  ];
}
