// The members of each record that the contract stores, where, and how the index writes them; and the events of the others.
import type { Hex } from "../../lib/hex.ts";
import type { RecordKind } from "../../schema/reads/record-proofs.ts";
import { findMember, type StoredMember, type StoringContract } from "./contract-storage.ts";

/** A value in storage as responses write it. */
export type StoredValue = string | boolean | null;

/** A member of a record that storage shows. */
type StoredField = {
  /** Members of the record's struct; with a leading underscore, variables of the contract. */
  readonly at: readonly string[];
  /** The value of the response by the stored ones, unless it depends on more than the storage. */
  readonly read: (values: readonly StoredValue[], context: ReadContext) => StoredValue | Unproven;
};

/** The reason of a claim that shows nothing. */
export class Unproven {
  readonly reason: "event" | "time" | "text";

  constructor(reason: Unproven["reason"]) {
    this.reason = reason;
  }
}

type ReadContext = {
  /** The time of the block. */
  readonly timestamp: bigint;
  readonly record: RecordBody;
};

export type RecordBody = Readonly<Record<string, unknown>>;

/** An event with the record's id as its first topic, and the members of the response that it shows. */
export type RecordEvent = {
  readonly event: string;
  /** The member that is null while there was no such event; absent for the event that created the record. */
  readonly within?: string;
  /** Member of the response → argument, or what the block says. */
  readonly fields: Readonly<Record<string, string>>;
};

export type RecordDeclaration = {
  readonly record: RecordKind;
  readonly contract: StoringContract;
  /** The mapping of the records. */
  readonly mapping: string;
  /** The member of the response that is the key of the mapping. */
  readonly id: string;
  /** The member by which the contract itself decides whether it has the record: never zero then. */
  readonly exists: string;
  readonly fields: Readonly<Record<string, StoredField>>;
  /** Members that follow from other records, or from outside of the chain. */
  readonly others: Readonly<Record<string, "derived" | "off_chain">>;
  readonly events: readonly RecordEvent[];
};

const plain = (member: string): StoredField => ({
  at: [member],
  read: ([value]) => value ?? new Unproven("text"),
});

const named = (member: string, names: readonly string[], prefix: string): StoredField => ({
  at: [member],
  read: ([value]) => names[Number(value)] ?? `${prefix}_${String(value)}`,
});

const isZero = (value: unknown) => value === "0" || value === false || /^0x0*$/.test(String(value));

const ACTIVE = { active: plain("active") };
const METADATA = { metadata_uri: plain("metadataURI") };
const SALE = {
  merchant_id: plain("merchantId"),
  service_numeric_id: plain("serviceNumericId"),
  agent: plain("agent"),
  token: plain("token"),
  facilitator: plain("facilitator"),
  amount: plain("amount"),
  payment_rail: plain("paymentRail"),
  protocol_fee_bps: plain("protocolFeeBps"),
  protocol_fee_amount: plain("protocolFeeAmount"),
  resource_hash: plain("resourceHash"),
};
const DERIVED = "derived" as const;
const CREATED = {
  block_number: "block.number",
  block_hash: "block.hash",
  block_timestamp: "block.timestamp",
};
const STATUSES = ["OPEN", "FILLED", "CANCELLED"];

const intent: RecordDeclaration = {
  ...{ record: "intent", contract: "IntentBook", mapping: "_intents", id: "intent_id", exists: "owner" },
  fields: {
    owner: plain("owner"),
    intent_type: named("intentType", ["SWAP_EXACT_IN_MAX_SLIPPAGE"], "TYPE"),
    input_token: plain("inputToken"),
    output_token: plain("outputToken"),
    amount_in_max: plain("constraints.amountInMax"),
    amount_out_min: plain("constraints.amountOutMin"),
    deadline: plain("constraints.deadline"),
    slippage_bps: plain("constraints.slippageBps"),
    nonce: plain("nonce"),
    status: { at: ["_statuses", "constraints.deadline"], read: readIntentStatus },
    // An intent that was never filled; the event has the fill of one that was.
    fill: { at: ["_statuses"], read: ([status]) => (status === "1" ? new Unproven("event") : null) },
    "requirements/execution_target": plain("execution.target"),
    "requirements/data_hash": plain("execution.dataHash"),
    "requirements/required_attestation_subject": plain("execution.requiredAttestationSubject"),
    "requirements/required_attestation_schema": plain("execution.requiredAttestationSchema"),
    "requirements/metadata_uri_hash": plain("execution.metadataURIHash"),
  },
  others: { metadata: "off_chain" },
  events: [
    { event: "IntentSubmitted", fields: CREATED },
    {
      ...{ event: "IntentFilled", within: "fill" },
      fields: {
        "fill/solver": "solver",
        "fill/amount_in": "amountIn",
        "fill/amount_out": "amountOut",
        "fill/block_number": "block.number",
      },
    },
    {
      ...{ event: "IntentFillProof", within: "fill" },
      fields: {
        "fill/result_hash": "resultHash",
        "fill/trace_hash": "traceHash",
        "fill/attestation_id": "attestationId",
      },
    },
  ],
};

