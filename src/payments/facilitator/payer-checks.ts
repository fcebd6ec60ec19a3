// Checks of a payment before it is simulated: its signature, and one read of what the chain knows of its payer.
import { transferTypedData } from "@sextant/client/payments/token-typed-data";
import type { PaymentPayload, PaymentRequirements } from "@x402/core/types";
import { classifyErc6492Payer, type FacilitatorEvmSigner, verifyTypedDataSignature } from "@x402/evm";
import type { PublicClient } from "viem";
import { hashTypedData, isErc6492Signature, parseErc6492Signature } from "viem";
import { createParametersCodec, createSignatureCodec } from "../../lib/abi/codec.ts";
import { chainIdOfNetwork } from "../../lib/caip2.ts";
import type { Hex } from "../../lib/hex.ts";
import { recoverKeyAddress } from "../../lib/recover-address.ts";
import type { PaymentKey } from "../ledger/row.ts";
import {
  ACCOUNT_NOT_DEPLOYED,
  EXPIRED_ON_CHAIN,
  INSUFFICIENT_BALANCE,
  NONCE_USED,
  NOT_VALID_YET_ON_CHAIN,
  WRONG_SIGNATURE,
} from "../rejection-reasons.ts";
import { authorizationState } from "../settlement/onchain.ts";
import { isContractRevert } from "./broadcast/viem-client.ts";

/** As it is in a payload; the numbers are decimal text. */
type SignedTransfer = {
  readonly authorization: Readonly<
    Record<"from" | "to" | "nonce", Hex> & Record<"value" | "validAfter" | "validBefore", string>
  >;
  readonly signature: Hex;
};

/** Why a payment of an account without code is rejected; null if its key signed it. The reasons are the library's. */
export async function findSignatureRejection(
  { payload }: PaymentPayload,
  terms: PaymentRequirements,
): Promise<string | null> {
  const signed = payload as SignedTransfer;
  if (await isSignedByKey(signed, terms)) return null;
  const isWrapped = isErc6492Signature(signed.signature) && unwrapSignature({ payload }) !== null;
  return isWrapped ? ACCOUNT_NOT_DEPLOYED : WRONG_SIGNATURE;
}

/**
 * The signature inside of a wrapper of ERC-6492, or as it is without one. Null for a wrapper that cannot be decoded: the
 * library throws for it, as for a node that fails.
 */
export function unwrapSignature({ payload }: Pick<PaymentPayload, "payload">): Hex | null {
  try {
    return parseErc6492Signature((payload as SignedTransfer).signature).signature;
  } catch {
    return null;
  }
}

/** The same for an account with code, which a node calls once. */
export async function findContractRejection(
  signer: FacilitatorEvmSigner,
  { payload }: PaymentPayload,
  terms: PaymentRequirements,
): Promise<string | null> {
  const signed = payload as SignedTransfer;
  const { from: address } = signed.authorization;
  const { innerSignature: signature } = await classifyErc6492Payer(signer, signed.signature, address);
  const isSigned = await verifyTypedDataSignature(signer, {
    ...typedDataOf(signed, terms),
    address,
    signature,
  });
  return isSigned ? null : WRONG_SIGNATURE;
}

/** The hash that the payer signs (EIP-712). */
export function hashSignedPayment({ payload }: PaymentPayload, terms: PaymentRequirements): Hex {
  return hashTypedData(typedDataOf(payload as SignedTransfer, terms));
}

export function authorizationOf({ payload }: PaymentPayload): SignedTransfer["authorization"] {
  return (payload as SignedTransfer).authorization;
}

async function isSignedByKey(signed: SignedTransfer, terms: PaymentRequirements): Promise<boolean> {
  const hash = findTransferHash(signed, terms);
  if (hash === null) return false;
  const signer = await recoverKeyAddress(hash, signed.signature);
  return signer === signed.authorization.from.toLowerCase();
}

/** Null for values that no transfer has: no key signed it. */
function findTransferHash(signed: SignedTransfer, terms: PaymentRequirements): Hex | null {
  try {
    return hashTypedData(typedDataOf(signed, terms));
  } catch {
    return null;
  }
}

