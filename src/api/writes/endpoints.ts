// The write endpoints besides documents, and the reads of what they store.
import type { Endpoint } from "../../schema/endpoint.ts";
import type { Read } from "../../schema/reads/read.ts";
import { attestationSchemaReads, createSchemaEndpoint } from "./attestation-schemas.ts";
import type { WriteOptions } from "./authority.ts";
import { createMetadataEndpoint, createReservationEndpoint, reservationRead } from "./intent-metadata.ts";
import { createDisabledBidEndpoints, createOffchainBidEndpoints } from "./offchain-bids.ts";

export function createWriteEndpoints(options: WriteOptions): readonly Endpoint[] {
  return [
    createMetadataEndpoint(options),
    createReservationEndpoint(options),
    createSchemaEndpoint(options),
    ...(options.authority.mode === "open"
      ? createOffchainBidEndpoints(options.store)
      : createDisabledBidEndpoints()),
  ];
}

export const writeReads: readonly Read[] = [reservationRead, ...attestationSchemaReads];
