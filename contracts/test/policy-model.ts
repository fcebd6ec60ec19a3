// The policy rules in plain memory, written from the protocol's description, to compare the contracts with.
import { type Address, type Hex, hexToBigInt, pad, size, slice, zeroAddress } from "viem";
import type { RevertReason } from "./evm.ts";

export const WINDOW_SECONDS = 86_400n;
export const MODEL_UINT256_MAX = 2n ** 256n - 1n;

/** The limit per window and the amount spent in it; `start` is when the window opened. */
export type ModelAllowance = { maxPerDay: bigint; spentToday: bigint; start: bigint };

export type PolicyCall = { readonly target: Address; readonly value: bigint; readonly data: Hex };

export type PolicyRules = {
  readonly frozen: boolean;
  readonly targets: ReadonlySet<Address>;
  readonly functionMode: boolean;
  /** `${target} ${selector}` of every allowed function. */
  readonly functions: ReadonlySet<string>;
  readonly limits: ReadonlyMap<Address, Readonly<ModelAllowance>>;
};

export function noAllowance(): ModelAllowance {
  return { maxPerDay: 0n, spentToday: 0n, start: 0n };
}

export function spentInWindow({ spentToday, start }: Readonly<ModelAllowance>, now: bigint): bigint {
  return now - start < WINDOW_SECONDS ? spentToday : 0n;
}

/** A limit of 0 means that there is none. */
export function limitRevertReason(
  token: Address,
  allowance: Readonly<ModelAllowance>,
  amount: bigint,
  now: bigint,
): RevertReason | null {
  const { maxPerDay } = allowance;
  const total = spentInWindow(allowance, now) + amount;
  // A limit may have been lowered below what is already spent; spending nothing is fine even then.
  if (maxPerDay === 0n || amount === 0n || total <= maxPerDay) return null;
  return {
    errorName: "DailySpendLimitExceeded",
    args: [token, total > MODEL_UINT256_MAX ? MODEL_UINT256_MAX : total, maxPerDay],
  };
}

/** Adds to the window, or opens a new one when the old is over; returns the new total. */
export function addSpend(allowance: ModelAllowance, amount: bigint, now: bigint): bigint {
  const total = spentInWindow(allowance, now) + amount;
  if (now - allowance.start >= WINDOW_SECONDS) allowance.start = now;
  allowance.spentToday = total > MODEL_UINT256_MAX ? MODEL_UINT256_MAX : total;
  return allowance.spentToday;
}

const SPENDING_CALLS: Readonly<Record<Hex, number>> = {
  "0xa9059cbb": 68,
  "0x095ea7b3": 68,
  "0x23b872dd": 100,
};

/** How long the calldata of a call that spends must be; undefined for every other call. */
function spendingLength(data: Hex): number | undefined {
  return size(data) < 4 ? undefined : SPENDING_CALLS[slice(data, 0, 4)];
}

/** How much of the target's token a call spends. */
export function tokenAmount(data: Hex): bigint {
  const length = spendingLength(data);
  if (length === undefined || size(data) < length) return 0n;
  return hexToBigInt(slice(data, length - 32, length));
}

/** The first rule that says no, in the documented order. */
export function callRevertReason(
  account: Address,
  rules: PolicyRules,
  call: PolicyCall,
  now: bigint,
): RevertReason | null {
  const { target, value, data } = call;
  if (rules.frozen) return { errorName: "AccountFrozenError", args: [account] };
  if (!rules.targets.has(target)) return { errorName: "TargetNotAllowed", args: [target] };
  if (rules.functionMode && size(data) >= 4) {
    const selector = slice(data, 0, 4);
    if (!rules.functions.has(`${target} ${selector}`)) {
      return { errorName: "FunctionNotAllowed", args: [target, selector] };
    }
  }
  const limitOf = (token: Address) => rules.limits.get(token) ?? noAllowance();
  return (
    limitRevertReason(zeroAddress, limitOf(zeroAddress), value, now) ??
    limitRevertReason(target, limitOf(target), tokenAmount(data), now)
  );
}

/** The first rule that rejects a call of a valid session key: the module's rules, then those of the account. */
export function sessionRevertReason(
  account: Address,
  rules: PolicyRules,
  call: PolicyCall,
  now: bigint,
): RevertReason | null {
  const rejected = callRevertReason(account, rules, call, now);
  if (rejected) return rejected;
  const { target, data } = call;
  const selector = size(data) < 4 ? pad(data, { size: 4, dir: "right" }) : slice(data, 0, 4);
  const length = spendingLength(data);
  if (length !== undefined) {
    if (size(data) >= length) return null;
    return { errorName: "TruncatedTokenCall", args: [target, selector, BigInt(size(data))] };
  }
  const limited = (rules.limits.get(target) ?? noAllowance()).maxPerDay > 0n;
  if (!limited || rules.functions.has(`${target} ${selector}`)) return null;
  return { errorName: "SessionFunctionForbidden", args: [target, selector] };
}
