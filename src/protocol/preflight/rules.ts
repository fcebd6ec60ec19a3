// The rules of an account and its policy module that preflight checks before spending.
import { policyModuleAbi } from "@sextant/contracts/generated/policy-module";
import { createFunctionCodec } from "../../lib/abi/codec.ts";
import type { Hex } from "../../lib/hex.ts";
import { addressPart, type Sentence, sentence, timePart } from "../../schema/sentence.ts";

const setAccountFrozen = createFunctionCodec(policyModuleAbi, "setAccountFrozen");
const setTargetAllowed = createFunctionCodec(policyModuleAbi, "setTargetAllowed");
const setFunctionAllowed = createFunctionCodec(policyModuleAbi, "setFunctionAllowed");

/** The entry point of ERC-4337 version 0.9, which every PolicyAccount trusts. */
const ENTRY_POINT: Hex = "0x433709009b8330fda32311df1c2afa402ed8d009";

/**
 * The checks of a PolicyAccount for a session key before it calls the module: the target, and whether the key is valid.
 */
export function findSessionKeyViolations(
  transaction: PlannedTransaction,
  rules: AccountRules,
): PolicyViolation[] {
  const { account, target, sessionKey } = transaction;
  if (sessionKey === null) return [];
  const { active, expiresAt } = rules.session;
  const violations: PolicyViolation[] = [];
  if (target === account || target === rules.policyModule || target === ENTRY_POINT) {
    violations.push({
      reason: sentence`Session keys may never call ${addressPart(target)}: it is the account, its policy module or the entry point.`,
    });
  }
  if (!active) {
    violations.push({
      reason: sentence`${addressPart(sessionKey)} is not an active session key of account ${addressPart(account)}.`,
    });
  } else if (rules.time > expiresAt) {
    violations.push({
      reason: sentence`Session key ${addressPart(sessionKey)} expired at ${timePart(expiresAt)}.`,
    });
  }
  return violations;
}

/** The account's check after the module: the spend of the call must be known. */
export function findSessionCallViolations(
  transaction: PlannedTransaction,
  rules: AccountRules,
): PolicyViolation[] {
  const { target, data, sessionKey } = transaction;
  if (sessionKey === null) return [];
  const known = readTokenCall(data);
  if (known) {
    if (known.spend !== null) return [];
    const reason = sentence`The call of ${known.name} on ${addressPart(target)} is cut short of its amount.`;
    return [{ reason }];
  }
  if (rules.token.maxPerDay === 0n || rules.functionAllowed) return [];
  const selector = readPaddedSelector(data);
  return [
    {
      reason: sentence`Session keys may not call function ${selector} of ${addressPart(target)}: the target has a spend limit, which does not count this function.`,
      ...suggestFunctionAllowlisting(rules.policyModule, target, selector),
    },
  ];
}

export type PlannedTransaction = {
  readonly account: Hex;
  readonly target: Hex;
  readonly value: bigint;
  readonly data: Hex;
  /** The session key that would sign the call; null when the owner of the account sends it. */
  readonly sessionKey: Hex | null;
};

/** The spend limit of the account per window, and what it spent in the last one; a limit of 0 means no limit. */
export type SpendAllowance = {
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
  readonly functionAllowlistEnabled: boolean;
  /** The policy of the call's selector; missing bytes of shorter calldata are zero. */
  readonly functionAllowed: boolean;
  readonly native: SpendAllowance;
  /** The policy of the target as a token. */
  readonly token: SpendAllowance;
  /** The policy of the session key, if the transaction names one. */
  readonly session: { readonly active: boolean; readonly expiresAt: bigint };
};

type PolicyType = "ACCOUNT_FROZEN" | "TARGET_ALLOWLIST" | "FUNCTION_ALLOWLIST" | "SPEND_LIMIT";

export type PolicyUpdate = {
  readonly policy_type: PolicyType;
  readonly target?: Hex;
  readonly selector?: Hex;
  readonly token?: Hex;
  readonly suggested_value: string | boolean;
  readonly to: Hex;
  readonly data: Hex;
};

/** One rule that rejects the transaction; without an update if no policy can change that. */
export type PolicyViolation = {
  readonly reason: Sentence;
  readonly missing?: PolicyType;
  readonly update?: PolicyUpdate;
};

/** The rules of the policy module before spending, in its order. */
export function findPolicyViolations(
  { account, target, data }: PlannedTransaction,
  rules: AccountRules,
): PolicyViolation[] {
  const to = rules.policyModule;
  const violations: PolicyViolation[] = [];
  if (rules.frozen) {
    const call = setAccountFrozen.encodeCall([account, false]);
    violations.push({
      reason: sentence`Account ${addressPart(account)} is frozen.`,
      update: { policy_type: "ACCOUNT_FROZEN", suggested_value: false, to, data: call },
    });
  }
  if (!rules.targetAllowed) {
    const call = setTargetAllowed.encodeCall([target, true]);
    violations.push({
      reason: sentence`Target ${addressPart(target)} is not allowed for this account.`,
      missing: "TARGET_ALLOWLIST",
      update: { policy_type: "TARGET_ALLOWLIST", target, suggested_value: true, to, data: call },
    });
  }
  const selector = readSelector(data);
  if (rules.functionAllowlistEnabled && selector !== null && !rules.functionAllowed) {
    violations.push({
      reason: sentence`Function ${selector} of ${addressPart(target)} is not allowed for this account.`,
      ...suggestFunctionAllowlisting(to, target, selector),
    });
  }
  return violations;
}

/** The missing entry of the function allowlist, and the call that adds it. */
function suggestFunctionAllowlisting(
  to: Hex,
  target: Hex,
  selector: Hex,
): Pick<PolicyViolation, "missing" | "update"> {
  const data = setFunctionAllowed.encodeCall([target, selector, true]);
  const policy_type = "FUNCTION_ALLOWLIST";
  return {
    missing: policy_type,
    update: { policy_type, target, selector, suggested_value: true, to, data },
  };
}

/** The token spend of a call, read from its calldata exactly as the policy module reads it. */
export type TokenCall = {
  readonly name: "transfer" | "approve" | "transferFrom";
  /** Null if the calldata is cut short of its amount: the contract then sees no spend. */
  readonly spend: { readonly amount: bigint; readonly parties: readonly Hex[] } | null;
};

const NAMES: Readonly<Record<string, { name: TokenCall["name"]; words: number }>> = {
  "0xa9059cbb": { name: "transfer", words: 2 },
  "0x095ea7b3": { name: "approve", words: 2 },
  "0x23b872dd": { name: "transferFrom", words: 3 },
};

/** The first four bytes; null if there are fewer. */
export function readSelector(data: Hex): Hex | null {
  return data.length < 10 ? null : (data.slice(0, 10) as Hex);
}

/** The first four bytes; missing ones are zero, as a PolicyAccount reads them. */
export function readPaddedSelector(data: Hex): Hex {
  return data.slice(0, 10).padEnd(10, "0") as Hex;
}

/** Null when the call is not one of the three that spend. The amount is the last argument of each. */
export function readTokenCall(data: Hex): TokenCall | null {
  const known = NAMES[readSelector(data) ?? ""];
  if (!known) return null;
  const { name, words } = known;
  if (data.length < 10 + words * 64) return { name, spend: null };
  const word = (index: number) => data.slice(10 + index * 64, 10 + (index + 1) * 64);
  const parties = Array.from({ length: words - 1 }, (_, index) => `0x${word(index).slice(24)}` as const);
  return { name, spend: { amount: BigInt(`0x${word(words - 1)}`), parties } };
}
