// Attestations must be what their registry says of them, and what attesters did must add up.
import { attestationRegistryAbi as abi } from "@sextant/contracts/generated/attestation-registry";
import { attestations, attesterActivity } from "../../protocol/domains/attestations.ts";
import { createdBy, defineTableAudit, recountAudit, viewCheck } from "./define-audit.ts";

const registry = { contract: "AttestationRegistry", abi } as const;

export const attestationsAudit = defineTableAudit(attestations, {
  ids: "attestation_id",
  births: [
    createdBy(attestations, registry, "AttestationSubmitted", ({ args }) => ({ attestation_id: args.id })),
  ],
  views: [
    viewCheck(attestations, registry, "getAttestation", {
      args: ({ attestation_id }) => [attestation_id],
      columns: {
        attester: ({ attester }) => attester,
        schema_hash: ({ schema }) => schema,
        subject: ({ subject }) => subject,
        data_hash: ({ dataHash }) => dataHash,
        timestamp: ({ timestamp }) => timestamp,
        revoked: ({ revoked }) => revoked,
      },
    }),
  ],
});

export const attesterActivityAudit = recountAudit(
  attesterActivity,
  [attestations],
  `select attester, count(*) as attestations, count(*) filter (where revoked) as revoked_attestations
   from attestations group by attester`,
);
