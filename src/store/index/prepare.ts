// Makes a schema ready for indexing: migrated, of the right deployment, with the tables that are declared now.
import { Fault } from "../../lib/fault.ts";
import type { Log } from "../../lib/log.ts";
import type { Lock } from "../postgres/advisory-lock.ts";
import type { Session } from "../postgres/session.ts";
import { type RebuildOptions, rebuildRows } from "./rebuild.ts";
import { createRowIndexes, createRowTables, readRowTablesState, recordRowTables } from "./row-tables.ts";

/** The chain and contracts that the rows of a schema come from. */
export type DeploymentIdentity = {
  readonly chainId: number;
  readonly startBlock: number;
  readonly contracts: Readonly<Record<string, string>>;
};

/** Claims an empty schema for a deployment, and refuses one that belongs to another. */
export async function claimSchema(
  session: Pick<Session, "query">,
  identity: DeploymentIdentity,
): Promise<void> {
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

/** For those who only read: refuses a schema that is known to hold another deployment. */
export async function assertSameDeployment(
  session: Pick<Session, "query">,
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

/** Creates the row tables, or makes them again from the stored logs where they are of an older declaration. */
export async function prepareRowTables(lock: Lock, options: RebuildOptions, log: Log): Promise<void> {
  const { declaration } = options;
  const state = await lock.transaction((session) => readRowTablesState(session, declaration));
  if (state === "current") return;
  if (state === "stale") {
    log.info(
      "The tables of this version differ from the stored ones; making the rows again from the stored logs",
    );
    const logs = await rebuildRows(lock, options);
    log.info({ logs }, "The rows were made again");
    return;
  }
  await lock.transaction(async (session) => {
    await createRowTables(session, declaration.tables);
    await createRowIndexes(session, declaration.tables);
    await recordRowTables(session, declaration);
  });
}
