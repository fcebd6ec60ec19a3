// Everything people write that is not a document, and the reads that belong to it.
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
