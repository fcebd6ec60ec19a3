// Verifies that an account signed a digest: by ERC-1271 for contracts, read from a node, by ECDSA recovery for others.

import type { Hex } from "viem";
import { RpcError } from "../../chain/rpc/errors.ts";
import { readData } from "../../chain/rpc/hex-values.ts";
import type { Rpc } from "../../chain/rpc/types.ts";
import { createSignatureCodec } from "../../lib/abi/codec.ts";
import { Fault } from "../../lib/fault.ts";
import { recoverKeyAddress } from "../../lib/recover-address.ts";

/** Reads about an account at the latest block. A failing node throws. */
export type AccountReader = {
  /** 0x for an account without code. */
  readCode(account: Hex): Promise<Hex>;
  /** Null if the contract reverts. */
  call(to: Hex, data: Hex): Promise<Hex | null>;
};

const isValidSignature = createSignatureCodec(
  "function isValidSignature(bytes32 hash, bytes signature) view returns (bytes4)",
);
/** The magic value of ERC-1271 as a word: the selector of isValidSignature. */
const ACCEPTED = `0x1626ba7e${"0".repeat(56)}`;

/** Throws unless `account` signed. Only the code of a contract account decides: it may have revoked the key. */
export async function requireSignature(
  reads: AccountReader,
  account: Hex,
  { digest, signature, expected }: { digest: Hex; signature: Hex; expected: string },
): Promise<void> {
  if ((await reads.readCode(account)) !== "0x") {
    const data = isValidSignature.encodeCall([digest, signature]);
    if ((await reads.call(account, data))?.slice(0, ACCEPTED.length) === ACCEPTED) return;
    throw new Fault(
      "WRITE_UNAUTHENTICATED",
      `The contract at ${account} does not accept the signature (ERC-1271); ${expected}`,
    );
  }
  const signer = await recoverSigner(digest, signature);
  if (signer === account) return;
  throw new Fault("WRITE_FORBIDDEN", `The signature is by ${signer}, not by ${account}; ${expected}`);
}

const signerCodec = createSignatureCodec("function signer() view returns (address)");

/** Throws unless `owner` is the signer of a policy account, which never changes. */
export async function requireSigner(reads: AccountReader, account: Hex, owner: Hex): Promise<void> {
  const signer = await reads.call(account, signerCodec.encodeCall([]));
  if (signer === `0x${owner.slice(2).padStart(64, "0")}`) return;
  throw new Fault(
    "WRITE_FORBIDDEN",
    `${account} is not a policy account of ${owner}: its signer() is another.`,
  );
}

const SIGNATURE = /^0x(?<r>[0-9a-f]{64})(?<s>[0-9a-f]{64})(?:1b|1c)$/;
// Half of the order of secp256k1. A signature with the negated s is valid too; accept only the lower one.
const S_MAX = 0x7fffffffffffffffffffffffffffffff5d576e7357a4501ddfe92f46681b20a0n;

/** Recovers the signer of a 65-byte signature. Rejects malleable signatures (high s). */
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
      "The s of the signature is in the upper half of the curve order.",
    );
  }
  const signer = await recoverKeyAddress(digest, signature);
  if (signer !== null) return signer;
  throw new Fault("WRITE_UNAUTHENTICATED", "The signature is not a point on the curve.");
}

// Enough for several signers and a passkey verified in Solidity.
const GAS_MAX = "0x4c4b40";
// A person waits for the response; a slower node counts as unreachable.
const READ_MS_MAX = 10_000;

/** Account reads over JSON-RPC. */
export function createAccountReads(rpc: Rpc): AccountReader {
  return {
    readCode: (account) =>
      mapNodeErrors(() =>
        rpc.request(
          {
            method: "eth_getCode",
            params: [account, "latest"],
            parse: (code) => readData(code, "the code of an account"),
          },
          { signal: AbortSignal.timeout(READ_MS_MAX) },
        ),
      ),
    call: (to, data) =>
      mapNodeErrors(async () => {
        const call = {
          method: "eth_call",
          params: [{ to, data, gas: GAS_MAX }, "latest"],
          parse: (result: unknown) => readData(result, "the return data of an account"),
        };
        const [result] = await rpc.batch([call], { signal: AbortSignal.timeout(READ_MS_MAX) });
        if ("ok" in result) return result.ok;
        if (result.error.kind === "reverted") return null;
        throw result.error;
      }),
  };
}

/** For a server without a node: no signature can be verified. */
export const unavailableAccountReads: AccountReader = {
  readCode: async () => {
    throw new Fault("NODE_UNAVAILABLE", "Signatures cannot be verified: this server has no node (RPC_URL).");
  },
  call: async () => {
    throw new Fault("NODE_UNAVAILABLE", "Accounts cannot be read: this server has no node (RPC_URL).");
  },
};

/** Any node failure is retryable for the author: it proves nothing about the signature. */
async function mapNodeErrors<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (cause) {
    if (!(cause instanceof RpcError) && !isTimeout(cause)) throw cause;
    throw new Fault("NODE_UNAVAILABLE", "The signature cannot be verified now: no node responds.", { cause });
  }
}

function isTimeout(error: unknown): boolean {
  return error instanceof DOMException && error.name === "TimeoutError";
}
