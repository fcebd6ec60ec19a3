// A payer by channel for tests: the stock client of x402, and vouchers to be sent by hand.
import { randomBytes } from "node:crypto";
import { encodePaymentSignatureHeader } from "@x402/core/http";
import type { PaymentPayload, PaymentRequired } from "@x402/core/types";
import { BatchSettlementEvmScheme } from "@x402/evm/batch-settlement/client";
import { wrapFetchWithPayment, x402Client } from "@x402/fetch";
import { type Hex, numberToHex, type PrivateKeyAccount, type PublicClient } from "viem";
import {
  type ChannelConfig,
  ChannelDigests,
  depositNonceOf,
  ERC3009_COLLECTOR,
} from "../../../src/payments/channels/channel-config.ts";
import type { DepositRequest } from "../../../src/payments/channels/channel-sender.ts";
import { decodeBase64Header, TEST_NETWORK } from "./paid-client.ts";

const digests = new ChannelDigests(TEST_NETWORK);

type ChannelClientOptions = {
  readonly node: PublicClient;
  readonly asset: Hex;
  readonly salt?: Hex;
  /** The most that one payment may cost; the client deposits a multiple of it at most. */
  readonly perPaymentMax?: string;
};

/** The stock client; a new one knows nothing but the chain. */
export function createChannelClient(account: PrivateKeyAccount, options: ChannelClientOptions) {
  const { node, asset, salt, perPaymentMax = "1000000" } = options;
  const signer = { ...account, readContract: (args: never) => node.readContract(args) };
  const scheme = new BatchSettlementEvmScheme(signer as never, {
    depositPolicy: { depositMultiplier: 5 },
    ...(salt ? { salt } : {}),
  });
  const client = x402Client.fromConfig({
    schemes: [{ network: TEST_NETWORK, client: scheme }],
    spendControls: { allowedAssets: [{ network: TEST_NETWORK, asset, maxAmountPerPayment: perPaymentMax }] },
  });
  const sent: string[] = [];
  const recording: typeof fetch = async (input, init) => {
    const request = new Request(input, init);
    const header = request.headers.get("payment-signature");
    if (header !== null) sent.push(header);
    return fetch(request);
  };
  const pay = wrapFetchWithPayment(recording, client) as typeof fetch;
  return { pay, scheme, client, sent };
}

type SignedConfig = Readonly<Record<"payer" | "receiver" | "token" | "receiverAuthorizer", Hex>>;

/** A channel of a payer whose key signs vouchers too. */
export function channelConfigOf(
  account: PrivateKeyAccount,
  parties: Omit<SignedConfig, "payer">,
  salt: Hex = `0x${"00".repeat(32)}`,
): ChannelConfig {
  const payer = account.address.toLowerCase() as Hex;
  return { ...parties, payer, payerAuthorizer: payer, withdrawDelay: 900, salt };
}

/** The header of a voucher for a sum. */
export async function signVoucher(
  url: string,
  account: PrivateKeyAccount,
  config: ChannelConfig,
  maxClaimable: bigint,
  {
    change = (payload) => payload,
    extensions,
  }: {
    readonly change?: (payload: Record<string, unknown>) => Record<string, unknown>;
    readonly extensions?: Record<string, unknown>;
  } = {},
): Promise<string> {
  const required = decodeBase64Header<PaymentRequired>(await fetch(url), "payment-required");
  const accepted = required.accepts.find(({ scheme }) => scheme === "batch-settlement");
  if (!accepted) throw new Error("channels are not offered");
  const channelId = digests.channelId(config);
  const signature = await account.sign({ hash: digests.voucher(channelId, maxClaimable) });
  const voucher = { channelId, maxClaimableAmount: maxClaimable.toString(), signature };
  const payload = change({ type: "voucher", channelConfig: config, voucher });
  return encodePaymentSignatureHeader({
    x402Version: 2,
    accepted,
    payload,
    ...(extensions ? { extensions } : {}),
  } as PaymentPayload);
}

/** A deposit as a payer signs it. */
export async function signDeposit(
  account: PrivateKeyAccount,
  config: ChannelConfig,
  amount: bigint,
): Promise<DepositRequest> {
  const salt = BigInt(`0x${randomBytes(32).toString("hex")}`);
  const validBefore = 2n ** 40n;
  const channelId = digests.channelId(config);
  const signature = await account.signTypedData({
    domain: { name: "USD Coin", version: "2", chainId: 31_337, verifyingContract: config.token },
    types: receiveAuthorizationTypes,
    primaryType: "ReceiveWithAuthorization",
    message: {
      from: account.address,
      to: ERC3009_COLLECTOR,
      value: amount,
      validAfter: 0n,
      validBefore,
      nonce: depositNonceOf(channelId, salt),
    },
  });
  const deposit = { amount, validAfter: 0n, validBefore, salt, signature };
  return { channelId, config, deposit, tokenName: "USD Coin", tokenVersion: "2" };
}

const receiveAuthorizationTypes = {
  ReceiveWithAuthorization: [
    { name: "from", type: "address" },
    { name: "to", type: "address" },
    { name: "value", type: "uint256" },
    { name: "validAfter", type: "uint256" },
    { name: "validBefore", type: "uint256" },
    { name: "nonce", type: "bytes32" },
  ],
} as const;

/** The payload that brings the deposit along with a voucher. */
export function withDeposit({ deposit }: DepositRequest) {
  const { amount, validAfter, validBefore, salt, signature } = deposit;
  return (payload: Record<string, unknown>) => ({
    ...payload,
    type: "deposit",
    deposit: {
      amount: amount.toString(),
      authorization: {
        erc3009Authorization: {
          validAfter: validAfter.toString(),
          validBefore: validBefore.toString(),
          salt: numberToHex(salt, { size: 32 }),
          signature,
        },
      },
    },
  });
}
