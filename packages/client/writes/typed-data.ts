// The EIP-712 typed data of a write and its headers: the client signs them, and the indexing API verifies them.
import type { Hex } from "viem";

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
export interface WriteDomain {
  readonly chainId: number;
  /** The IntentBook contract of the deployment. */
  readonly intentBook: Hex;
}

export type WriteMessage = {
  /** The server's public base URL. */
  readonly audience: string;
  readonly action: string;
  readonly resource: string;
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

export type WriteTypedData = ReturnType<typeof writeTypedData>;

export function writeTypedData({ chainId, intentBook }: WriteDomain, message: WriteMessage) {
  return {
    domain: { name: "SextantIndex", version: "1", chainId, verifyingContract: intentBook },
    types: WRITE_TYPES,
    primaryType: "Write",
    message,
  } as const;
}
