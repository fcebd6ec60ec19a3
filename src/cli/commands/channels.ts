// `sextant channels`: what payment channels owe, and what a running service is to do with one.

import { findChainById } from "../../chain/chains/chains.ts";
import { readConfig } from "../../config/read-config.ts";
import { databaseSettings } from "../../config/service-settings.ts";
import { chainIdOfNetwork } from "../../lib/caip2.ts";
import { type Clock, systemClock } from "../../lib/clock.ts";
import { formatAmount, parseUint } from "../../lib/decimal.ts";
import { Fault } from "../../lib/fault.ts";
import type { Hex } from "../../lib/hex.ts";
import {
  freeChannels,
  instruct,
  type ListedChannel,
  listChannels,
  readInstructionResult,
} from "../../payments/channels/operator-rows.ts";
import type { StatementRunner } from "../../schema/record-store.ts";
import { openConfiguredDatabase } from "../../store/open-database.ts";
import { openRecordStore } from "../../store/postgres/record-store.ts";
import { type CommandContext, type RunCommand, readStringOption } from "../command.ts";
import { toPlainJson } from "../display/plain-text.ts";
import { formatRows, type TableField } from "../display/table.ts";

// A service does it within seconds, and waits for a block or two.
const WAIT_MS = 60_000;
const POLL_MS = 500;
const ID = /^0x[0-9a-fA-F]{4,64}$/;

export const channelsCommand: RunCommand = async (context) => {
  const { environment, options, log } = context;
  const request = readRequest(options);
  const config = readConfig(environment, databaseSettings);
  const { database, close } = await openConfiguredDatabase(config, log, "channels");
  try {
    const store = openRecordStore(database);
    if (request.kind === "list") return await list(context, store);
    if (request.kind === "free") return await free(context, store, request.id);
    return await carryOut(context, store, request, systemClock);
  } finally {
    await close();
  }
};

type Request =
  | { readonly kind: "list" }
  | { readonly kind: "claim" | "free"; readonly id: string | null }
  | { readonly kind: "refund"; readonly id: string; readonly amount: bigint | null };

function readRequest(options: CommandContext["options"]): Request {
  const given = (["claim", "free", "refund", "close"] as const).filter((name) => options[name] !== undefined);
  const [kind, ...others] = given;
  if (others.length > 0)
    throw new Fault("USAGE_INVALID", "Name one of --claim, --refund, --close and --free.");
  const units = readStringOption(options, "amount");
  if ((units !== undefined) !== (kind === "refund")) {
    throw new Fault(
      "USAGE_INVALID",
      "--refund needs --amount, in the token's smallest unit, and only --refund does.",
    );
  }
  if (kind === undefined) return { kind: "list" };
  const id = readStringOption(options, kind) ?? "";
  const isAll = id === "all" && (kind === "claim" || kind === "free");
  if (!isAll && !ID.test(id)) {
    throw new Fault("USAGE_INVALID", `--${kind} must name a channel: 0x and at least four digits of its id.`);
  }
  if (kind === "claim" || kind === "free") return { kind, id: isAll ? null : id };
  return { kind: "refund", id, amount: units === undefined ? null : parseUint(units, "--amount") };
}

const COLUMNS: readonly TableField<ListedChannel>[] = [
  { title: "channel", cell: ({ channel }) => channel },
  { title: "state", isWhole: true, cell: ({ state }) => state },
  { title: "unclaimed", align: "right", isWhole: true, cell: (each) => showUnits(each, each.unclaimed) },
  { title: "free", align: "right", isWhole: true, cell: (each) => showUnits(each, each.free) },
  { title: "age", align: "right", isWhole: true, cell: ({ oldestSeconds }) => showSeconds(oldestSeconds) },
  { title: "ends in", align: "right", isWhole: true, cell: (each) => showSeconds(each.withdrawSeconds) },
  { title: "payer", cell: ({ payer }) => payer },
  { title: "balance", align: "right", cell: (each) => showUnits(each, each.balance) },
];

async function list(
  { print, options, columns = null }: CommandContext,
  store: StatementRunner,
): Promise<number> {
  const channels = await listChannels(store, null);
  if (options.json === true) {
    for (const each of channels) print(`${toPlainJson(toRecord(each))}\n`);
    return 0;
  }
  if (channels.length === 0) {
    print("There are no channels.\n");
    return 0;
  }
  const rows = channels.map((each) => COLUMNS.map(({ cell }) => cell(each)));
  print(`${formatRows(COLUMNS, rows, { columns, style: (_, text) => text }, "").join("\n")}\n`);
  return 0;
}

function toRecord({ unclaimed, charged, balance, free, ...others }: ListedChannel) {
  const units = { unclaimed, charged, balance, free };
  return {
    ...others,
    ...Object.fromEntries(Object.entries(units).map(([name, value]) => [name, value.toString()])),
  };
}

/** In dollars if the token is known, otherwise in its units. */
function showUnits({ network, token }: ListedChannel, units: bigint): string {
  const known = findChainById(chainIdOfNetwork(network as `eip155:${number}`))?.paymentAsset;
  return known?.asset === token ? formatAmount(units, known.decimals) : units.toString();
}

function showSeconds(seconds: number | null): string {
  if (seconds === null) return "";
  const minutes = Math.floor(seconds / 60);
  return minutes >= 60 ? `${Math.floor(minutes / 60)}h${minutes % 60}m` : `${minutes}m${seconds % 60}s`;
}

async function free({ print }: CommandContext, store: StatementRunner, id: string | null): Promise<number> {
  const freed = await freeChannels(store, id);
  print(
    freed.length === 0
      ? "No channel was claimed by another database.\n"
      : `${freed.length} served again. If another database still sells on them, both count on one deposit.\n`,
  );
  return freed.length === 0 ? 1 : 0;
}

async function carryOut(
  { print, stop, options }: CommandContext,
  store: StatementRunner,
  request: Extract<Request, { readonly kind: "claim" | "refund" | "free" }>,
  clock: Clock,
): Promise<number> {
  if (request.kind === "refund") await assertOne(store, request.id);
  const wanted =
    request.kind === "refund"
      ? ({ kind: "refund", amount: request.amount } as const)
      : ({ kind: "claim" } as const);
  const channels = await instruct(store, request.id, wanted);
  if (channels.length === 0) print("No such channel owes anything.\n");
  const deadlineMs = clock.nowMs() + WAIT_MS;
  let isDone = channels.length > 0;
  for (const channel of channels) {
    const result = await waitForResult(store, channel, { clock, stop, deadlineMs });
    isDone &&= result !== null && !result.startsWith("Not done");
    const text = result ?? "No service has done it yet; one that runs with PAYMENT_CHANNELS will.";
    print(options.json === true ? `${toPlainJson({ channel, result: text })}\n` : `${channel}\n  ${text}\n`);
  }
  return isDone ? 0 : 1;
}

async function assertOne(store: StatementRunner, id: string): Promise<void> {
  const found = await listChannels(store, id);
  if (found.length === 1) return;
  throw new Fault("USAGE_INVALID", `${found.length} channels begin with ${id}; name one.`);
}

async function waitForResult(
  store: StatementRunner,
  channel: Hex,
  {
    clock,
    stop,
    deadlineMs,
  }: { readonly clock: Clock; readonly stop: AbortSignal; readonly deadlineMs: number },
): Promise<string | null> {
  for (;;) {
    const result = await readInstructionResult(store, channel);
    if (result !== null || stop.aborted || clock.nowMs() >= deadlineMs) return result;
    await clock.sleep(POLL_MS, stop).catch(() => undefined);
  }
}
