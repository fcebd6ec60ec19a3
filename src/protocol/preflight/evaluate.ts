// Preflight: whether the policy module, and the account for a session key, allow a transaction, and what would change that.
import { policyModuleAbi } from "@sextant/contracts/generated/policy-module";
import { createFunctionCodec } from "../../lib/abi/codec.ts";
import { UINT256_MAX } from "../../lib/decimal.ts";
import type { Hex } from "../../lib/hex.ts";
import { address, bytes, bytes4, uint256 } from "../../schema/column.ts";
import { listOf, nullable, schemaOf, type TypeOf, titledRecord, wordOf } from "../../schema/json-schema.ts";
import {
  addressPart,
  amountPart,
  joinSentence,
  type Sentence,
  sentence,
  sentenceSchema,
} from "../../schema/sentence.ts";
import { ZERO_ADDRESS } from "../../schema/table.ts";
import { SPEND_WINDOW_SECONDS } from "../domains/policies.ts";
import {
  type AccountRules,
  findPolicyViolations,
  findSessionCallViolations,
  findSessionKeyViolations,
  type PlannedTransaction,
  type PolicyUpdate,
  type PolicyViolation,
  readSelector,
  readTokenCall,
  type SpendAllowance,
  type TokenCall,
} from "./rules.ts";

const setSpendLimit = createFunctionCodec(policyModuleAbi, "setSpendLimit");

/** A planned transaction in one sentence, for the person or agent about to sign it. */
function describeAction(call: { target: Hex; value: bigint; data: Hex }): Sentence {
  const { value, data } = call;
  const target = addressPart(call.target);
  const wei = amountPart(value, ZERO_ADDRESS, `${value} wei`);
  if (data === "0x") return sentence`Send ${wei} to ${target}.`;
  const coins = value > 0n ? sentence`, sending ${wei} along.` : sentence`.`;
  const token = readTokenCall(data);
  if (token?.spend) return [...describeSpend(call.target, token.name, token.spend), ...coins];
  if (token)
    return [...sentence`Call ${token.name} on ${target} with arguments that are cut short`, ...coins];
  const selector = readSelector(data);
  const what = selector === null ? `${(data.length - 2) / 2} bytes and no function` : `function ${selector}`;
  return [...sentence`Call ${target} with ${what}`, ...coins];
}

function describeSpend(
  token: string,
  name: TokenCall["name"],
  { amount, parties: [first = ZERO_ADDRESS, second = ZERO_ADDRESS] }: NonNullable<TokenCall["spend"]>,
): Sentence {
  const spent = amountPart(amount, token, `${amount} of token ${token}`);
  const [from, to] = [addressPart(first), addressPart(second)];
  if (name === "transfer") return sentence`Transfer ${spent} to ${from} (transfer)`;
  if (name === "approve") return sentence`Approve ${from} to spend ${spent} (approve)`;
  return sentence`Transfer ${spent} from ${from} to ${to} (transferFrom)`;
}

const AMOUNT_OR_NULL = nullable(uint256.json);

const spendCheckSchema = titledRecord("SpendCheck", {
  token: schemaOf<Hex>({ ...address.json, description: "The zero address is the native coin." }),
  attempted: uint256.json,
  spent: { ...uint256.json, description: "The amount spent in the current window, as of the block." },
  max_per_day: { ...AMOUNT_OR_NULL, description: "The limit; null without one." },
  remaining: AMOUNT_OR_NULL,
  ok: { type: "boolean" },
});

type SpendCheck = TypeOf<typeof spendCheckSchema>;

const POLICY_TYPE = wordOf(["ACCOUNT_FROZEN", "TARGET_ALLOWLIST", "FUNCTION_ALLOWLIST", "SPEND_LIMIT"]);

const policyUpdateSchema = schemaOf<PolicyUpdate>({
  title: "PolicyUpdate",
  type: "object",
  description:
    "A call that the account itself must send. The owner of a PolicyAccount calls the account's function of the same name instead.",
  properties: {
    policy_type: POLICY_TYPE,
    target: address.json,
    selector: bytes4.json,
    token: address.json,
    suggested_value: {
      anyOf: [{ type: "boolean" }, uint256.json],
      description: "The smallest sufficient value; a limit of 0 means no limit.",
    },
    to: { ...address.json, description: "The policy module." },
    data: bytes.json,
  },
  required: ["policy_type", "suggested_value", "to", "data"],
  additionalProperties: false,
});

