// Policy actions of owners: they set rules for themselves and spend under them.
import { type Address, parseEther, zeroAddress } from "viem";
import type { SimulatedOwner } from "../state/simulator-state.ts";
import { SpendWindow } from "../state/spend-window.ts";
import { recordSignedPayment, recordSpend, setPaymentPolicy } from "../transactions/payments.ts";
import {
  policiesOfWallet,
  setFrozen,
  setFunctionAllowed,
  setFunctionMode,
  setGuardian,
  setSpendLimit,
  setTargetAllowed,
} from "../transactions/policies.ts";
import type { SimulatorAction, Turn } from "../turn.ts";

/** A limit for twenty payments or so, in the units of each token. */
const LIMITS: readonly (readonly [keyof Turn["world"]["local"] | "native", bigint, bigint])[] = [
  ["UsdCoin", 50_000_000n, 5_000_000_000n],
  ["WrappedEther", parseEther("0.01"), parseEther("2")],
  ["native", parseEther("0.01"), parseEther("2")],
];

/** Policies about more merchants than this add nothing. */
const ROUTES_MAX = 4;

const PAYMENT_MAX = 25_000_000n;

export const policyActions: readonly SimulatorAction[] = [
  {
    name: "limit own spending",
    weight: 3,
    prepare: (turn) => {
      const { world, state } = turn;
      const owner = turn.take(state.owners);
      if (owner === undefined) return undefined;
      const { token, max } = drawSpendLimit(turn);
      return async () => {
        await setSpendLimit(policiesOfWallet(world, owner.wallet), token, max);
        rememberSpendLimit(owner, token, max);
      };
    },
  },
  {
    name: "record a spend",
    weight: 4,
    prepare: (turn) => {
      const { world, random, state, now } = turn;
      const owner = turn.take(state.owners, ({ limits }) =>
        [...limits.values()].some((window) => window.max > 0n && window.available(now, window.max) > 0n),
      );
      const [token, window] = [...(owner?.limits ?? [])].find(([, { max }]) => max > 0n) ?? [];
      if (owner === undefined || token === undefined || window === undefined) return undefined;
      const amountMax = window.available(now, window.max);
      if (amountMax === 0n) return undefined;
      const amount = random.between(1n, amountMax);
      return async () => {
        const total = await recordSpend(world, owner.wallet, token, amount);
        if (total !== undefined) window.report(amount, total, now);
      };
    },
  },
  {
    name: "list a target",
    weight: 2,
    prepare: (turn) => {
      const { world, random, state } = turn;
      const owner = turn.take(state.owners);
      if (owner === undefined) return undefined;
      const target = random.pick(Object.values(world.local));
      const allowed = random.chance(70);
      return () => setTargetAllowed(policiesOfWallet(world, owner.wallet), target, allowed);
    },
  },
  {
    name: "list a function",
    weight: 2,
    prepare: (turn) => {
      const { world, random, state } = turn;
      const owner = turn.take(state.owners);
      if (owner === undefined) return undefined;
      const target = random.pick(Object.values(world.local));
      const selector = random.pick(["0xa9059cbb", "0x095ea7b3", "0x55241077", "0x00000000"] as const);
      const allowed = random.chance(70);
      return () => setFunctionAllowed(policiesOfWallet(world, owner.wallet), target, selector, allowed);
    },
  },
  {
    name: "switch the function list on or off",
    weight: 1,
    prepare: (turn) => {
      const owner = turn.take(turn.state.owners);
      if (owner === undefined) return undefined;
      const enabled = turn.random.chance(50);
      return () => setFunctionMode(policiesOfWallet(turn.world, owner.wallet), enabled);
    },
  },
  {
    name: "choose a guardian",
    weight: 2,
    prepare: (turn) => {
      const { world, random, accounts, state } = turn;
      const owner = turn.take(state.owners);
      if (owner === undefined) return undefined;
      const guardian = random.chance(85) ? random.pick(accounts.guardians) : undefined;
      return async () => {
        await setGuardian(policiesOfWallet(world, owner.wallet), guardian?.address ?? zeroAddress);
        owner.guardian = guardian;
      };
    },
  },
  {
    name: "freeze an owner",
    weight: 1,
    prepare: (turn) => {
      const { world, state } = turn;
      const owner = turn.take(state.owners, ({ frozen }) => !frozen);
      if (owner === undefined) return undefined;
      owner.frozen = true;
      return () => setFrozen(world, owner.guardian ?? owner.wallet, owner.wallet.address, true);
    },
  },
  {
    name: "release an owner",
    weight: 4,
    prepare: (turn) => {
      const { world, random, state } = turn;
      const owner = turn.take(state.owners, ({ frozen }) => frozen);
      if (owner === undefined) return undefined;
      owner.frozen = false;
      const by = random.chance(50) ? owner.wallet : (owner.guardian ?? owner.wallet);
      return () => setFrozen(world, by, owner.wallet.address, false);
    },
  },
  {
    name: "freeze and release an owner in one block",
    weight: 1,
    prepare: (turn) => {
      const { world, state } = turn;
      const owner = turn.take(state.owners, ({ guardian, frozen }) => guardian !== undefined && !frozen);
      if (owner?.guardian === undefined) return undefined;
      const { guardian, wallet } = owner;
      return () =>
        world.inOneBlock([
          () => setFrozen(world, guardian, wallet.address, true),
          () => setFrozen(world, wallet, wallet.address, false),
        ]);
    },
  },
  {
    name: "set a payment policy",
    weight: 3,
    prepare: (turn) => {
      const { world, random, accounts, state } = turn;
      const owner = turn.take(state.owners);
      if (owner === undefined) return undefined;
      const terms = {
        maxPerPayment: random.chance(80) ? random.between(1_000_000n, PAYMENT_MAX) : 0n,
        maxPerDay: random.chance(80) ? random.between(PAYMENT_MAX, 10n * PAYMENT_MAX) : 0n,
        allowed: random.chance(85),
      };
      const known = owner.payments.length < ROUTES_MAX ? undefined : random.pick(owner.payments);
      const route = known?.route ?? {
        merchant: random.pick(accounts.merchants).address,
        token: world.local.UsdCoin,
        facilitator: random.chance(50) ? zeroAddress : random.pick(accounts.facilitators).address,
      };
      return async () => {
        await setPaymentPolicy(world, owner.wallet, route, terms);
        const same = owner.payments.find(
          (policy) =>
            policy.route.merchant === route.merchant && policy.route.facilitator === route.facilitator,
        );
        if (same === undefined) {
          owner.payments.push({ route, window: new SpendWindow(terms.maxPerDay), ...terms });
          return;
        }
        same.window.max = terms.maxPerDay;
        same.maxPerPayment = terms.maxPerPayment;
        same.allowed = terms.allowed;
      };
    },
  },
  {
    name: "record a signed payment",
    weight: 4,
    prepare: (turn) => {
      const { world, random, state, now } = turn;
      const owner = turn.take(
        state.owners,
        ({ frozen, payments }) => !frozen && payments.some(({ allowed }) => allowed),
      );
      const policy = owner?.payments.find(({ allowed }) => allowed);
      if (owner === undefined || policy === undefined) return undefined;
      const most = policy.window.available(
        now,
        policy.maxPerPayment === 0n ? PAYMENT_MAX : policy.maxPerPayment,
      );
      if (most === 0n) return undefined;
      const amount = random.between(1n, most);
      const paymentHash = random.bytes32();
      return async () => {
        const total = await recordSignedPayment(world, owner.wallet, policy.route, amount, paymentHash);
        policy.window.report(amount, total, now);
      };
    },
  },
];

/** A token and its daily limit, sometimes 0 for none. */
export function drawSpendLimit({ world, random }: Turn): { token: Address; max: bigint } {
  const [name, min, max] = random.pick(LIMITS);
  const token = name === "native" ? zeroAddress : world.local[name];
  return { token, max: random.chance(90) ? random.between(min, max) : 0n };
}

/** Stores a limit; the current window and its total stay. */
export function rememberSpendLimit(
  holder: Pick<SimulatedOwner, "limits">,
  token: Address,
  max: bigint,
): void {
  const window = holder.limits.get(token);
  if (window === undefined) holder.limits.set(token, new SpendWindow(max));
  else window.max = max;
}
