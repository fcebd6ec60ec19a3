// A payer with a channel for tests, whose vouchers, refunds and withdrawals are sent by hand.

import { batchSettlementAbi } from "@sextant/contracts/generated/batch-settlement";
import type { PrivateKeyAccount } from "viem";
import { CHANNEL_CONTRACT, ChannelDigests } from "../../../src/payments/channels/channel-config.ts";
import type { CallOutcome, ChannelSender } from "../../../src/payments/channels/channel-sender.ts";
import { channelConfigOf, signDeposit, signVoucher } from "./channel-client.ts";
import { decodeBase64Header, fetchWithPayment, TEST_NETWORK } from "./paid-client.ts";
import { type PaidStage, TEST_CHANNEL_TERMS, TEST_PRICE } from "./paid-stage.ts";

const digests = new ChannelDigests(TEST_NETWORK);

/** The part of a service that a voucher is sent to. */
type Shop = {
  readonly url: string;
  /** Another service that shows the terms. */
  readonly termsUrl?: string;
};

export async function openChannelWorld(
  stage: PaidStage,
  given: {
    readonly salt?: `0x${string}`;
    readonly account?: PrivateKeyAccount;
    readonly receiverAuthorizer?: `0x${string}`;
    /** Named by the account in a channel of its own key. */
    readonly payer?: `0x${string}`;
  } = {},
) {
  const { salt, account = await stage.payer() } = given;
  const { receiverAuthorizer = TEST_CHANNEL_TERMS.receiverAuthorizer } = given;
  const parties = { receiver: stage.payTo, token: stage.asset, receiverAuthorizer };
  const own = channelConfigOf(account, parties, salt);
  const config = given.payer === undefined ? own : { ...own, payer: given.payer };
  type Options = Parameters<typeof signVoucher>[4];
  const send = async (shop: Shop, total: bigint, q: string, options: Options = {}) => {
    const path = `/paid?q=${q}`;
    const signature = await signVoucher(
      `${shop.termsUrl ?? shop.url}${path}`,
      account,
      config,
      total,
      options,
    );
    return fetchWithPayment(`${shop.url}${path}`, signature);
  };
  return {
    account,
    config,
    channelId: digests.channelId(config),
    send,
    /** Buys with the voucher for so many purchases in all. */
    buy: async (shop: Shop, purchases: number, q = `q${purchases}`, options: Options = {}) =>
      outcomeOf(await send(shop, BigInt(purchases) * TEST_PRICE, q, options)),
    /** Asks for a refund with the voucher for so many purchases in all. */
    refund: async (shop: Shop, purchases: number, amount?: bigint) => {
      const wish = { type: "refund", ...(amount === undefined ? {} : { amount: amount.toString() }) };
      const change = (payload: Record<string, unknown>) => ({ ...payload, ...wish });
      return outcomeOf(await send(shop, BigInt(purchases) * TEST_PRICE, "refund", { change }));
    },
    async deposit(amount: bigint) {
      const made = await stage.inProcess.channels.deposit(await signDeposit(account, config, amount));
      if (made.kind !== "deposited") throw new Error(`the deposit is ${made.kind}`);
    },
    async payerSends(functionName: "initiateWithdraw" | "finalizeWithdraw", args: readonly unknown[]) {
      await stage.chain.request("hardhat_impersonateAccount", [account.address]);
      await stage.chain.request("hardhat_setBalance", [account.address, "0xde0b6b3a7640000"]);
      const call = { address: CHANNEL_CONTRACT, abi: batchSettlementAbi, functionName, args };
      await stage.send(account, call);
    },
  };
}

/** The status of a response, or the code of a 402. */
function outcomeOf(response: Response): number | string {
  if (response.status !== 402) return response.status;
  const { error } = decodeBase64Header<{ error: string }>(response, "payment-required");
  return error.replace("invalid_batch_settlement_evm_", "");
}

/** A sender whose transactions wait in `held` instead of the chain's pool, as if fees had risen. */
export function holdTransactions(sender: ChannelSender) {
  const held: (() => Promise<CallOutcome>)[] = [];
  const holding: ChannelSender = {
    ...sender,
    async send(call, hooks) {
      const transaction = `0x${(held.length + 1).toString(16).padStart(64, "0")}` as const;
      await hooks.beforeSend(transaction);
      const ignored = { beforeSend: async () => undefined, onRejected: async () => undefined };
      held.push(() => sender.send(call, ignored));
      return { kind: "pending", transaction };
    },
  };
  return { sender: holding, held };
}
