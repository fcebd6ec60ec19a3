// The payer's channels in `sextant payments`: what they hold, and how it comes back, with the service or without it.
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

export async function showChannels({ sextant }: OpenClient, context: ClientContext): Promise<number> {
  const channels = await sextant.channels.list({ signal: context.stop });
  if (context.options.json === true) {
    await context.print(channels.map((channel) => `${toPlainJson(channel)}\n`).join(""));
    return 0;
  }
  if (channels.length === 0) {
    context.display.note("No channel was opened yet.");
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
  await context.print(`${context.options.json === true ? toPlainJson({ channel: id, ...refund }) : text}\n`);
  return 0;
}

/** The payer pays for the transactions: one that begins the withdrawal, and one that ends it after the delay. */
export async function withdrawChannel({ sextant }: OpenClient, context: ClientContext): Promise<number> {
  const { payerKey, guard } = readClientConfig(context.environment);
  if (payerKey === null || guard.node === undefined) {
    throw new Fault(
      "CONFIG_INVALID",
      "Set SEXTANT_GUARD_NODE to a node, which the transactions are sent to.",
    );
  }
  const { createTransactionSender } = await import("../payer-transactions.ts");
  const { id } = findOne(await sextant.channels.list(), context);
  const send = createTransactionSender(guard.node, payerKey);
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
