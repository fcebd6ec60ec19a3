// The actions and resources of signed writes, and the hash of a write that its author signs.
import { type WriteDomain, type WriteMessage, writeTypedData } from "@sextant/client/writes/typed-data";
import { type Hex, hashTypedData } from "viem";

/** The action of a write, and its resource. */
export type WriteSubject = Pick<WriteMessage, "action" | "resource">;

export const metadataWriteSubject = (intentId: bigint | string): WriteSubject => ({
  action: "putIntentMetadata",
  resource: `/intents/${intentId}/metadata`,
});

export const reservationWriteSubject = (intentHash: Hex): WriteSubject => ({
  action: "reserveIntentMetadata",
  resource: `/intents/metadata/${intentHash.toLowerCase()}`,
});

export const schemaWriteSubject = (schemaHash: Hex): WriteSubject => ({
  action: "publishAttestationSchema",
  resource: `/attestations/schemas/${schemaHash.toLowerCase()}`,
});

export const webhooksWriteSubject = (action: "registerWebhook" | "listWebhooks"): WriteSubject => ({
  action,
  resource: "/webhooks",
});

export const webhookWriteSubject = (id: string): WriteSubject => ({
  action: "manageWebhook",
  resource: `/webhooks/${id}`,
});

export function hashWrite(domain: WriteDomain, write: WriteMessage): Hex {
  return hashTypedData(writeTypedData(domain, write));
}
