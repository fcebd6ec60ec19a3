// The slots in which the protocol's contracts keep their records: pinned here, so that nothing a response says about storage is believed.
import type { Hex } from "viem";

export type StorageType = "address" | "bytes32" | "bool" | "text" | "bytes" | `uint${number}`;

/** Reads a member of the record: words from the start of its struct, bytes from the low end of the word. */
export type MemberReader = {
  member(slot: number, type: StorageType, offset?: number): string | boolean;
  /** A word of another mapping of the contract, under the same id. */
  other(position: number, type: StorageType): string | boolean;
  /** The time of the block. */
  readonly timestamp: bigint;
};

type Json = string | number | boolean | null;
/** The value that the response must have. */
export type ReadMember = (reader: MemberReader) => Json;

/** Arguments of an event: the topics after the first, and then the words of the data. */
export type EventLayout = {
  readonly signature: string;
  /** Member of the response → where the event has its value. */
  readonly fields: Readonly<Record<string, EventValue>>;
};
export type EventValue =
  | { readonly topic: number; readonly type: StorageType }
  | { readonly word: number; readonly type: StorageType }
  | { readonly block: "number" | "hash" | "timestamp" };

export type NestedMembers = {
  readonly members: readonly string[];
  /** Members of some responses only. */
  readonly further: readonly string[];
  /** The value of another member with which it is there, and null without; null if it is always there. */
  readonly thereWith: readonly [member: string, value: string] | null;
};

export type RecordLayout = {
  readonly contract: string;
  /** The segment of the URL before the id. */
  readonly path: string;
  /** The slot of the mapping. */
  readonly position: number;
  readonly id: string;
  readonly idType: "uint" | "bytes32";
  /** The slot of the member by which the contract itself decides whether it has the record: never zero then. */
  readonly exists: readonly [slot: number, type: StorageType];
  readonly fields: Readonly<Record<string, ReadMember>>;
  /** Members that neither the contract nor an event has. */
  readonly unproven?: readonly string[];
  /** Members that are objects, whose own members have claims. */
  readonly nested?: Readonly<Record<string, NestedMembers>>;
  /** Members by name. */
  readonly events: Readonly<Record<string, EventLayout>>;
};

const at =
  (slot: number, type: StorageType, offset = 0): ReadMember =>
  ({ member }) =>
    member(slot, type, offset);
/** Responses have numbers of up to 16 bits as such. */
const small =
  (slot: number, type: StorageType, offset = 0): ReadMember =>
  ({ member }) =>
    Number(member(slot, type, offset));
const nameOf = (value: string | boolean, names: readonly string[], prefix: string) =>
  names[Number(value)] ?? `${prefix}_${String(value)}`;

const ZERO_HASH = `0x${"0".repeat(64)}`;

const CREATED = {
  block_number: { block: "number" },
  block_hash: { block: "hash" },
  block_timestamp: { block: "timestamp" },
} as const;

const created = (signature: string): EventLayout => ({ signature, fields: CREATED });

const STATUSES = ["OPEN", "FILLED", "CANCELLED"];
const INTENT_STATUSES = 4;
const DEADLINE = 3;

const INTENT: RecordLayout = {
  ...{ contract: "IntentBook", path: "intents", position: 3, id: "intent_id", idType: "uint" },
  exists: [0, "address"],
  fields: {
    owner: at(0, "address"),
    intent_type: ({ member }) => nameOf(member(0, "uint8", 20), ["SWAP_EXACT_IN_MAX_SLIPPAGE"], "TYPE"),
    amount_in_max: at(1, "uint256"),
    amount_out_min: at(2, "uint256"),
    deadline: at(DEADLINE, "uint256"),
    slippage_bps: at(4, "uint16"),
    "requirements/execution_target": at(5, "address"),
    "requirements/data_hash": at(6, "bytes32"),
    "requirements/required_attestation_subject": at(7, "bytes32"),
    "requirements/required_attestation_schema": at(8, "bytes32"),
    "requirements/metadata_uri_hash": at(9, "bytes32"),
    input_token: at(10, "address"),
    output_token: at(11, "address"),
    nonce: at(12, "uint256"),
    // The contract keeps an expired intent as open.
    status: ({ other, member, timestamp }) => {
      const stored = nameOf(other(INTENT_STATUSES, "uint8"), STATUSES, "STATUS");
      const isExpired = stored === "OPEN" && BigInt(String(member(DEADLINE, "uint256"))) <= timestamp;
      return isExpired ? "EXPIRED" : stored;
    },
    // Null can be shown by storage, and a fill by its event.
    fill: ({ other }) => (other(INTENT_STATUSES, "uint8") === "1" ? "a fill" : null),
  },
  unproven: ["metadata"],
  nested: {
    fill: {
      members: ["solver", "amount_in", "amount_out", "tx_hash", "block_number"],
      further: ["result_hash", "trace_hash", "attestation_id"],
      thereWith: ["status", "FILLED"],
    },
    requirements: {
      members: [
        ...["execution_target", "data_hash", "metadata_uri_hash"],
        ...["required_attestation_subject", "required_attestation_schema"],
      ],
      further: [],
      thereWith: null,
    },
  },
  events: {
    IntentSubmitted: created("IntentSubmitted(uint256,address,uint256)"),
    IntentFilled: {
      signature: "IntentFilled(uint256,address,uint256,uint256)",
      fields: {
        "fill/solver": { topic: 2, type: "address" },
        "fill/amount_in": { word: 0, type: "uint256" },
        "fill/amount_out": { word: 1, type: "uint256" },
        "fill/block_number": { block: "number" },
      },
    },
    IntentFillProof: {
      signature: "IntentFillProof(uint256,bytes32,bytes32,uint256)",
      fields: {
        "fill/result_hash": { word: 0, type: "bytes32" },
        "fill/trace_hash": { word: 1, type: "bytes32" },
        "fill/attestation_id": { topic: 2, type: "uint256" },
      },
    },
  },
};

