// What a preflight answers, as JSON Schema.
import { address, bytes, bytes4, uint256 } from "../../schema/column.ts";
import { closedObject, nullable } from "../../schema/json-schema.ts";

const policyTypes = ["ACCOUNT_FROZEN", "TARGET_ALLOWLIST", "FUNCTION_ALLOWLIST", "SPEND_LIMIT"];
const amountOrNull = nullable(uint256.json);

const spendCheck = {
  title: "SpendCheck",
  ...closedObject({
    token: { ...address.json, description: "The zero address is the native coin." },
    attempted: uint256.json,
    spent: { ...uint256.json, description: "In the current window, at the block looked at." },
    max_per_day: { ...amountOrNull, description: "Null where there is no limit." },
    remaining: amountOrNull,
    ok: { type: "boolean" },
  }),
};

const policyUpdate = {
  title: "PolicyUpdate",
  type: "object",
  description:
    "A call that the account itself has to send. The owner of a PolicyAccount calls the account's function of the same name instead.",
  properties: {
    policy_type: { type: "string", enum: policyTypes },
    target: address.json,
    selector: bytes4.json,
    token: address.json,
    suggested_value: {
      anyOf: [{ type: "boolean" }, uint256.json],
      description: "The least that is enough; a limit of 0 is no limit.",
    },
    to: { ...address.json, description: "The policy module." },
    data: bytes.json,
  },
  required: ["policy_type", "suggested_value", "to", "data"],
  additionalProperties: false,
};

export const preflightResponseSchema = {
  title: "Preflight",
  ...closedObject({
    allowed: { type: "boolean" },
    action: { type: "string", description: "What the transaction does, in a sentence." },
    reasons: {
      type: "array",
      items: { type: "string" },
      description: "Every rule that says no; the first is the one the contract would revert with.",
    },
    missing_policies: { type: "array", items: { type: "string", enum: policyTypes } },
    spend_checks: { type: "array", items: spendCheck },
    required_policy_updates: {
      type: "array",
      items: policyUpdate,
      description: "Has nothing for a reason that no policy can change, such as an expired session key.",
    },
  }),
};
