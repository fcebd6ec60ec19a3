// Quotes, receipts and disputes must be what the commerce registry says of them; settlements what was logged.
import { commerceRegistryAbi } from "@sextant/contracts/generated/commerce-registry";
import { settlementAdapterAbi } from "@sextant/contracts/generated/settlement-adapter";
import { DISPUTE_STATUSES, disputes } from "../../protocol/domains/disputes.ts";
import { quotes } from "../../protocol/domains/quotes.ts";
import { receipts } from "../../protocol/domains/receipts.ts";
import { settlements } from "../../protocol/domains/settlements.ts";
import { ZERO_HASH } from "../../schema/table.ts";
import { createdBy, defineTableAudit, derivedColumns, viewCheck } from "./define-audit.ts";

const registry = { contract: "CommerceRegistry", abi: commerceRegistryAbi } as const;
const adapter = { contract: "SettlementAdapter", abi: settlementAdapterAbi } as const;

// The live deployment lets a quote be committed again: rows are told apart by the hash.
export const quotesAudit = defineTableAudit(quotes, {
  births: [
    createdBy(quotes, registry, "QuoteCommitted", ({ args }) => ({ quote_hash: args.quoteHash }), {
      topics: 1,
    }),
  ],
  views: [
    viewCheck(quotes, registry, "getQuote", {
      args: ({ quote_hash }) => [quote_hash],
      columns: {
        merchant_id: ({ merchantId }) => merchantId,
        service_numeric_id: ({ serviceNumericId }) => serviceNumericId,
        agent: ({ agent }) => agent,
        token: ({ token }) => token,
        facilitator: ({ facilitator }) => facilitator,
        amount: ({ amount }) => amount,
        payment_rail: ({ paymentRail }) => paymentRail,
        protocol_fee_bps: ({ protocolFeeBps }) => protocolFeeBps,
        protocol_fee_amount: ({ protocolFeeAmount }) => protocolFeeAmount,
        expires_at: ({ expiresAt }) => expiresAt,
        payment_nonce: ({ paymentNonce }) => paymentNonce,
        resource_hash: ({ resourceHash }) => resourceHash,
        terms_hash: ({ termsHash }) => termsHash,
        x402_payload_hash: ({ x402PayloadHash }) => x402PayloadHash,
        settled: ({ settled }) => settled,
      },
    }),
  ],
});

export const receiptsAudit = defineTableAudit(receipts, {
  ids: "receipt_id",
  births: [
    createdBy(receipts, registry, "ReceiptRecorded", ({ args }) => ({
      receipt_id: args.receiptId,
      quote_hash: args.quoteHash,
    })),
  ],
  views: [
    viewCheck(receipts, registry, "getReceipt", {
      args: ({ receipt_id }) => [receipt_id],
      columns: {
        quote_hash: ({ quoteHash }) => quoteHash,
        agent: ({ agent }) => agent,
        merchant_id: ({ merchantId }) => merchantId,
        service_numeric_id: ({ serviceNumericId }) => serviceNumericId,
        token: ({ token }) => token,
        amount: ({ amount }) => amount,
        payment_rail: ({ paymentRail }) => paymentRail,
        protocol_fee_bps: ({ protocolFeeBps }) => protocolFeeBps,
        protocol_fee_amount: ({ protocolFeeAmount }) => protocolFeeAmount,
        facilitator: ({ facilitator }) => facilitator,
        result_hash: ({ resultHash }) => resultHash,
        resource_hash: ({ resourceHash }) => resourceHash,
        fulfillment_hash: ({ fulfillmentHash }) => (fulfillmentHash === ZERO_HASH ? null : fulfillmentHash),
      },
    }),
  ],
});

export const disputesAudit = defineTableAudit(disputes, {
  ids: "dispute_id",
  births: [
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
        // While a dispute is open the contract has zero there; resolved with zero it is a hash like any other.
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

export const settlementsAudit = defineTableAudit(settlements, {
  births: [
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