const AGENT: RecordLayout = {
  ...{ contract: "AgentRegistry", path: "agents", position: 1, id: "agent_id", idType: "uint" },
  exists: [0, "address"],
  fields: {
    owner: at(0, "address"),
    metadata_uri: at(1, "text"),
    pubkey: at(2, "bytes"),
    capabilities_hash: at(3, "bytes32"),
    revoked: at(4, "bool"),
  },
  events: { AgentRegistered: created("AgentRegistered(uint256,address,string)") },
};

const ATTESTATION: RecordLayout = {
  ...{ contract: "AttestationRegistry", path: "attestations", position: 1 },
  ...{ id: "attestation_id", idType: "uint", exists: [0, "address"] },
  fields: {
    attester: at(0, "address"),
    schema_hash: at(1, "bytes32"),
    subject: at(2, "bytes32"),
    data_hash: at(3, "bytes32"),
    timestamp: at(4, "uint64"),
    revoked: at(4, "bool", 8),
  },
  events: { AttestationSubmitted: created("AttestationSubmitted(uint256,address,bytes32,bytes32)") },
};

const SOLVER: RecordLayout = {
  ...{ contract: "SolverRegistry", path: "solvers", position: 1, id: "solver_id", idType: "uint" },
  exists: [0, "address"],
  fields: {
    operator: at(0, "address"),
    metadata_uri: at(1, "text"),
    capabilities_hash: at(2, "bytes32"),
    bond: at(3, "uint256"),
    active: at(7, "bool"),
  },
  unproven: [
    ...["fills", "successful_fills", "failed_fills", "bids", "selected_bids", "win_rate"],
    ...["avg_latency_blocks", "avg_latency_seconds", "avg_surplus_out"],
  ],
  events: { SolverRegistered: created("SolverRegistered(uint256,address,string,bytes32,uint256)") },
};

const ATTESTOR: RecordLayout = {
  ...{ contract: "AttestorRegistry", path: "attestors", position: 1, id: "attestor_id", idType: "uint" },
  exists: [0, "address"],
  fields: {
    operator: at(0, "address"),
    metadata_uri: at(1, "text"),
    schemas_hash: at(2, "bytes32"),
    active: at(5, "bool"),
  },
  unproven: ["attestations", "revoked_attestations"],
  events: { AttestorRegistered: created("AttestorRegistered(uint256,address,string,bytes32)") },
};

const MERCHANT: RecordLayout = {
  ...{ contract: "CommerceRegistry", path: "merchants", position: 6, id: "merchant_id", idType: "uint" },
  exists: [0, "address"],
  fields: {
    owner: at(0, "address"),
    payout_address: at(1, "address"),
    metadata_uri: at(2, "text"),
    metadata_hash: at(3, "bytes32"),
    active: at(4, "bool"),
  },
  events: { MerchantRegistered: created("MerchantRegistered(uint256,address,address,string,bytes32)") },
};

const SERVICE: RecordLayout = {
  ...{ contract: "CommerceRegistry", path: "services", position: 7 },
  ...{ id: "service_numeric_id", idType: "uint", exists: [0, "uint256"] },
  fields: {
    merchant_id: at(0, "uint256"),
    service_id: at(1, "text"),
    metadata_uri: at(2, "text"),
    metadata_hash: at(3, "bytes32"),
    capability_hash: at(4, "bytes32"),
    active: at(5, "bool"),
  },
  events: {
    ServiceRegistered: created("ServiceRegistered(uint256,uint256,string,string,bytes32,bytes32)"),
  },
};

const FACILITATOR: RecordLayout = {
  ...{ contract: "CommerceRegistry", path: "facilitators", position: 9 },
  ...{ id: "facilitator_id", idType: "uint", exists: [0, "address"] },
  fields: {
    facilitator: at(0, "address"),
    metadata_uri: at(1, "text"),
    metadata_hash: at(2, "bytes32"),
    active: at(3, "bool"),
  },
  events: { FacilitatorRegistered: created("FacilitatorRegistered(uint256,address,string,bytes32)") },
};

