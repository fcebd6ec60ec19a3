// `sextant payments`: what was paid, what is open and is finished now, what is left to spend, and the channels of the payer.
import type { Payment, Recovered } from "@sextant/client/sextant";
import { Fault } from "../../lib/fault.ts";
import { type OpenClient, openClient } from "../client-settings.ts";
import type { ClientContext, RunClientCommand } from "../command.ts";
import { shortenText, toPlainJson } from "../display/plain-text.ts";
import { printTable } from "../display/print-table.ts";
import { formatExactDollars, formatPaidUnits } from "../display/receipt.ts";
import type { TableColumn } from "../display/table.ts";
import { formatTime } from "../display/time.ts";
import { exitOf } from "../exit-codes.ts";
import { refundChannel, restoreChannels, showChannels, withdrawChannel } from "./payment-channels.ts";

type Action = (client: OpenClient, context: ClientContext) => Promise<number>;

const PAYMENT_COLUMNS: readonly TableColumn[] = [
  { title: "when", isWhole: true },
  { title: "state" },
  { title: "amount", align: "right", isWhole: true },
  { title: "bought" },
  { title: "wallet" },
  { title: "as of", isWhole: true },
  { title: "chains" },
  { title: "transaction" },
  { title: "purchase" },
  { title: "id" },
];

// Leaves room for the outcome.
const isRecoveredColumn = (_: unknown, index: number) =>
  ["when", "state", "amount", "wallet"].includes(PAYMENT_COLUMNS[index]?.title ?? "");

/** The command that buys what is sold at a path. */
const BOUGHT: Readonly<Record<string, string>> = {
  "/portfolio": "wallet",
  "/portfolio/diff": "diff",
  "/exposure": "exposure",
};

// A chain and its block are shorter, and the id of a snapshot is not.
const SIDE_WIDTH_MAX = 24;

const ACTIONS: Readonly<Record<string, Action>> = {
  list: showPayments,
  recover,
  budget: showBudget,
  channels: showChannels,
  refund: refundChannel,
  withdraw: withdrawChannel,
  restore: restoreChannels,
};
/** The actions of the payer's key; all take one thing more. */
const CHANNEL_ACTIONS: readonly unknown[] = [refundChannel, withdrawChannel, restoreChannels];

export const paymentsCommand: RunClientCommand = async (context) => {
  const name = context.operands[0] ?? "list";
  const action = Object.hasOwn(ACTIONS, name) ? ACTIONS[name] : undefined;
  if (action === undefined) {
    throw new Fault("USAGE_INVALID", `payments takes ${Object.keys(ACTIONS).join(", ")}, not "${name}".`);
  }
  if (context.operands.length > 1 && !CHANNEL_ACTIONS.includes(action)) {
    throw new Fault("USAGE_INVALID", `payments ${name} takes nothing else.`);
  }
  const client = openClient(context.environment, { needs: needsOf(action) });
  try {
    return await action(client, context);
  } finally {
    await client.close();
  }
};

/** Recovery sends signatures again and needs no key. */
function needsOf(action: Action): Parameters<typeof openClient>[1]["needs"] {
  if (action === refundChannel) return ["journal", "portfolio", "payer"];
  if (CHANNEL_ACTIONS.includes(action)) return ["journal", "payer"];
  return action === recover ? ["journal", "portfolio"] : ["journal"];
}

async function showPayments({ sextant }: OpenClient, context: ClientContext): Promise<number> {
  const payments = [...(await sextant.payments.list())].sort((a, b) => b.at - a.at);
  if (context.options.json === true) {
    await context.print(payments.map((payment) => `${toPlainJson(payment)}\n`).join(""));
    return 0;
  }
  if (payments.length === 0) {
    context.display.note("No payment was made yet.");
    return 0;
  }
  const isWhole = context.display.columns === null || context.options.wide === true;
  const rows = payments.map((payment) => toRow(payment, isWhole ? String : nameSide));
  const isShown = (_: unknown, index: number) => isWhole || rows.some((row) => row[index] !== "–");
  await printTable(
    PAYMENT_COLUMNS.filter(isShown),
    rows.map((row) => row.filter(isShown)),
    context,
  );
  return 0;
}

async function recover({ sextant }: OpenClient, context: ClientContext): Promise<number> {
  const { display, options, print, stop } = context;
  const done = display.progress("Sending open payments again");
  const recovered = await sextant.payments.recover({ signal: stop }).finally(done);
  if (options.json === true) {
    await print(recovered.map((each) => `${toPlainJson(describeRecovered(each))}\n`).join(""));
  } else if (recovered.length === 0) {
    await print("No payment is open.\n");
  } else {
    const columns = [...PAYMENT_COLUMNS.filter(isRecoveredColumn), { title: "outcome" }];
    const rows = recovered.map((each) => [
      ...toRow(each.payment, nameSide).filter(isRecoveredColumn),
      describeOutcome(each),
    ]);
    await printTable(columns, rows, context);
  }
  return Math.max(0, ...recovered.map(({ error }) => (error?.charged === "unknown" ? exitOf(error) : 0)));
}

async function showBudget({ sextant }: OpenClient, context: ClientContext): Promise<number> {
  const { spent, limits } = await sextant.payments.budget();
  if (context.options.json === true) {
    await context.print(`${toPlainJson({ spent, limits })}\n`);
    return 0;
  }
  const columns: readonly TableColumn[] = [
    { title: "in" },
    { title: "spent or reserved", align: "right", isWhole: true },
    { title: "limit", align: "right", isWhole: true },
  ];
  const rows = (["hour", "day", "total"] as const).map((each) => [
    each,
    formatExactDollars(spent[each]),
    formatExactDollars(limits[each]),
  ]);
  await printTable(columns, rows, context);
  return 0;
}

function toRow(
  { at, state, amount, url, transaction, purchase, id }: Payment,
  show: (side: string) => string,
): string[] {
  const { pathname, searchParams } = new URL(url);
  return [
    formatTime(at),
    // Shows "open" for what the journal calls signed: its outcome is not known.
    state === "signed" ? "open" : state,
    formatPaidUnits(amount),
    BOUGHT[pathname] ?? pathname,
    searchParams.get("address") ?? "–",
    describeBlocks(searchParams, show),
    searchParams.get("chains") ?? "–",
    transaction ?? "–",
    purchase ?? "–",
    id,
  ];
}

/** The block of each chain, or both sides of a difference; a dash for the newest blocks. */
function describeBlocks(asked: URLSearchParams, show: (side: string) => string): string {
  const from = asked.get("from");
  if (from !== null) return `${show(from)} to ${show(asked.get("to") ?? "now")}`;
  return show(asked.get("block") ?? asked.get("at") ?? "–");
}

/** A side as a terminal has room for it: the number of its blocks if there are several, and the ends of an id. */
function nameSide(side: string): string {
  const blocks = side.split(",");
  return blocks.length > 1 ? `${blocks.length} blocks` : shortenText(side, SIDE_WIDTH_MAX);
}

function describeOutcome({ payment, result, error }: Recovered): string {
  if (result !== null)
    return `paid in ${payment.transaction ?? "a transaction that the service does not name"}`;
  // The chain has shown it, and the amount is no longer reserved.
  if (error === null) return "not charged";
  // The money first: a narrow terminal cuts the end.
  return `charged: ${error.charged}, ${error.code}`;
}

function describeRecovered({ payment, result, error }: Recovered) {
  const failure =
    error === null ? null : { code: error.code, message: error.message, charged: error.charged };
  return { payment, data: result?.data ?? null, error: failure };
}
