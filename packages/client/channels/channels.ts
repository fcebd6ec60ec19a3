// The payer's view of its channels: what they hold, and how money comes back, with the service or without it.
import { encodeFunctionData } from "viem/utils";
import { SextantError } from "../errors.ts";
import { sendRepeatedly } from "../http/repeat.ts";
import { toResponseError } from "../http/transport.ts";
import type { ChannelEntry } from "../journal/channel-book.ts";
import type { RequestOptions } from "../operation.ts";
import { proveCharge } from "../payments/charge-proof.ts";
import type { Channel, RefundedChannel, Withdrawal, WithdrawOptions } from "../payments/payer-channel.ts";
import { readTransaction } from "../payments/receipt.ts";
import type { PurchaseContext } from "../payments/standing.ts";
import { parsePaymentRequired } from "../payments/terms.ts";
import { type ChannelOnChain, readChannel } from "./channel-chain.ts";
import { CHANNEL_CONFIG_FIELDS, CHANNEL_CONTRACT } from "./channel-typed-data.ts";
import { correctChannel, noteChannel } from "./correct-channel.ts";
import { encodeVoucher, signVoucher } from "./voucher.ts";
import { readVoucherVerdict } from "./voucher-verdict.ts";

const CORRECTIONS_MAX = 3;
const CONFIG = { name: "config", type: "tuple", components: CHANNEL_CONFIG_FIELDS } as const;
const WITHDRAW_ABI = [
  {
    type: "function",
    name: "initiateWithdraw",
    stateMutability: "nonpayable",
    inputs: [CONFIG, { name: "amount", type: "uint128" }],
    outputs: [],
  },
  {
    type: "function",
    name: "finalizeWithdraw",
    stateMutability: "nonpayable",
    inputs: [CONFIG],
    outputs: [],
  },
] as const;

/** With a node as the chain shows them; what was returned for good is then free in the budget. */
export async function listChannels(
  context: PurchaseContext,
  { signal }: RequestOptions = {},
): Promise<readonly Channel[]> {
  const shown: Channel[] = [];
  for (const { id } of (await context.journal.read()).channels.list()) {
    const channel = await findChannel(context, id);
    if (context.guard.node === null || channel.network !== context.guard.network) {
      shown.push(describe(channel, null));
      continue;
    }
    await releaseReturned(context, channel, signal);
    shown.push(describe(await findChannel(context, id), await readNow(context, channel, signal)));
  }
  return shown;
}

/** The service pays for the transaction; without it, or if it does not want to, withdraw. */
export async function refundChannel(
  context: PurchaseContext,
  id: string,
  { signal }: RequestOptions = {},
): Promise<RefundedChannel> {
  const { payer, transport, guard, attemptsMax } = context;
  if (payer === null) throw new SextantError("NOT_CONFIGURED", "A refund needs the payer.");
  for (let corrections = 0; ; corrections += 1) {
    const channel = await findChannel(context, id);
    const { config, network, last } = channel;
    if (last === null)
      throw new SextantError(
        "INPUT_INVALID",
        "Buy by the channel first, so that its sum is known, or withdraw.",
      );
    const { url, method } = last;
    guard.assertOrigin(url);
    const unpaid = await sendRepeatedly(transport, { method, url, signal }, { attemptsMax, accepted: [402] });
    const terms = parsePaymentRequired(unpaid.headers.get("payment-required"), { channels: true }).find(
      (each) =>
        each.channel?.receiverAuthorizer === config.receiverAuthorizer && each.payTo === config.receiver,
    );
    if (terms === undefined)
      throw new SextantError("TERMS_REJECTED", "The service no longer has this channel.");
    // A sum that is charged, and so delivered: the service could claim that much before.
    const voucher = await signVoucher(payer, network, channel.id, channel.charged);
    const headers = { "payment-signature": encodeVoucher(terms, config, voucher, { isRefund: true }) };
    const before = guard.node === null ? null : await readNow(context, channel, signal);
    const response = await transport.send({ method, url, headers, signal });
    if (response.status === 200) {
      const transaction = readTransaction(response.headers.get("payment-response"));
      const after = before === null ? null : await readNow(context, channel, signal);
      const amount = before !== null && after !== null ? before.balance - after.balance : 0n;
      // Without a node all of it counts as returned, so that no voucher is signed that nothing covers.
      await noteChannel(context, channel, { balance: (after?.balance ?? channel.charged).toString() });
      return { amount: amount > 0n ? amount : null, transaction };
    }
    const entry = {
      ...last,
      id: "refund",
      // No purchase: the response of the last one may be owed.
      ...(last.voucher && { voucher: { ...last.voucher, name: "refund" } }),
      state: "signed",
      transaction: null,
      code: null,
      endedAt: null,
    } as const;
    const verdict = readVoucherVerdict(entry, await context.journal.read(), response);
    const correction = verdict.kind === "rejected" ? verdict.correction : null;
    if (!correction || corrections >= CORRECTIONS_MAX) throw toResponseError(response);
    await correctChannel(context, { entry, correction, signal });
  }
}

/**
 * The first call begins the withdrawal of all that was not bought for; one after the delay ends it. Nothing more is signed
 * for the channel from its beginning on.
 */
