// Policies of accounts, what they spend within them, and the session keys that act for them.
import { policyAccountAbi } from "@sextant/contracts/generated/policy-account";
import { policyModuleAbi } from "@sextant/contracts/generated/policy-module";
import type { ContractEventArgsFromTopics, ContractEventName } from "viem";
import type { Hex } from "../../../src/lib/hex.ts";
import { eventEncoder } from "../abi-encoder.ts";
import type { HistoryAction, HistorySpendWindow, HistoryState, HistoryStep } from "../history-state.ts";

const policyLog = eventEncoder(policyModuleAbi);
const accountLog = eventEncoder(policyAccountAbi);

const WINDOW_SECONDS = 86_400;
// Larger than any day's spending: a reverted spend would leave no event.
const LIMIT = 10n ** 24n;
const SELECTORS: readonly Hex[] = ["0xa9059cbb", "0x095ea7b3", "0x23b872dd", "0x38ed1739"];
const TARGETS = 200;

function one<Name extends ContractEventName<typeof policyModuleAbi>>(
  world: HistoryState,
  name: Name,
  args: ContractEventArgsFromTopics<typeof policyModuleAbi, Name>,
): HistoryStep {
  return { logs: [policyLog(world.contracts.PolicyModule, name, args)], call: null };
}

const setSpendLimit: HistoryAction = (world) => {
  const [account, token] = [world.account(), world.token()];
  const key = `${account}${token}`;
  if (!world.spendings.has(key)) {
    const spending: HistorySpendWindow = { account, token, spent: 0n, windowStart: 0 };
    world.spendings.set(key, spending);
    world.spenders.push(spending);
  }
  const maxPerDay = LIMIT + BigInt(world.next("limit"));
  return one(world, "SpendLimitSet", { account, token, maxPerDay });
};

const setTargetAllowed: HistoryAction = (world) => {
  const target = world.entropy.address("target", world.dice.skewed(TARGETS));
  const args = { account: world.account(), target, allowed: world.dice.chance(0.9) };
  return one(world, "TargetAllowlistUpdated", args);
};

const setFunctionAllowed: HistoryAction = (world) => {
  const target = world.entropy.address("target", world.dice.skewed(TARGETS));
  const selector = SELECTORS[world.dice.skewed(SELECTORS.length)] ?? "0x00000000";
  const args = { account: world.account(), target, selector, allowed: world.dice.chance(0.9) };
  return one(world, "FunctionAllowlistUpdated", args);
};

const setUseFunctionAllowlist: HistoryAction = (world) =>
  one(world, "FunctionAllowlistModeUpdated", {
    account: world.account(),
    enabled: world.dice.chance(0.5),
  });

const setGuardian: HistoryAction = (world) =>
  one(world, "GuardianSet", {
    account: world.account(),
    guardian: world.entropy.address("guardian", world.next("guardian")),
  });

/** Done by accounts that do nothing else: a frozen one could not. */
const setAccountFrozen: HistoryAction = (world) =>
  one(world, "AccountFrozen", {
    account: world.entropy.address("quiet account", world.dice.skewed(500)),
    frozen: world.dice.chance(0.5),
  });

const setPaymentPolicy: HistoryAction = (world) => {
  const known = world.dice.chance(0.2) ? world.payments.pick() : null;
  const policy = known ?? {
    account: world.account(),
    token: world.token(),
    // A payee of its own each time: a policy that has left play never comes back.
    merchant: world.entropy.address("payee", world.next("payee")),
    facilitator: world.entropy.address(
      "facilitator",
      world.dice.skewed(Math.max(1, world.count("facilitator"))),
    ),
    spent: 0n,
    windowStart: 0,
  };
  if (!known) world.payments.add(policy);
  const { account, merchant, token, facilitator } = policy;
  const limits = { maxPerPayment: LIMIT, maxPerDay: LIMIT, allowed: true };
  return one(world, "PaymentPolicySet", { account, merchant, token, facilitator, ...limits });
};

/** Adds to what was spent in the window, or begins the next one: as the contract does. */
function spend(world: HistoryState, spending: HistorySpendWindow, amount: bigint): bigint {
  const over = world.now >= spending.windowStart + WINDOW_SECONDS;
  spending.spent = (over ? 0n : spending.spent) + amount;
  if (over) spending.windowStart = world.now;
  return spending.spent;
}

const recordSpend: HistoryAction = (world) => {
  const spending = world.spenders[world.dice.skewed(world.spenders.length)];
  if (!spending) return null;
  const { account, token } = spending;
  const amount = world.amount();
  return one(world, "SpendRecorded", {
    account,
    token,
    amount,
    dailyTotal: spend(world, spending, amount),
  });
};

const recordSignedPayment: HistoryAction = (world) => {
  const policy = world.payments.pick();
  if (policy === null) return null;
  const { account, merchant, token, facilitator } = policy;
  const amount = world.amount();
  return one(world, "SignedPaymentRecorded", {
    account,
    merchant,
    token,
    facilitator,
    amount,
    paymentHash: world.anyHash(),
    dailyTotal: spend(world, policy, amount),
  });
};

const setSessionKey: HistoryAction = (world) => {
  const known = world.dice.chance(0.3) ? world.sessionKeys.take() : null;
  const session = known ?? {
    account: world.account(),
    key: world.entropy.address("session key", world.next("session key")),
    nonce: 0n,
  };
  if (!known) world.sessionKeys.add(session);
  const args = { sessionKey: session.key, expiresAt: world.now + WINDOW_SECONDS, active: !known };
  return { logs: [accountLog(session.account, "SessionKeyUpdated", args)], call: null };
};

const executeWithSessionKey: HistoryAction = (world) => {
  const session = world.sessionKeys.pick();
  const spending = session && world.spendings.get(`${session.account}${world.token()}`);
  if (!session) return null;
  session.nonce += 1n;
  const value = world.amount();
  const executed = {
    sessionKey: session.key,
    target: world.entropy.address("target", world.dice.skewed(TARGETS)),
    value,
    nonce: session.nonce,
  };
  const log = accountLog(session.account, "SessionKeyExecuted", executed);
  if (!spending) return { logs: [log], call: null };
  const { account, token } = spending;
  const dailyTotal = spend(world, spending, value);
  const spent = policyLog(world.contracts.PolicyModule, "SpendRecorded", {
    account,
    token,
    amount: value,
    dailyTotal,
  });
  return { logs: [spent, log], call: null };
};

export const policyHistoryActions = {
  setSpendLimit,
  setTargetAllowed,
  setFunctionAllowed,
  setUseFunctionAllowlist,
  setGuardian,
  setAccountFrozen,
  setPaymentPolicy,
  recordSpend,
  recordSignedPayment,
  setSessionKey,
  executeWithSessionKey,
};