/** The contract stores an expired intent as open; a request may name another time than that of the block. */
function readIntentStatus(
  [status, deadline]: readonly StoredValue[],
  { timestamp, record }: ReadContext,
): StoredValue | Unproven {
  const stored = STATUSES[Number(status)] ?? `STATUS_${String(status)}`;
  if (stored !== "OPEN") return stored;
  const judged = BigInt(String(deadline)) <= timestamp ? "EXPIRED" : "OPEN";
  const isOtherTime = record.status !== judged && (record.status === "OPEN" || record.status === "EXPIRED");
  return isOtherTime ? new Unproven("time") : judged;
}

const agent: RecordDeclaration = {
  ...{ record: "agent", contract: "AgentRegistry", mapping: "_agents", id: "agent_id", exists: "owner" },
  fields: {
    owner: plain("owner"),
    ...METADATA,
    pubkey: plain("pubkey"),
    capabilities_hash: plain("capabilitiesHash"),
    revoked: plain("revoked"),
  },
  others: {},
  events: [{ event: "AgentRegistered", fields: CREATED }],
};

const attestation: RecordDeclaration = {
  ...{ record: "attestation", contract: "AttestationRegistry", mapping: "_attestations" },
  ...{ id: "attestation_id", exists: "attester" },
  fields: {
    attester: plain("attester"),
    schema_hash: plain("schema"),
    subject: plain("subject"),
    data_hash: plain("dataHash"),
    timestamp: plain("timestamp"),
    revoked: plain("revoked"),
  },
  others: {},
  events: [{ event: "AttestationSubmitted", fields: CREATED }],
};

const solver: RecordDeclaration = {
  ...{
    record: "solver",
    contract: "SolverRegistry",
    mapping: "_solvers",
    id: "solver_id",
    exists: "operator",
  },
  fields: {
    operator: plain("operator"),
    ...METADATA,
    capabilities_hash: plain("capabilitiesHash"),
    bond: plain("bond"),
    ...ACTIVE,
  },
  others: {
    ...{ fills: DERIVED, successful_fills: DERIVED, failed_fills: DERIVED, bids: DERIVED },
    ...{ avg_latency_blocks: DERIVED, avg_surplus_out: DERIVED, avg_latency_seconds: DERIVED },
    ...{ selected_bids: DERIVED, win_rate: DERIVED },
  },
  events: [{ event: "SolverRegistered", fields: CREATED }],
};

const attestor: RecordDeclaration = {
  ...{ record: "attestor", contract: "AttestorRegistry", mapping: "_attestors", id: "attestor_id" },
  exists: "operator",
  fields: {
    operator: plain("operator"),
    ...METADATA,
    schemas_hash: plain("schemasHash"),
    ...ACTIVE,
  },
  others: { attestations: DERIVED, revoked_attestations: DERIVED },
  events: [{ event: "AttestorRegistered", fields: CREATED }],
};

const merchant: RecordDeclaration = {
  ...{ record: "merchant", contract: "CommerceRegistry", mapping: "_merchants", id: "merchant_id" },
  exists: "owner",
  fields: {
    owner: plain("owner"),
    payout_address: plain("payoutAddress"),
    ...METADATA,
    metadata_hash: plain("metadataHash"),
    ...ACTIVE,
  },
  others: {},
  events: [{ event: "MerchantRegistered", fields: CREATED }],
};

