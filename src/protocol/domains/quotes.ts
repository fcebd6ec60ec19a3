// Quotes, terms that a merchant commits to, and their settlements. CommerceRegistry, SettlementAdapter → a table of each.
import { commerceRegistryAbi as abi } from "@sextant/contracts/generated/commerce-registry";
import { settlementAdapterAbi } from "@sextant/contracts/generated/settlement-adapter";
import { insert, upsert } from "../../schema/change.ts";
import { address, bool, boundedText, bytes32, uint16, uint256 } from "../../schema/column.ts";
import { defineDomain, requireRow } from "../../schema/domain.ts";
import { addressPart, amountOfToken, recordPart, sentence } from "../../schema/sentence.ts";
import { defineTable } from "../../schema/table.ts";
import { countHour } from "./activity.ts";
import { addCommerceTotals } from "./commerce-totals.ts";

export const quotes = defineTable(
  "quotes",
  {
    quote_hash: bytes32,
    merchant_id: uint256,
    service_numeric_id: uint256,
    agent: address,
    token: address,
    facilitator: address,
    amount: uint256,
    payment_rail: uint16,
    protocol_fee_bps: uint16,
    protocol_fee_amount: uint256,
    expires_at: uint256,
    payment_nonce: uint256,
    resource_hash: bytes32,
    terms_hash: bytes32,
    x402_payload_hash: bytes32,
    settled: bool,
  },
  { key: ["quote_hash"] },
);

export const quotesDomain = defineDomain({
  contract: "CommerceRegistry",
  abi,
  tables: [quotes],
  events: {
    // The live deployment lets a merchant commit the same terms again, which makes the quote payable again.
    QuoteCommitted: {
      requiredRows: ({ args }) => [requireRow(quotes, { quote_hash: args.quoteHash })],
      fold: ({ args, timestamp, find }) => {
        const before = find(quotes, { quote_hash: args.quoteHash });
        return [
          upsert(quotes, {
            quote_hash: args.quoteHash,
            merchant_id: args.merchantId,
            service_numeric_id: args.serviceNumericId,
            agent: args.agent,
            token: args.token,
            facilitator: args.facilitator,
            amount: args.amount,
            payment_rail: args.paymentRail,
            protocol_fee_bps: args.protocolFeeBps,
            protocol_fee_amount: args.protocolFeeAmount,
            expires_at: args.expiresAt,
            payment_nonce: args.paymentNonce,
            resource_hash: args.resourceHash,
            terms_hash: args.termsHash,
            x402_payload_hash: args.x402PayloadHash,
            settled: false,
          }),
          ...(before
            ? [addCommerceTotals({ settled_quotes: before.settled ? -1n : 0n })]
            : [
                addCommerceTotals({
                  quotes: 1n,
                  quoted_volume: args.amount,
                  quoted_protocol_fees: args.protocolFeeAmount,
                }),
                countHour(timestamp, { quotes: 1n }),
              ]),
        ];
      },
      explain: ({ args }) =>
        sentence`Quote ${recordPart("quote", args.quoteHash)} committed by merchant ${recordPart("merchant", args.merchantId)} for service ${recordPart("service", args.serviceNumericId)}: ${amountOfToken(args.amount, args.token)} from ${addressPart(args.agent)}`,
    },
  },
});

// Nothing in the event is unique (the same instruction may be executed twice), so its position in the chain is the key.
export const settlements = defineTable(
  "settlements",
  {
    settlement_id: boundedText,
    quote_hash: bytes32,
    settlement_plan_hash: bytes32,
    payer: address,
    token: address,
    gross_amount: uint256,
    execution_hash: bytes32,
  },
  { key: ["settlement_id"] },
);

export const settlementsDomain = defineDomain({
  contract: "SettlementAdapter",
  abi: settlementAdapterAbi,
  tables: [settlements],
  events: {
    SettlementExecuted: {
      fold: ({ args, txHash, logIndex }) => [
        insert(settlements, {
          settlement_id: `${txHash}-${logIndex}`,
          quote_hash: args.quoteHash,
          settlement_plan_hash: args.settlementPlanHash,
          payer: args.payer,
          token: args.token,
          gross_amount: args.grossAmount,
          execution_hash: args.executionHash,
        }),
      ],
      explain: ({ args }) =>
        sentence`Quote ${recordPart("quote", args.quoteHash)} settled by ${addressPart(args.payer)}: ${amountOfToken(args.grossAmount, args.token)}`,
    },
  },
});
