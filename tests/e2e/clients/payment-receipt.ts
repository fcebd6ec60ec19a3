// Whether the transaction that a paid response names really carried out its payment.

import type { E2eSystem } from "../system.ts";
import type { ServiceResponse } from "./connection.ts";
import type { E2ePurchase } from "./purchase.ts";

/** What is wrong with the receipt of a paid response at the moment it arrives; null when nothing is. */
export async function findReceiptError(
  { protocol, nodes, branches }: E2eSystem,
  purchase: E2ePurchase,
  { headers }: ServiceResponse,
): Promise<string | null> {
  const receipt = Buffer.from(headers["payment-response"] ?? "", "base64").toString("utf8");
  const { transaction } = JSON.parse(receipt) as { transaction: string };
  const told = `a response was delivered for the payment ${purchase.nonce} with the transaction ${transaction}`;
  const carried = nodes.carried.nonceIn(transaction);
  if (carried === undefined) return `${told}, which was never sent`;
  if (carried !== purchase.nonce) return `${told}, which carried out ${carried}`;
  const found = (await protocol.chain.request("eth_getTransactionReceipt", [transaction])) as {
    status: string;
  } | null;
  // What was mined may be gone, or mined again in other company.
  if (found?.status === "0x1" || branches.reorgs > purchase.reorgsBefore) return null;
  return `${told}, which ${found === null ? "is not mined" : "reverted"}`;
}
