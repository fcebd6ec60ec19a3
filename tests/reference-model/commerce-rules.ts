// The model's rules for commerce, and every total that follows.
import { zeroAddress, zeroHash } from "viem";
import type { ModelEvent } from "./model-events.ts";
import { eventArgument, type ModelRules, type PlainRow, type ReadModel } from "./read-model.ts";

type Amounts = Readonly<Record<string, bigint>>;

const VOLUME = { receipts: 0n, settled_volume: 0n, protocol_fees: 0n };
const DISPUTES = { disputes: 0n, open_disputes: 0n, resolved_disputes: 0n, rejected_disputes: 0n };
const TOTALS = {
  scope: "all",
  merchants: 0n,
  active_merchants: 0n,
  services: 0n,
  active_services: 0n,
  facilitators: 0n,
  active_facilitators: 0n,
  quotes: 0n,
  settled_quotes: 0n,
  quoted_volume: 0n,
  quoted_protocol_fees: 0n,
  receipts: 0n,
  settled_volume: 0n,
  settled_protocol_fees: 0n,
  ...DISPUTES,
};
const STATUSES = ["OPEN", "RESOLVED", "REJECTED"];

function total(model: ReadModel, amounts: Amounts): void {
  model.count("commerce_totals", "all", TOTALS, amounts);
}

function record(model: ReadModel, merchant_id: unknown, amounts: Amounts): void {
  const start = { merchant_id, ...VOLUME, fulfilled_receipts: 0n, ...DISPUTES };
  model.count("merchant_records", merchant_id, start, amounts);
}

const oneIf = (condition: boolean): bigint => (condition ? 1n : 0n);

function about(event: ModelEvent): { metadata_uri: unknown; metadata_hash: unknown } {
  return {
    metadata_uri: eventArgument(event, "metadataURI"),
    metadata_hash: eventArgument(event, "metadataHash"),
  };
}

/** The fields that quotes and receipts share. */
function sale(event: ModelEvent): Readonly<Record<string, unknown>> {
  return {
    quote_hash: eventArgument(event, "quoteHash"),
    merchant_id: eventArgument(event, "merchantId"),
    service_numeric_id: eventArgument(event, "serviceNumericId"),
    agent: eventArgument(event, "agent"),
    token: eventArgument(event, "token"),
    facilitator: eventArgument(event, "facilitator"),
    amount: eventArgument(event, "amount"),
    payment_rail: eventArgument(event, "paymentRail"),
    protocol_fee_bps: eventArgument(event, "protocolFeeBps"),
    protocol_fee_amount: eventArgument(event, "protocolFeeAmount"),
    resource_hash: eventArgument(event, "resourceHash"),
  };
}

/** Switches a row on or off and counts how many are on. */
function switchTo(
  model: ReadModel,
  table: "merchants" | "services" | "facilitators",
  id: bigint,
  active: boolean,
  fields: Readonly<Record<string, unknown>>,
): void {
  const before = model.get(table, id).active === true;
  model.change(table, id, { ...fields, active });
  total(model, { [`active_${table}`]: oneIf(active) - oneIf(before) });
}

const fulfilled = ({ fulfillment_hash }: PlainRow): bigint => oneIf(fulfillment_hash !== null);

