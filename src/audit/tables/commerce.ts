// Audits of commerce: rows against the commerce registry, settlements against their logs, rollups against the rows.
import { commerceRegistryAbi } from "@sextant/contracts/generated/commerce-registry";
import { settlementAdapterAbi } from "@sextant/contracts/generated/settlement-adapter";
import {
  commerceTotals,
  facilitatorVolumes,
  merchantRecords,
  railVolumes,
  serviceVolumes,
  tokenVolumes,
} from "../../protocol/domains/commerce-totals.ts";
import { DISPUTE_STATUSES, disputes } from "../../protocol/domains/disputes.ts";
import { facilitators } from "../../protocol/domains/facilitators.ts";
import { merchants } from "../../protocol/domains/merchants.ts";
import { quotes } from "../../protocol/domains/quotes.ts";
import { receipts } from "../../protocol/domains/receipts.ts";
import { services } from "../../protocol/domains/services.ts";
import { settlements } from "../../protocol/domains/settlements.ts";
import { signalCounts, subjectSignalCounts, trustSignals } from "../../protocol/domains/trust-signals.ts";
import { ZERO_ADDRESS, ZERO_HASH } from "../../schema/table.ts";
import {
  createdBy,
  defineTableAudit,
  derivedColumns,
  recountAudit,
  type TableAudit,
  type ViewResult,
  viewCheck,
} from "./define-audit.ts";

const registry = { contract: "CommerceRegistry", abi: commerceRegistryAbi } as const;
const adapter = { contract: "SettlementAdapter", abi: settlementAdapterAbi } as const;

const merchantsAudit = defineTableAudit(merchants, {
  ids: "merchant_id",
  createdBy: [
    createdBy(merchants, registry, "MerchantRegistered", ({ args }) => ({
      merchant_id: args.merchantId,
      owner: args.owner,
    })),
  ],
  views: [
    viewCheck(merchants, registry, "getMerchant", {
      args: ({ merchant_id }) => [merchant_id],
      columns: {
        owner: ({ owner }) => owner,
        payout_address: ({ payoutAddress }) => payoutAddress,
        metadata_uri: ({ metadataURI }) => metadataURI,
        metadata_hash: ({ metadataHash }) => metadataHash,
        active: ({ active }) => active,
      },
    }),
  ],
});

const servicesAudit = defineTableAudit(services, {
  ids: "service_numeric_id",
  createdBy: [
    createdBy(services, registry, "ServiceRegistered", ({ args }) => ({
      service_numeric_id: args.serviceNumericId,
      merchant_id: args.merchantId,
    })),
  ],
  views: [
    viewCheck(services, registry, "getService", {
      args: ({ service_numeric_id }) => [service_numeric_id],
      columns: {
        merchant_id: ({ merchantId }) => merchantId,
        service_id: ({ serviceId }) => serviceId,
        metadata_uri: ({ metadataURI }) => metadataURI,
        metadata_hash: ({ metadataHash }) => metadataHash,
        capability_hash: ({ capabilityHash }) => capabilityHash,
        active: ({ active }) => active,
      },
    }),
  ],
});

// Registering again keeps the id, which identifies the row.
const facilitatorsAudit = defineTableAudit(facilitators, {
  ids: "facilitator_id",
  createdBy: [
    createdBy(
      facilitators,
      registry,
      "FacilitatorRegistered",
      ({ args }) => ({ facilitator_id: args.facilitatorId, facilitator: args.facilitator }),
      { topics: 1 },
    ),
  ],
  views: [
    viewCheck(facilitators, registry, "getFacilitator", {
      args: ({ facilitator_id }) => [facilitator_id],
      columns: {
        facilitator: ({ facilitator }) => facilitator,
        metadata_uri: ({ metadataURI }) => metadataURI,
        metadata_hash: ({ metadataHash }) => metadataHash,
        active: ({ active }) => active,
      },
    }),
  ],
});

