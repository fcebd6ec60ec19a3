// POST /preflight: the account's indexed rules for one planned transaction, read in one statement and evaluated.

import { type Hex, parseAddress, parseBytes } from "../../lib/hex.ts";
import { parseUint } from "../../lib/uint.ts";
import { address, bytes, bytes4, uint256 } from "../../schema/column.ts";
import type { Endpoint } from "../../schema/endpoint.ts";
import { closedObject, nullable } from "../../schema/json-schema.ts";
import { addressParameter, uintParameter } from "../../schema/parameter.ts";
import type { AsOf } from "../../schema/reads/read.ts";
import { assertBlockReadable, BLOCK_MAX, formatHeadHeaders, type RunRead } from "../../schema/reads/read.ts";
import { blockTimeAt, isValidAt } from "../../schema/reads/record.ts";
import { type ResultRow, toFirstRecord } from "../../schema/reads/result-rows.ts";
import { rawSql, type SqlText, sql } from "../../schema/sql.ts";
import { policies, spendWindows } from "../domains/policies.ts";
import { sessionKeys } from "../domains/session-keys.ts";
import { evaluatePreflight, NATIVE_COIN_ADDRESS } from "./evaluate.ts";
import type { AccountRules, PlannedTransaction } from "./rules.ts";
import { readPaddedSelector } from "./token-call.ts";

// What a preflight answers, as JSON Schema.

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

// The largest transaction that nodes take into their pool; a body of the largest size carries almost as much in hex.
const DATA_BYTES_MAX = 128 * 1024;
const BODY_BYTES_MAX = 2 * DATA_BYTES_MAX;

const BODY = {
  type: "object",
  properties: {
    account: { ...addressParameter.json, description: "Whose rules apply: the account that would send it." },
    target: { ...addressParameter.json, description: "Where the transaction goes." },
    value: { ...uintParameter().json, description: "Native coin sent along, in wei." },
    data: { type: "string", pattern: "^0x([0-9a-fA-F]{2})*$", description: "Calldata; 0x for none." },
    session_key: {
      ...addressParameter.json,
      description:
        "The session key that would sign the call. With it, the rules of a PolicyAccount for session keys apply as well.",
    },
  },
  required: ["account", "target", "value", "data"],
};

export function createPreflightEndpoint(options: { readonly run: RunRead }): Endpoint {
  return {
    method: "POST",
    path: "/preflight",
    operationId: "preflight",
    summary: "Whether an account's policies allow a transaction, and which calls would change that",
    tag: "Policies",
    parameters: [
      {
        name: "block",
        in: "query",
        required: false,
        kind: uintParameter(BLOCK_MAX),
        description: "Answer as of this block instead of the newest indexed one.",
      },
    ],
    body: BODY,
    bodyBytesMax: BODY_BYTES_MAX,
    responses: { 200: preflightResponseSchema },
    async handle({ values, body, client }) {
      const transaction = plannedTransaction(body as Readonly<Record<string, unknown>>);
      const asOf = values.block === undefined ? null : BigInt(values.block as string);
      return await options.run(
        { sql: rulesStatement(transaction, asOf), cost: "quick", client },
        (head, answered) => {
          assertBlockReadable(asOf, head, { recent: false });
          const rules = toRules(toFirstRecord(answered) ?? {});
          return {
            status: 200,
            body: evaluatePreflight(transaction, rules),
            headers: formatHeadHeaders(head),
          };
        },
      );
    },
  };
}

function plannedTransaction(body: Readonly<Record<string, unknown>>): PlannedTransaction {
  return {
    account: parseAddress(body.account, "account"),
    target: parseAddress(body.target, "target"),
    value: parseUint(body.value, "value"),
    data: parseBytes(body.data, "data", DATA_BYTES_MAX),
    sessionKey: body.session_key === undefined ? null : parseAddress(body.session_key, "session_key"),
  };
}

/** One row with everything the contract would look up. */
function rulesStatement(transaction: PlannedTransaction, asOf: AsOf): SqlText {
  const { account, target, data, sessionKey } = transaction;
  const policy = (column: string, type: string, subject: string) =>
    sql`(select p.${rawSql(column)} from ${rawSql(policies.name)} p where p.account = ${account} and p.policy_type = ${type} and p.policy_subject = ${subject} and ${isValidAt("p", asOf)})`;
  const window = (column: string, token: string) =>
    sql`(select w.${rawSql(column)} from ${rawSql(spendWindows.name)} w where w.account = ${account} and w.token = ${token} and ${isValidAt("w", asOf)})`;
  const session = (column: string) =>
    sessionKey === null
      ? sql`null`
      : sql`(select k.${rawSql(column)} from ${rawSql(sessionKeys.name)} k where k.account = ${account} and k.session_key = ${sessionKey} and ${isValidAt("k", asOf)})`;
  return sql`select d.contracts ->> 'PolicyModule' as policy_module, ${blockTimeAt(asOf)} as time, ${policy("frozen", "ACCOUNT_FROZEN", "")} as frozen, ${policy("allowed", "TARGET_ALLOWLIST", target)} as target_allowed, ${policy("enabled", "FUNCTION_ALLOWLIST_MODE", "")} as function_mode, ${policy("allowed", "FUNCTION_ALLOWLIST", `${target}:${readPaddedSelector(data)}`)} as function_allowed, ${policy("max_per_day", "SPEND_LIMIT", NATIVE_COIN_ADDRESS)} as native_max, ${window("spent", NATIVE_COIN_ADDRESS)} as native_spent, ${window("window_start", NATIVE_COIN_ADDRESS)} as native_start, ${policy("max_per_day", "SPEND_LIMIT", target)} as token_max, ${window("spent", target)} as token_spent, ${window("window_start", target)} as token_start, ${session("active")} as session_active, ${session("expires_at")} as session_expires`;
}

// What has no row was never set, which is false, zero and no limit in the contract too.
function toRules(row: ResultRow): AccountRules {
  const number = (key: string) => BigInt((row[key] as string | null | undefined) ?? 0);
  const allowance = (kind: string) => ({
    maxPerDay: number(`${kind}_max`),
    spent: number(`${kind}_spent`),
    windowStart: number(`${kind}_start`),
  });
  return {
    policyModule: row.policy_module as Hex,
    time: number("time"),
    frozen: row.frozen === true,
    targetAllowed: row.target_allowed === true,
    functionAllowlistEnabled: row.function_mode === true,
    functionAllowed: row.function_allowed === true,
    native: allowance("native"),
    token: allowance("token"),
    session: { active: row.session_active === true, expiresAt: number("session_expires") },
  };
}
