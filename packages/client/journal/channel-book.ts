// The payment channels of a journal, folded from its lines: what was signed, charged, delivered and deposited.
import type { ChannelConfig } from "../channels/channel-typed-data.ts";
import { SextantError } from "../errors.ts";
import type {
  ChannelRecord,
  ChannelState,
  OutcomeRecord,
  RestoredChannel,
  SignedDeposit,
  SignedRecord,
} from "./records.ts";

export type DepositEntry = RestoredChannel["deposits"][number] & {
  /** Null if the chain has shown it. */
  readonly signed: SignedDeposit | null;
  /** `sent` may be made; `made` is part of the balance; `released`: the chain shows that it never will be. */
  state: "sent" | "made" | "released";
};

export type ChannelEntry = {
  readonly id: `0x${string}`;
  readonly network: string;
  readonly config: ChannelConfig;
  readonly deposits: DepositEntry[];
  /** The newest voucher; null if the journal was lost since. */
  last: VoucherEntry | null;
  /** The sum of the largest voucher: the payee can claim it, and not more. */
  signed: bigint;
  /** The sum that the next voucher goes on from. */
  charged: bigint;
  /** False after the journal was lost, until the service has stated the sum. */
  isSumKnown: boolean;
  /** The prices of all that was received and not free, each purchase once. Never less than `charged`. */
  delivered: bigint;
  /** Names of those purchases. */
  readonly received: Set<string>;
  /** The sum that it holds as far as we know; the chain may know better. */
  balance: bigint;
  /** The sum that the chain shows as returned. */
  returned: bigint;
  state: ChannelState;
  /** In what the service contradicted what was signed. */
  reason: string | null;
};

type VoucherEntry = SignedRecord & { readonly state: string };

const maxOf = (a: bigint, b: bigint) => (a > b ? a : b);
const minOf = (a: bigint, b: bigint) => (a < b ? a : b);

export class ChannelBook {
  readonly #channels = new Map<string, ChannelEntry>();

  /** A voucher before it is sent; anything else is ignored. */
  sign(entry: VoucherEntry): void {
    const { voucher, requirements } = entry;
    if (!voucher) return;
    const { channel: id, cumulative, deposit } = voucher;
    let channel = this.#channels.get(id);
    if (channel === undefined) {
      if (deposit === null) throw unknownChannel();
      channel = this.#open(id, requirements.network, deposit.config);
    }
    channel.last = entry;
    channel.signed = maxOf(channel.signed, BigInt(cumulative));
    if (deposit !== null && !channel.deposits.some((each) => each.id === deposit.id)) {
      const { id, at, amount, validBefore } = deposit;
      channel.deposits.push({ id, at, amount, validBefore, signed: deposit, state: "sent" });
    }
  }

  /** The outcome of a voucher, before its entry is changed. A conflict that names a charge was accepted as lost. */
  end({ voucher, requirements }: VoucherEntry, { type, charged }: OutcomeRecord): void {
    const channel = voucher && this.#channels.get(voucher.channel);
    const isCharged = type === "paid" || type === "held" || (type === "conflict" && charged);
    if (!channel || !isCharged) return;
    const cumulative = BigInt(voucher.cumulative);
    const total = charged ? BigInt(charged.total) : cumulative;
    // Not charged, and no older voucher has paid for it.
    const isFree = charged?.amount === "0" && total <= channel.delivered;
    if (!isFree && !channel.received.has(voucher.name)) channel.delivered += BigInt(requirements.amount);
    channel.received.add(voucher.name);
    // A voucher may get what an older one of its purchase has paid.
    const sold = minOf(minOf(total, cumulative), channel.delivered);
    channel.charged = maxOf(channel.charged, sold);
    channel.isSumKnown = true;
    const deposit = channel.deposits.find((each) => each.id === voucher.deposit?.id);
    if (deposit?.state !== "sent") return;
    deposit.state = "made";
    channel.balance += BigInt(deposit.amount);
  }

  note(record: ChannelRecord): void {
    const { id, at, charged, signed, balance, returned, released, state, reason, restored } = record;
    const channel = this.#channels.get(id) ?? (restored && this.#open(id, restored.network, restored.config));
    if (channel === undefined) throw unknownChannel();
    for (const each of restored?.deposits ?? [])
      channel.deposits.push({ ...each, signed: null, state: "made" });
    if (charged !== undefined) {
      channel.charged = BigInt(charged);
      channel.isSumKnown = restored === undefined;
    }
    if (signed !== undefined) {
      // Signed with another journal, or before this one was restored: what it bought was delivered there.
      channel.signed = maxOf(channel.signed, BigInt(signed));
      channel.delivered = maxOf(channel.delivered, BigInt(signed));
    }
    if (balance !== undefined) {
      channel.balance = BigInt(balance);
      const isCounted = ({ state, validBefore }: DepositEntry) =>
        state === "sent" && validBefore * 1_000 <= at;
      for (const each of channel.deposits.filter(isCounted)) each.state = "made";
    }
    if (returned !== undefined) channel.returned = maxOf(channel.returned, BigInt(returned));
    const deposit = channel.deposits.find((each) => each.id === released);
    if (deposit !== undefined) deposit.state = "released";
    if (state !== undefined) channel.state = state;
    if (reason !== undefined) channel.reason = reason;
  }

  #open(id: string, network: string, config: ChannelConfig): ChannelEntry {
    const channel: ChannelEntry = {
      ...{ id: id as `0x${string}`, network, config, last: null, deposits: [], state: "open", reason: null },
      ...{ signed: 0n, charged: 0n, delivered: 0n, received: new Set(), balance: 0n, returned: 0n },
      isSumKnown: true,
    };
    this.#channels.set(id, channel);
    return channel;
  }

  get(id: string): ChannelEntry | null {
    return this.#channels.get(id) ?? null;
  }

  list(): readonly ChannelEntry[] {
    return [...this.#channels.values()];
  }

  /** Deposits as far as they were not returned; what came back is taken from the oldest ones. */
  *reserved({ network, asset }: { readonly network: string; readonly asset: string }) {
    for (const channel of this.#channels.values()) {
      if (channel.network !== network || channel.config.token !== asset) continue;
      let { returned } = channel;
      for (const { at, amount, state } of channel.deposits) {
        if (state === "released") continue;
        const taken = minOf(returned, BigInt(amount));
        returned -= taken;
        yield { at, amount: BigInt(amount) - taken };
      }
    }
  }
}

function unknownChannel(): SextantError {
  return new SextantError("JOURNAL_INVALID", "The journal has a line of a channel that it does not have.");
}
