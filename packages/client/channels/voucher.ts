// Signs payments by channel: a voucher for a sum, and a deposit that the contract takes.
import { SextantError } from "../errors.ts";
import type { SignedDeposit } from "../journal/records.ts";
import { nameExtension, type Payer, randomHex, tokenOf } from "../payments/authorization.ts";
import type { PaymentTerms } from "../payments/terms.ts";
import { receiveTypedData } from "../payments/token-typed-data.ts";
import { encodeHeader } from "../payments/x402-header.ts";
import {
  type ChannelConfig,
  channelIdOf,
  DEPOSIT_COLLECTOR,
  depositNonceOf,
  voucherTypedData,
} from "./channel-typed-data.ts";

type Hex = `0x${string}`;
type ChannelParts = { readonly id: Hex; readonly config: ChannelConfig };

/** A channel that no one else can name: its salt is random. */
export function newChannel(payer: Hex, terms: PaymentTerms): ChannelParts {
  const { payTo, asset, channel, network } = terms;
  if (channel === null) throw new TypeError("the terms are not of a channel");
  const signer = payer.toLowerCase() as Hex;
  const config: ChannelConfig = {
    payer: signer,
    payerAuthorizer: signer,
    receiver: payTo,
    receiverAuthorizer: channel.receiverAuthorizer,
    token: asset,
    withdrawDelay: channel.withdrawDelay,
    salt: randomHex(32),
  };
  return { id: channelIdOf(network, config), config };
}

export async function signDeposit(
  payer: Payer,
  terms: PaymentTerms,
  { id: channel, config }: ChannelParts,
  amount: bigint,
  nowMs: number,
): Promise<SignedDeposit> {
  const salt = randomHex(32);
  const id = depositNonceOf(channel, salt);
  const validBefore = Math.floor(nowMs / 1_000) + terms.maxTimeoutSeconds;
  const message = {
    from: payer.address,
    to: DEPOSIT_COLLECTOR,
    value: amount,
    validAfter: 0n,
    validBefore: BigInt(validBefore),
    nonce: id,
  };
  const signature = await sign(() => payer.signTypedData(receiveTypedData(tokenOf(terms), message)));
  return { id, at: nowMs, amount: amount.toString(), validBefore, salt, signature, config };
}

export async function signVoucher(payer: Payer, network: string, channelId: Hex, cumulative: bigint) {
  const signature = await sign(() => payer.signTypedData(voucherTypedData(network, channelId, cumulative)));
  return { channelId, maxClaimableAmount: cumulative.toString(), signature };
}

/** PAYMENT-SIGNATURE. */
export function encodeVoucher(
  terms: Pick<PaymentTerms, "accepted" | "identifier">,
  config: ChannelConfig,
  voucher: Awaited<ReturnType<typeof signVoucher>>,
  {
    deposit = null,
    name = null,
    isRefund = false,
  }: {
    readonly deposit?: SignedDeposit | null;
    /** The name of the purchase. */
    readonly name?: string | null;
    /** Asks for what is left instead of buying. */
    readonly isRefund?: boolean;
  },
): string {
  const type = isRefund ? "refund" : deposit === null ? "voucher" : "deposit";
  const payload = {
    ...{ type, channelConfig: config, voucher },
    ...(deposit === null ? {} : { deposit: describeDeposit(deposit) }),
  };
  const { accepted, identifier } = terms;
  const extensions = identifier === null || name === null ? null : nameExtension(identifier, name);
  return encodeHeader({ x402Version: 2, accepted, payload, ...(extensions === null ? {} : { extensions }) });
}

function describeDeposit({ amount, validBefore, salt, signature }: SignedDeposit) {
  const erc3009Authorization = { validAfter: "0", validBefore: String(validBefore), salt, signature };
  return { amount, authorization: { erc3009Authorization } };
}

async function sign(act: () => Promise<Hex>): Promise<Hex> {
  try {
    return await act();
  } catch (cause) {
    throw new SextantError("SIGNING_FAILED", "The account did not sign the payment.", { cause });
  }
}
