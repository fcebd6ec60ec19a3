// Spending from policy accounts: by session key, by the signer, and by signed payments.

import type { TransactionCall } from "@sextant/contracts/deploy/transaction";
import { demoTargetAbi } from "@sextant/contracts/generated/demo-target";
import { policyModuleAbi } from "@sextant/contracts/generated/policy-module";
import { type Address, encodeFunctionData, erc20Abi, parseEther, zeroAddress } from "viem";
import { decodeReceiptEvents } from "../receipt-events.ts";
import type { SimulatedPolicyAccount, SimulatedSessionKey } from "../state/simulator-state.ts";
import { SpendWindow } from "../state/spend-window.ts";
import { recordSignedPayment, setPaymentPolicy } from "../transactions/payments.ts";
import {
  actThroughAccount,
  executeBySessionKey,
  type RecordedSpend,
  setSessionKey,
} from "../transactions/policy-accounts.ts";
import type { SimulatorAction, Turn } from "../turn.ts";
import { KEY_LIFE_SECONDS } from "./policy-accounts.ts";

const USD_PAYMENT_MAX = 20_000_000n;
const ETHER_PAYMENT_MAX = parseEther("0.001");

/** A signed call is relayed at once, or not at all. */
const SESSION_SECONDS = 600n;

export const sessionKeyActions: readonly SimulatorAction[] = [
  {
    name: "give or renew a session key",
    weight: 2,
    prepare: (turn) => {
      const { random, accounts, state } = turn;
      const account = turn.take(state.accounts);
      if (account === undefined) return undefined;
      const wallet = random.pick(accounts.sessionKeys);
      const expiresAt = turn.now + random.between(...KEY_LIFE_SECONDS);
      return async () => {
        await setSessionKey(account.signer, account.address, wallet.address, expiresAt, true);
        const known = account.keys.find((key) => key.wallet === wallet);
        if (known === undefined) account.keys.push({ wallet, expiresAt, active: true, nextNonce: 1n });
        else Object.assign(known, { expiresAt, active: true });
      };
    },
  },
  {
    name: "withdraw a session key",
    weight: 1,
    prepare: (turn) => {
      const account = turn.take(turn.state.accounts, ({ keys }) => keys.some(({ active }) => active));
      const key = account?.keys.find(({ active }) => active);
      if (account === undefined || key === undefined) return undefined;
      key.active = false;
      return () => setSessionKey(account.signer, account.address, key.wallet.address, key.expiresAt, false);
    },
  },
  {
    name: "pay dollars by session key",
    weight: 5,
    prepare: (turn) => {
      const session = takeSession(turn);
      if (session === undefined) return undefined;
      const { account } = session;
      const amount = payable(turn, account, turn.world.local.UsdCoin, account.usd, USD_PAYMENT_MAX);
      if (amount === 0n) return undefined;
      account.usd -= amount;
      return bySessionKey(turn, session, transfer(turn, amount));
    },
  },
  {
    name: "pay ether by session key",
    weight: 3,
    prepare: (turn) => {
      const session = takeSession(turn);
      if (session === undefined) return undefined;
      const { account } = session;
      const value = payable(turn, account, zeroAddress, account.ether, ETHER_PAYMENT_MAX);
      if (value === 0n) return undefined;
      account.ether -= value;
      return bySessionKey(turn, session, { to: account.payee.address, value });
    },
  },
  {
    name: "call a contract by session key",
    weight: 2,
    prepare: (turn) => {
      const session = takeSession(turn);
      if (session === undefined) return undefined;
      const args = [turn.random.between(0n, 2n ** 64n)] as const;
      const data = encodeFunctionData({ abi: demoTargetAbi, functionName: "setValue", args });
      return bySessionKey(turn, session, { to: turn.world.local.DemoTarget, data });
    },
  },
  {
    name: "pay dollars as the signer of a policy account",
    weight: 2,
    prepare: (turn) => {
      const { world, state, now } = turn;
      const account = turn.take(state.accounts, ({ frozen }) => !frozen);
      if (account === undefined) return undefined;
      const amount = payable(turn, account, world.local.UsdCoin, account.usd, USD_PAYMENT_MAX);
      if (amount === 0n) return undefined;
      account.usd -= amount;
      const call = transfer(turn, amount);
      return async () => {
        const receipt = await actThroughAccount(account.signer, account.address).send(call);
        remember(
          account,
          decodeReceiptEvents(receipt, world.contracts.PolicyModule, policyModuleAbi, "SpendRecorded"),
          now,
        );
      };
    },
  },
  {
    name: "pay by signature from a policy account",
    weight: 2,
    prepare: (turn) => {
      const { world, random, accounts, state, now } = turn;
      const account = turn.take(state.accounts, ({ frozen }) => !frozen);
      if (account === undefined) return undefined;
      const route = {
        merchant: random.pick(accounts.merchants).address,
        token: world.local.UsdCoin,
        facilitator: random.pick(accounts.facilitators).address,
      };
      const maxPerDay = random.between(USD_PAYMENT_MAX, 10n * USD_PAYMENT_MAX);
      const policy = account.payments[0] ?? {
        route,
        window: new SpendWindow(maxPerDay),
        maxPerPayment: USD_PAYMENT_MAX,
        allowed: true,
      };
      const amount = policy.window.available(now, random.between(1n, USD_PAYMENT_MAX));
      if (amount === 0n) return undefined;
      const paymentHash = random.bytes32();
      const actor = actThroughAccount(account.signer, account.address);
      return async () => {
        if (account.payments.length === 0) {
          const terms = { maxPerPayment: policy.maxPerPayment, maxPerDay, allowed: true };
          await setPaymentPolicy(world, actor, policy.route, terms);
          account.payments.push(policy);
        }
        policy.window.report(
          amount,
          await recordSignedPayment(world, actor, policy.route, amount, paymentHash),
          now,
        );
      };
    },
  },
];

