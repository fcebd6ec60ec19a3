// Preflight: would the policy module let a transaction pass, and if not, which calls of the account would change that?
import { policyModuleAbi } from "@sextant/contracts/generated/policy-module";
import { encodeFunctionData } from "viem";
import type { Hex } from "../kit/hex.ts";
import { UINT256_MAX } from "../kit/uint.ts";
import { SPEND_WINDOW_SECONDS } from "./domains/policies.ts";
import { describeAction } from "./preflight-action.ts";
import { selectorOf, tokenCallOf } from "./token-call.ts";

export type PlannedTransaction = {
  readonly account: Hex;
  readonly target: Hex;
  readonly value: bigint;
  readonly data: Hex;
};

/** What the account allows itself per window and has spent in the last one; a limit of 0 is none. */
export type Allowance = {
  readonly maxPerDay: bigint;
  readonly spent: bigint;
  readonly windowStart: bigint;
};

/** Everything the contract would look up for one transaction, at one block. */
export type AccountRules = {
  readonly policyModule: Hex;
  readonly time: bigint;
  readonly frozen: boolean;
  readonly targetAllowed: boolean;
  readonly functionMode: boolean;
  readonly functionAllowed: boolean;
  readonly native: Allowance;
  /** Of the target as a token. */
  readonly token: Allowance;
};

export type SpendCheck = {
  readonly token: Hex;
  readonly attempted: string;
  readonly spent: string;
  readonly max_per_day: string | null;
  readonly remaining: string | null;
  readonly ok: boolean;
};

export type PolicyUpdate = {
  readonly policy_type: string;
  readonly target?: Hex;
  readonly selector?: Hex;
  readonly token?: Hex;
  readonly suggested_value: string | boolean;
  readonly to: Hex;
  readonly data: Hex;
};

export type PreflightResult = {
  readonly allowed: boolean;
  readonly action: string;
  readonly reasons: readonly string[];
  readonly missing_policies: readonly string[];
  readonly spend_checks: readonly SpendCheck[];
  readonly required_policy_updates: readonly PolicyUpdate[];
};

type Objection = { readonly reason: string; readonly missing?: string; readonly update: PolicyUpdate };

export const NATIVE: Hex = "0x0000000000000000000000000000000000000000";

/** All rules that say no, in the contract's order: the first is the one it would revert with. */
export function preflight(transaction: PlannedTransaction, rules: AccountRules): PreflightResult {
  const checks = spendChecks(transaction, rules);
  const objections = [...ruleObjections(transaction, rules), ...spendObjections(checks, rules.policyModule)];
  return {
    allowed: objections.length === 0,
    action: describeAction(transaction),
    reasons: objections.map(({ reason }) => reason),
    missing_policies: objections.flatMap(({ missing }) => missing ?? []),
    spend_checks: checks,
    required_policy_updates: eachOnce(objections.map(({ update }) => update)),
  };
}

function ruleObjections({ account, target, data }: PlannedTransaction, rules: AccountRules): Objection[] {
  const to = rules.policyModule;
  const objections: Objection[] = [];
  if (rules.frozen) {
    const call = encodeFunctionData({
      abi: policyModuleAbi,
      functionName: "setAccountFrozen",
      args: [account, false],
    });
    objections.push({
      reason: `Account ${account} is frozen.`,
      update: { policy_type: "ACCOUNT_FROZEN", suggested_value: false, to, data: call },
    });
  }
  if (!rules.targetAllowed) {
    const call = encodeFunctionData({
      abi: policyModuleAbi,
      functionName: "setTargetAllowed",
      args: [target, true],
    });
    objections.push({
      reason: `Target ${target} is not allowed for this account.`,
      missing: "TARGET_ALLOWLIST",
      update: { policy_type: "TARGET_ALLOWLIST", target, suggested_value: true, to, data: call },
    });
  }
  const selector = selectorOf(data);
  if (rules.functionMode && selector !== null && !rules.functionAllowed) {
    const call = encodeFunctionData({
      abi: policyModuleAbi,
      functionName: "setFunctionAllowed",
      args: [target, selector, true],
    });
    objections.push({
      reason: `Function ${selector} of ${target} is not allowed for this account.`,
      missing: "FUNCTION_ALLOWLIST",
      update: { policy_type: "FUNCTION_ALLOWLIST", target, selector, suggested_value: true, to, data: call },
    });
  }
  return objections;
}

function spendChecks({ target, value, data }: PlannedTransaction, rules: AccountRules): SpendCheck[] {
  const spend = tokenCallOf(data)?.spend ?? null;
  return [
    ...(value > 0n ? [spendCheck(NATIVE, value, rules.native, rules.time)] : []),
    ...(spend !== null ? [spendCheck(target, spend.amount, rules.token, rules.time)] : []),
  ];
}

function spendCheck(token: Hex, attempted: bigint, allowance: Allowance, time: bigint): SpendCheck {
  const { maxPerDay, windowStart } = allowance;
  const spent = time >= windowStart + SPEND_WINDOW_SECONDS ? 0n : allowance.spent;
  // A limit may have been lowered below what is already spent; then nothing is left, and nothing may still be spent.
  const remaining = maxPerDay > spent ? maxPerDay - spent : 0n;
  const limited = maxPerDay > 0n;
  return {
    token,
    attempted: attempted.toString(),
    spent: spent.toString(),
    max_per_day: limited ? maxPerDay.toString() : null,
    remaining: limited ? remaining.toString() : null,
    ok: !limited || attempted <= remaining,
  };
}

function spendObjections(checks: readonly SpendCheck[], to: Hex): Objection[] {
  const failed = checks.filter(({ ok }) => !ok);
  return failed.map(({ token, attempted, spent, max_per_day, remaining }) => {
    // The zero address as a target asks the native limit twice, each time on its own: one new limit must do for both.
    const needed = failed
      .filter((other) => other.token === token)
      .map((other) => BigInt(other.spent) + BigInt(other.attempted))
      .reduce((highest, next) => (next > highest ? next : highest));
    // No limit is high enough for a total that does not fit into one; 0 takes the limit away.
    const suggested = needed > UINT256_MAX ? 0n : needed;
    const data = encodeFunctionData({
      abi: policyModuleAbi,
      functionName: "setSpendLimit",
      args: [token, suggested],
    });
    const what = token === NATIVE ? "the native coin" : token;
    return {
      reason: `Spending ${attempted} of ${what} exceeds the daily limit of ${max_per_day}: ${spent} is spent, ${remaining} remains.`,
      update: { policy_type: "SPEND_LIMIT", token, suggested_value: suggested.toString(), to, data },
    };
  });
}

function eachOnce(updates: readonly PolicyUpdate[]): PolicyUpdate[] {
  return updates.filter((update, index) => updates.findIndex(({ data }) => data === update.data) === index);
}