export const commerceRules: ModelRules = {
  "CommerceRegistry.MerchantRegistered": (model, event) => {
    const merchant_id = eventArgument(event, "merchantId");
    const people = {
      owner: eventArgument(event, "owner"),
      payout_address: eventArgument(event, "payoutAddress"),
    };
    model.put("merchants", merchant_id, { merchant_id, ...people, ...about(event), active: true }, event);
    total(model, { merchants: 1n, active_merchants: 1n });
  },
  "CommerceRegistry.MerchantUpdated": (model, event) => {
    const fields = { payout_address: eventArgument(event, "payoutAddress"), ...about(event) };
    switchTo(model, "merchants", eventArgument(event, "merchantId"), eventArgument(event, "active"), fields);
  },
  "CommerceRegistry.ServiceRegistered": (model, event) => {
    const service_numeric_id = eventArgument(event, "serviceNumericId");
    const of = {
      merchant_id: eventArgument(event, "merchantId"),
      service_id: eventArgument(event, "serviceId"),
    };
    const what = { ...about(event), capability_hash: eventArgument(event, "capabilityHash"), active: true };
    model.put("services", service_numeric_id, { service_numeric_id, ...of, ...what }, event);
    total(model, { services: 1n, active_services: 1n });
  },
  "CommerceRegistry.ServiceUpdated": (model, event) => {
    const fields = { ...about(event), capability_hash: eventArgument(event, "capabilityHash") };
    switchTo(
      model,
      "services",
      eventArgument(event, "serviceNumericId"),
      eventArgument(event, "active"),
      fields,
    );
  },
  "CommerceRegistry.FacilitatorRegistered": (model, event) => {
    const facilitator_id = eventArgument(event, "facilitatorId");
    const known = model.has("facilitators", facilitator_id);
    const wasActive = known && model.get("facilitators", facilitator_id).active === true;
    const row = {
      facilitator_id,
      facilitator: eventArgument(event, "facilitator"),
      ...about(event),
      active: true,
    };
    model.put("facilitators", facilitator_id, row, event);
    total(model, { facilitators: oneIf(!known), active_facilitators: oneIf(!wasActive) });
  },
  "CommerceRegistry.FacilitatorUpdated": (model, event) => {
    switchTo(
      model,
      "facilitators",
      eventArgument(event, "facilitatorId"),
      eventArgument(event, "active"),
      about(event),
    );
  },
  "CommerceRegistry.QuoteCommitted": (model, event) => {
    const hash = eventArgument(event, "quoteHash");
    const before = model.has("quotes", hash) ? model.get("quotes", hash) : null;
    const terms = {
      expires_at: eventArgument(event, "expiresAt"),
      payment_nonce: eventArgument(event, "paymentNonce"),
      terms_hash: eventArgument(event, "termsHash"),
      x402_payload_hash: eventArgument(event, "x402PayloadHash"),
    };
    model.put("quotes", hash, { ...sale(event), ...terms, settled: false }, event);
    const fees = eventArgument(event, "protocolFeeAmount");
    if (before) total(model, { settled_quotes: -oneIf(before.settled === true) });
    else
      total(model, { quotes: 1n, quoted_volume: eventArgument(event, "amount"), quoted_protocol_fees: fees });
  },
  "CommerceRegistry.ReceiptRecorded": (model, event) => {
    const receipt_id = eventArgument(event, "receiptId");
    const hash = eventArgument<string>(event, "fulfillmentHash");
    const outcome = {
      result_hash: eventArgument(event, "resultHash"),
      fulfillment_hash: hash === zeroHash ? null : hash,
    };
    model.put("receipts", receipt_id, { receipt_id, ...sale(event), ...outcome }, event);
    model.change("quotes", eventArgument(event, "quoteHash"), { settled: true });
    const [amount, fees] = [eventArgument(event, "amount"), eventArgument(event, "protocolFeeAmount")];
    const paid = { receipts: 1n, settled_volume: amount, protocol_fees: fees };
    total(model, {
      settled_quotes: 1n,
      receipts: 1n,
      settled_volume: amount,
      settled_protocol_fees: fees,
    });
    record(model, eventArgument(event, "merchantId"), {
      ...paid,
      fulfilled_receipts: oneIf(hash !== zeroHash),
    });
    const volume = (table: string, column: string, value: unknown) =>
      model.count(table, value, { [column]: value, ...VOLUME }, paid);
    volume("token_volumes", "token", eventArgument(event, "token"));
    volume("rail_volumes", "payment_rail", eventArgument(event, "paymentRail"));
    volume("service_volumes", "service_numeric_id", eventArgument(event, "serviceNumericId"));
    const facilitator = eventArgument<string>(event, "facilitator");
    if (facilitator !== zeroAddress) volume("facilitator_volumes", "facilitator", facilitator);
  },
  "CommerceRegistry.FulfillmentRecorded": (model, event) => {
    const id = eventArgument(event, "receiptId");
    const hash = eventArgument<string>(event, "fulfillmentHash");
    const before = model.get("receipts", id);
    model.change("receipts", id, { fulfillment_hash: hash === zeroHash ? null : hash });
    const moved = fulfilled(model.get("receipts", id)) - fulfilled(before);
    record(model, before.merchant_id, { fulfilled_receipts: moved });
  },
  "CommerceRegistry.DisputeOpened": (model, event) => {
    const dispute_id = eventArgument(event, "disputeId");
    const receipt_id = eventArgument(event, "receiptId");
    const { merchant_id } = model.get("receipts", receipt_id);
    const what = { opener: eventArgument(event, "opener"), reason_hash: eventArgument(event, "reasonHash") };
    const open = { status: "OPEN", resolution_hash: null };
    model.put("disputes", dispute_id, { dispute_id, receipt_id, merchant_id, ...what, ...open }, event);
    total(model, { disputes: 1n, open_disputes: 1n });
    record(model, merchant_id, { disputes: 1n, open_disputes: 1n });
  },
  "CommerceRegistry.DisputeResolved": (model, event) => {
    const id = eventArgument(event, "disputeId");
    const before = model.get("disputes", id);
    const status = STATUSES[eventArgument<number>(event, "status")];
    model.change("disputes", id, { status, resolution_hash: eventArgument(event, "resolutionHash") });
    const moves: Record<string, bigint> = {};
    for (const [name, by] of [
      [before.status, -1n],
      [status, 1n],
    ] as const) {
      const counter = `${String(name).toLowerCase()}_disputes`;
      moves[counter] = (moves[counter] ?? 0n) + by;
    }
    total(model, moves);
    record(model, before.merchant_id, moves);
  },
  "CommerceRegistry.TrustSignalRecorded": (model, event) => {
    const signal_id = eventArgument(event, "signalId");
    const subject = {
      subject_type: eventArgument(event, "subjectType"),
      subject_id: eventArgument(event, "subjectId"),
    };
    const kind = eventArgument(event, "kind");
    const report = {
      kind,
      reporter: eventArgument(event, "reporter"),
      signal_hash: eventArgument(event, "signalHash"),
    };
    model.put("trust_signals", signal_id, { signal_id, ...subject, ...report }, event);
    model.count("signal_counts", kind, { kind, signals: 0n }, { signals: 1n });
    const start = { ...subject, kind, signals: 0n };
    model.count("subject_signal_counts", [...Object.values(subject), kind], start, { signals: 1n });
  },
};
