// The rules of payment channels in plain numbers: the contract is compared with this model after every step.
import { type Address, type Hex, zeroAddress } from "viem";
import { type ChannelConfig, channelIdOf } from "./channel-world.ts";

export type ModelRow = {
  readonly channel: ChannelConfig;
  readonly ceiling: bigint;
  readonly total: bigint;
  /** Who signed the voucher; null for bytes that no key signed. */
  readonly signer: Address | null;
};

export type ModelStep =
  | {
      readonly kind: "deposit";
      readonly channel: ChannelConfig;
      readonly amount: bigint;
      readonly signer: Address;
    }
  | { readonly kind: "claim"; readonly rows: readonly ModelRow[] }
  | { readonly kind: "claimSigned"; readonly rows: readonly ModelRow[]; readonly signer: Address }
  | { readonly kind: "settle"; readonly channel: ChannelConfig }
  | { readonly kind: "refund"; readonly channel: ChannelConfig; readonly amount: bigint }
  | {
      readonly kind: "refundSigned";
      readonly channel: ChannelConfig;
      readonly amount: bigint;
      readonly nonce: bigint;
      readonly signer: Address;
    }
  | { readonly kind: "initiate"; readonly channel: ChannelConfig; readonly amount: bigint }
  | { readonly kind: "finalize"; readonly channel: ChannelConfig }
  | { readonly kind: "multicall"; readonly steps: readonly ModelStep[] };

export type ModelChannel = {
  readonly balance: bigint;
  readonly claimed: bigint;
  readonly refunds: bigint;
  readonly withdrawal: { readonly amount: bigint; readonly since: bigint } | null;
};

export type ModelEvent = { readonly eventName: string; readonly args: Readonly<Record<string, unknown>> };

/** Why a step fails. */
export class ModelError extends Error {}

const EMPTY: ModelChannel = { balance: 0n, claimed: 0n, refunds: 0n, withdrawal: null };
const least = (one: bigint, other: bigint) => (one < other ? one : other);

export class ChannelModel {
  /** Keys that sign for contract accounts, by account. */
  readonly #ownerOf: ReadonlyMap<Address, Address>;
  #channels = new Map<Hex, ModelChannel>();
  /** Claimed and paid out, by receiver. */
  #receivers = new Map<Address, { readonly claimed: bigint; readonly settled: bigint }>();
  /** Tokens that each account has gained or lost. */
  #gains = new Map<Address, bigint>();

  constructor(ownerOf: ReadonlyMap<Address, Address>) {
    this.#ownerOf = ownerOf;
  }

  channel(config: ChannelConfig): ModelChannel {
    return this.#channels.get(channelIdOf(config)) ?? EMPTY;
  }

  receiver(account: Address) {
    return this.#receivers.get(account) ?? { claimed: 0n, settled: 0n };
  }

  gain(account: Address): bigint {
    return this.#gains.get(account) ?? 0n;
  }

