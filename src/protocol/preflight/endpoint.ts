// POST /preflight: reads the account's indexed rules for one planned transaction in one statement and evaluates them.
import { assertDefined } from "../../lib/assert-defined.ts";
import { parseUint } from "../../lib/decimal.ts";
import { type Hex, parseAddress, parseBytes } from "../../lib/hex.ts";
import { defineEndpoint, type Endpoint } from "../../schema/endpoint.ts";
import type { TypeOf } from "../../schema/json-schema.ts";
import { addressParameter, queryParameter, uintParameter } from "../../schema/parameter.ts";
import { atBlockKind, parseAtBlock } from "../../schema/reads/block-at.ts";
import {
  type AsOf,
  assertBlockReached,
  assertBlockReadable,
  formatHeadHeaders,
  HEAD_HEADERS,
  type RunRead,
  toFirstRecord,
} from "../../schema/reads/read.ts";
import { isValidAt, timeAt } from "../../schema/reads/record.ts";
import { equalsHex, joinSql, rawSql, type SqlText, sql } from "../../schema/sql.ts";
import { ZERO_ADDRESS } from "../../schema/table.ts";
import { policies, sessionKeys, spendWindows } from "../domains/policies.ts";
import { evaluatePreflight, preflightSchema } from "./evaluate.ts";
import { type AccountRules, type PlannedTransaction, readPaddedSelector } from "./rules.ts";

// The largest transaction that nodes accept into their pool; the body limit fits it in hex.
const DATA_BYTES_MAX = 128 * 1024;
const BODY_BYTES_MAX = 2 * DATA_BYTES_MAX;

const BODY = {
  type: "object",
  properties: {
    account: { ...addressParameter.json, description: "Account that would send the transaction." },
    target: { ...addressParameter.json, description: "Target of the transaction." },
    value: { ...uintParameter().json, description: "Native coin sent along, in wei; 0 if absent." },
    data: {
      type: "string",
      pattern: "^0x([0-9a-fA-F]{2})*$",
      description: "Calldata; empty (0x) if absent.",
    },
    session_key: {
      ...addressParameter.json,
      description:
        "Session key that would sign the call; the rules of a PolicyAccount for session keys then apply as well.",
    },
    include: {
      type: "string",
      enum: ["parts"],
      description: "parts: the action and every reason in parts, with the token of each amount.",
    },
  },
  required: ["account", "target"],
} as const;

export function createPreflightEndpoint(options: { readonly run: RunRead }): Endpoint {
  return defineEndpoint({
    method: "POST",
    path: "/preflight",
    operationId: "preflight",
    summary: "Check a planned transaction against the policies of an account",
    description:
      "Says whether PolicyModule would let the transaction pass, every rule that it violates, and the calls that would make it pass. Nothing is sent to the chain.",
    tag: "Policies",
    parameters: [
      queryParameter("block", atBlockKind, "Read as of this block; default: the newest indexed block."),
    ],
    readsIndex: true,
    body: BODY,
    bodyBytesMax: BODY_BYTES_MAX,
    responses: { 200: preflightSchema },
    responseHeaders: { 200: HEAD_HEADERS },
    async handle({ values, body, client, minBlock }) {
      const transaction = plannedTransaction(body);
      const asOf = values.block === undefined ? null : parseAtBlock(values.block, "block");
      return await options.run(
        { sql: rulesStatement(transaction, asOf), cost: "quick", client, atLeast: asOf?.block ?? minBlock },
        (head, rows) => {
          assertBlockReached(minBlock, head.number);
          assertBlockReadable(asOf, head, { recent: false });
          const rules = toRules(assertDefined(toFirstRecord<RulesRow>(rows), "the rules of the account"));
          return {
            status: 200,
            body: evaluatePreflight(transaction, rules, { parts: body.include === "parts" }),
            headers: formatHeadHeaders(head),
          };
        },
      );
    },
  });
}

function plannedTransaction(body: TypeOf<typeof BODY>): PlannedTransaction {
  return {
    account: parseAddress(body.account, "account"),
    target: parseAddress(body.target, "target"),
    value: parseUint(body.value ?? "0", "value"),
    data: parseBytes(body.data ?? "0x", "data", DATA_BYTES_MAX),
    sessionKey: body.session_key === undefined ? null : parseAddress(body.session_key, "session_key"),
  };
}

/** Selects one row with everything the contract would look up. */
function rulesStatement(transaction: PlannedTransaction, asOf: AsOf): SqlText {
  const { account, target, data, sessionKey } = transaction;
  const policy = (column: string, type: string, subject: string) =>
    sql`(select p.${rawSql(column)} from ${rawSql(policies.name)} p where ${equalsHex("p.account", account)} and p.policy_type = ${type} and p.policy_subject = ${subject} and ${isValidAt("p", asOf)})`;
  const window = (column: string, token: string) =>
    sql`(select w.${rawSql(column)} from ${rawSql(spendWindows.name)} w where ${equalsHex("w.account", account)} and ${equalsHex("w.token", token)} and ${isValidAt("w", asOf)})`;
  const session = (column: string) =>
    sessionKey === null
      ? sql`null`
      : sql`(select k.${rawSql(column)} from ${rawSql(sessionKeys.name)} k where ${equalsHex("k.account", account)} and ${equalsHex("k.session_key", sessionKey)} and ${isValidAt("k", asOf)})`;
  const columns = {
    policy_module: sql`d.contracts ->> 'PolicyModule'`,
    time: timeAt(asOf),
    frozen: policy("frozen", "ACCOUNT_FROZEN", ""),
    target_allowed: policy("allowed", "TARGET_ALLOWLIST", target),
    function_mode: policy("enabled", "FUNCTION_ALLOWLIST_MODE", ""),
    function_allowed: policy("allowed", "FUNCTION_ALLOWLIST", `${target}:${readPaddedSelector(data)}`),
    native_max: policy("max_per_day", "SPEND_LIMIT", ZERO_ADDRESS),
    native_spent: window("spent", ZERO_ADDRESS),
    native_start: window("window_start", ZERO_ADDRESS),
    token_max: policy("max_per_day", "SPEND_LIMIT", target),
    token_spent: window("spent", target),
    token_start: window("window_start", target),
    session_active: session("active"),
    session_expires: session("expires_at"),
  };
  const selected = Object.entries(columns).map(([alias, value]) => sql`${value} as ${rawSql(alias)}`);
  return sql`select ${joinSql(selected, ", ")}`;
}

type Flag = "frozen" | "target_allowed" | "function_mode" | "function_allowed" | "session_active";
type Quantity = "time" | "session_expires" | `${"native" | "token"}_${"max" | "spent" | "start"}`;
type RulesRow = { readonly policy_module: Hex | null } & Readonly<
  Record<Flag, boolean | null> & Record<Quantity, string | null>
>;

// Without a row a rule was never set, which the contract reads as false, zero or no limit.
function toRules(row: RulesRow): AccountRules {
  const number = (key: Quantity) => BigInt(row[key] ?? 0);
  const allowance = (kind: "native" | "token") => ({
    maxPerDay: number(`${kind}_max`),
    spent: number(`${kind}_spent`),
    windowStart: number(`${kind}_start`),
  });
  return {
    policyModule: assertDefined(row.policy_module, "the policy module"),
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
