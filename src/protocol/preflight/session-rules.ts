// What a PolicyAccount checks for a session key, beside the rules of its policy module.
import type { Hex } from "../../lib/hex.ts";
import {
  type AccountRules,
  type PlannedTransaction,
  type PolicyViolation,
  suggestFunctionAllowlisting,
} from "./rules.ts";
import { readPaddedSelector, readTokenCall } from "./token-call.ts";

/** The entry point of ERC-4337 version 0.9, which every PolicyAccount trusts. */
const ENTRY_POINT: Hex = "0x433709009b8330fda32311df1c2afa402ed8d009";

/** What the account checks before it asks the module: where the call goes, and whether the key may act. */
export function findSessionKeyViolations(
  transaction: PlannedTransaction,
  rules: AccountRules,
): PolicyViolation[] {
  const { account, target, sessionKey } = transaction;
  if (sessionKey === null) return [];
  const { active, expiresAt } = rules.session;
  const objections: PolicyViolation[] = [];
  if (target === account || target === rules.policyModule || target === ENTRY_POINT) {
    objections.push({
      reason: `Session keys may never call ${target}: it is the account, its policy module or the entry point.`,
    });
  }
  if (!active) {
    objections.push({ reason: `${sessionKey} is not an active session key of account ${account}.` });
  } else if (rules.time > expiresAt) {
    objections.push({ reason: `Session key ${sessionKey} expired at ${expiresAt}.` });
  }
  return objections;
}

/** What the account checks after the module: that the spend of the call is known. */
export function findSessionCallViolations(
  transaction: PlannedTransaction,
  rules: AccountRules,
): PolicyViolation[] {
  const { target, data, sessionKey } = transaction;
  if (sessionKey === null) return [];
  const known = readTokenCall(data);
  if (known) {
    if (known.spend !== null) return [];
    return [{ reason: `The call of ${known.name} on ${target} is cut short of its amount.` }];
  }
  if (rules.token.maxPerDay === 0n || rules.functionAllowed) return [];
  const selector = readPaddedSelector(data);
  return [
    {
      reason: `Session keys may not call function ${selector} of ${target}: the target has a spend limit, which does not count this function.`,
      ...suggestFunctionAllowlisting(rules.policyModule, target, selector),
    },
  ];
}