  /** The events of a step in order. Throws ModelError, and then nothing has changed. */
  run(step: ModelStep, sender: Address, time: bigint): readonly ModelEvent[] {
    const before = [new Map(this.#channels), new Map(this.#receivers), new Map(this.#gains)] as const;
    try {
      return this.#do(step, sender, time);
    } catch (error) {
      [this.#channels, this.#receivers, this.#gains] = before;
      throw error;
    }
  }

  #do(step: ModelStep, sender: Address, time: bigint): readonly ModelEvent[] {
    switch (step.kind) {
      case "deposit":
        return this.#deposit(step, sender);
      case "claim":
      case "claimSigned":
        return this.#claim(step, sender);
      case "settle":
        return this.#settle(step.channel, sender);
      case "refund":
      case "refundSigned":
        return this.#refund(step, sender);
      case "initiate":
        return this.#initiate(step.channel, step.amount, sender, time);
      case "finalize":
        return this.#finalize(step.channel, sender, time);
      case "multicall":
        return step.steps.flatMap((each) => this.#do(each, sender, time));
    }
  }

  #deposit({ channel, amount, signer }: Extract<ModelStep, { kind: "deposit" }>, sender: Address) {
    const { payer, receiver, receiverAuthorizer, token, withdrawDelay } = channel;
    rejectIf([payer, receiver, receiverAuthorizer, token].includes(zeroAddress), "InvalidChannel");
    rejectIf(withdrawDelay < 900 || withdrawDelay > 2_592_000, "WithdrawDelayOutOfRange");
    rejectIf(amount === 0n, "ZeroDeposit");
    const { balance, claimed } = this.channel(channel);
    rejectIf(balance + amount >= 2n ** 128n, "DepositOverflow");
    // The token says so.
    rejectIf(!this.#hasSigned(payer, signer), "InvalidSignature");
    this.#set(channel, { balance: balance + amount });
    this.#add(payer, -amount);
    const channelId = channelIdOf(channel);
    const created = balance === 0n && claimed === 0n;
    return [
      ...(created ? [{ eventName: "ChannelCreated", args: { channelId, config: channel } }] : []),
      { eventName: "Deposited", args: { channelId, sender, amount, newBalance: balance + amount } },
    ];
  }

  #claim(step: Extract<ModelStep, { kind: "claim" | "claimSigned" }>, sender: Address) {
    const { rows } = step;
    const [first] = rows;
    if (!first) throw new ModelError("EmptyBatch");
    const authorizer = first.channel.receiverAuthorizer;
    if (step.kind === "claimSigned") rejectIf(!this.#hasSigned(authorizer, step.signer), "InvalidSignature");
    return rows.flatMap((row) => {
      const { receiver, receiverAuthorizer } = row.channel;
      if (step.kind === "claimSigned") rejectIf(receiverAuthorizer !== authorizer, "NotReceiverAuthorizer");
      else rejectIf(sender !== receiver && sender !== receiverAuthorizer, "NotAuthorizedToClaim");
      return this.#claimRow(row, sender);
    });
  }

  #claimRow({ channel, ceiling, total, signer }: ModelRow, sender: Address): readonly ModelEvent[] {
    const { balance, claimed } = this.channel(channel);
    if (total <= claimed) return [];
    rejectIf(total > ceiling, "ClaimExceedsCeiling");
    rejectIf(total > balance, "ClaimExceedsBalance");
    const { payer, payerAuthorizer, receiver } = channel;
    const isByKey = payerAuthorizer !== zeroAddress;
    rejectIf(isByKey && signer === null, "ECDSAInvalidSignature");
    const isSigned = isByKey ? signer === payerAuthorizer : signer !== null && this.#hasSigned(payer, signer);
    rejectIf(!isSigned, "InvalidSignature");
    this.#set(channel, { claimed: total });
    const before = this.receiver(receiver);
    this.#receivers.set(receiver, { ...before, claimed: before.claimed + total - claimed });
    const args = {
      channelId: channelIdOf(channel),
      sender,
      claimAmount: total - claimed,
      newTotalClaimed: total,
    };
    return [{ eventName: "Claimed", args }];
  }

  #settle({ receiver, token }: ChannelConfig, sender: Address) {
    const { claimed, settled } = this.receiver(receiver);
    const amount = claimed - settled;
    if (amount === 0n) return [];
    this.#receivers.set(receiver, { claimed, settled: claimed });
    this.#add(receiver, amount);
    return [{ eventName: "Settled", args: { receiver, token, sender, amount } }];
  }

  #refund(step: Extract<ModelStep, { kind: "refund" | "refundSigned" }>, sender: Address) {
    const { channel, amount: most } = step;
    const { balance, claimed, refunds, withdrawal } = this.channel(channel);
    const { receiver, receiverAuthorizer, payer } = channel;
    if (step.kind === "refund") {
      rejectIf(sender !== receiver && sender !== receiverAuthorizer, "NotAuthorizedToRefund");
    } else {
      rejectIf(step.nonce !== refunds, "InvalidRefundNonce");
      rejectIf(!this.#hasSigned(receiverAuthorizer, step.signer), "InvalidSignature");
    }
    rejectIf(most === 0n, "ZeroRefund");
    const amount = least(most, balance - claimed);
    const left = withdrawal === null || amount >= withdrawal.amount ? null : withdrawal.amount - amount;
    this.#set(channel, { refunds: refunds + 1n });
    if (amount === 0n) return [];
    this.#set(channel, {
      balance: balance - amount,
      withdrawal: withdrawal === null || left === null ? null : { ...withdrawal, amount: left },
    });
    this.#add(payer, amount);
    const args = { channelId: channelIdOf(channel), sender, amount };
    return [{ eventName: "Refunded", args }, ...this.#closed(channel)];
  }

  #initiate(channel: ChannelConfig, amount: bigint, sender: Address, time: bigint) {
    rejectIf(sender !== channel.payer && sender !== channel.payerAuthorizer, "InvalidChannel");
    rejectIf(amount === 0n, "NothingToWithdraw");
    const { balance, claimed, withdrawal } = this.channel(channel);
    rejectIf(withdrawal !== null, "WithdrawalAlreadyPending");
    rejectIf(amount > balance - claimed, "WithdrawAmountExceedsAvailable");
    this.#set(channel, { withdrawal: { amount, since: time } });
    const finalizeAfter = Number(time) + channel.withdrawDelay;
    return [
      { eventName: "WithdrawInitiated", args: { channelId: channelIdOf(channel), amount, finalizeAfter } },
    ];
  }

  #finalize(channel: ChannelConfig, sender: Address, time: bigint) {
    rejectIf(
      sender !== channel.payer && sender !== channel.payerAuthorizer,
      "NotAuthorizedToFinalizeWithdraw",
    );
    const { balance, claimed, withdrawal } = this.channel(channel);
    if (withdrawal === null) throw new ModelError("WithdrawalNotPending");
    rejectIf(time < withdrawal.since + BigInt(channel.withdrawDelay), "WithdrawDelayNotElapsed");
    const amount = least(withdrawal.amount, balance - claimed);
    this.#set(channel, { balance: balance - amount, withdrawal: null });
    this.#add(channel.payer, amount);
    const args = { channelId: channelIdOf(channel), sender, amount };
    return [{ eventName: "WithdrawFinalized", args }, ...this.#closed(channel)];
  }

  #closed(config: ChannelConfig): readonly ModelEvent[] {
    const { balance, claimed } = this.channel(config);
    if (balance !== 0n || claimed !== 0n) return [];
    return [{ eventName: "ChannelClosed", args: { channelId: channelIdOf(config), config } }];
  }

  #hasSigned(account: Address, signer: Address): boolean {
    return signer === (this.#ownerOf.get(account) ?? account);
  }

  #set(config: ChannelConfig, changes: Partial<ModelChannel>): void {
    this.#channels.set(channelIdOf(config), { ...this.channel(config), ...changes });
  }

  #add(account: Address, amount: bigint): void {
    this.#gains.set(account, this.gain(account) + amount);
  }
}

function rejectIf(isWrong: boolean, errorName: string): void {
  if (isWrong) throw new ModelError(errorName);
}