export async function withdrawChannel(
  context: PurchaseContext,
  id: string,
  { send, signal }: WithdrawOptions,
): Promise<Withdrawal> {
  const channel = await findChannel(context, id);
  const { config, charged } = channel;
  const chainId = Number(channel.network.slice("eip155:".length));
  const state = await readNow(context, channel, signal);
  const delay = BigInt(config.withdrawDelay);
  const endOf = ({ withdrawStarted }: ChannelOnChain) => Number(BigInt(withdrawStarted) + delay);
  if (state.withdrawStarted === 0) {
    const kept = state.totalClaimed > charged ? state.totalClaimed : charged;
    const amount = state.balance - kept;
    if (amount <= 0n && channel.state !== "closing")
      throw new SextantError("INPUT_INVALID", "The channel holds nothing that was not bought for.");
    if (amount <= 0n) {
      // It ended while nothing wrote that down.
      await noteChannel(context, channel, { state: "closed", balance: state.balance.toString() });
      return { state: "withdrawn", amount: 0n, availableAt: Number(state.time) };
    }
    await noteChannel(context, channel, { state: "closing" });
    const data = encodeFunctionData({
      abi: WITHDRAW_ABI,
      functionName: "initiateWithdraw",
      args: [config, amount],
    });
    await send({ to: CHANNEL_CONTRACT, data, chainId });
    const started = await readNow(context, channel, signal);
    if (started.withdrawStarted === 0) throw notMined();
    return { state: "started", amount: started.withdrawAmount, availableAt: endOf(started) };
  }
  const { withdrawAmount: amount } = state;
  const availableAt = endOf(state);
  if (channel.state !== "closing") await noteChannel(context, channel, { state: "closing" });
  if (state.time < BigInt(availableAt)) return { state: "waiting", amount, availableAt };
  const data = encodeFunctionData({ abi: WITHDRAW_ABI, functionName: "finalizeWithdraw", args: [config] });
  await send({ to: CHANNEL_CONTRACT, data, chainId });
  const ended = await readNow(context, channel, signal);
  if (ended.withdrawStarted !== 0) throw notMined();
  await noteChannel(context, channel, { state: "closed", balance: ended.balance.toString() });
  return { state: "withdrawn", amount: state.balance - ended.balance, availableAt };
}

function notMined(): SextantError {
  return new SextantError("UNREACHABLE", "The transaction is not mined yet; call again.");
}

/**
 * Deposits that final blocks show as made, without what is left of them. Reads the deposits first: one that is made in
 * between makes the sum too small, never too large.
 */
async function releaseReturned(
  context: PurchaseContext,
  channel: ChannelEntry,
  signal: AbortSignal | undefined,
): Promise<void> {
  const { transport, guard } = context;
  const { node } = guard;
  if (node === null) return;
  const { network, config } = channel;
  const owned = { payer: config.payer, requirements: { network, asset: config.token } };
  let made = 0n;
  let isSettled = true;
  for (const deposit of channel.deposits) {
    if (deposit.state === "released") continue;
    const { id, validBefore, amount } = deposit;
    const proof = await proveCharge(transport, { node, signal }, { ...owned, id, validBefore });
    if (proof === "charged") made += BigInt(amount);
    else if (proof !== "released") isSettled = false;
    if (proof === "released") await noteChannel(context, channel, { released: id });
  }
  const final = await readChannel(transport, { node, signal }, channel, "finalized");
  const returned = made - final.balance;
  const isEmpty = final.balance === final.totalClaimed && channel.state === "disputed" && isSettled;
  if (returned <= channel.returned && !isEmpty) return;
  await noteChannel(context, channel, {
    ...(returned > channel.returned ? { returned: returned.toString() } : {}),
    ...(isEmpty ? { state: "closed" } : {}),
  });
}

function readNow(
  { transport, guard: { node } }: PurchaseContext,
  channel: ChannelEntry,
  signal: AbortSignal | undefined,
): Promise<ChannelOnChain> {
  if (node !== null) return readChannel(transport, { node, signal }, channel, "latest");
  throw new SextantError("NOT_CONFIGURED", "Name a node of the network in guard.node.");
}

async function findChannel({ journal }: PurchaseContext, id: string): Promise<ChannelEntry> {
  const channel = (await journal.read()).channels.get(id.toLowerCase());
  if (channel !== null) return channel;
  throw new SextantError("NOT_FOUND", "The journal has no such channel.");
}

function describe(channel: ChannelEntry, chain: ChannelOnChain | null): Channel {
  const { id, network, config, state, reason, deposits, charged, signed, delivered } = channel;
  const held = chain?.balance ?? channel.balance;
  const sum = deposits.reduce(
    (all, { amount, state: is }) => (is === "released" ? all : all + BigInt(amount)),
    0n,
  );
  const isWithdrawing = chain !== null && chain.withdrawStarted > 0;
  return {
    ...{ id, network, asset: config.token, payTo: config.receiver, state, reason },
    deposited: sum,
    held,
    bought: delivered,
    signed,
    left: held > charged ? held - charged : 0n,
    claimed: chain?.totalClaimed ?? null,
    withdrawal: isWithdrawing
      ? { amount: chain.withdrawAmount, availableAt: chain.withdrawStarted + config.withdrawDelay }
      : null,
  };
}