const QUOTE: RecordLayout = {
  ...{ contract: "CommerceRegistry", path: "quotes", position: 11, id: "quote_hash", idType: "bytes32" },
  exists: [0, "uint256"],
  fields: {
    merchant_id: at(0, "uint256"),
    service_numeric_id: at(1, "uint256"),
    agent: at(2, "address"),
    token: at(3, "address"),
    facilitator: at(4, "address"),
    amount: at(5, "uint256"),
    payment_rail: small(6, "uint8"),
    protocol_fee_bps: small(6, "uint16", 1),
    protocol_fee_amount: at(7, "uint256"),
    expires_at: at(8, "uint256"),
    payment_nonce: at(9, "uint256"),
    resource_hash: at(10, "bytes32"),
    terms_hash: at(11, "bytes32"),
    x402_payload_hash: at(12, "bytes32"),
    settled: at(13, "bool"),
  },
  events: {
    QuoteCommitted: created(
      "QuoteCommitted(bytes32,uint256,uint256,address,address,address,uint256,uint8,uint16,uint256,uint256,uint256,bytes32,bytes32,bytes32)",
    ),
  },
};

const RECEIPT: RecordLayout = {
  ...{ contract: "CommerceRegistry", path: "receipts", position: 12, id: "receipt_id", idType: "uint" },
  exists: [2, "uint256"],
  fields: {
    quote_hash: at(0, "bytes32"),
    agent: at(1, "address"),
    merchant_id: at(2, "uint256"),
    service_numeric_id: at(3, "uint256"),
    token: at(4, "address"),
    amount: at(5, "uint256"),
    payment_rail: small(6, "uint8"),
    protocol_fee_bps: small(6, "uint16", 1),
    protocol_fee_amount: at(7, "uint256"),
    facilitator: at(8, "address"),
    result_hash: at(9, "bytes32"),
    resource_hash: at(10, "bytes32"),
    fulfillment_hash: ({ member }) => {
      const hash = member(11, "bytes32");
      return hash === ZERO_HASH ? null : hash;
    },
  },
  events: {
    ReceiptRecorded: created(
      "ReceiptRecorded(uint256,bytes32,address,uint256,uint256,address,uint256,uint8,uint16,uint256,address,bytes32,bytes32,bytes32)",
    ),
  },
};

const DISPUTE: RecordLayout = {
  ...{ contract: "CommerceRegistry", path: "disputes", position: 13, id: "dispute_id", idType: "uint" },
  exists: [0, "uint256"],
  fields: {
    receipt_id: at(0, "uint256"),
    opener: at(1, "address"),
    reason_hash: at(2, "bytes32"),
    status: ({ member }) => nameOf(member(3, "uint8"), ["OPEN", "RESOLVED", "REJECTED"], "STATUS"),
    resolution_hash: ({ member }) => {
      const hash = member(4, "bytes32");
      return member(3, "uint8") === "0" ? null : hash;
    },
  },
  events: { DisputeOpened: created("DisputeOpened(uint256,uint256,address,bytes32)") },
};

export const RECORD_LAYOUTS: ReadonlyMap<unknown, RecordLayout> = new Map([
  ["intent", INTENT],
  ["agent", AGENT],
  ["attestation", ATTESTATION],
  ["solver", SOLVER],
  ["attestor", ATTESTOR],
  ["merchant", MERCHANT],
  ["service", SERVICE],
  ["facilitator", FACILITATOR],
  ["quote", QUOTE],
  ["receipt", RECEIPT],
  ["dispute", DISPUTE],
]);

/** The code that the layouts are of: its hash with zeros in place of the immutables, which begin at these bytes. */
export type KnownCode = { readonly hash: Hex; readonly immutables: readonly number[] };

export const KNOWN_CODES: ReadonlyMap<string, KnownCode> = new Map([
  [
    "AgentRegistry",
    { hash: "0x0043e5d6226e9adef0f577d6de28696f842a58654bc4aa60aecf17f94894c6ba", immutables: [] },
  ],
  [
    "AttestationRegistry",
    { hash: "0x54fdd60cafba75b1fac9c0a1b28d737c1f15e11cc485139c1f6e4ff64b7ab422", immutables: [] },
  ],
  [
    "AttestorRegistry",
    { hash: "0xeeec7de653acc553e75b7956ecfa37668831c92cb545f36310a606ddd0821019", immutables: [] },
  ],
  [
    "CommerceRegistry",
    { hash: "0x019ff113110149cbf8993c6b0c0e17aaccb7ddbaf93f19b86b216ffe4cc04f6a", immutables: [] },
  ],
  [
    "IntentBook",
    {
      hash: "0xa49c58d6e6536b78433b631970fe828164edf4ae69000d3870eefbf98d752da0",
      immutables: [505, 3763, 3811, 4002, 4395, 4437, 4479, 4560, 4600],
    },
  ],
  [
    "SolverRegistry",
    { hash: "0x15aab384e4bff406c19a6f66dade4647083712aeb1e990e9ca61aee3e7a110f7", immutables: [] },
  ],
]);

export const IMMUTABLE_BYTES = 32;
