// Reads of one account: GET /accounts/:address, its policies, spending windows and session keys.
import { uint256 } from "../../schema/column.ts";
import { closedObject, eachKey, type JsonSchema, nullable, titledRecord } from "../../schema/json-schema.ts";
import { addressParameter, pathParameter } from "../../schema/parameter.ts";
import { defineList, equalsFilter } from "../../schema/reads/list.ts";
import {
  type AsOf,
  defineIndexRead,
  type Read,
  type ReadInput,
  type ResultRow,
  toFirstRecord,
} from "../../schema/reads/read.ts";
import {
  columnFields,
  computedField,
  defineRecord,
  type Field,
  isValidAt,
  recordJsonSchema,
  timeAt,
} from "../../schema/reads/record.ts";
import { equalsHex, joinSql, rawSql, type SqlText, type SqlValue, sql } from "../../schema/sql.ts";
import { type Table, ZERO_ADDRESS } from "../../schema/table.ts";
import { receipts } from "../domains/commerce.ts";
import { intents } from "../domains/intents.ts";
import {
  paymentWindows,
  policies,
  SPEND_WINDOW_SECONDS,
  sessionKeys,
  spendWindows,
} from "../domains/policies.ts";
import { agents } from "../domains/registries.ts";

// Counting this many rows by an index takes about a millisecond; a larger count is null.
const COUNT_MAX = 1_000;

/**
 * How many records of one owner there are. They are numbered as they come and never deleted, so that those of an earlier
 * block are the first ones of today, each with the block of its creation.
 */
function countOwned({ name, key }: Table, owner: string, account: SqlValue, asOf: AsOf): SqlText {
  const first = sql`select c.block_number from ${rawSql(name)} c where c.valid_to is null and ${equalsHex(`c.${owner}`, account)} order by c.${rawSql(key.join())} limit ${COUNT_MAX + 1}`;
  const existing = asOf === null ? sql`true` : sql`q.block_number <= ${asOf.block.toString()}`;
  return sql`select nullif(count(*), ${COUNT_MAX + 1}) from (${first}) q where ${existing}`;
}

/** How many rows an account has that are replaced by later ones: at an earlier block, all versions are looked through. */
function countReplaced(table: Table, account: SqlValue, asOf: AsOf): SqlText {
  const name = rawSql(table.name);
  const limit = COUNT_MAX + 1;
  if (asOf === null)
    return sql`select nullif(count(*), ${limit}) from (select from ${name} c where c.valid_to is null and ${equalsHex("c.account", account)} limit ${limit}) q`;
  const key = rawSql(table.key.slice(1).join(", "));
  const versions = sql`select ${key}, valid_from from ${name} where ${equalsHex("account", account)} order by ${key}, valid_from limit ${limit}`;
  return sql`select case when count(*) < ${limit} then count(distinct (${key})) filter (where q.valid_from <= ${asOf.block.toString()}) end from (${versions}) q`;
}

/** The tables that are counted, and the column that names the owner of rows that are never replaced. */
const COUNTS = {
  agents: [agents, "owner"],
  intents: [intents, "owner"],
  receipts: [receipts, "agent"],
  policies: [policies, null],
  session_keys: [sessionKeys, null],
} as const;

function accountStatement(account: SqlValue, asOf: AsOf): SqlText {
  const policy = (value: string, type: string) =>
    sql`(select ${rawSql(value)} from ${rawSql(policies.name)} t where ${equalsHex("t.account", account)} and t.policy_type = ${type} and t.policy_subject = '' and ${isValidAt("t", asOf)})`;
  const counts = Object.entries(COUNTS).map(
    ([name, [table, owner]]) =>
      sql`${rawSql(`'${name}'`)}, (${owner === null ? countReplaced(table, account, asOf) : countOwned(table, owner, account, asOf)})::text`,
  );
  return sql`select ${account} as account, coalesce(${policy("t.frozen", "ACCOUNT_FROZEN")}, false) as frozen,
      ${policy(`nullif(t.guardian, stored_hex(t.guardian, '${ZERO_ADDRESS}'))`, "GUARDIAN")} as guardian,
      coalesce(${policy("t.enabled", "FUNCTION_ALLOWLIST_MODE")}, false) as function_allowlist_enabled,
      json_build_object(${joinSql(counts, ", ")}) as counts`;
}

const COUNT = nullable({
  type: "string",
  pattern: "^[0-9]+$",
  description:
    "The number of records; null if there are more than 1,000 or, for policies and session keys at an earlier block, more than 1,000 versions of them.",
});

export const accountSchema = titledRecord("Account", {
  account: { type: "string" },
  frozen: { type: "boolean" },
  guardian: nullable({ type: "string" }),
  function_allowlist_enabled: { type: "boolean" },
  counts: closedObject(eachKey(Object.keys(COUNTS) as (keyof typeof COUNTS)[], COUNT)),
});

const getAccount = defineIndexRead({
  path: "/accounts/:address",
  operationId: "getAccount",
  summary: "One account",
  description:
    "Whether the account is frozen, its guardian, whether its function allowlist is on, and how many agents, intents, receipts, policies and session keys it has. An address that the index does not know has none.",
  tag: "Policies",
  parameters: [pathParameter("address", addressParameter, "Account address.")],
  provenance: false,
  responseSchema: accountSchema,
  notFoundMessage: null,
  plan: ({ values, asOf }) => ({
    sql: accountStatement(values.address, asOf),
    cost: "quick",
    assemble: toFirstRecord,
  }),
});

