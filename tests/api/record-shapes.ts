// Records of the API as the specification and decisions define them: keys in order, with the kind of each value.
import { expect } from "vitest";

const DIGITS = /^(0|[1-9][0-9]*)$/;

/** How a value is recognised. */
const KINDS = {
  number: (value: unknown) => typeof value === "string" && DIGITS.test(value),
  integer: (value: unknown) => Number.isInteger(value),
  address: (value: unknown) => typeof value === "string" && /^0x[0-9a-f]{40}$/.test(value),
  hash: (value: unknown) => typeof value === "string" && /^0x[0-9a-f]{64}$/.test(value),
  hex: (value: unknown) => typeof value === "string" && /^0x([0-9a-f]{2})*$/.test(value),
  selector: (value: unknown) => typeof value === "string" && /^0x[0-9a-f]{8}$/.test(value),
  text: (value: unknown) => typeof value === "string",
  boolean: (value: unknown) => typeof value === "boolean",
  average: (value: unknown) =>
    typeof value === "string" && /^(0|[1-9][0-9]*)(\.[0-9]{0,5}[1-9])?$/.test(value),
  time: (value: unknown) =>
    typeof value === "string" && /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/.test(value),
  object: (value: unknown) => typeof value === "object" && value !== null && !Array.isArray(value),
  list: (value: unknown) => Array.isArray(value),
} as const;

type Kind = keyof typeof KINDS;
/** Kinds by key; `?` if the value may be null. */
type ExpectedShape = Readonly<Record<string, Kind | `${Kind}?`>>;

/** Exactly these keys, in this order, each of its kind. */
export function expectShape(value: unknown, shape: ExpectedShape): void {
  const record = value as Readonly<Record<string, unknown>>;
  expect(Object.keys(record)).toEqual(Object.keys(shape));
  for (const [key, kind] of Object.entries(shape)) {
    const found = record[key];
    const bare = kind.replace("?", "") as Kind;
    const fits = found === null ? kind.endsWith("?") : KINDS[bare](found);
    expect(fits, `${key}: ${JSON.stringify(found)} is no ${kind}`).toBe(true);
  }
}

export const FILL_SHAPE: ExpectedShape = {
  solver: "address",
  amount_in: "number",
  amount_out: "number",
  tx_hash: "hash",
  block_number: "number",
};

export const PROVENANCE_SHAPE: ExpectedShape = {
  tx_hash: "hash",
  log_index: "integer",
  block_hash: "hash",
  block_timestamp: "number",
};

export const METADATA_SHAPE: ExpectedShape = {
  intent_id: "number",
  execution_target: "address?",
  execution_data: "hex?",
  required_attestation_subject: "hash?",
  required_attestation_schema: "hash?",
  created_at: "time",
  updated_at: "time",
};

export const MERCHANT_SHAPE: ExpectedShape = {
  merchant_id: "number",
  owner: "address",
  payout_address: "address",
  metadata_uri: "text",
  metadata_hash: "hash",
  active: "boolean",
  block_number: "number",
};

export const INTENT_SHAPE: ExpectedShape = {
  intent_id: "number",
  owner: "address",
  intent_type: "text",
  input_token: "address",
  output_token: "address",
  amount_in_max: "number",
  amount_out_min: "number",
  deadline: "number",
  slippage_bps: "number",
  nonce: "number",
  status: "text",
  block_number: "number",
  fill: "object?",
};

export const AGENT_SHAPE: ExpectedShape = {
  agent_id: "number",
  owner: "address",
  metadata_uri: "text",
  pubkey: "hex",
  capabilities_hash: "hash",
  revoked: "boolean",
  block_number: "number",
};

/** Lists by path, with the key of their records and the order they come in. */
export const LIST_SHAPES: Readonly<
  Record<string, { key: string; id: string; newestFirst?: boolean; shape: ExpectedShape }>
