// Everything people write that is not a document, and the reads that belong to it.
import type { Endpoint } from "../../schema/endpoint.ts";
import type { Read } from "../../schema/reads/read.ts";
import { schemaEndpoint } from "./attestation-schemas.ts";
import type { WriteOptions } from "./authority.ts";
import { metadataEndpoint } from "./intent-metadata.ts";
import { bidHelpers, noBidHelpers } from "./offchain-bids.ts";
import { reservationEndpoint, reservationRead } from "./reservations.ts";
import { schemaReads } from "./schema-record.ts";

export function writeEndpoints(options: WriteOptions): readonly Endpoint[] {
  return [
    metadataEndpoint(options),
    reservationEndpoint(options),
    schemaEndpoint(options),
    ...(options.authority.mode === "open" ? bidHelpers(options.store) : noBidHelpers()),
  ];
}

export const writeReads: readonly Read[] = [reservationRead, ...schemaReads];
