// One purchase of a snapshot: signed once with the x402 client, and requested until it is decided.

import { usdCoinAbi } from "@sextant/contracts/generated/usd-coin";
import type { LocalAccount } from "@sextant/local-chain/accounts";
import { encodePaymentSignatureHeader } from "@x402/core/http";
import type { PaymentRequired } from "@x402/core/types";
import { ExactEvmScheme } from "@x402/evm/exact/client";
import { x402Client } from "@x402/fetch";
import { decodeFunctionResult, encodeFunctionData, type Hex } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { encodeSignedTransfer } from "../../support/payments/transfer-calldata.ts";
import type { ManagedProcess } from "../services/managed-process.ts";
import type { E2eSystem } from "../system.ts";
import { openServiceConnection, type ServiceResponse } from "./connection.ts";

// Whether the transaction that a paid response names really carried out its payment.

/** The problem of the receipt of a paid response at the moment it arrives; null if it is correct. */
export async function findReceiptError(
  { protocol, nodes, branches }: E2eSystem,
  purchase: E2ePurchase,
  { headers }: ServiceResponse,
): Promise<string | null> {
  const receipt = Buffer.from(headers["payment-response"] ?? "", "base64").toString("utf8");
  const { transaction } = JSON.parse(receipt) as { transaction: string };
  const delivery = `a response was delivered for the payment ${purchase.nonce} with the transaction ${transaction}`;
  const carried = nodes.carried.nonceIn(transaction);
  if (carried === undefined) return `${delivery}, which was never sent`;
  if (carried !== purchase.nonce) return `${delivery}, which carried out ${carried}`;
  const found = (await protocol.chain.request("eth_getTransactionReceipt", [transaction])) as {
    status: string;
  } | null;
  // A mined transaction may be gone, or mined again in another block.
  if (found?.status === "0x1" || branches.reorgs > purchase.reorgsBefore) return null;
  return `${delivery}, which ${found === null ? "is not mined" : "reverted"}`;
}

/** Whether the nonce of a payment is used on the chain now. */
export async function isUsed({ protocol }: E2eSystem, { payer, nonce }: E2ePurchase): Promise<boolean> {
  const call = { abi: usdCoinAbi, functionName: "authorizationState" } as const;
  const data = encodeFunctionData({ ...call, args: [payer, nonce] });
  const params = [{ to: protocol.asset, data }, "latest"];
  return decodeFunctionResult({ ...call, data: (await protocol.chain.request("eth_call", params)) as Hex });
}

export type E2ePurchase = {
  readonly payer: Hex;
  readonly nonce: Hex;
  readonly wallet: Hex;
  readonly path: string;
  readonly header: string;
  /** The call by which anyone who has the signature carries it out. */
  readonly transfer: Hex;
  readonly signedMs: number;
  /** How many reorgs there had been by then. */
  readonly reorgsBefore: number;
  /** The last deciding response, which a paid one replaces for good; null while the outcome is open. */
  finalResponse: ServiceResponse | null;
};

const PRICE_MAX = "1000000";

/** Requests the terms and signs them; null when the service does not respond. */
export async function signPurchase(
  { protocol, branches }: E2eSystem,
  slot: ManagedProcess,
  account: Pick<LocalAccount, "address" | "privateKey">,
  wallet: Hex,
): Promise<E2ePurchase | null> {
  const path = `/portfolio?address=${wallet}&chains=base`;
  const reply = await requestPaidSnapshot(slot, path);
  if (reply === null || reply.status !== 402) return null;
  const required = JSON.parse(
    Buffer.from(reply.headers["payment-required"] ?? "", "base64").toString("utf8"),
  ) as PaymentRequired;
  const network = `eip155:${protocol.chain.chainId}` as const;
  const client = x402Client.fromConfig({
    schemes: [{ network, client: new ExactEvmScheme(privateKeyToAccount(account.privateKey)) }],
    spendControls: {
      allowedAssets: [{ network, asset: protocol.asset, maxAmountPerPayment: PRICE_MAX }],
    },
  });
  const payload = await client.createPaymentPayload(required);
  const { nonce } = (payload.payload as { authorization: { nonce: Hex } }).authorization;
  const payer = account.address.toLowerCase() as Hex;
  const header = encodePaymentSignatureHeader(payload);
  const signed = { signedMs: Date.now(), reorgsBefore: branches.reorgs };
  const transfer = encodeSignedTransfer(payload);
  return { payer, nonce, wallet, path, header, transfer, ...signed, finalResponse: null };
}

/** Null when the connection failed. */
export async function requestPaidSnapshot(
  slot: ManagedProcess,
  path: string,
  headers: Readonly<Record<string, string>> = {},
): Promise<ServiceResponse | null> {
  if (!slot.running) return null;
  const connection = openServiceConnection(slot.url);
  try {
    return await connection.request(path, { headers });
  } catch {
    return null;
  } finally {
    connection.close();
  }
}

/** Sends the signature; stores a deciding response. */
export async function presentPayment(
  slot: ManagedProcess,
  purchase: E2ePurchase,
): Promise<ServiceResponse | null> {
  const reply = await requestPaidSnapshot(slot, purchase.path, { "payment-signature": purchase.header });
  if (reply !== null && !isTransientFailure(reply) && purchase.finalResponse?.status !== 200)
    purchase.finalResponse = reply;
  return reply;
}

/** Nothing was charged and a retry may succeed, also if a node of the chain failed. */
export function isTransientFailure({ status, headers }: ServiceResponse): boolean {
  return (
    status === 503 || status === 429 || (status === 500 && headers["x-error-code"] === "PROVIDER_FAILED")
  );
}
