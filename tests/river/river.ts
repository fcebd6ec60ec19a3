// The production shape on this machine: two chains behind nodes, one PostgreSQL, and every service as its own process.
import { chmod, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createLog } from "../../src/kit/log.ts";
import { type EmbeddedPostgres, startEmbeddedPostgres } from "../../src/store/embedded-postgres.ts";
import { seededRandom } from "../support/fast-clock.ts";
import { type Branches, createBranches } from "./branches.ts";
import { type MarketChain, openMarketChain } from "./market-chain.ts";
import { createObservations, type Observations } from "./observations.ts";
import { createOutages, type Outages } from "./outages.ts";
import type { Pace } from "./pace.ts";
import { openProtocolChain, type ProtocolChain } from "./protocol-chain.ts";
import { type Relay, startRelay } from "./relay.ts";
import { openServices, type Services } from "./services.ts";
import { startTroubledNode, type TroubledNode } from "./troubled-node.ts";

export type River = {
  readonly seed: number;
  readonly pace: Pace;
  readonly folder: string;
  readonly observations: Observations;
  readonly outages: Outages;
  readonly branches: Branches;
  readonly protocol: ProtocolChain;
  readonly market: MarketChain;
  readonly nodes: readonly TroubledNode[];
  readonly postgres: EmbeddedPostgres;
  readonly databaseUrl: string;
  /** The deployment as a file, as NETWORK names it. */
  readonly network: string;
  readonly services: Services;
  /** Chance for one actor: the same numbers for the same seed and name, whatever the others do. */
  random(name: string): () => number;
  close(): Promise<void>;
};

export async function openRiver(seed: number, pace: Pace): Promise<River> {
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
  pace: Pace,
  closers: (() => Promise<void>)[],
  close: () => Promise<void>,
): Promise<River> {
  const observations = createObservations();
  const outages = createOutages();
  const branches = createBranches();
  const random = (name: string) => seededRandom(seed ^ textNumber(name));
  const folder = await mkdtemp(join(tmpdir(), `sextant-river-${process.pid}-`));
  closers.push(() => rm(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 }));
  // The server runs as another account when we run as root, and must be able to pass.
  await chmod(folder, 0o711);

  const [postgres, protocol, market] = await all(closers, [
    async () => {
      const log = createLog({ level: "silent", terminal: false, name: "river" });
      const server = await startEmbeddedPostgres({
        folder: join(folder, "postgres"),
        log,
        durability: "none",
      });
      return { value: server, end: server.stop };
    },
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

  const node = async (upstream: string, character: "flaky" | "liar", name: string) => {
    const opened = await startTroubledNode({
      upstream,
      character,
      random: random(name),
      silent: pace.silentNodes && character === "liar",
      onInjection: () => observations.count("RPC faults"),
      onAbsurdFee: () => observations.count("absurd fees"),
    });
    closers.push(opened.stop);
    return opened;
  };
  const liar = await node(protocol.chain.rpcUrl, "liar", "liar");
  const flaky = await node(protocol.chain.rpcUrl, "flaky", "flaky");
  const base = await node(market.chain.rpcUrl, "flaky", "base");

  const network = join(folder, "deployment.json");
  const { startBlock, contracts } = protocol.deployment;
  await writeFile(
    network,
    JSON.stringify({ network: "river", chainId: protocol.chain.chainId, startBlock, contracts }),
  );
  const { host, user, database } = postgres.connection;
  const databaseUrl = `postgres://${user}@localhost/${database}?host=${encodeURIComponent(host)}`;
  const relay: Relay = await startRelay(() => services.facilitator.url);
  closers.push(relay.close);
  const services: Services = openServices({
    observations,
    outages,
    folder,
    databaseUrl,
    network,
    protocol,
    market,
    protocolNodes: [liar.url, flaky.url],
    wsUrl: protocol.chain.wsUrl,
    marketNodes: [base.url],
    facilitatorUrl: relay.url,
  });
  closers.push(services.close);
  await services.start();
  const nodes = [liar, flaky, base];
  const parts = { protocol, market, nodes, postgres, databaseUrl, network, services };
  return { seed, pace, folder, observations, outages, branches, ...parts, random, close };
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
