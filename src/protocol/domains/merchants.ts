// Merchants. CommerceRegistry → merchants, and the commerce rollups.
import { commerceRegistryAbi as abi } from "@sextant/contracts/generated/commerce-registry";
import { insert, update } from "../../schema/change.ts";
import { address, bool, bytes32, uint256, unboundedText } from "../../schema/column.ts";
import { defineDomain, requireRow } from "../../schema/domain.ts";
import { addressPart, recordPart, sentence } from "../../schema/sentence.ts";
import { defineTable } from "../../schema/table.ts";
import { countHour } from "./activity.ts";
import {
  addCommerceTotals,
  commerceTotals,
  countDelta,
  facilitatorVolumes,
  merchantRecords,
  railVolumes,
  serviceVolumes,
  tokenVolumes,
} from "./commerce-totals.ts";

export const merchants = defineTable(
  "merchants",
  {
    merchant_id: uint256,
    owner: address,
    payout_address: address,
    metadata_uri: unboundedText,
    metadata_hash: bytes32,
    active: bool,
  },
  {
    key: ["merchant_id"],
    countsUp: true,
    index: [
      ["owner", "merchant_id"],
      ["active", "merchant_id"],
    ],
  },
);

export const merchantsDomain = defineDomain({
  contract: "CommerceRegistry",
  abi,
  tables: [
    merchants,
    commerceTotals,
    tokenVolumes,
    railVolumes,
    facilitatorVolumes,
    serviceVolumes,
    merchantRecords,
  ],
  events: {
    MerchantRegistered: {
      fold: ({ args, timestamp }) => [
        insert(merchants, {
          merchant_id: args.merchantId,
          owner: args.owner,
          payout_address: args.payoutAddress,
          metadata_uri: args.metadataURI,
          metadata_hash: args.metadataHash,
          active: true,
        }),
        addCommerceTotals({ merchants: 1n, active_merchants: 1n }),
        countHour(timestamp, { merchants: 1n }),
      ],
      explain: ({ args }) =>
        sentence`Merchant ${recordPart("merchant", args.merchantId)} registered by ${addressPart(args.owner)}`,
    },
    MerchantUpdated: {
      requiredRows: ({ args }) => [requireRow(merchants, { merchant_id: args.merchantId })],
      fold: ({ args, find }) => {
        const before = find(merchants, { merchant_id: args.merchantId });
        return [
          update(
            merchants,
            { merchant_id: args.merchantId },
            {
              payout_address: args.payoutAddress,
              metadata_uri: args.metadataURI,
              metadata_hash: args.metadataHash,
              active: args.active,
            },
          ),
          addCommerceTotals({ active_merchants: countDelta(before?.active ?? false, args.active) }),
        ];
      },
      explain: ({ args }) =>
        sentence`Merchant ${recordPart("merchant", args.merchantId)} updated; it is ${args.active ? "active" : "inactive"}`,
    },
  },
});
