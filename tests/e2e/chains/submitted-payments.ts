// Every transaction that was sent to carry out a payment, and which payment: what no node ever saw was not paid.

import { usdCoinAbi } from "@sextant/contracts/generated/usd-coin";
import { decodeFunctionData, type Hex, keccak256, parseTransaction } from "viem";
import type { NodeFault } from "../nodes/node-fault.ts";

export type SubmittedPayments = {
  record(transaction: Hex, nonce: Hex): void;
  /** The nonce of the authorization that a transaction carried out; undefined for one that was never sent. */
  nonceIn(transaction: string): Hex | undefined;
  /** Changes nothing; notes what passes. */
  readonly watch: NodeFault;
};

export function createSubmittedPayments(asset: Hex): SubmittedPayments {
  const nonces = new Map<string, Hex>();
  const note = (transaction: Hex, nonce: Hex) => void nonces.set(transaction.toLowerCase(), nonce);
  return {
    record: note,
    nonceIn: (transaction) => nonces.get(transaction.toLowerCase()),
    watch(method, params, next) {
      if (method === "eth_sendRawTransaction") {
        const raw = params[0] as Hex;
        const { to, data } = parseTransaction(raw);
        const nonce = to?.toLowerCase() === asset && data ? authorizationNonceOf(data) : null;
        if (nonce !== null) note(keccak256(raw), nonce);
      }
      return next(method, params);
    },
  };
}

/** The nonce of a transfer by signature; null for any other call. */
export function authorizationNonceOf(data: Hex): Hex | null {
  const call = decodeFunctionData({ abi: usdCoinAbi, data });
  return call.functionName === "transferWithAuthorization" ? call.args[5] : null;
}