const REQUIRED = {
  allowed: { type: "boolean" },
  action: { type: "string", description: "What the transaction does, in one sentence." },
  reasons: listOf(
    { type: "string" },
    { description: "Every violated rule; the first is the one the contract reverts with." },
  ),
  missing_policies: listOf(POLICY_TYPE),
  spend_checks: listOf(spendCheckSchema),
  required_policy_updates: listOf(policyUpdateSchema, {
    description: "Empty for a reason that no policy can change, such as an expired session key.",
  }),
};

const WITH_PARTS = {
  action_parts: sentenceSchema("action"),
  reason_parts: listOf(sentenceSchema("reason"), { description: "With include=parts: every reason." }),
};

export const preflightSchema = titledRecord("Preflight", REQUIRED, WITH_PARTS);

/** All violated rules in the contract's order: the first is the one it reverts with. */
export function evaluatePreflight(
  transaction: PlannedTransaction,
  rules: AccountRules,
  { parts = false }: { readonly parts?: boolean } = {},
): TypeOf<typeof preflightSchema> {
  const checks = spendChecks(transaction, rules);
  const violations = [
    ...findSessionKeyViolations(transaction, rules),
    ...findPolicyViolations(transaction, rules),
    ...findSpendViolations(checks, rules.policyModule),
    ...findSessionCallViolations(transaction, rules),
  ];
  const action = describeAction(transaction);
  const reasons = violations.map(({ reason }) => reason);
  return {
    allowed: violations.length === 0,
    action: joinSentence(action),
    reasons: reasons.map(joinSentence),
    missing_policies: [...new Set(violations.flatMap(({ missing }) => missing ?? []))],
    spend_checks: checks,
    required_policy_updates: removeDuplicates(violations.flatMap(({ update }) => update ?? [])),
    ...(parts && { action_parts: action, reason_parts: reasons }),
  };
}

function spendChecks(transaction: PlannedTransaction, rules: AccountRules): SpendCheck[] {
  const { target, value, data, sessionKey } = transaction;
  const spend = readTokenCall(data)?.spend ?? null;
  const native = value > 0n ? [spendCheck(ZERO_ADDRESS, value, rules.native, rules.time)] : [];
  if (spend === null) return native;
  // The module checks both spends separately; an account records the first before the second. They share a limit only
  // if the zero address is the target.
  const recorded = sessionKey !== null && target === ZERO_ADDRESS ? value : 0n;
  return [...native, spendCheck(target, spend.amount, rules.token, rules.time, recorded)];
}

function spendCheck(
  token: Hex,
  attempted: bigint,
  allowance: SpendAllowance,
  time: bigint,
  recorded = 0n,
): SpendCheck {
  const { maxPerDay, windowStart } = allowance;
  const spent = recorded + (time >= windowStart + SPEND_WINDOW_SECONDS ? 0n : allowance.spent);
  // A limit may be lower than what is already spent; then nothing remains.
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

function findSpendViolations(checks: readonly SpendCheck[], to: Hex): PolicyViolation[] {
  const failed = checks.filter(({ ok }) => !ok);
  return failed.map(({ token, attempted, spent, max_per_day, remaining }) => {
    // If the target is the zero address, both spends check the native limit separately: one new limit must fit both.
    const needed = failed
      .filter((other) => other.token === token)
      .map((other) => BigInt(other.spent) + BigInt(other.attempted))
      .reduce((highest, next) => (next > highest ? next : highest));
    // No limit fits a total above uint256; 0 removes the limit.
    const suggested = needed > UINT256_MAX ? 0n : needed;
    const data = setSpendLimit.encodeCall([token, suggested]);
    const what = token === ZERO_ADDRESS ? "the native coin" : token;
    const units = (amount: string | null) => amountPart(BigInt(amount ?? 0), token);
    return {
      reason: sentence`Spending ${amountPart(BigInt(attempted), token, `${attempted} of ${what}`)} exceeds the daily limit of ${units(max_per_day)}: ${units(spent)} is spent, ${units(remaining)} remains.`,
      update: { policy_type: "SPEND_LIMIT", token, suggested_value: suggested.toString(), to, data },
    };
  });
}

function removeDuplicates(updates: readonly PolicyUpdate[]): PolicyUpdate[] {
  return updates.filter((update, index) => updates.findIndex(({ data }) => data === update.data) === index);
}