function typedDataOf({ authorization }: SignedTransfer, { network, asset, extra }: PaymentRequirements) {
  const { from, to, value, validAfter, validBefore, nonce } = authorization;
  const { name, version } = extra as { name: string; version: string };
  const token = { name, version, chainId: chainIdOfNetwork(network), address: asset as Hex };
  return transferTypedData(token, {
    from,
    to,
    nonce,
    value: BigInt(value),
    validAfter: BigInt(validAfter),
    validBefore: BigInt(validBefore),
  });
}

type PayerState = {
  readonly hasCode: boolean;
  readonly balance: bigint;
  /** Whether the nonce is used or canceled. */
  readonly isUsed: boolean;
  /** The time of the newest block, in seconds. */
  readonly timestamp: bigint;
};

export const balanceOf = createSignatureCodec("function balanceOf(address account) view returns (uint256)");
const STATE = createParametersCodec([
  { type: "uint256" },
  { type: "uint256" },
  { type: "uint256" },
  { type: "bool" },
]);
// The program takes about 60,000; a token behind proxies twice that.
const STATE_GAS = 500_000n;

/** Null if the node cannot run the program; the reads of the library decide then. Throws if no node responds. */
export async function readPayerState(client: PublicClient, key: PaymentKey): Promise<PayerState | null> {
  try {
    const { data = "0x" } = await client.call({ data: encodeProgram(key), gas: STATE_GAS });
    if (data === "0x") return null;
    const [codeSize, timestamp, balance, isUsed] = STATE.decode(data) as [bigint, bigint, bigint, boolean];
    return { hasCode: codeSize > 0n, timestamp, balance, isUsed };
  } catch (error) {
    if (isContractRevert(error)) return null;
    throw error;
  }
}

/** Why the token rejects a payment in this state, even with a valid signature; null if it does not. */
export function findStateRejection(
  { balance, isUsed, timestamp }: PayerState,
  { value, validAfter, validBefore }: Record<"value" | "validAfter" | "validBefore", string>,
): string | null {
  if (isUsed) return NONCE_USED;
  if (balance < BigInt(value)) return INSUFFICIENT_BALANCE;
  if (timestamp <= BigInt(validAfter)) return NOT_VALID_YET_ON_CHAIN;
  if (timestamp >= BigInt(validBefore)) return EXPIRED_ON_CHAIN;
  return null;
}

/**
 * Code that a call without a recipient runs. It returns four words: the size of the payer's code, the time of the
 * block, the balance, and whether the nonce is used. It needs no contract on the chain, and no feature of a node
 * besides calls.
 */
function encodeProgram({ asset, payer, nonce }: PaymentKey): Hex {
  const balanceCall = balanceOf.encodeCall([payer]).slice(2);
  const stateCall = authorizationState.encodeCall([payer, nonce]).slice(2);
  // CODECOPY of the data behind the program, STATICCALL, and whether it succeeded and returned a word.
  const callToken = (data: string, from: number, to: string) => {
    const bytes = toBytes(data.length / 2, 1);
    const copy = `60${bytes}61${toBytes(from, 2)}600039`;
    return `${copy}602061${to}60${bytes}600073${asset.slice(2)}5afa601f3d1116`;
  };
  const assemble = (length: number) =>
    [
      `73${payer.slice(2)}3b61010052`, // EXTCODESIZE
      "4261012052", // TIMESTAMP
      callToken(balanceCall, length, "0140"),
      callToken(stateCall, length + balanceCall.length / 2, "0160"),
      `1661${toBytes(length - RETURN.length / 2, 2)}5760006000fd`, // REVERT unless both calls succeeded
      RETURN,
    ].join("");
  return `0x${assemble(assemble(0).length / 2)}${balanceCall}${stateCall}`;
}

// JUMPDEST, and RETURN of four words.
const RETURN = "5b6080610100f3";

const toBytes = (value: number, bytes: number) =>
  Math.max(0, value)
    .toString(16)
    .padStart(2 * bytes, "0");
