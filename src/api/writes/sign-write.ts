// EIP-712 typed data of a signed write, shared by the client that signs it and the server that verifies it.
import { type Hex, hashTypedData, keccak256 } from "viem";

const WRITE_TYPES = {
  Write: [
    { name: "audience", type: "string" },
    { name: "action", type: "string" },
    { name: "resource", type: "string" },
    { name: "contentHash", type: "bytes32" },
    { name: "version", type: "uint64" },
    { name: "deadline", type: "uint64" },
  ],
} as const;

/** The deployment a write is for. */
export type WriteDomain = { readonly chainId: number; readonly intentBook: Hex };

/** The action of a write, and its resource. */
export type WriteSubject = { readonly action: string; readonly resource: string };

export type WriteMessage = WriteSubject & {
  /** The server's public base URL. */
  readonly audience: string;
  /** keccak256 of the body, byte for byte as it is sent. */
  readonly contentHash: Hex;
  /** Higher than any version the signer used for this resource before, such as Unix milliseconds. */
  readonly version: bigint;
  /** Unix seconds, at most ten minutes ahead. */
  readonly deadline: bigint;
};

export const SIGNATURE_HEADER = "x-write-signature";
export const VERSION_HEADER = "x-write-version";
export const DEADLINE_HEADER = "x-write-deadline";
/** Only for contract accounts and writes that name no owner: their signature does not reveal the address. */
export const SIGNER_HEADER = "x-write-signer";

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

type WriteTypedData = ReturnType<typeof writeTypedData>;

function writeTypedData({ chainId, intentBook }: WriteDomain, message: WriteMessage) {
  return {
    domain: { name: "SextantIndex", version: "1", chainId, verifyingContract: intentBook },
    types: WRITE_TYPES,
    primaryType: "Write",
    message,
  } as const;
}

export function hashWrite(domain: WriteDomain, write: WriteMessage): Hex {
  return hashTypedData(writeTypedData(domain, write));
}

/** Returns the headers that authorize a request with this body. */
export async function signWrite(
  signer: { signTypedData(data: WriteTypedData): Promise<Hex> },
  domain: WriteDomain,
  write: Omit<WriteMessage, "contentHash"> & { readonly body: Uint8Array | string },
): Promise<Readonly<Record<string, string>>> {
  const { body, ...rest } = write;
  const bytes = typeof body === "string" ? new TextEncoder().encode(body) : body;
  const message = { ...rest, contentHash: keccak256(bytes) };
  return {
    [SIGNATURE_HEADER]: await signer.signTypedData(writeTypedData(domain, message)),
    [VERSION_HEADER]: write.version.toString(),
    [DEADLINE_HEADER]: write.deadline.toString(),
  };
}
