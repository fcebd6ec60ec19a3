// The services of the production shape, each in its slot, with the environment an operator would give it.

import { spawn } from "node:child_process";
import { bundleSextant } from "../../support/process/bundle-sextant.ts";
import type { MarketChain } from "../chains/market-chain.ts";
import type { ProtocolChain } from "../chains/protocol-chain.ts";
import { openServiceConnection, type ServiceResponse } from "../clients/connection.ts";
import { waitUntil } from "../wait.ts";
import { createManagedProcess, type ManagedProcess, type ManagedProcessOptions } from "./managed-process.ts";

// Reads /ready of a process, and waits until it is ready.

const READY_MS_MAX = 90_000;

export async function waitUntilReady(slot: ManagedProcess): Promise<void> {
  let said = "";
  await waitUntil(
    async () => {
      const { status, text } = await requestOnce(slot, "/ready");
      said = text;
      return status === 200;
    },
    { msMax: READY_MS_MAX, late: () => `${slot.name} is not ready: ${said}` },
  );
}

export async function requestOnce(slot: ManagedProcess, path: string): Promise<ServiceResponse> {
  const connection = openServiceConnection(slot.url);
  try {
    return await connection.request(path);
  } finally {
    connection.close();
  }
}

// A `sextant` command that ends by itself, run to its end.

// An audit after half an hour of simulation takes seconds; one that hangs must not delay the summary.
const RUN_MS_MAX = 300_000;

export function runSextant(
  args: readonly string[],
  options: { readonly environment: Readonly<Record<string, string>>; readonly folder: string },
): Promise<{ readonly code: number | null; readonly out: string; readonly err: string }> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [bundleSextant(), ...args], {
      cwd: options.folder,
      env: { PATH: process.env.PATH ?? "", HOME: options.folder, ...options.environment },
      stdio: ["ignore", "pipe", "pipe"],
      timeout: RUN_MS_MAX,
      killSignal: "SIGKILL",
    });
    let out = "";
    let err = "";
    child.stdout.on("data", (chunk: Buffer) => {
      out += chunk.toString("utf8");
    });
    child.stderr.on("data", (chunk: Buffer) => {
      err += chunk.toString("utf8");
    });
    child.once("error", reject);
    child.once("close", (code) => resolve({ code, out, err }));
  });
}

export type Services = {
  readonly indexers: readonly ManagedProcess[];
  readonly apis: readonly ManagedProcess[];
  readonly portfolios: readonly ManagedProcess[];
  readonly facilitator: ManagedProcess;
  readonly all: readonly ManagedProcess[];
  /** The processes that clients call; one of the indexers stands by and is never ready. */
  readonly serving: readonly ManagedProcess[];
  /** Resolves once all listen and those that clients call are ready. */
  start(): Promise<void>;
  close(): Promise<void>;
};

type ServiceOptions = Pick<ManagedProcessOptions, "observations" | "outages" | "folder"> & {
  readonly databaseUrl: string;
  readonly network: string;
  readonly protocol: ProtocolChain;
  readonly market: MarketChain;
  /** In order of preference; the facilitator uses the reverse order, as another operator would. */
  readonly protocolNodes: readonly string[];
  readonly wsUrl: string;
  readonly marketNodes: readonly string[];
  readonly facilitatorUrl: string;
};

/** The paid resource's URL, the same for every process. */
const PUBLIC_URL = "https://portfolio.example";

export function openServices(options: ServiceOptions): Services {
  const { protocol, databaseUrl, network } = options;
  const nodes = options.protocolNodes.join(",");
  const planProcess = (
    command: string,
    number: number,
    environment: Readonly<Record<string, string>>,
  ): ManagedProcess =>
    createManagedProcess({
      name: `${command} ${number}`,
      command,
      environment: { SEXTANT_REQUESTS_PER_MINUTE: "0", ...environment },
      folder: options.folder,
      observations: options.observations,
      outages: options.outages,
    });
  const payment = {
    PAYMENT_NETWORK: `eip155:${protocol.chain.chainId}`,
    PAYMENT_RPC_URL: nodes,
    PAYMENT_ASSET: protocol.asset,
    PAYMENT_ASSET_NAME: "USD Coin",
    PAYMENT_ASSET_VERSION: "2",
  };
  const indexer = {
    DATABASE_URL: databaseUrl,
    NETWORK: network,
    RPC_URL: `${nodes},${options.wsUrl}`,
    INDEXER_PORT: "0",
    // Blocks indexed while only the omitting node responded are compared and repaired before the run ends.
    SEXTANT_AUDIT_SECONDS: "5",
  };
  const api = { DATABASE_URL: databaseUrl, NETWORK: network, RPC_URL: nodes, API_PORT: "0" };
  const portfolio = { ...payment, ...portfolioEnvironment(options) };
  const indexers = [1, 2].map((number) => planProcess("indexer", number, indexer));
  const apis = [1, 2].map((number) => planProcess("api", number, api));
  const portfolios = [1, 2].map((number) => planProcess("portfolio", number, portfolio));
  const facilitator = planProcess("facilitator", 1, {
    ...payment,
    DATABASE_URL: databaseUrl,
    PAYMENT_RPC_URL: options.protocolNodes.toReversed().join(","),
    FACILITATOR_PORT: "0",
    FACILITATOR_PRIVATE_KEY: protocol.facilitator.privateKey,
    FACILITATOR_PAYEES: protocol.payTo,
  });
  const serving = [...apis, ...portfolios, facilitator];
  const all = [...indexers, ...serving];
  return {
    indexers,
    apis,
    portfolios,
    facilitator,
    all,
    serving,
    async start() {
      await Promise.all(all.map((each) => each.start()));
      await Promise.all(serving.map(waitUntilReady));
    },
    async close() {
      await Promise.all(all.map((each) => each.end("SIGKILL")));
    },
  };
}

function portfolioEnvironment(options: ServiceOptions): Readonly<Record<string, string>> {
  const { databaseUrl, protocol, market, marketNodes, facilitatorUrl } = options;
  return {
    DATABASE_URL: databaseUrl,
    PORTFOLIO_PORT: "0",
    // Some clients of a run have an address of their own.
    SEXTANT_TRUST_PROXY: "1",
    // A run is short, and its payers are few.
    PORTFOLIO_UNPAID_PER_MINUTE: "30",
    PORTFOLIO_PUBLIC_URL: PUBLIC_URL,
    PORTFOLIO_TOKEN_LISTS: market.tokenList,
    [`RPC_URL_${market.chainId}`]: marketNodes.join(","),
    PAY_TO: protocol.payTo,
    FACILITATOR_URL: facilitatorUrl,
  };
}
