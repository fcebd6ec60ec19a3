// The free documents that list the signing keys of a service, for clients that check a response or a receipt.
import type { FastifyInstance } from "fastify";
import { describeDocumentRoute, type RouteDescription } from "../openapi/route-description.ts";
import { addStaticDocument, type StaticDocument } from "../routes/documents.ts";
import type { SigningKeys } from "./signing-keys.ts";

const KEY_PATHS = {
  directory: "/.well-known/http-message-signatures-directory",
  did: "/.well-known/did.json",
} as const;

const DIRECTORY_TYPE = "application/http-message-signatures-directory+json";
const DID_TYPE = "application/did+json";

export const keyRoutes: readonly RouteDescription[] = [
  describeDocumentRoute({
    path: KEY_PATHS.directory,
    operationId: "getSigningKeys",
    summary: "Keys that sign responses",
    description:
      "A JSON Web Key Set: each key with its id (the RFC 7638 thumbprint) and period. Keys that have retired stay listed.",
    type: DIRECTORY_TYPE,
    schema: { type: "object" },
  }),
  describeDocumentRoute({
    path: KEY_PATHS.did,
    operationId: "getDid",
    summary: "The same keys as a DID document",
    description: "The document of did:web for the host of this service, which receipts name as their signer.",
    type: DID_TYPE,
    schema: { type: "object" },
  }),
];

/** `publicUrl` is the URL for clients, known once the server listens. */
export function addKeyRoutes(app: FastifyInstance, keys: SigningKeys, publicUrl: () => string): void {
  const json = (contentType: string, value: unknown): StaticDocument => ({
    content: JSON.stringify(value),
    contentType,
  });
  addStaticDocument(app, KEY_PATHS.directory, () => json(DIRECTORY_TYPE, keys.describeDirectory()));
  addStaticDocument(app, KEY_PATHS.did, () => json(DID_TYPE, keys.describeDid(new URL(publicUrl()).origin)));
}
