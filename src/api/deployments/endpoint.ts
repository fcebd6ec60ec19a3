// GET /deployments: the deployments of this installation, with the position of each index.
import { mountPath } from "../../http/server.ts";
import type { Readiness } from "../../http/status-routes.ts";
import type { IndexerReport } from "../../indexer/status.ts";
import type { Endpoint } from "../../schema/endpoint.ts";
import { closedObject, type JsonSchema, listOf, nullable, titledRecord } from "../../schema/json-schema.ts";
import {
  type Checkpoint,
  REPORT_AGE_SECONDS_MAX,
  readCheckpoint,
  readIndexerStatus,
} from "../../store/index/checkpoint.ts";
import { readDeploymentIdentity } from "../../store/index/prepare.ts";
import type { Database } from "../../store/postgres/database.ts";
import type { QueryRunner } from "../../store/postgres/session.ts";

/** A deployment that this process serves. */
export type ServedDeployment = {
  readonly name: string;
  /** The path below which it is served; empty at the root. */
  readonly base: string;
  readonly chainId: number;
  readonly database: Database;
  readonly checkReadiness: () => Promise<Readiness>;
};

export type IndexPosition = {
  /** Null while no indexer has claimed the schema. */
  readonly fingerprint: string | null;
  readonly checkpoint: Checkpoint | null;
  readonly phase: IndexerReport["phase"] | null;
  /** The newest block of the chain that a node has shown. */
  readonly chainBlock: number | null;
  /** Null while no indexer reports: the chain may be anywhere by then. */
  readonly lag: { readonly blocks: number; readonly seconds: number } | null;
};

type DeploymentState = IndexPosition & { readonly readiness: Readiness };

// Indexers report once a second. However many ask, each index is read that often.
const STATE_MS_MAX = 1_000;

/** One read of all of them; `endedMs` is null until it has ended. */
type KeptStates = { endedMs: number | null; readonly states: Promise<readonly DeploymentState[]> };

/** The states of all deployments of a process: one for all of its paths, each of which shows all of them. */
export class DeploymentStates {
  readonly served: readonly ServedDeployment[];
  readonly #nowMs: () => number;
  #kept: KeptStates | null = null;

  /** The clock must not go back, as that of the wall can. */
  constructor(served: readonly ServedDeployment[], nowMs = () => performance.now()) {
    this.served = served;
    this.#nowMs = nowMs;
  }

  /** In the order of `served`. */
  read(): Promise<readonly DeploymentState[]> {
    if (this.#kept === null || this.#isOld(this.#kept.endedMs)) this.#kept = this.#begin();
    return this.#kept.states;
  }

  /** While a read goes on, none begins alongside it: each could hold a connection of the pool until it times out. */
  #isOld(endedMs: number | null): boolean {
    return endedMs !== null && this.#nowMs() - endedMs > STATE_MS_MAX;
  }

  #begin(): KeptStates {
    const states = Promise.all(this.served.map(readDeploymentState));
    const kept: KeptStates = { endedMs: null, states };
    const end = () => {
      kept.endedMs = this.#nowMs();
    };
    states.then(end, end);
    return kept;
  }
}

const UNREADABLE = { fingerprint: null, checkpoint: null, phase: null, chainBlock: null, lag: null };

/** Never rejects: one index that cannot be read must not hide the others. */
async function readDeploymentState({ database, checkReadiness }: ServedDeployment): Promise<DeploymentState> {
  // The reason is in what readiness says, and in the log of the store.
  const position = await readIndexPosition(database).catch(() => UNREADABLE);
  return { ...position, readiness: await checkReadiness() };
}

/** Rejects if the index cannot be read; a transaction that it runs in must then end, too. */
export async function readIndexPosition(database: QueryRunner): Promise<IndexPosition> {
  const identity = await readDeploymentIdentity(database);
  const checkpoint = await readCheckpoint(database);
  const stored = await readIndexerStatus(database);
  const report = (stored?.report ?? null) as Partial<IndexerReport> | null;
  const head = report?.head ?? null;
  const isReporting = stored !== null && stored.ageSeconds <= REPORT_AGE_SECONDS_MAX;
  return {
    fingerprint: identity?.fingerprint ?? null,
    checkpoint,
    phase: report?.phase ?? null,
    chainBlock: head?.number ?? null,
    lag: isReporting && head && checkpoint ? lagBetween(head, checkpoint.block) : null,
  };
}

