// Settlements of quotes. SettlementAdapter → settlements.
import { settlementAdapterAbi as abi } from "@sextant/contracts/generated/settlement-adapter";
import { insert } from "../../schema/change.ts";
import { address, boundedText, bytes32, uint256 } from "../../schema/column.ts";
import { defineDomain } from "../../schema/domain.ts";
import { addressPart, amountOfToken, recordPart, sentence } from "../../schema/sentence.ts";
import { defineTable } from "../../schema/table.ts";

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
  { key: ["settlement_id"], currentIndex: [["quote_hash"]] },
);

export const settlementsDomain = defineDomain({
  contract: "SettlementAdapter",
  abi,
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