/** The fields that a quote states and its receipt repeats. */
const saleColumns = {
  merchant_id: ({ merchantId }: Sale) => merchantId,
  service_numeric_id: ({ serviceNumericId }: Sale) => serviceNumericId,
  agent: ({ agent }: Sale) => agent,
  token: ({ token }: Sale) => token,
  facilitator: ({ facilitator }: Sale) => facilitator,
  amount: ({ amount }: Sale) => amount,
  payment_rail: ({ paymentRail }: Sale) => paymentRail,
  protocol_fee_bps: ({ protocolFeeBps }: Sale) => protocolFeeBps,
  protocol_fee_amount: ({ protocolFeeAmount }: Sale) => protocolFeeAmount,
  resource_hash: ({ resourceHash }: Sale) => resourceHash,
};

type Quote = ViewResult<typeof commerceRegistryAbi, "getQuote">;
type Receipt = ViewResult<typeof commerceRegistryAbi, "getReceipt">;
type Sale = Pick<Quote & Receipt, keyof Quote & keyof Receipt>;

// The live deployment lets a quote be committed again: the hash identifies the row.
const quotesAudit = defineTableAudit(quotes, {
  createdBy: [
    createdBy(quotes, registry, "QuoteCommitted", ({ args }) => ({ quote_hash: args.quoteHash }), {
      topics: 1,
    }),
  ],
  views: [
    viewCheck(quotes, registry, "getQuote", {
      args: ({ quote_hash }) => [quote_hash],
      columns: {
        ...saleColumns,
        expires_at: ({ expiresAt }) => expiresAt,
        payment_nonce: ({ paymentNonce }) => paymentNonce,
        terms_hash: ({ termsHash }) => termsHash,
        x402_payload_hash: ({ x402PayloadHash }) => x402PayloadHash,
        settled: ({ settled }) => settled,
      },
    }),
  ],
});

const receiptsAudit = defineTableAudit(receipts, {
  ids: "receipt_id",
  createdBy: [
    createdBy(receipts, registry, "ReceiptRecorded", ({ args }) => ({
      receipt_id: args.receiptId,
      quote_hash: args.quoteHash,
    })),
  ],
  views: [
    viewCheck(receipts, registry, "getReceipt", {
      args: ({ receipt_id }) => [receipt_id],
      columns: {
        ...saleColumns,
        quote_hash: ({ quoteHash }) => quoteHash,
        result_hash: ({ resultHash }) => resultHash,
        fulfillment_hash: ({ fulfillmentHash }) => (fulfillmentHash === ZERO_HASH ? null : fulfillmentHash),
      },
    }),
  ],
});

const disputesAudit = defineTableAudit(disputes, {
  ids: "dispute_id",
  createdBy: [
    createdBy(disputes, registry, "DisputeOpened", ({ args }) => ({
      dispute_id: args.disputeId,
      receipt_id: args.receiptId,
    })),
  ],
  views: [
    viewCheck(disputes, registry, "getDispute", {
      args: ({ dispute_id }) => [dispute_id],
      columns: {
        receipt_id: ({ receiptId }) => receiptId,
        opener: ({ opener }) => opener,
        reason_hash: ({ reasonHash }) => reasonHash,
        status: ({ status }) => DISPUTE_STATUSES[status] ?? `STATUS_${status}`,
        // The contract returns zero for an open dispute; zero is a valid hash for a resolved one.
        resolution_hash: ({ status, resolutionHash }) => (status === 0 ? null : resolutionHash),
      },
    }),
  ],
  recount: derivedColumns(
    disputes,
    ["merchant_id"],
    [disputes, receipts],
    "select dispute_id, receipts.merchant_id from disputes join receipts using (receipt_id)",
  ),
});

const settlementsAudit = defineTableAudit(settlements, {
  createdBy: [
    createdBy(settlements, adapter, "SettlementExecuted", ({ args, txHash, logIndex }) => ({
      settlement_id: `${txHash}-${logIndex}`,
      quote_hash: args.quoteHash,
      settlement_plan_hash: args.settlementPlanHash,
      payer: args.payer,
      token: args.token,
      gross_amount: args.grossAmount,
      execution_hash: args.executionHash,
    })),
  ],
});

