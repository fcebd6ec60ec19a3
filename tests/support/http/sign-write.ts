// Signs a write of any content, as the client does for the ones that it knows.
import {
  DEADLINE_HEADER,
  SIGNATURE_HEADER,
  VERSION_HEADER,
  type WriteDomain,
  type WriteMessage,
  type WriteTypedData,
  writeTypedData,
} from "@sextant/client/writes/typed-data";
import { type Hex, keccak256 } from "viem";

/** Returns the headers that authorize a request with this body. */
export async function signWrite(
  signer: { signTypedData(data: WriteTypedData): Promise<Hex> },
  domain: WriteDomain,
  { body, ...write }: Omit<WriteMessage, "contentHash"> & { readonly body: string },
): Promise<Readonly<Record<string, string>>> {
  const message = { ...write, contentHash: keccak256(new TextEncoder().encode(body)) };
  return {
    [SIGNATURE_HEADER]: await signer.signTypedData(writeTypedData(domain, message)),
    [VERSION_HEADER]: write.version.toString(),
    [DEADLINE_HEADER]: write.deadline.toString(),
  };
}