type Session = { readonly account: SimulatedPolicyAccount; readonly key: SimulatedSessionKey };

function takeSession(turn: Turn): Session | undefined {
  const valid = (key: SimulatedSessionKey): boolean => key.active && turn.isTimely(key.expiresAt);
  const account = turn.take(turn.state.accounts, ({ frozen, keys }) => !frozen && keys.some(valid));
  const key = account?.keys.find(valid);
  return account === undefined || key === undefined ? undefined : { account, key };
}

/** The least of its balance, today's remaining limit and one payment; 0 when nothing is left. */
function payable(
  { random, now }: Turn,
  account: SimulatedPolicyAccount,
  token: Address,
  has: bigint,
  most: bigint,
): bigint {
  const wanted = random.between(1n, most);
  const allowed = account.limits.get(token)?.available(now, wanted) ?? wanted;
  return allowed < has ? allowed : has;
}

function transfer({ world, random, accounts }: Turn, amount: bigint): TransactionCall & { to: Address } {
  const args = [random.pick(accounts.merchants).address, amount] as const;
  return {
    to: world.local.UsdCoin,
    data: encodeFunctionData({ abi: erc20Abi, functionName: "transfer", args }),
  };
}

function bySessionKey(turn: Turn, { account, key }: Session, call: TransactionCall & { to: Address }) {
  const { world, random, accounts, now } = turn;
  const relayer = random.pick(accounts.relayers);
  const nonce = key.nextNonce;
  key.nextNonce += 1n;
  return async (): Promise<void> => {
    const session = {
      account: account.address,
      key: key.wallet,
      call,
      deadline: now + SESSION_SECONDS,
      nonce,
    };
    remember(account, await executeBySessionKey(world, relayer, session), now);
  };
}

function remember(account: SimulatedPolicyAccount, spends: readonly RecordedSpend[], now: bigint): void {
  for (const { token, amount, dailyTotal } of spends) {
    account.limits.get(token.toLowerCase() as Address)?.report(amount, dailyTotal, now);
  }
}
