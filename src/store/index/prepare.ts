// Prepares a schema for indexing: the right deployment, and row tables as declared.
import { Fault } from "../../lib/fault.ts";
import type { Log } from "../../lib/log.ts";
import type { Lock } from "../postgres/advisory-lock.ts";
import type { QueryRunner } from "../postgres/session.ts";
import { DEPLOYMENT_FINGERPRINT } from "./checkpoint.ts";
import { REBUILD_STATEMENT_MS_MAX, type RebuildOptions, rebuildRows } from "./rebuild.ts";
import {
  createBareRowTables,
  dropLogIndex,
  findBareTables,
  finishRowTables,
  type IndexProgress,
  makeLogIndex,
  readRowTablesState,
  recordRowTables,
  updateRowIndexes,
} from "./row-tables.ts";

/** The chain and contracts that the rows of a schema come from. */
export type DeploymentIdentity = {
  readonly chainId: number;
  readonly startBlock: number;
  readonly contracts: Readonly<Record<string, string>>;
};

/** Claims an empty schema for a deployment, and rejects one that belongs to another. */
export async function claimSchema(session: QueryRunner, identity: DeploymentIdentity): Promise<void> {
  const contracts = JSON.stringify(Object.fromEntries(Object.entries(identity.contracts).sort()));
  await session.query({
    text: "insert into deployment (chain_id, start_block, contracts) values ($1, $2, $3::jsonb) on conflict do nothing",
    values: [identity.chainId, identity.startBlock, contracts],
  });
  const { rows } = await session.query<{ chain_id: string; same: boolean }>({
    text: "select chain_id, chain_id = $1 and start_block = $2 and contracts = $3::jsonb as same from deployment",
    values: [identity.chainId, identity.startBlock, contracts],
  });
  if (rows[0]?.same) return;
  throw new Fault(
    "DEPLOYMENT_MISMATCH",
    `The database holds an index of another deployment (chain ${rows[0]?.chain_id}); set DATABASE_SCHEMA to a name of its own for this one.`,
  );
}

/** A deployment with its fingerprint. */
export type StoredDeployment = DeploymentIdentity & { readonly fingerprint: string };

/** Null while no indexer has claimed the schema. */
export async function readDeploymentIdentity(session: QueryRunner): Promise<StoredDeployment | null> {
  const { rows } = await session.query<{
    chain_id: string;
    start_block: string;
    contracts: DeploymentIdentity["contracts"];
    fingerprint: string;
  }>(`select chain_id, start_block, contracts, ${DEPLOYMENT_FINGERPRINT} as fingerprint from deployment d`);
  const [row] = rows;
  if (!row) return null;
  const { chain_id, start_block, contracts, fingerprint } = row;
  return { chainId: Number(chain_id), startBlock: Number(start_block), contracts, fingerprint };
}

/** For readers: rejects a schema that belongs to another deployment. */
export async function assertSameDeployment(
  session: QueryRunner,
  { chainId, contracts }: Pick<DeploymentIdentity, "chainId" | "contracts">,
): Promise<void> {
  const { rows } = await session.query<{ chain_id: string }>({
    text: "select chain_id from deployment where chain_id <> $1 or contracts <> $2::jsonb",
    values: [chainId, JSON.stringify(contracts)],
  });
  const [other] = rows;
  if (!other) return;
  throw new Fault(
    "DEPLOYMENT_MISMATCH",
    `The database holds an index of another deployment (chain ${other.chain_id}) than NETWORK names; set NETWORK to the one that is indexed, or DATABASE_SCHEMA to the schema of this one.`,
  );
}

/**
 * Creates the row tables, or rebuilds them from the stored logs if declarations or logs changed; indexes alone are
 * replaced. New tables get only what writing needs: `completeIndexes` adds the rest once the rows are there.
 */
export async function prepareRowTables(lock: Lock, options: RebuildOptions, log: Log): Promise<void> {
  const { declaration } = options;
  const { tables } = declaration;
  const state = await lock.transaction((session) => readRowTablesState(session, declaration));
  if (state === "current") {
    const bare = await lock.transaction((session) => findBareTables(session, tables));
    // A first backfill was interrupted: it continues, and its end adds what is missing.
    if (bare.length > 0) return;
    return completeIndexes(lock, options, log);
  }
  if (state === "stale") {
    log.info(
      { component: "store", event: "rebuilding" },
      "Table declarations or stored logs changed, rebuilding rows from stored logs",
    );
    const logs = await rebuildRows(lock, options);
    log.info({ component: "store", event: "rebuilt", logs }, "Rows rebuilt");
    return;
  }
  await lock.transaction(async (session) => {
    await dropLogIndex(session);
    await createBareRowTables(session, tables);
    await recordRowTables(session, declaration);
  });
}

/** Makes every declared index that is missing. */
export async function completeIndexes(
  lock: Lock,
  { declaration, signal }: Pick<RebuildOptions, "declaration" | "signal">,
  log: Log,
  onIndex: (index: IndexProgress) => void = () => undefined,
): Promise<void> {
  const update = {
    tables: declaration.tables,
    statementTimeoutMs: REBUILD_STATEMENT_MS_MAX,
    signal,
    onIndex: (index: IndexProgress) => {
      onIndex(index);
      const { name, number, count } = index;
      log.info(
        { component: "store", event: "indexing_table", index: name, number, count },
        "Creating a database index",
      );
    },
  };
  await makeLogIndex(lock, update);
  await finishRowTables(lock, update);
  await updateRowIndexes(lock, update);
}