> = {
  "/directory/agents": { key: "agents", id: "agent_id", newestFirst: true, shape: AGENT_SHAPE },
  "/intents": { key: "intents", id: "intent_id", newestFirst: true, shape: INTENT_SHAPE },
  "/attestations": {
    key: "attestations",
    id: "attestation_id",
    shape: {
      attestation_id: "number",
      attester: "address",
      schema_hash: "hash",
      subject: "hash",
      data_hash: "hash",
      timestamp: "number",
      revoked: "boolean",
      block_number: "number",
    },
  },
  "/solvers": {
    key: "solvers",
    id: "solver_id",
    shape: {
      solver_id: "number",
      operator: "address",
      metadata_uri: "text",
      capabilities_hash: "hash",
      bond: "number",
      active: "boolean",
      fills: "number",
      successful_fills: "number",
      failed_fills: "number",
      avg_latency_blocks: "average?",
      avg_surplus_out: "average?",
      bids: "number",
      selected_bids: "number",
      win_rate: "average?",
      avg_latency_seconds: "average?",
      block_number: "number",
    },
  },
  "/attestors": {
    key: "attestors",
    id: "attestor_id",
    shape: {
      attestor_id: "number",
      operator: "address",
      metadata_uri: "text",
      schemas_hash: "hash",
      active: "boolean",
      attestations: "number",
      revoked_attestations: "number",
      block_number: "number",
    },
  },
  "/merchants": { key: "merchants", id: "merchant_id", shape: MERCHANT_SHAPE },
  "/services": {
    key: "services",
    id: "service_numeric_id",
    shape: {
      service_numeric_id: "number",
      merchant_id: "number",
      service_id: "text",
      metadata_uri: "text",
      metadata_hash: "hash",
      capability_hash: "hash",
      active: "boolean",
      block_number: "number",
    },
  },
  "/facilitators": {
    key: "facilitators",
    id: "facilitator_id",
    shape: {
      facilitator_id: "number",
      facilitator: "address",
      metadata_uri: "text",
      metadata_hash: "hash",
      active: "boolean",
      block_number: "number",
    },
  },
  "/receipts": {
    key: "receipts",
    id: "receipt_id",
    newestFirst: true,
    shape: {
      receipt_id: "number",
      quote_hash: "hash",
      agent: "address",
      merchant_id: "number",
      service_numeric_id: "number",
      token: "address",
      amount: "number",
      payment_rail: "integer",
      protocol_fee_bps: "integer",
      protocol_fee_amount: "number",
      facilitator: "address",
      result_hash: "hash",
      resource_hash: "hash",
      fulfillment_hash: "hash?",
      block_number: "number",
    },
  },
  "/disputes": {
    key: "disputes",
    id: "dispute_id",
    newestFirst: true,
    shape: {
      dispute_id: "number",
      receipt_id: "number",
      opener: "address",
      reason_hash: "hash",
      status: "text",
      resolution_hash: "hash?",
      block_number: "number",
    },
  },
  "/trust-signals": {
    key: "trust_signals",
    id: "signal_id",
    newestFirst: true,
    shape: {
      signal_id: "number",
      subject_type: "integer",
      subject_id: "number",
      kind: "integer",
      reporter: "address",
      signal_hash: "hash",
      block_number: "number",
    },
  },
};

export const BID_SHAPE: ExpectedShape = {
  bid_id: "text",
  chain_bid_id: "number?",
  intent_id: "number",
  solver: "address",
  amount_in: "number",
  amount_out: "number",
  fee: "number",
  valid_until: "number",
  execution_plan: "object",
  status: "text",
  created_at: "time",
};

export const QUOTE_SHAPE: ExpectedShape = {
  quote_hash: "hash",
  merchant_id: "number",
  service_numeric_id: "number",
  agent: "address",
  token: "address",
  facilitator: "address",
  amount: "number",
  payment_rail: "integer",
  protocol_fee_bps: "integer",
  protocol_fee_amount: "number",
  expires_at: "number",
  payment_nonce: "number",
  resource_hash: "hash",
  terms_hash: "hash",
  x402_payload_hash: "hash",
  settled: "boolean",
};

export const POLICY_SHAPES: Readonly<Record<string, ExpectedShape>> = Object.fromEntries(
  Object.entries({
    SPEND_LIMIT: { token: "address", max_per_day: "number" },
    TARGET_ALLOWLIST: { target: "address", allowed: "boolean" },
    FUNCTION_ALLOWLIST: { target: "address", selector: "selector", allowed: "boolean" },
    FUNCTION_ALLOWLIST_MODE: { enabled: "boolean" },
    PAYMENT_POLICY: {
      merchant: "address",
      token: "address",
      facilitator: "address",
      max_per_payment: "number",
      max_per_day: "number",
      allowed: "boolean",
    },
    GUARDIAN: { guardian: "address" },
    ACCOUNT_FROZEN: { frozen: "boolean" },
  } as const).map(([type, own]): [string, ExpectedShape] => [
    type,
    { policy_type: "text", ...own, block_number: "number" },
  ]),
);

export const ACCOUNT_SHAPE: ExpectedShape = {
  account: "address",
  frozen: "boolean",
  guardian: "address?",
  function_allowlist_enabled: "boolean",
  counts: "object",
};

export const WINDOW_SHAPE: ExpectedShape = {
  policy_type: "text",
  token: "address",
  merchant: "address?",
  facilitator: "address?",
  max_per_payment: "number?",
  max_per_day: "number?",
  allowed: "boolean?",
  spent: "number",
  remaining: "number?",
  window_start: "number?",
  resets_at: "number?",
  block_number: "number",
};

export const SESSION_KEY_SHAPE: ExpectedShape = {
  session_key: "address",
  expires_at: "number",
  active: "boolean",
  state: "text",
  block_number: "number",
};

const VOLUME: ExpectedShape = { receipts: "number", settled_volume: "number", protocol_fees: "number" };

export const ANALYTICS_SHAPE: Readonly<Record<string, ExpectedShape>> = {
  volume_by_token: { token: "address", ...VOLUME },
  top_merchants: { merchant_id: "number", owner: "address", ...VOLUME },
  top_services: { service_numeric_id: "number", service_id: "text", merchant_id: "number", ...VOLUME },
  facilitator_volume: { facilitator: "address", ...VOLUME },
  volume_by_payment_rail: { payment_rail: "integer", ...VOLUME },
  trust_signals_by_kind: { kind: "integer", signals: "number" },
};

export const ANALYTICS_SUMMARY_SHAPE: ExpectedShape = Object.fromEntries(
  [
    ["merchants", "active_merchants", "services", "active_services", "facilitators", "active_facilitators"],
    ["quotes", "settled_quotes", "quoted_volume", "quoted_protocol_fees"],
    ["receipts", "settled_volume", "settled_protocol_fees"],
    ["disputes", "open_disputes", "resolved_disputes", "rejected_disputes"],
  ]
    .flat()
    .map((key) => [key, "number"]),
);