const trustSignalsAudit = defineTableAudit(trustSignals, {
  ids: "signal_id",
  createdBy: [
    createdBy(trustSignals, registry, "TrustSignalRecorded", ({ args }) => ({ signal_id: args.signalId })),
  ],
  views: [
    viewCheck(trustSignals, registry, "getTrustSignal", {
      args: ({ signal_id }) => [signal_id],
      unknown: ({ reporter }) => reporter === ZERO_ADDRESS,
      columns: {
        subject_type: ({ subjectType }) => subjectType,
        subject_id: ({ subjectId }) => subjectId,
        kind: ({ kind }) => kind,
        reporter: ({ reporter }) => reporter,
        signal_hash: ({ signalHash }) => signalHash,
      },
    }),
  ],
});

const signalCountsAudit = recountAudit(
  signalCounts,
  [trustSignals],
  "select kind, count(*) as signals from trust_signals group by kind",
);

const subjectSignalCountsAudit = recountAudit(
  subjectSignalCounts,
  [trustSignals],
  `select subject_type, subject_id, kind, count(*) as signals
   from trust_signals group by subject_type, subject_id, kind`,
);

const VOLUME =
  "count(*) as receipts, sum(amount) as settled_volume, sum(protocol_fee_amount) as protocol_fees";
const DISPUTES = `count(*) as disputes,
  count(*) filter (where status = 'OPEN') as open_disputes,
  count(*) filter (where status = 'RESOLVED') as resolved_disputes,
  count(*) filter (where status = 'REJECTED') as rejected_disputes`;

const commerceTotalsAudit = recountAudit(
  commerceTotals,
  [merchants, services, facilitators, quotes, receipts, disputes],
  `select 'all' as scope, m.*, s.*, f.*, q.*, r.*, d.*
   from (select count(*) as merchants, count(*) filter (where active) as active_merchants from merchants) m,
     (select count(*) as services, count(*) filter (where active) as active_services from services) s,
     (select count(*) as facilitators, count(*) filter (where active) as active_facilitators from facilitators) f,
     (select count(*) as quotes, count(*) filter (where settled) as settled_quotes, sum(amount) as quoted_volume,
        sum(protocol_fee_amount) as quoted_protocol_fees from quotes) q,
     (select count(*) as receipts, sum(amount) as settled_volume,
        sum(protocol_fee_amount) as settled_protocol_fees from receipts) r,
     (select ${DISPUTES} from disputes) d`,
);

const tokenVolumesAudit = recountAudit(
  tokenVolumes,
  [receipts],
  `select token, ${VOLUME} from receipts group by token`,
);

const railVolumesAudit = recountAudit(
  railVolumes,
  [receipts],
  `select payment_rail, ${VOLUME} from receipts group by payment_rail`,
);

const facilitatorVolumesAudit = recountAudit(
  facilitatorVolumes,
  [receipts],
  `select facilitator, ${VOLUME} from receipts where facilitator <> '${ZERO_ADDRESS}' group by facilitator`,
);

const serviceVolumesAudit = recountAudit(
  serviceVolumes,
  [receipts],
  `select service_numeric_id, ${VOLUME} from receipts group by service_numeric_id`,
);

// A dispute is always about a receipt of the same merchant, so every merchant with disputes has receipts.
const merchantRecordsAudit = recountAudit(
  merchantRecords,
  [receipts, disputes],
  `select * from (select merchant_id, ${VOLUME}, count(fulfillment_hash) as fulfilled_receipts
     from receipts group by merchant_id) r
   left join (select merchant_id, ${DISPUTES} from disputes group by merchant_id) d using (merchant_id)`,
);

export const commerceAudits: readonly TableAudit[] = [
  merchantsAudit,
  servicesAudit,
  facilitatorsAudit,
  quotesAudit,
  receiptsAudit,
  disputesAudit,
  settlementsAudit,
  trustSignalsAudit,
  signalCountsAudit,
  subjectSignalCountsAudit,
  commerceTotalsAudit,
  tokenVolumesAudit,
  railVolumesAudit,
  facilitatorVolumesAudit,
  serviceVolumesAudit,
  merchantRecordsAudit,
];
