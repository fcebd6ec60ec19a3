// Merchants: who sells. CommerceRegistry → merchants.
import { commerceRegistryAbi as abi } from "@sextant/contracts/generated/commerce-registry";
import { insert, update } from "../../schema/change.ts";
import { address, bool, bytes32, text, uint256 } from "../../schema/column.ts";
import { domain, need } from "../../schema/domain.ts";
import { table } from "../../schema/table.ts";
import {
  addTotals,
  commerceTotals,
  facilitatorVolumes,
  merchantRecords,
  railVolumes,
  serviceVolumes,
  switched,
  tokenVolumes,
} from "./commerce-totals.ts";

export const merchants = table(
  "merchants",
  {
    merchant_id: uint256,
    owner: address,
    payout_address: address,
    metadata_uri: text,
    metadata_hash: bytes32,
    active: bool,
  },
  {
    key: ["merchant_id"],
    index: [
      ["owner", "merchant_id"],
      ["active", "merchant_id"],
    ],
  },
);

export const merchantsDomain = domain({
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
      fold: ({ args }) => [
        insert(merchants, {
          merchant_id: args.merchantId,
          owner: args.owner,
          payout_address: args.payoutAddress,
          metadata_uri: args.metadataURI,
          metadata_hash: args.metadataHash,
          active: true,
        }),
        addTotals({ merchants: 1n, active_merchants: 1n }),
      ],
      explain: ({ args }) => `Merchant #${args.merchantId} registered by ${args.owner}`,
    },
    MerchantUpdated: {
      needs: ({ args }) => [need(merchants, { merchant_id: args.merchantId })],
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
          addTotals({ active_merchants: switched(before?.active ?? false, args.active) }),
        ];
      },
      explain: ({ args }) =>
        `Merchant #${args.merchantId} updated; it is ${args.active ? "active" : "inactive"}`,
    },
  },
});