/** The options that all lists of one account share. */
const ofAccount = {
  tag: "Policies",
  pathFilters: { address: equalsFilter("account", addressParameter, "Account address.") },
  filters: {},
  extraFields: ({ address }: ReadInput["values"]) => ({ account: address }),
  extraFieldSchemas: { account: { type: "string" } },
} as const;

const BY_POLICY = {
  direction: "asc",
  keys: [
    { sql: "t.policy_type", cast: "text" },
    { sql: "t.policy_subject", cast: "text" },
  ],
} as const;

const AMOUNT_OR_NULL = nullable(uint256.json);

/** Whether the block is still within the window: as in the contract, its end is no longer a part of it. */
const isOpen = (asOf: AsOf) =>
  sql`${timeAt(asOf)} < coalesce(sw.window_start, pw.window_start) + ${rawSql(String(SPEND_WINDOW_SECONDS))}`;
const spentIn = (asOf: AsOf) => sql`case when ${isOpen(asOf)} then coalesce(sw.spent, pw.spent) else 0 end`;

function whileOpen(value: string, description: string): Field<string | null> {
  return computedField((asOf) => sql`case when ${isOpen(asOf)} then ${rawSql(value)} end`, {
    ...AMOUNT_OR_NULL,
    description,
  });
}

const LIMIT = { ...AMOUNT_OR_NULL, description: "The limit; null without one." };

export const spendingWindow = defineRecord({
  name: "SpendingWindow",
  table: policies,
  joins: [
    {
      table: spendWindows,
      alias: "sw",
      on: "t.policy_type = 'SPEND_LIMIT' and sw.account = t.account and sw.token = t.token",
    },
    {
      table: paymentWindows,
      alias: "pw",
      on: "t.policy_type = 'PAYMENT_POLICY' and pw.account = t.account and pw.merchant = t.merchant and pw.token = t.token and pw.facilitator = t.facilitator",
    },
  ],
  fields: {
    policy_type: computedField("t.policy_type", {
      type: "string",
      enum: ["PAYMENT_POLICY", "SPEND_LIMIT"],
    }),
    token: computedField("t.token", { type: "string" }),
    ...columnFields(policies, ["merchant", "facilitator"]),
    max_per_payment: computedField("nullif(t.max_per_payment, 0)", LIMIT),
    max_per_day: computedField("nullif(t.max_per_day, 0)", LIMIT),
    ...columnFields(policies, ["allowed"]),
    spent: computedField(spentIn, {
      ...uint256.json,
      description: "The amount spent in the current window, as of the block.",
    }),
    // A limit may be lower than what is already spent.
    remaining: computedField(
      (asOf) => sql`case when t.max_per_day > 0 then greatest(t.max_per_day - ${spentIn(asOf)}, 0) end`,
      LIMIT,
    ),
    window_start: whileOpen(
      "coalesce(sw.window_start, pw.window_start)",
      "Time of the first spend of the current window; null if none is open.",
    ),
    resets_at: whileOpen(
      `coalesce(sw.window_start, pw.window_start) + ${SPEND_WINDOW_SECONDS}`,
      "Time from which nothing counts as spent; null if no window is open.",
    ),
    ...columnFields(policies, ["block_number"]),
  },
});

const listSpendingWindows = defineList("/accounts/:address/windows", spendingWindow, {
  operationId: "listSpendingWindows",
  summary: "What an account has spent of its limits",
  description:
    "Every spend limit and payment policy of the account, with what is spent in its current window and when that ends. A window begins with the first spend and lasts 86,400 seconds; at an earlier block it is judged at the time of that block.",
  ...ofAccount,
  key: "windows",
  order: BY_POLICY,
  pathFilters: {
    address: {
      kind: addressParameter,
      description: "Account address.",
      // No other type is between the two, so that one walk of the key finds them in order.
      where: (value) =>
        sql`${equalsHex("t.account", value)} and t.policy_type >= 'PAYMENT_POLICY' and t.policy_type <= 'SPEND_LIMIT'`,
    },
  },
});

export const sessionKey = defineRecord({
  name: "SessionKey",
  table: sessionKeys,
  fields: {
    ...columnFields(sessionKeys, ["session_key", "expires_at", "active"]),
    // The contract accepts a key in the second in which it expires.
    state: computedField(
      (asOf) =>
        sql`case when not t.active then 'WITHDRAWN' when ${timeAt(asOf)} > t.expires_at then 'EXPIRED' else 'ACTIVE' end`,
      { type: "string", enum: ["ACTIVE", "EXPIRED", "WITHDRAWN"] },
    ),
    ...columnFields(sessionKeys, ["block_number"]),
  },
});

const listSessionKeys = defineList("/accounts/:address/session-keys", sessionKey, {
  operationId: "listSessionKeys",
  summary: "Session keys of an account",
  description:
    "Every key that the account has ever given access, with the end of its access and its state as of the block; an old block without events has the time of the last one before it with events.",
  ...ofAccount,
  key: "session_keys",
  order: { direction: "asc", keys: [{ sql: "t.session_key", cast: "hex" }] },
});

// Each type of policy has its own keys, between policy_type and block_number.
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

export const policy = defineRecord({
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

const listPolicies = defineList("/accounts/:address/policies", policy, {
  operationId: "listPolicies",
  summary: "Policies of an account",
  description:
    "The rules that PolicyModule enforces for the account: spend limits, allowed targets and functions, payment policies, guardian and freeze. Each type has its own fields.",
  ...ofAccount,
  key: "policies",
  order: BY_POLICY,
  mapRow: present,
  itemSchema: { title: "Policy", oneOf: typeSchemas },
});

export const accountReads: readonly Read[] = [listPolicies, getAccount, listSpendingWindows, listSessionKeys];
