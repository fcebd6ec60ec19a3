// Opens the client for commands: services, payer, guard and journal, from settings and from a local run.
import { readFileSync, statSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { OPERATIONS } from "@sextant/client/generated/operations";
import { openFileJournal } from "@sextant/client/journal/file-journal";
import type { Operation, Paid, PaidOptions } from "@sextant/client/operation";
import { createSextant, type GuardOptions, type Sextant } from "@sextant/client/sextant";
import { type PrivateKeyAccount, privateKeyToAccount } from "viem/accounts";
import { type Config, type Environment, readConfig } from "../config/read-config.ts";
import { clientSettings, databaseSettings } from "../config/settings.ts";
import { compareDecimals, parseDecimal } from "../lib/decimal.ts";
import { Fault } from "../lib/fault.ts";
import type { Hex } from "../lib/hex.ts";
import { START_LOCAL } from "../lib/program.ts";
import { readIfExists, readRun, runFile } from "../local/run-files.ts";
import { LOCAL_JOURNAL } from "../local/state-file.ts";
import { NO_API } from "./open-reader.ts";

/** The settings that a command requires. */
type Need = "api" | "portfolio" | "payer" | "journal";

type ClientOptions = {
  readonly needs: readonly Need[];
  /** Largest payment of this run, if that is less than the setting. */
  readonly perPayment?: string | null;
  /** Replaces the global fetch. */
  readonly fetch?: typeof fetch;
};

export type OpenClient = {
  readonly sextant: Sextant;
  /** The URLs of the services; null if none is configured. */
  readonly urls: { readonly api: string | null; readonly portfolio: string | null };
  readonly guard: GuardOptions;
  /** Without one reads and quotes work, and nothing is signed. */
  readonly payer: Hex | null;
  /** Null if payments are kept in memory: without a payer nothing can be signed, and there is nothing to keep. */
  readonly journalFile: string | null;
  close(): Promise<void>;
};

type Settings = Config<typeof settings>;

/** The part of local.json that a client needs. */
type LocalRun = {
  readonly api: string;
  readonly portfolio: string;
  readonly payment: { readonly network: string; readonly asset: Hex; readonly payTo: Hex };
  readonly accounts: readonly { readonly name: string; readonly privateKey: Hex }[];
};

const settings = { ...clientSettings, dataFolder: databaseSettings.dataFolder };

const MISSING: Readonly<Record<Need, string>> = {
  api: NO_API,
  portfolio: `There is no local run: start one with ${START_LOCAL}, or set SEXTANT_PORTFOLIO_URL to a portfolio service.`,
  payer: "Set SEXTANT_PAYER_KEY or SEXTANT_PAYER_KEY_FILE to the key of the account that pays.",
  journal: `There is no local run: start one with ${START_LOCAL}, or set SEXTANT_JOURNAL to a journal or SEXTANT_PAYER_KEY to the account whose journal it is.`,
};

// A signature for this chain is worth nothing on any other: a file in the working directory may name no other one.
const LOCAL_NETWORK = "eip155:31337";
const KEY = /^0x[0-9a-fA-F]{64}$/;
// A key and a line break; more is another file.
const KEY_FILE_BYTES_MAX = 256;
const OTHERS_MASK = 0o077;

export function openClient(environment: Environment, options: ClientOptions): OpenClient {
  const config = readConfig(environment, settings);
  const local = readLocalRun(runFile(config.dataFolder, "local"));
  const api = config.apiUrl ?? readRun(config.dataFolder)?.api ?? local?.api ?? null;
  const portfolio = config.portfolioUrl ?? local?.portfolio ?? null;
  // The money of a local run is for its own service only.
  const localPayments = local !== null && isSameOrigin(portfolio, local.portfolio) ? local : null;
  const payer = readPayer(config, localPayments);
  const journalFile = config.journalFile ?? defaultJournal(environment, config, localPayments, payer);
  const found = { api, portfolio, payer, journal: journalFile };
  const missing = options.needs.find((need) => found[need] === null);
  if (missing !== undefined) throw new Fault("CONFIG_INVALID", MISSING[missing]);
  const guard = readGuard(config, localPayments, options.perPayment ?? null);
  const journal = journalFile === null ? null : openFileJournal(journalFile);
  const sextant = createSextant({
    ...(api === null ? {} : { api }),
    ...(portfolio === null ? {} : { portfolio }),
    ...(payer === null ? {} : { payer }),
    ...(journal === null ? {} : { journal }),
    ...(options.fetch === undefined ? {} : { fetch: options.fetch }),
    guard,
  });
  return {
    sextant,
    guard,
    journalFile,
    urls: { api, portfolio },
    payer: payer?.address ?? null,
    close: async () => journal?.close(),
  };
}

function readGuard(config: Settings, local: LocalRun | null, perPayment: string | null): GuardOptions {
  const network = config.guardNetwork ?? (local?.payment.network as GuardOptions["network"]);
  const asset = config.guardAsset ?? local?.payment.asset;
  const payees = readPayees(config.guardPayees) ?? (local === null ? undefined : [local.payment.payTo]);
  return {
    ...(network === undefined ? {} : { network }),
    ...(asset === undefined ? {} : { asset }),
    ...(payees === undefined ? {} : { payees }),
    perPayment: lowerOf(config.guardPerPayment, perPayment),
    perHour: config.guardPerHour,
    perDay: config.guardPerDay,
    total: config.guardTotal,
    ...(config.guardNode === null ? {} : { node: config.guardNode.reveal() }),
  };
}

/** Who writes the arguments may lower the limit of who set it, and never raise it. */
function lowerOf(setting: string, given: string | null): string {
  if (given === null) return setting;
  const isLower = compareDecimals(parseDecimal(given, "--max"), parseDecimal(setting, "the setting")) < 0;
  return isLower ? given : setting;
}

function readPayees(text: string | null): readonly Hex[] | "first" | undefined {
  if (text === null || text === "first") return text ?? undefined;
  return text.split(/, ?/) as Hex[];
}

function readPayer(config: Settings, local: LocalRun | null): PrivateKeyAccount | null {
  const { payerKey, payerKeyFile } = config;
  if (payerKey !== null && payerKeyFile !== null) {
    throw new Fault("CONFIG_INVALID", "Set SEXTANT_PAYER_KEY or SEXTANT_PAYER_KEY_FILE, not both.");
  }
  if (payerKey !== null) return toAccount(payerKey.reveal(), "SEXTANT_PAYER_KEY");
  if (payerKeyFile !== null) return toAccount(readKeyFile(payerKeyFile), "SEXTANT_PAYER_KEY_FILE");
  const account = local?.accounts.find(({ name }) => name === "payer");
  return account === undefined ? null : toAccount(account.privateKey, "local.json");
}

// Never put the text of an invalid key into the message or the cause.
function toAccount(key: string, where: string): PrivateKeyAccount {
  try {
    if (KEY.test(key)) return privateKeyToAccount(key as Hex);
  } catch {
    // Zero, or beyond the order of the curve.
  }
  throw new Fault("CONFIG_INVALID", `The key in ${where} must be 0x followed by 64 hex digits.`);
}

function readKeyFile(path: string): string {
  let status: { readonly mode: number; readonly size: number };
  let text: string;
  try {
    status = statSync(path);
    text = status.size > KEY_FILE_BYTES_MAX ? "" : readFileSync(path, "utf8").trim();
  } catch (cause) {
    throw new Fault("CONFIG_INVALID", "The file that SEXTANT_PAYER_KEY_FILE names cannot be read.", {
      cause,
    });
  }
  // Windows has no such bits.
  if (process.platform !== "win32" && (status.mode & OTHERS_MASK) !== 0) {
    throw new Fault(
      "CONFIG_INVALID",
      "The file that SEXTANT_PAYER_KEY_FILE names must be readable by its owner only: run chmod 600 on it.",
    );
  }
  return text;
}

/** One file per payer: limits count what is in it. A local run has its own, since its chain ends with it. */
function defaultJournal(
  environment: Environment,
  { dataFolder }: Settings,
  local: LocalRun | null,
  payer: PrivateKeyAccount | null,
): string | null {
  if (local !== null) return join(dataFolder, LOCAL_JOURNAL);
  if (payer === null) return null;
  return join(stateFolder(environment), `payments-${payer.address.toLowerCase()}.jsonl`);
}

/** The folder in which programs of a user keep what must survive, by the convention of the system. */
function stateFolder(environment: Environment): string {
  const { XDG_STATE_HOME, LOCALAPPDATA, HOME } = environment;
  if (process.platform === "win32" && LOCALAPPDATA) return join(LOCALAPPDATA, "sextant");
  return join(XDG_STATE_HOME || join(HOME || homedir(), ".local", "state"), "sextant");
}

function isSameOrigin(a: string | null, b: string): boolean {
  return a !== null && new URL(a).origin === new URL(b).origin;
}

function readLocalRun(file: string): LocalRun | null {
  const text = readIfExists(file);
  if (text === null) return null;
  try {
    const { api, portfolio, payment, accounts } = JSON.parse(text) as LocalRun;
    const isLocal = payment.network === LOCAL_NETWORK && URL.canParse(api) && URL.canParse(portfolio);
    if (!isLocal || !Array.isArray(accounts)) throw new TypeError("not a local run");
    return { api, portfolio, payment, accounts };
  } catch {
    throw new Fault("CONFIG_INVALID", `${file} is not what a local run writes; run ${START_LOCAL} again.`);
  }
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
