// EIP-55: the case of an address is its checksum, which is the only sign of a mistyped digit.
import { getAddress } from "viem";

const ADDRESS = /^0x[0-9a-fA-F]{40}$/;

/**
 * The message for a caller whose address has a wrong checksum; null for any other text. An address in one case has no
 * checksum.
 */
export function describeWrongChecksum(text: string): string | null {
  if (!ADDRESS.test(text)) return null;
  const digits = text.slice(2);
  const isMixed = digits !== digits.toLowerCase() && digits !== digits.toUpperCase();
  if (!isMixed || getAddress(text.toLowerCase()) === text) return null;
  return `The address ${text} has a wrong checksum (EIP-55), so that a digit may be mistyped: compare it with its source, then send it in lower case.`;
}
