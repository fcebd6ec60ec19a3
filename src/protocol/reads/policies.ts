// Reads: GET /accounts/:address/policies, in which each type of policy has its own keys.
import type { JsonSchema } from "../../schema/json-schema.ts";
import { addressParameter } from "../../schema/parameter.ts";
import { defineList, equalsFilter } from "../../schema/reads/list.ts";
import type { ResultRow } from "../../schema/reads/read.ts";
import { columnFields, computedField, defineRecord, recordJsonSchema } from "../../schema/reads/record.ts";
import { policies } from "../domains/policies.ts";

// The keys between policy_type and block_number.
const KEYS = {
  SPEND_LIMIT: ["token", "max_per_day"],
  TARGET_ALLOWLIST: ["target", "allowed"],
  FUNCTION_ALLOWLIST: ["target", "selector", "allowed"],
  FUNCTION_ALLOWLIST_MODE: ["enabled"],
  PAYMENT_POLICY: ["merchant", "token", "facilitator", "max_per_payment", "max_per_day", "allowed"],
  GUARDIAN: ["guardian"],
  ACCOUNT_FROZEN: ["frozen"],
} as const;

const OWN_KEYS = [...new Set(Object.values(KEYS).flat())];

const policy = defineRecord({
  name: "Policy",
  table: policies,
  fields: columnFields(policies, ["policy_type", ...OWN_KEYS, "block_number"]),
});

function present({ policy_type, ...row }: ResultRow): ResultRow {
  const own = KEYS[String(policy_type) as keyof typeof KEYS] ?? [];
  const shared = Object.entries(row).filter(([key]) => !OWN_KEYS.some((own) => own === key));
  return { policy_type, ...Object.fromEntries([...own.map((key) => [key, row[key]]), ...shared]) };
}

// The columns are null only for other types of policy: a policy's own keys are never null.
const typeSchemas = Object.entries(KEYS).map(([type, own]) => {
  const fields = Object.entries(columnFields(policies, [...own, "block_number"])).map(([key, field]) => {
    const [always] = (field.json.anyOf ?? []) as readonly JsonSchema[];
    return [key, { ...field, json: always ?? field.json }] as const;
  });
  const policy_type = computedField("t.policy_type", { type: "string", const: type });
  return recordJsonSchema(
    defineRecord({ name: type, table: policies, fields: { policy_type, ...Object.fromEntries(fields) } }),
  );
});

export const policyReads = [
  defineList("/accounts/:address/policies", policy, {
    operationId: "listPolicies",
    summary: "Policies of an account",
    description:
      "The rules that PolicyModule enforces for the account: spend limits, allowed targets and functions, payment policies, guardian and freeze. Each type has its own fields.",
    tag: "Policies",
    key: "policies",
    order: {
      direction: "asc",
      keys: [
        { sql: "t.policy_type", cast: "text" },
        { sql: "t.policy_subject", cast: "text" },
      ],
    },
    pathFilters: { address: equalsFilter("account", addressParameter, "Account address.") },
    filters: {},
    extraFields: ({ address }) => ({ account: address }),
    extraFieldSchemas: { account: { type: "string" } },
    mapRow: present,
    itemSchema: { title: "Policy", oneOf: typeSchemas },
  }),
];
