// Merchants, services and facilitators must be what the commerce registry says of them.
import { commerceRegistryAbi as abi } from "@sextant/contracts/generated/commerce-registry";
import { facilitators } from "../../protocol/domains/facilitators.ts";
import { merchants } from "../../protocol/domains/merchants.ts";
import { services } from "../../protocol/domains/services.ts";
import { createdBy, defineTableAudit, viewCheck } from "./define-audit.ts";

const registry = { contract: "CommerceRegistry", abi } as const;

export const merchantsAudit = defineTableAudit(merchants, {
  ids: "merchant_id",
  births: [
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

export const servicesAudit = defineTableAudit(services, {
  ids: "service_numeric_id",
  births: [
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

// Registering again keeps the id: rows are told apart by it.
export const facilitatorsAudit = defineTableAudit(facilitators, {
  ids: "facilitator_id",
  births: [
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
