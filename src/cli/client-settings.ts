// Opens the client for commands: services, payer, guard and journal, from settings and from a local run.
import { join } from "node:path";
import { openSextant } from "@sextant/client/create-sextant";
import { OPERATIONS } from "@sextant/client/generated/operations";
import type { CallContext } from "@sextant/client/http/call";
import { openFileJournal } from "@sextant/client/journal/file-journal";
import type { Operation, Paid, PaidOptions } from "@sextant/client/operation";
import type { PaymentReceipt, Sextant } from "@sextant/client/sextant";
import { type PrivateKeyAccount, privateKeyToAccount } from "viem/accounts";
import type { Environment } from "../config/read-config.ts";
import { Fault } from "../lib/fault.ts";
import type { Hex } from "../lib/hex.ts";
import { LOCAL_JOURNAL } from "../local/run-files.ts";
import { type ClientConfig, readClientConfig } from "./client-config.ts";
import { SET_API } from "./open-reader.ts";
import { describeMissingRun, findStateFolder } from "./run-folder.ts";

/** The settings that a command requires. */
type Need = "api" | "portfolio" | "payer" | "journal";

type ClientOptions = {
  readonly needs: readonly Need[];
  /** The most that this run may pay in all. */
  readonly max?: string | null;
  /** Replaces the global fetch. */
  readonly fetch?: typeof fetch;
  /** Called with the receipt of each read of the index that was bought. */
  readonly onPaid?: (receipt: PaymentReceipt) => void;
};

export type OpenClient = Pick<ClientConfig, "urls" | "guard"> & {
  readonly sextant: Sextant;
  /** Makes the requests of its actions. */
  readonly calls: CallContext;
  /** Without one reads and quotes work, and nothing is signed. */
  readonly payer: Hex | null;
  /** Null if payments are kept in memory: without a payer nothing can be signed, and there is nothing to keep. */
  readonly journalFile: string | null;
  close(): Promise<void>;
};

function describeMissing(need: Need, environment: Environment): string {
  if (need === "payer") {
    return "Set SEXTANT_PAYER_KEY or SEXTANT_PAYER_KEY_FILE to the key of the account that pays.";
  }
  return describeMissingRun(environment, SETTINGS[need]);
}

const SETTINGS: Readonly<Record<Exclude<Need, "payer">, string>> = {
  api: SET_API,
  portfolio: "or set SEXTANT_PORTFOLIO_URL to a portfolio service",
  journal: "or set SEXTANT_JOURNAL to a journal or SEXTANT_PAYER_KEY to the account whose journal it is",
};

export function openClient(environment: Environment, options: ClientOptions): OpenClient {
  return openConfiguredClient(readClientConfig(environment, options.max), environment, options);
}

export function openConfiguredClient(
  config: ClientConfig,
  environment: Environment,
  options: Pick<ClientOptions, "needs" | "fetch" | "onPaid">,
): OpenClient {
  const { urls, guard, payerKey, channelDeposit } = config;
  const payer = payerKey === null ? null : privateKeyToAccount(payerKey);
  const journalFile = config.journalFile ?? defaultJournal(environment, config, payer);
  const found = { ...urls, payer, journal: journalFile };
  const missing = options.needs.find((need) => found[need] === null);
  if (missing !== undefined) throw new Fault("CONFIG_INVALID", describeMissing(missing, environment));
  const journal = journalFile === null ? null : openFileJournal(journalFile);
  const { sextant, calls } = openSextant({
    ...(urls.api === null ? {} : { api: urls.api }),
    ...(urls.portfolio === null ? {} : { portfolio: urls.portfolio }),
    ...(payer === null ? {} : { payer }),
    ...(journal === null ? {} : { journal }),
    ...(options.fetch === undefined ? {} : { fetch: options.fetch }),
    ...(options.onPaid === undefined ? {} : { onPaid: options.onPaid }),
    guard,
    ...(channelDeposit === null || journal === null ? {} : { channel: { deposit: channelDeposit } }),
  });
  return {
    sextant,
    calls,
    urls,
    guard,
    journalFile,
    payer: payer?.address ?? null,
    close: async () => journal?.close(),
  };
}

/** One file per payer: limits count what is in it. A local run has its own, since its chain ends with it. */
function defaultJournal(
  environment: Environment,
  { dataFolder, isLocal }: ClientConfig,
  payer: PrivateKeyAccount | null,
): string | null {
  if (isLocal) return join(dataFolder, LOCAL_JOURNAL);
  if (payer === null) return null;
  const folder = findStateFolder(environment);
  // Limits that are counted in memory would start at zero with each command.
  if (folder === null) throw new Fault("CONFIG_INVALID", "This user has no home: set SEXTANT_JOURNAL.");
  return join(folder, `payments-${payer.address.toLowerCase()}.jsonl`);
}

type PaidAction = (
  parameters: Readonly<Record<string, string>>,
  options: PaidOptions,
) => Promise<Paid<unknown>>;

/** Throws for an operation that is not sold. */
export function findPaidAction(sextant: Sextant, id: string): PaidAction {
  const operations: Readonly<Record<string, Operation>> = OPERATIONS;
  if (operations[id]?.kind !== "paid") throw new TypeError(`${id} is not sold.`);
  return sextant[id as keyof Sextant] as unknown as PaidAction;
}
