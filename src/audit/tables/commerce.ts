// Audits of commerce: rows against the commerce registry, settlements against their logs, rollups against the rows.
import { commerceRegistryAbi } from "@sextant/contracts/generated/commerce-registry";
import { settlementAdapterAbi } from "@sextant/contracts/generated/settlement-adapter";
import {
  DISPUTE_STATUSES,
  disputes,
  quotes,
  receipts,
  settlements,
  signalCounts,
  subjectSignalCounts,
  trustSignals,
} from "../../protocol/domains/commerce.ts";
import {
  commerceTotals,
  facilitatorVolumes,
  merchantRecords,
  railVolumes,
  serviceVolumes,
  tokenVolumes,
} from "../../protocol/domains/commerce-totals.ts";
import { facilitators, merchants, services } from "../../protocol/domains/merchants.ts";
import { ZERO_ADDRESS, ZERO_HASH } from "../../schema/table.ts";
import { defineTableAudit, recountAudit, type TableAudit } from "./define-audit.ts";

const registry = { contract: "CommerceRegistry", abi: commerceRegistryAbi } as const;
const adapter = { contract: "SettlementAdapter", abi: settlementAdapterAbi } as const;

/** The columns that rollups of receipts sum up. */
export const VOLUME =
  "count(*) as receipts, sum(amount) as settled_volume, sum(protocol_fee_amount) as protocol_fees";
const DISPUTES = `count(*) as disputes,
  count(*) filter (where status = 'OPEN') as open_disputes,
  count(*) filter (where status = 'RESOLVED') as resolved_disputes,
  count(*) filter (where status = 'REJECTED') as rejected_disputes`;

/** The fields that a quote states and its receipt repeats. */
const SALE = [
  "merchant_id",
  "service_numeric_id",
  "agent",
  "token",
  "facilitator",
  "amount",
  "payment_rail",
  "protocol_fee_bps",
  "protocol_fee_amount",
  "resource_hash",
] as const;

export const commerceAudits: readonly TableAudit[] = [
  defineTableAudit(merchants, registry, {
    ids: "merchant_id",
    createdBy: { MerchantRegistered: ["merchant_id", "owner"] },
    views: {
      getMerchant: {
        args: ["merchant_id"],
        columns: ["owner", "payout_address", "metadata_uri", "metadata_hash", "active"],
      },
    },
  }),
  defineTableAudit(services, registry, {
    ids: "service_numeric_id",
    createdBy: { ServiceRegistered: ["service_numeric_id", "merchant_id"] },
    views: {
      getService: {
        args: ["service_numeric_id"],
        columns: ["merchant_id", "service_id", "metadata_uri", "metadata_hash", "capability_hash", "active"],
      },
    },
  }),
  // Registering again keeps the id, which identifies the row.
  defineTableAudit(facilitators, registry, {
    ids: "facilitator_id",
    createdBy: { FacilitatorRegistered: { columns: ["facilitator_id", "facilitator"], topics: 1 } },
    views: {
      getFacilitator: {
        args: ["facilitator_id"],
        columns: ["facilitator", "metadata_uri", "metadata_hash", "active"],
      },
    },
  }),
  // The live deployment lets a quote be committed again: the hash identifies the row.
  defineTableAudit(quotes, registry, {
    createdBy: { QuoteCommitted: { columns: ["quote_hash"], topics: 1 } },
    views: {
      getQuote: {
        args: ["quote_hash"],
        columns: [...SALE, "expires_at", "payment_nonce", "terms_hash", "x402_payload_hash", "settled"],
      },
    },
  }),
  defineTableAudit(receipts, registry, {
    ids: "receipt_id",
    createdBy: { ReceiptRecorded: ["receipt_id", "quote_hash"] },
    views: {
      getReceipt: {
        args: ["receipt_id"],
        columns: [...SALE, "quote_hash", "result_hash"],
        computed: {
          fulfillment_hash: ({ fulfillmentHash }) => (fulfillmentHash === ZERO_HASH ? null : fulfillmentHash),
        },
      },
    },
  }),
  defineTableAudit(disputes, registry, {
    ids: "dispute_id",
    createdBy: { DisputeOpened: ["dispute_id", "receipt_id"] },
    views: {
      getDispute: {
        args: ["dispute_id"],
        columns: ["receipt_id", "opener", "reason_hash"],
        computed: {
          status: ({ status }) => DISPUTE_STATUSES[status] ?? `STATUS_${status}`,
          // The contract returns zero for an open dispute; zero is a valid hash for a resolved one.
          resolution_hash: ({ status, resolutionHash }) => (status === 0 ? null : resolutionHash),
        },
      },
    },
    recount: {
      columns: ["merchant_id"],
      from: [disputes, receipts],
      sql: "select dispute_id, receipts.merchant_id from disputes join receipts using (receipt_id)",
    },
  }),
  defineTableAudit(settlements, adapter, {
    createdBy: {
      SettlementExecuted: ({ args, txHash, logIndex }) => ({
        settlement_id: `${txHash}-${logIndex}`,
        quote_hash: args.quoteHash,
        settlement_plan_hash: args.settlementPlanHash,
        payer: args.payer,
        token: args.token,
        gross_amount: args.grossAmount,
        execution_hash: args.executionHash,
      }),
    },
  }),
  defineTableAudit(trustSignals, registry, {
    ids: "signal_id",
    createdBy: { TrustSignalRecorded: ["signal_id"] },
    views: {
      getTrustSignal: {
        args: ["signal_id"],
        unknown: ({ reporter }) => reporter === ZERO_ADDRESS,
        columns: ["subject_type", "subject_id", "kind", "reporter", "signal_hash"],
      },
    },
  }),
  recountAudit(
    signalCounts,
    [trustSignals],
    "select kind, count(*) as signals from trust_signals group by kind",
  ),
  recountAudit(
    subjectSignalCounts,
    [trustSignals],
    `select subject_type, subject_id, kind, count(*) as signals
   from trust_signals group by subject_type, subject_id, kind`,
  ),
  recountAudit(
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
  ),
  recountAudit(tokenVolumes, [receipts], `select token, ${VOLUME} from receipts group by token`),
  recountAudit(railVolumes, [receipts], `select payment_rail, ${VOLUME} from receipts group by payment_rail`),
  recountAudit(
    facilitatorVolumes,
    [receipts],
    `select facilitator, ${VOLUME} from receipts where hex_text(facilitator) <> '${ZERO_ADDRESS}' group by facilitator`,
  ),
  recountAudit(
    serviceVolumes,
    [receipts],
    `select service_numeric_id, ${VOLUME} from receipts group by service_numeric_id`,
  ),
  // A dispute is always about a receipt of the same merchant, so every merchant with disputes has receipts.
  recountAudit(
    merchantRecords,
    [receipts, disputes],
    `select * from (select merchant_id, ${VOLUME}, count(fulfillment_hash) as fulfilled_receipts
     from receipts group by merchant_id) r
   left join (select merchant_id, ${DISPUTES} from disputes group by merchant_id) d using (merchant_id)`,
  ),
];
