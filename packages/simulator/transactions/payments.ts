// Spending under policies: what an account records about its own payments.

import { policyModuleAbi } from "@sextant/contracts/generated/policy-module";
import { type Address, encodeFunctionData, type Hex } from "viem";
import { decodeReceiptEvent, decodeReceiptEvents } from "../receipt-events.ts";
import type { Actor, World } from "../world.ts";

/** The subject of a payment policy. */
export type PaymentRoute = {
  readonly merchant: Address;
  readonly token: Address;
  readonly facilitator: Address;
};

export async function setPaymentPolicy(
  world: World,
  account: Actor,
  route: PaymentRoute,
  terms: { readonly maxPerPayment: bigint; readonly maxPerDay: bigint; readonly allowed: boolean },
): Promise<void> {
  const data = encodeFunctionData({
    abi: policyModuleAbi,
    functionName: "setPaymentPolicy",
    args: [
      route.merchant,
      route.token,
      route.facilitator,
      terms.maxPerPayment,
      terms.maxPerDay,
      terms.allowed,
    ],
  });
  await account.send({ to: world.contracts.PolicyModule, data });
}

/** Returns what the account paid on this route in its current window. */
export async function recordSignedPayment(
  world: World,
  account: Actor,
  route: PaymentRoute,
  amount: bigint,
  paymentHash: Hex,
): Promise<bigint> {
  const to = world.contracts.PolicyModule;
  const data = encodeFunctionData({
    abi: policyModuleAbi,
    functionName: "recordSignedPayment",
    args: [route.merchant, route.token, route.facilitator, amount, paymentHash],
  });
  return decodeReceiptEvent(await account.send({ to, data }), to, policyModuleAbi, "SignedPaymentRecorded")
    .dailyTotal;
}

/** Returns what the account spent in its current window, or nothing if it has no limit. */
export async function recordSpend(
  world: World,
  account: Actor,
  token: Address,
  amount: bigint,
): Promise<bigint | undefined> {
  const to = world.contracts.PolicyModule;
  const data = encodeFunctionData({
    abi: policyModuleAbi,
    functionName: "recordSpend",
    args: [token, amount],
  });
  return decodeReceiptEvents(await account.send({ to, data }), to, policyModuleAbi, "SpendRecorded")[0]
    ?.dailyTotal;
}
