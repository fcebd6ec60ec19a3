// The address of a wallet that a caller pays for: a wrong checksum is rejected before anything is sent or signed.
import { getAddress } from "viem/utils";
import { SextantError } from "../errors.ts";

const ADDRESS = /^0x[0-9a-fA-F]{40}$/;

/**
 * Throws for an address in mixed case whose checksum (EIP-55) is wrong. An address in one case has none, and anything
 * else, such as a name, is left to the service.
 */
export function assertChecksum(address: unknown): void {
  if (typeof address !== "string" || !ADDRESS.test(address)) return;
  const digits = address.slice(2);
  const isMixed = digits !== digits.toLowerCase() && digits !== digits.toUpperCase();
  if (!isMixed || getAddress(address.toLowerCase()) === address) return;
  throw new SextantError(
    "INPUT_INVALID",
    `The address ${address} has a wrong checksum (EIP-55), so that a digit may be mistyped. Nothing was signed: compare it with its source, then write it in lower case.`,
  );
}
