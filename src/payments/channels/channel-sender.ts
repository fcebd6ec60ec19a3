// Needs of channels that a facilitator meets: deposits of payers, and transactions of the receiver's side.
import type { Hex } from "../../lib/hex.ts";
import type { ChannelConfig, VoucherClaim } from "./channel-config.ts";
import type { ChannelDeposit, ChannelPayment } from "./channel-payment.ts";

export type DepositRequest = {
  readonly channelId: Hex;
  readonly config: ChannelConfig;
  readonly deposit: ChannelDeposit;
  /** Name and version in the token's EIP-712 domain. */
  readonly tokenName: string;
  readonly tokenVersion: string;
  /** The voucher that comes with it: facilitators of others want to see one. */
  readonly voucher?: Pick<ChannelPayment, "maxClaimable" | "signature">;
};

export type DepositOutcome =
  | { readonly kind: "deposited"; readonly transaction: Hex }
  /** No money has moved, and none will by this attempt. */
  | { readonly kind: "rejected"; readonly reason: string }
  /** It may have happened, or may still happen. */
  | { readonly kind: "unknown"; readonly cause: unknown };

/** Claims that one authorizer has signed, which are paid out at once. */
export type SignedClaims = { readonly claims: readonly VoucherClaim[]; readonly signature: Hex };

export type SignedRefund = {
  readonly config: ChannelConfig;
  readonly channelId: Hex;
  readonly amount: bigint;
  readonly nonce: bigint;
  readonly signature: Hex;
};

/** Claims and a refund in one transaction of the receiver's side, which only we pay for. */
export type ChannelCall = {
  readonly claims: SignedClaims | null;
  readonly refund: SignedRefund | null;
  /** The tokens that it moves, in proportion to which gas may cost. */
  readonly value: bigint;
};

export type CallOutcome =
  | { readonly kind: "mined"; readonly transaction: Hex }
  | { readonly kind: "reverted"; readonly transaction: Hex }
  | { readonly kind: "pending"; readonly transaction: Hex };

export type ChannelSender = {
  /** Whether a deposit would succeed now; the reason if not. */
  checkDeposit(request: DepositRequest): Promise<string | null>;
  /** Once, in any process: the same authorization again gives the same transaction. */
  deposit(request: DepositRequest): Promise<DepositOutcome>;
  /** Whether the call would succeed now. */
  wouldSucceed(call: ChannelCall): Promise<boolean>;
  /** Sends a call; `beforeSend` records the transaction. */
  send(
    call: ChannelCall,
    hooks: {
      readonly beforeSend: (transaction: Hex) => Promise<void>;
      readonly onRejected: (transaction: Hex) => Promise<void>;
    },
  ): Promise<CallOutcome>;
  /** Reads the outcome of a transaction that was sent earlier. */
  readStatus(transaction: Hex): Promise<"mined" | "reverted" | "pending" | "missing">;
  /** One process at a time. */
  runInTurn<T>(name: string, work: () => Promise<T>): Promise<T>;
};