const service: RecordDeclaration = {
  ...{ record: "service", contract: "CommerceRegistry", mapping: "_services", id: "service_numeric_id" },
  exists: "merchantId",
  fields: {
    merchant_id: plain("merchantId"),
    service_id: plain("serviceId"),
    ...METADATA,
    metadata_hash: plain("metadataHash"),
    capability_hash: plain("capabilityHash"),
    ...ACTIVE,
  },
  others: {},
  events: [{ event: "ServiceRegistered", fields: CREATED }],
};

const facilitator: RecordDeclaration = {
  ...{ record: "facilitator", contract: "CommerceRegistry", mapping: "_facilitators", id: "facilitator_id" },
  exists: "facilitator",
  fields: {
    facilitator: plain("facilitator"),
    ...METADATA,
    metadata_hash: plain("metadataHash"),
    ...ACTIVE,
  },
  others: {},
  events: [{ event: "FacilitatorRegistered", fields: CREATED }],
};

const quote: RecordDeclaration = {
  ...{ record: "quote", contract: "CommerceRegistry", mapping: "_quotes", id: "quote_hash" },
  exists: "merchantId",
  fields: {
    ...SALE,
    expires_at: plain("expiresAt"),
    payment_nonce: plain("paymentNonce"),
    terms_hash: plain("termsHash"),
    x402_payload_hash: plain("x402PayloadHash"),
    settled: plain("settled"),
  },
  others: {},
  events: [{ event: "QuoteCommitted", fields: CREATED }],
};

const receipt: RecordDeclaration = {
  ...{ record: "receipt", contract: "CommerceRegistry", mapping: "_receipts", id: "receipt_id" },
  exists: "merchantId",
  fields: {
    ...SALE,
    quote_hash: plain("quoteHash"),
    result_hash: plain("resultHash"),
    fulfillment_hash: {
      at: ["fulfillmentHash"],
      read: ([value]) => (isZero(value) ? null : (value ?? null)),
    },
  },
  others: {},
  events: [{ event: "ReceiptRecorded", fields: CREATED }],
};

const dispute: RecordDeclaration = {
  ...{ record: "dispute", contract: "CommerceRegistry", mapping: "_disputes", id: "dispute_id" },
  exists: "receiptId",
  fields: {
    receipt_id: plain("receiptId"),
    opener: plain("opener"),
    reason_hash: plain("reasonHash"),
    status: named("status", ["OPEN", "RESOLVED", "REJECTED"], "STATUS"),
    // Zero is a valid hash for a dispute that is not open.
    resolution_hash: {
      at: ["resolutionHash", "status"],
      read: ([hash, status]) => (status === "0" ? null : (hash ?? null)),
    },
  },
  others: {},
  events: [{ event: "DisputeOpened", fields: CREATED }],
};

/** Records by the operation that reads one. */
export const RECORDS: Readonly<Record<string, RecordDeclaration>> = {
  getIntent: intent,
  getAgent: agent,
  getAttestation: attestation,
  getSolver: solver,
  getAttestor: attestor,
  getMerchant: merchant,
  getService: service,
  getFacilitator: facilitator,
  getQuote: quote,
  getReceipt: receipt,
  getDispute: dispute,
};

/** A member of a response that storage may show, with the places of its words. */
export type LocatedField = {
  readonly path: string;
  readonly value: unknown;
  readonly members: readonly StoredMember[];
  readonly read: StoredField["read"];
};

/** The members of the response that the contract stores, the id first. */
export function locateFields(
  { contract, mapping, id, exists, fields }: RecordDeclaration,
  record: RecordBody,
): readonly LocatedField[] {
  const text = String(record[id]);
  const key = text.startsWith("0x") ? (text as Hex) : BigInt(text);
  const locate = (at: string) => findMember(contract, at.startsWith("_") ? at : `${mapping}.${at}`, [key]);
  const existing: LocatedField = {
    ...{ path: `/${id}`, value: record[id], members: [locate(exists)] },
    read: ([value]) => (isZero(value) ? null : text),
  };
  const located = Object.entries(fields).flatMap(([name, { at, read }]): LocatedField[] => {
    const value = valueAt(record, name);
    return value === undefined ? [] : [{ path: `/${name}`, value, members: at.map(locate), read }];
  });
  return [existing, ...located];
}

/** `undefined` for a member that the response does not have. */
export function valueAt(record: RecordBody, name: string): unknown {
  return name
    .split("/")
    .reduce<unknown>(
      (parent, part) =>
        typeof parent === "object" && parent !== null ? (parent as RecordBody)[part] : undefined,
      record,
    );
}
