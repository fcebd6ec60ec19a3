// The state of a deployment of this installation: its index, the chain as its indexer last saw it, and whether it is ready.
import type { Readiness } from "../../http/status-routes.ts";
import type { IndexerReport } from "../../indexer/status.ts";
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

export type DeploymentState = IndexPosition & { readonly readiness: Readiness };

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
