// The payer's channels in `sextant payments`: what they hold, and how it comes back, with service and journal or without.
import type { Channel } from "@sextant/client/sextant";
import { Fault } from "../../lib/fault.ts";
import { readClientConfig } from "../client-config.ts";
import type { OpenClient } from "../client-settings.ts";
import type { ClientContext } from "../command.ts";
import { toPlainJson } from "../display/plain-text.ts";
import { printTable } from "../display/print-table.ts";
import { formatPaidUnits } from "../display/receipt.ts";
import type { TableColumn } from "../display/table.ts";
import { formatTime } from "../display/time.ts";

const COLUMNS: readonly TableColumn[] = [
  { title: "channel", isWhole: true },
  { title: "state", isWhole: true },
  { title: "left", align: "right", isWhole: true },
  { title: "bought", align: "right", isWhole: true },
  { title: "deposited", align: "right", isWhole: true },
  { title: "withdrawal", isWhole: true },
  { title: "payee" },
  { title: "why" },
];
// Enough to tell channels apart; commands take it.
const ID_LENGTH = 12;
const PREFIX = /^0x[0-9a-f]{1,64}$/i;
const BLOCK = /^\d{1,15}$/;
const FREED = "The budget has it again once `payments channels` finds it final by SEXTANT_GUARD_NODE.";

export async function showChannels({ sextant }: OpenClient, context: ClientContext): Promise<number> {
  return printChannels(
    await sextant.channels.list({ signal: context.stop }),
    context,
    "No channel was opened yet.",
  );
}

/** Adds the channels that the chain shows to a journal that lost them. */
export async function restoreChannels({ sextant }: OpenClient, context: ClientContext): Promise<number> {
  readSender(context);
  const [, block = "0"] = context.operands;
  if (!BLOCK.test(block)) throw new Fault("USAGE_INVALID", "restore takes the block of the first deposit.");
  const done = context.display.progress("Searching for deposits");
  const found = sextant.channels.restore({ fromBlock: BigInt(block), signal: context.stop });
  return printChannels(
    await found.finally(done),
    context,
    "No other channel of this account holds anything.",
  );
}

async function printChannels(
  channels: readonly Channel[],
  context: ClientContext,
  ifNone: string,
): Promise<number> {
  if (context.options.json === true) {
    await context.print(channels.map((channel) => `${toPlainJson(channel)}\n`).join(""));
    return 0;
  }
  if (channels.length === 0) {
    context.display.note(ifNone);
    return 0;
  }
  const isWide = context.options.wide === true;
  const rows = channels.map((channel) => [
    isWide ? channel.id : channel.id.slice(0, ID_LENGTH),
    channel.state,
    formatPaidUnits(channel.left),
    formatPaidUnits(channel.bought),
    formatPaidUnits(channel.deposited),
    channel.withdrawal === null ? "–" : formatTime(channel.withdrawal.availableAt * 1_000),
    channel.payTo,
    channel.reason ?? "–",
  ]);
  const isShown = (_: unknown, index: number) => isWide || rows.some((row) => row[index] !== "–");
  await printTable(
    COLUMNS.filter(isShown),
    rows.map((row) => row.filter(isShown)),
    context,
  );
  return 0;
}

/** The service pays for the transaction. */
export async function refundChannel({ sextant }: OpenClient, context: ClientContext): Promise<number> {
  const { id } = findOne(await sextant.channels.list(), context);
  const refund = await sextant.channels.refund(id, { signal: context.stop });
  const where = refund.transaction === null ? "" : ` in transaction ${refund.transaction}`;
  const text =
    refund.amount === null
      ? `The service says that it returned what is left${where}.`
      : `${formatPaidUnits(refund.amount)} came back, as the service says${where}.`;
  if (context.options.json === true) {
    await context.print(`${toPlainJson({ channel: id, ...refund })}\n`);
    return 0;
  }
  await context.print(`${text}\n${FREED}\n`);
  return 0;
}

/** The payer pays for the transactions: one that begins the withdrawal, and one that ends it after the delay. */
export async function withdrawChannel({ sextant }: OpenClient, context: ClientContext): Promise<number> {
  const { payerKey, node } = readSender(context);
  const { createTransactionSender } = await import("../payer-transactions.ts");
  const { id } = findOne(await sextant.channels.list(), context);
  const send = createTransactionSender(node, payerKey);
  const done = await sextant.channels.withdraw(id, { send, signal: context.stop });
  const [amount, time] = [formatPaidUnits(done.amount), formatTime(done.availableAt * 1_000)];
  const texts = {
    started: `The withdrawal of ${amount} has begun. Run the same command again after ${time}.`,
    waiting: `${amount} can be withdrawn after ${time}. Run the same command then.`,
    withdrawn: `${amount} came back.`,
  };
  const text = context.options.json === true ? toPlainJson({ channel: id, ...done }) : texts[done.state];
  await context.print(`${text}\n`);
  return done.state === "waiting" ? 1 : 0;
}

function readSender({ environment }: ClientContext) {
  const { payerKey, guard } = readClientConfig(environment);
  if (payerKey !== null && guard.node !== undefined) return { payerKey, node: guard.node };
  throw new Fault(
    "CONFIG_INVALID",
    "Set SEXTANT_GUARD_NODE to a node, which channels are read from and emptied by.",
  );
}

/** The channel that is named by the first characters of its id, or the only one. */
function findOne(channels: readonly Channel[], { operands }: ClientContext): Pick<Channel, "id"> {
  const prefix = operands[1] ?? "0x";
  if (operands[1] !== undefined && !PREFIX.test(prefix)) {
    throw new Fault("USAGE_INVALID", "A channel is named by its id, or the first characters of it.");
  }
  const named = channels.filter(({ id, state }) => {
    return id.startsWith(prefix.toLowerCase()) && (operands[1] !== undefined || state !== "closed");
  });
  const [channel] = named;
  // The client rejects an unknown id.
  if (channel === undefined) return { id: prefix };
  if (named.length === 1) return channel;
  throw new Fault("USAGE_INVALID", "Name one channel; `payments channels` lists them.");
}
