// `sextant wallet 0x…`: buys a snapshot of a wallet, once and within the limits, and shows it.

import { usdAmount } from "../../config/setting-kinds.ts";
import { Fault } from "../../lib/fault.ts";
import { parseAddress } from "../../lib/hex.ts";
import { findOperation, readParameters } from "../api-operations.ts";
import { type OpenClient, openClient } from "../client-settings.ts";
import { type ClientContext, PROGRAM, type RunClientCommand, readStringOption } from "../command.ts";
import { toPlainJson } from "../display/plain-text.ts";
import { formatRecord } from "../display/record.ts";
import { formatReceipt, formatSnapshot } from "../display/snapshot.ts";

type SnapshotParameters = Parameters<OpenClient["sextant"]["getPortfolio"]>[0];

const PURCHASE_LENGTH_MAX = 200;

export const walletCommand: RunClientCommand = async (context) => {
  const { environment, operands, options } = context;
  const parameters = readSnapshotParameters(operands[0], options);
  const isQuote = options.quote === true;
  const client = openClient(environment, {
    needs: isQuote ? ["portfolio"] : ["portfolio", "payer"],
    perPayment: readMax(options),
  });
  try {
    return await (isQuote
      ? showQuote(client, parameters, context)
      : buySnapshot(client, parameters, context));
  } finally {
    await client.close();
  }
};

async function buySnapshot(
  { sextant }: OpenClient,
  parameters: SnapshotParameters,
  { options, display, print, stop }: ClientContext,
): Promise<number> {
  const purchase = readPurchase(options);
  const done = display.progress("Paying for the snapshot");
  const request = { signal: stop, ...(purchase === null ? {} : { purchase }) };
  const { data, receipt } = await sextant.getPortfolio(parameters, request).finally(done);
  if (options.json === true) {
    await print(`${toPlainJson(data)}\n`);
    display.report(formatReceipt(receipt));
  } else {
    await print(formatKnownSnapshot(data, receipt, display));
  }
  return 0;
}

/** What was paid for is shown in any case, also where a service sends another form than this version knows. */
function formatKnownSnapshot(...[data, receipt, display]: Parameters<typeof formatSnapshot>): string {
  try {
    return formatSnapshot(data, receipt, display);
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    return `${toPlainJson(data, 2)}\n\n${formatReceipt(receipt)}\n`;
  }
}

async function showQuote(
  { sextant }: OpenClient,
  parameters: SnapshotParameters,
  { options, display, print, stop }: ClientContext,
): Promise<number> {
  const done = display.progress("Asking for the price");
  const quote = await sextant.quote(parameters, { signal: stop }).finally(done);
  const text = options.json === true ? toPlainJson(quote) : formatRecord({ ...quote }, display).join("\n");
  await print(`${text}\n`);
  return 0;
}

function readSnapshotParameters(
  address: string | undefined,
  options: ClientContext["options"],
): SnapshotParameters {
  if (address === undefined) {
    throw new Fault("USAGE_INVALID", `Name the wallet: ${PROGRAM} wallet 0x….`);
  }
  const wallet = parseAddress(address, "The wallet");
  // Lower case: calls that are written differently are the same purchase.
  return readParameters(findOperation("getPortfolio"), { ...options, address: wallet }) as SnapshotParameters;
}

function readMax(options: ClientContext["options"]): string | null {
  const text = readStringOption(options, "max");
  if (text === undefined) return null;
  try {
    return usdAmount.parse(text);
  } catch (cause) {
    throw new Fault("USAGE_INVALID", `--max must be ${usdAmount.allowed}, not "${text}".`, { cause });
  }
}

function readPurchase(options: ClientContext["options"]): string | null {
  const text = readStringOption(options, "purchase");
  if (text === undefined) return null;
  if (text !== "" && text.length <= PURCHASE_LENGTH_MAX) return text;
  throw new Fault("USAGE_INVALID", `--purchase must have 1 to ${PURCHASE_LENGTH_MAX} characters.`);
}
