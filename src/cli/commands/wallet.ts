// `sextant wallet`, `diff` and `exposure`: buy what is sold about a wallet, once and within the limits, and show it.

import { SextantError } from "@sextant/client/errors";
import type {
  ExposureOverview,
  PortfolioDiffOverview,
  PortfolioOverview,
} from "@sextant/client/generated/records";
import { assertChecksum } from "@sextant/client/http/wallet-address";
import type {
  Exposure,
  PaidOptions,
  PortfolioDiff,
  PortfolioSnapshot,
  PriceQuote,
} from "@sextant/client/sextant";
import { systemClock } from "../../lib/clock.ts";
import { Fault } from "../../lib/fault.ts";
import { isJsonObject } from "../../lib/json.ts";
import { exampleDay, isMoment } from "../../lib/moment.ts";
import { PROGRAM } from "../../lib/program.ts";
import { findOperation, readArguments } from "../api-operations.ts";
import { findPaidAction, type OpenClient, openClient } from "../client-settings.ts";
import { type ClientContext, type RunClientCommand, readStringOption } from "../command.ts";
import type { Display } from "../display/display.ts";
import { formatAsked, formatDiff, formatExposure, formatSnapshot } from "../display/paid-data.ts";
import {
  formatDiffOverview,
  formatExposureOverview,
  formatQuote,
  formatSnapshotOverview,
} from "../display/paid-overview.ts";
import { hangText, toPlainJson, toPlainText } from "../display/plain-text.ts";
import { formatReceipt } from "../display/receipt.ts";
import { formatRecord } from "../display/record.ts";
import { nameMax, readMax } from "../payment-limit.ts";
import { assertWritable, saveExchange } from "../save-exchange.ts";

type PaidParameters = Readonly<Record<string, string>>;

/** The purchase of a command. */
type Sold = {
  readonly command: string;
  readonly operation: "getPortfolio" | "getPortfolioDiff" | "getExposure";
  readonly noun: string;
  /** The tables of its full form; throws a TypeError for another form. */
  format(data: unknown, display: Display): readonly string[];
  /** The tables of its summary. */
  formatOverview(data: unknown, display: Display): readonly string[];
};

const PURCHASE_LENGTH_MAX = 200;

export const walletCommand = createPaidCommand({
  command: "wallet",
  operation: "getPortfolio",
  noun: "snapshot",
  format: (data, display) => formatSnapshot(data as PortfolioSnapshot, display),
  formatOverview: (data, display) => formatSnapshotOverview(data as PortfolioOverview, display),
});

export const diffCommand = createPaidCommand({
  command: "diff",
  operation: "getPortfolioDiff",
  noun: "difference",
  format: (data, display) => formatDiff(data as PortfolioDiff, display),
  formatOverview: (data, display) => formatDiffOverview(data as PortfolioDiffOverview, display),
});

export const exposureCommand = createPaidCommand({
  command: "exposure",
  operation: "getExposure",
  noun: "exposure",
  format: (data, display) => formatExposure(data as Exposure, display),
  formatOverview: (data, display) => formatExposureOverview(data as ExposureOverview, display),
});

function createPaidCommand(sold: Sold): RunClientCommand {
  return async (context) => {
    const { environment, operands, options, filters } = context;
    const parameters = readPaidParameters(sold, operands[0], filters);
    const isQuote = options.quote === true;
    const max = readMax(options);
    const client = openClient(environment, {
      needs: isQuote ? ["portfolio"] : ["portfolio", "payer"],
      max,
    });
    try {
      return await (isQuote
        ? showQuote(client, sold, parameters, context)
        : buy(client, sold, parameters, context));
    } catch (error) {
      throw error instanceof SextantError ? nameMax(error, max, client.guard) : error;
    } finally {
      await client.close();
    }
  };
}

async function buy(
  { sextant }: OpenClient,
  sold: Sold,
  parameters: PaidParameters,
  { options, filters, display, print, stop }: ClientContext,
): Promise<number> {
  const purchase = readPurchase(options);
  const file = readStringOption(options, "save");
  if (file !== undefined) await assertWritable(file);
  const done = display.progress(`Paying for the ${sold.noun}`);
  const again = options.again === true;
  const request = { signal: stop, again, ...(purchase === null ? {} : { purchase }) };
  const action = findPaidAction(sextant, sold.operation);
  const { data, receipt, exchange } = await action(parameters, request).finally(done);
  if (file !== undefined) await saveExchange(file, exchange);
  if (options.json === true) {
    await print(`${toPlainJson(data)}\n`);
    display.report(formatReceipt(receipt));
  } else {
    const lines = hangText(formatReceipt(receipt), display.columns);
    const format = filters.detail === "summary" ? sold.formatOverview : sold.format;
    const shown = [
      ...formatAsked(filters.at, systemClock.nowMs(), display),
      ...formatPaid(format, data, display),
      ...formatProofs(data),
    ];
    await print([...shown, "", ...lines, ""].join("\n"));
  }
  return 0;
}

