// Whether an account has signed a digest: contracts are asked themselves, everyone else is recovered from the curve.
import { encodeFunctionData, type Hex, parseAbi, recoverAddress } from "viem";
import { Fault } from "../../lib/fault.ts";

/** What is asked of the chain about an account, at its newest block; a node that fails throws. */
export type AccountReader = {
  /** 0x where there is none. */
  readCode(account: Hex): Promise<Hex>;
  /** What a call returns; null where the contract reverts. */
  call(to: Hex, data: Hex): Promise<Hex | null>;
};

const ERC1271 = parseAbi(["function isValidSignature(bytes32 hash, bytes signature) view returns (bytes4)"]);
/** The selector of isValidSignature, as the first word of the answer. */
const ACCEPTED = `0x1626ba7e${"0".repeat(56)}`;

/** Throws unless `account` has signed. Where there is code, only the code decides: it may have revoked the key. */
export async function requireSignature(
  reads: AccountReader,
  account: Hex,
  { digest, signature, said }: { digest: Hex; signature: Hex; said: string },
): Promise<void> {
  if ((await reads.readCode(account)) !== "0x") {
    const args = [digest, signature] as const;
    const data = encodeFunctionData({ abi: ERC1271, functionName: "isValidSignature", args });
    if ((await reads.call(account, data))?.slice(0, ACCEPTED.length) === ACCEPTED) return;
    throw new Fault(
      "WRITE_UNAUTHENTICATED",
      `The contract at ${account} does not accept the signature (ERC-1271); ${said}`,
    );
  }
  const signer = await recoverSigner(digest, signature);
  if (signer === account) return;
  throw new Fault("WRITE_FORBIDDEN", `The signature is not by ${account}, but by ${signer}; ${said}`);
}

const SIGNATURE = /^0x(?<r>[0-9a-f]{64})(?<s>[0-9a-f]{64})(?:1b|1c)$/;
// Half of the order of secp256k1: of the two signatures that differ in the sign of s, only the lower one counts.
const S_MAX = 0x7fffffffffffffffffffffffffffffff5d576e7357a4501ddfe92f46681b20a0n;

/** Who made a signature of 65 bytes; one that has a second form is refused. */
export async function recoverSigner(digest: Hex, signature: Hex): Promise<Hex> {
  const s = SIGNATURE.exec(signature)?.groups?.s;
  if (s === undefined) {
    throw new Fault(
      "WRITE_UNAUTHENTICATED",
      "The signature of an account without code must have 65 bytes, the last one 27 or 28.",
    );
  }
  if (BigInt(`0x${s}`) > S_MAX) {
    throw new Fault(
      "WRITE_UNAUTHENTICATED",
      "The signature has its s in the upper half of the curve's order.",
    );
  }
  try {
    return (await recoverAddress({ hash: digest, signature })).toLowerCase() as Hex;
  } catch (cause) {
    throw new Fault("WRITE_UNAUTHENTICATED", "The signature is no point of the curve.", { cause });
  }
}
