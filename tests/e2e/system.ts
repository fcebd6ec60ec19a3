// The production shape on this machine: two chains behind nodes, one PostgreSQL, and every service as its own process.
import { chmod, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type EmbeddedPostgres, startEmbeddedPostgres } from "@sextant/embedded-postgres/start";
import { createLog } from "../../src/lib/log.ts";
import { seededRandom } from "../support/seeded-random.ts";
import { type Branches, createBranches } from "./chains/branches.ts";
import { type MarketChain, openMarketChain } from "./chains/market-chain.ts";
import { openProtocolChain, type ProtocolChain } from "./chains/protocol-chain.ts";
import { type E2eNodes, openE2eNodes } from "./nodes/nodes.ts";
import { createObservations, type Observations } from "./observations.ts";
import { createOutages, type Outages } from "./outages.ts";
import { type LyingFacilitator, startLyingFacilitator } from "./services/lying-facilitator.ts";
import { openServices, type Services } from "./services/services.ts";
import type { SoakProfile } from "./soak-profile.ts";

export type E2eSystem = {
  readonly seed: number;
  readonly pace: SoakProfile;
  readonly folder: string;
  readonly observations: Observations;
  readonly outages: Outages;
  readonly branches: Branches;
  readonly protocol: ProtocolChain;
  readonly market: MarketChain;
  readonly nodes: E2eNodes;
  /** Between the portfolio services and the facilitator's process. */
  readonly facilitator: LyingFacilitator;
  readonly postgres: EmbeddedPostgres;
  readonly databaseUrl: string;
  /** The deployment as a file, as NETWORK names it. */
  readonly network: string;
  readonly services: Services;
  /** Chance for one actor: the same numbers for the same seed and name, whatever the others do. */
  random(name: string): () => number;
  close(): Promise<void>;
};

export async function openE2eSystem(seed: number, pace: SoakProfile): Promise<E2eSystem> {
  const closers: (() => Promise<void>)[] = [];
  const close = async () => {
    // The last thing started is the first to go.
    for (const end of closers.splice(0).reverse()) await end();
  };
  try {
    return await open(seed, pace, closers, close);
  } catch (error) {
    await close();
    throw error;
  }
}

async function open(
  seed: number,
  pace: SoakProfile,
  closers: (() => Promise<void>)[],
  close: () => Promise<void>,
): Promise<E2eSystem> {
  const observations = createObservations();
  const outages = createOutages();
  const branches = createBranches();
  const random = (name: string) => seededRandom(seed ^ textNumber(name));
  const folder = await mkdtemp(join(tmpdir(), `sextant-e2e-${process.pid}-`));
  closers.push(() => rm(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 }));
  // The server runs as another account when we run as root, and must be able to pass.
  await chmod(folder, 0o711);

  const [postgres, protocol, market] = await all(closers, [
    () => openPostgres(folder),
    async () => {
      const opened = await openProtocolChain({ seed, payers: pace.payers, branches });
      await opened.act(pace.historySteps, {});
      return { value: opened, end: opened.chain.stop };
    },
    async () => {
      const opened = await openMarketChain(folder);
      return { value: opened, end: opened.chain.stop };
    },
  ]);

  const silent = pace.silentNodes;
  const nodes = await openE2eNodes({ protocol, market, observations, random, silent, closers });

  const network = await writeDeployment(folder, protocol);
  const { host, user, database } = postgres.connection;
  const databaseUrl = `postgres://${user}@localhost/${database}?host=${encodeURIComponent(host)}`;
  const facilitator = await startLyingFacilitator({
    target: () => services.facilitator.url,
    random: random("facilitator's choice"),
    onLie: (lie) => observations.count(`lies: ${lie}`),
  });
  closers.push(facilitator.stop);
  const services: Services = openServices({
    observations,
    outages,
    folder,
    databaseUrl,
    network,
    protocol,
    market,
    protocolNodes: nodes.protocolUrls,
    wsUrl: protocol.chain.wsUrl,
    marketNodes: nodes.marketUrls,
    facilitatorUrl: facilitator.url,
  });
  closers.push(services.close);
  await services.start();
  const parts = { protocol, market, nodes, facilitator, postgres, databaseUrl, network, services };
  return { seed, pace, folder, observations, outages, branches, ...parts, random, close };
}

async function openPostgres(folder: string) {
  const log = createLog({ level: "silent", terminal: false, name: "e2e" });
  const server = await startEmbeddedPostgres({ folder: join(folder, "postgres"), log, durability: "none" });
  return { value: server, end: () => server.stop() };
}

/** Returns the path of the file. */
async function writeDeployment(folder: string, { chain, deployment }: ProtocolChain): Promise<string> {
  const path = join(folder, "deployment.json");
  const { startBlock, contracts } = deployment;
  await writeFile(path, JSON.stringify({ network: "e2e", chainId: chain.chainId, startBlock, contracts }));
  return path;
}

type Opening<T> = () => Promise<{ readonly value: T; readonly end: () => Promise<void> }>;

/** Opens side by side; when one fails, the others can still be closed. */
async function all<A, B, C>(
  closers: (() => Promise<void>)[],
  openings: readonly [Opening<A>, Opening<B>, Opening<C>],
): Promise<[A, B, C]> {
  const opened = await Promise.allSettled(
    openings.map(async (opening) => {
      const { value, end } = await opening();
      closers.push(end);
      return value;
    }),
  );
  return opened.map((each) => {
    if (each.status === "rejected") throw each.reason;
    return each.value;
  }) as [A, B, C];
}

/** A number for a name (FNV-1a). */
function textNumber(text: string): number {
  let mixed = 0x811c9dc5;
  for (const letter of text) mixed = Math.imul(mixed ^ (letter.codePointAt(0) ?? 0), 0x01000193);
  return mixed >>> 0;
}
