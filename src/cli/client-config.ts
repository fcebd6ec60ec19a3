// Settings of the client for commands, from the environment and a local run: read and checked, and nothing is opened.
import type { GuardOptions } from "@sextant/client/sextant";
import { clientSettings } from "../config/client-settings.ts";
import { type Config, type Environment, readConfig } from "../config/read-config.ts";
import { databaseSettings } from "../config/service-settings.ts";
import { compareDecimals, parseDecimal } from "../lib/decimal.ts";
import { Fault } from "../lib/fault.ts";
import type { Hex } from "../lib/hex.ts";
import { START_LOCAL } from "../lib/program.ts";
import { readIfExists, readRun, runFile } from "../local/run-files.ts";
import { readOwnerFile } from "./owner-file.ts";
import { findRunFolder } from "./run-folder.ts";

/** Loaded without the libraries of accounts and payments, which take longer than a start may. */
export type ClientConfig = {
  /** The URLs of the services; null if none is configured. */
  readonly urls: { readonly api: string | null; readonly portfolio: string | null };
  readonly guard: GuardOptions;
  /** Null: nothing is paid by channel. */
  readonly channelDeposit: string | null;
  /** Without one reads and quotes work, and nothing is signed. */
  readonly payerKey: Hex | null;
  readonly journalFile: string | null;
  readonly dataFolder: string;
  /** Whether payments are those of the local run in the data folder. */
  readonly isLocal: boolean;
};

type Settings = Config<typeof settings>;

/** The part of local.json that a client needs. */
type LocalRun = {
  readonly api: string;
  readonly portfolio: string;
  readonly payment: { readonly network: string; readonly asset: Hex; readonly payTo: Hex };
  /** The URL of the node of the chain that is paid on; null if the file has none. */
  readonly node: string | null;
  readonly accounts: readonly { readonly name: string; readonly privateKey: Hex }[];
};

type LocalFile = Omit<LocalRun, "node"> & {
  readonly chains?: readonly { readonly chainId: number; readonly rpcUrl: string }[];
};

const settings = { ...clientSettings, dataFolder: databaseSettings.dataFolder };

// A signature for this chain is worth nothing on any other: a file in the working directory may name no other one.
const LOCAL_CHAIN_ID = 31_337;
const LOCAL_NETWORK = `eip155:${LOCAL_CHAIN_ID}`;
// The order of secp256k1: keys are below it.
const KEY_BOUND = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;
const KEY = /^0x[0-9a-fA-F]{64}$/;
// A key and a line break; more is another file.
const KEY_FILE_BYTES_MAX = 256;

export function readClientConfig(environment: Environment, max: string | null = null): ClientConfig {
  const config = readConfig(environment, settings);
  // Who names a service means that one, whatever runs on this machine.
  const isNamed = config.apiUrl !== null || config.portfolioUrl !== null;
  const dataFolder = isNamed ? config.dataFolder : findRunFolder(environment, config.dataFolder);
  const local = readLocalRun(runFile(dataFolder, "local"));
  const api = config.apiUrl ?? readRun(dataFolder)?.api ?? local?.api ?? null;
  const portfolio = config.portfolioUrl ?? local?.portfolio ?? null;
  // The money and the payee of a local run are for its own service and chain only.
  const isLocalChain = (config.guardNetwork ?? LOCAL_NETWORK) === LOCAL_NETWORK;
  const isLocal = local !== null && isLocalChain && isSameOrigin(portfolio, local.portfolio);
  const localPayments = isLocal ? local : null;
  return {
    urls: { api, portfolio },
    guard: readGuard(config, localPayments, max),
    channelDeposit: config.channelDeposit,
    payerKey: readPayerKey(config, localPayments),
    journalFile: config.journalFile,
    dataFolder,
    isLocal,
  };
}

function readGuard(config: Settings, local: LocalRun | null, max: string | null): GuardOptions {
  const network = config.guardNetwork ?? (local?.payment.network as GuardOptions["network"]);
  const asset = config.guardAsset ?? local?.payment.asset;
  const payees = readPayees(config.guardPayees) ?? (local === null ? undefined : [local.payment.payTo]);
  // A file in the working directory may not say what became of the money of another key.
  const isOwnPayer = config.payerKey === null && config.payerKeyFile === null;
  const node = config.guardNode?.reveal() ?? (isOwnPayer ? local?.node : null) ?? null;
  return {
    ...(network === undefined ? {} : { network }),
    ...(asset === undefined ? {} : { asset }),
    ...(payees === undefined ? {} : { payees }),
    perPayment: lowerOf(config.guardPerPayment, max),
    ...(max === null ? {} : { perClient: max }),
    perHour: config.guardPerHour,
    perDay: config.guardPerDay,
    total: config.guardTotal,
    ...(node === null ? {} : { node }),
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

function readPayerKey(config: Settings, local: LocalRun | null): Hex | null {
  const { payerKey, payerKeyFile } = config;
  if (payerKey !== null && payerKeyFile !== null) {
    throw new Fault("CONFIG_INVALID", "Set SEXTANT_PAYER_KEY or SEXTANT_PAYER_KEY_FILE, not both.");
  }
  if (payerKey !== null) return requireKey(payerKey.reveal(), "SEXTANT_PAYER_KEY");
  if (payerKeyFile !== null)
    return requireKey(
      readOwnerFile(payerKeyFile, "SEXTANT_PAYER_KEY_FILE", KEY_FILE_BYTES_MAX),
      "SEXTANT_PAYER_KEY_FILE",
    );
  const account = local?.accounts.find(({ name }) => name === "payer");
  return account === undefined ? null : requireKey(account.privateKey, "local.json");
}

// Never put the text of an invalid key into the message.
function requireKey(key: string, where: string): Hex {
  // A key is above zero and below the order of the curve.
  if (KEY.test(key) && BigInt(key) > 0n && BigInt(key) < KEY_BOUND) return key as Hex;
  throw new Fault("CONFIG_INVALID", `The key in ${where} must be 0x followed by 64 hex digits.`);
}

function isSameOrigin(a: string | null, b: string): boolean {
  return a !== null && new URL(a).origin === new URL(b).origin;
}

function readLocalRun(file: string): LocalRun | null {
  const text = readIfExists(file);
  if (text === null) return null;
  try {
    const { api, portfolio, payment, accounts, chains = [] } = JSON.parse(text) as LocalFile;
    const node = chains.find(({ chainId }) => chainId === LOCAL_CHAIN_ID)?.rpcUrl ?? null;
    const areUrls = [api, portfolio, ...(node === null ? [] : [node])].every((each) => URL.canParse(each));
    const isLocal = payment.network === LOCAL_NETWORK && areUrls;
    if (!isLocal || !Array.isArray(accounts)) throw new TypeError("not a local run");
    return { api, portfolio, payment, accounts, node };
  } catch {
    throw new Fault("CONFIG_INVALID", `${file} is not what a local run writes; run ${START_LOCAL} again.`);
  }
}