/** How much is proven; the proofs themselves are for programs. */
function formatProofs(data: unknown): readonly string[] {
  const proofs = isJsonObject(data) ? data.proofs : undefined;
  const coverage = isJsonObject(proofs) ? proofs.coverage : undefined;
  if (!isJsonObject(coverage)) return [];
  const [proven, total] = [coverage.provenUsd, coverage.totalUsd].map(
    (usd) => `$${toPlainText(String(usd))}`,
  );
  return [
    "",
    `Proven: ${proven} of ${total}. The proofs are in what --json prints and --save writes, for sextant verify.`,
  ];
}

/** Always shows what was paid for: a form that this version does not know is shown by its fields. */
function formatPaid(format: Sold["format"], data: unknown, display: Display): readonly string[] {
  try {
    return format(data, display);
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    return isJsonObject(data) ? formatRecord(data, display) : [toPlainJson(data, 2)];
  }
}

async function showQuote(
  { sextant }: OpenClient,
  { operation }: Sold,
  parameters: PaidParameters,
  { options, display, print, stop }: ClientContext,
): Promise<number> {
  const done = display.progress("Asking for the price");
  // Checked by the service: the command line has only text.
  const ask: (id: string, given: PaidParameters, request: PaidOptions) => Promise<PriceQuote> = sextant.quote;
  const quote = await ask(operation, parameters, { signal: stop }).finally(done);
  const lines = display.columns === null ? formatRecord({ ...quote }, display) : formatQuote(quote, display);
  await print(`${options.json === true ? toPlainJson(quote) : lines.join("\n")}\n`);
  return 0;
}

function readPaidParameters(
  { command, operation }: Sold,
  address: string | undefined,
  filters: ClientContext["filters"],
): PaidParameters {
  if (address === undefined) {
    throw new Fault(
      "USAGE_INVALID",
      `Name the wallet: ${PROGRAM} ${command} 0x… or a name such as vitalik.eth.`,
    );
  }
  const wallet = address.includes(".") ? address : address.toLowerCase();
  if (!/^0x[0-9a-f]{40}$|^[^\s.]+(?:\.[^\s.]+)+$/.test(wallet)) {
    throw new Fault(
      "INPUT_INVALID",
      `"${toPlainText(address)}" is not a wallet: name an address (0x and 40 hex digits), or a name such as vitalik.eth.`,
    );
  }
  assertChecksum(address);
  assertSide("from", filters.from);
  assertSide("to", filters.to);
  if (filters.at !== undefined && !isMoment(filters.at)) {
    throw new Fault("INPUT_INVALID", `--at must be ${describeTime()}, not "${toPlainText(filters.at)}".`);
  }
  // Lower case: calls that are written differently are the same purchase.
  return readArguments(findOperation(operation), { ...filters, address: wallet });
}

const BLOCKS = /^[a-z0-9-]+:\d+(?:,[a-z0-9-]+:\d+)*$/;
const describeTime = () => `a time such as 7d, ${exampleDay()} or ${exampleDay()}T12:00Z`;
const SNAPSHOT_ID = /^[0-9a-f]{64}$/;

/** Says what a side of a difference may be, before the service is asked. */
function assertSide(name: "from" | "to", given: string | undefined): void {
  if (given === undefined || BLOCKS.test(given) || isMoment(given)) return;
  if (name === "from" && SNAPSHOT_ID.test(given)) return;
  const other = name === "from" ? ", or the snapshotId of a snapshot (64 hex digits without 0x)" : "";
  throw new Fault(
    "INPUT_INVALID",
    `--${name} must be ${describeTime()}, a block of each chain, such as base:30000000,ethereum:22000000${other}, not "${toPlainText(given)}".`,
  );
}

function readPurchase(options: ClientContext["options"]): string | null {
  const text = readStringOption(options, "purchase");
  if (text === undefined) return null;
  if (text !== "" && text.length <= PURCHASE_LENGTH_MAX) return text;
  throw new Fault("USAGE_INVALID", `--purchase must have 1 to ${PURCHASE_LENGTH_MAX} characters.`);
}