type Position = { readonly number: number; readonly timestamp: number };

/** The report is up to a second older than the rows. */
function lagBetween(head: Position, indexed: Position): IndexPosition["lag"] {
  return {
    blocks: Math.max(0, head.number - indexed.number),
    seconds: Math.max(0, head.timestamp - indexed.timestamp),
  };
}

const text: JsonSchema = { type: "string" };
const uint: JsonSchema = { type: "string", pattern: "^[0-9]+$" };

const DEPLOYMENT = titledRecord("Deployment", {
  name: text,
  path: {
    ...text,
    description: "The path of this deployment's whole API, to append to the URL of the server.",
  },
  is_default: { type: "boolean", description: "Whether it is at the root of the server as well." },
  chain_id: uint,
  fingerprint: {
    ...nullable(text),
    description:
      "Fingerprint of chain, start block and contracts, as in cursors of events; null before anything is indexed.",
  },
  indexed: nullable(closedObject({ block_number: uint, block_hash: text, block_timestamp: uint })),
  finalized_block: nullable(uint),
  chain_block: { ...nullable(uint), description: "The newest block that a node has shown to the indexer." },
  lag: {
    ...closedObject({ blocks: nullable(uint), seconds: nullable(uint) }),
    description: "Null while no indexer reports: the chain may be anywhere by then.",
  },
  phase: nullable(text),
  ready: { type: "boolean" },
  reason: { ...nullable(text), description: "Why it is not ready." },
});

const TOKEN = titledRecord("DeploymentToken", { address: text, symbol: text, decimals: { type: "integer" } });

const RESPONSE = titledRecord("Deployments", {
  deployments: listOf(DEPLOYMENT),
  tokens: {
    ...listOf(TOKEN),
    description:
      "Symbol and decimals of the tokens that the deployment at this path names; its coin has the zero address.",
  },
});

type NamedToken = { readonly symbol: string; readonly decimals: number };
/** Keyed by address. */
type NamedTokens = Readonly<Record<string, NamedToken>>;

export function createDeploymentsEndpoint(states: DeploymentStates, named: NamedTokens = {}): Endpoint {
  const tokens = Object.entries(named).map(([address, { symbol, decimals }]) => ({
    address,
    symbol,
    decimals,
  }));
  return {
    method: "GET",
    path: "/deployments",
    operationId: "getDeployments",
    summary: "The deployments that this server serves",
    description:
      "Each deployment of the protocol with its chain, the path of its API, and how far its index is. The default one is first. Never cached.",
    tag: "Index",
    parameters: [],
    body: null,
    responses: { 200: RESPONSE },
    // For a query that is not percent-encoded text.
    errorStatuses: [400],
    handle: async () => {
      const read = await states.read();
      const deployments = states.served.map((each, index) => describe(each, read[index] as DeploymentState));
      return { status: 200, body: { deployments, tokens }, headers: { "cache-control": "no-store" } };
    },
  };
}

function describe(
  { name, base, chainId }: ServedDeployment,
  { fingerprint, checkpoint, phase, chainBlock, lag, readiness }: DeploymentState,
): Readonly<Record<string, unknown>> {
  const decimal = (value: number | undefined | null) =>
    value === undefined || value === null ? null : String(value);
  return {
    name,
    path: mountPath(name),
    is_default: base === "",
    chain_id: String(chainId),
    fingerprint,
    indexed: checkpoint && {
      block_number: String(checkpoint.block.number),
      block_hash: checkpoint.block.hash,
      block_timestamp: String(checkpoint.block.timestamp),
    },
    finalized_block: decimal(checkpoint?.finalized),
    chain_block: decimal(chainBlock),
    lag: { blocks: decimal(lag?.blocks), seconds: decimal(lag?.seconds) },
    phase,
    ready: readiness.ready,
    reason: readiness.ready ? null : readiness.reason,
  };
}
