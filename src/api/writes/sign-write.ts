// What the author of a write signs, in the same words for the client that signs and the server that checks.
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

/** Which deployment a write is for. */
export type WriteDomain = { readonly chainId: number; readonly intentBook: Hex };

/** What a write does, and to what. */
export type WriteSubject = { readonly action: string; readonly resource: string };

export type WriteMessage = WriteSubject & {
  /** The server's public base URL. */
  readonly audience: string;
  /** keccak256 of the body, byte for byte as it is sent. */
  readonly contentHash: Hex;
  /** Higher than any the signer used for this resource before; the time in milliseconds does it. */
  readonly version: bigint;
  /** Unix seconds, at most ten minutes ahead. */
  readonly deadline: bigint;
};

export const SIGNATURE_HEADER = "x-write-signature";
export const VERSION_HEADER = "x-write-version";
export const DEADLINE_HEADER = "x-write-deadline";
/** Only for a write that anyone may sign, by an account whose signature does not tell its address: a contract. */
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

/** The headers that make a request with this body a signed write. */
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
