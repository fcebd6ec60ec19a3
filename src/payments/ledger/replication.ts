// Payments must survive a fail-over: checks that a synchronous standby has every commit, at start and while running.
import type { Config } from "../../config/read-config.ts";
import type { ledgerSettings } from "../../config/settings.ts";
import { Fault } from "../../lib/fault.ts";
import type { Log } from "../../lib/log.ts";
import type { Database } from "../../store/postgres/database.ts";
import { type Replication, readReplication } from "../../store/postgres/replication.ts";

/** Why a fail-over would lose payments, or why none can be recorded; null if nothing is wrong. */
export type FindLedgerRisk = () => Promise<string | null>;

const ACCEPT = "set SEXTANT_ALLOW_ASYNC_LEDGER=true to accept that";
const WITHOUT_STANDBY =
  "A fail-over would lose payments, because no standby has to confirm a commit: set synchronous_standby_names on the server, or " +
  ACCEPT;
const STANDBY_MISSING =
  "No synchronous standby is attached to the database, and each commit waits for one: attach it, or change synchronous_standby_names.";

function explainRisk({ waitsForStandby, synchronous, hidden }: Replication): string | null {
  if (!waitsForStandby) return `${WITHOUT_STANDBY}.`;
  return synchronous + hidden > 0 ? null : STANDBY_MISSING;
}

/**
 * Throws where DATABASE_URL names several servers, which means that a fail-over is planned, and payments would not
 * survive it. With one server nothing is known of a plan: a replica without synchronous commits gets a warning.
 */
export async function checkLedgerReplication(
  database: Database,
  { allowAsyncLedger }: Config<typeof ledgerSettings>,
  log: Log,
): Promise<FindLedgerRisk> {
  const replication = await readReplication(database);
  const risk = explainRisk(replication);
  const mustSurvive = database.hasFailOver && !allowAsyncLedger;
  if (mustSurvive && risk !== null) {
    throw new Fault(replication.waitsForStandby ? "DATABASE_UNREACHABLE" : "CONFIG_INVALID", risk);
  }
  const hasReplica = replication.asynchronous + replication.hidden > 0;
  if (!replication.waitsForStandby && (database.hasFailOver || hasReplica)) {
    log.warn(
      { component: "payments", event: "ledger_asynchronous" },
      "A fail-over would lose payments: no standby has to confirm a commit",
    );
  }
  return async () => {
    // Read in any case: it also shows whether the database responds.
    const now = await readReplication(database);
    return mustSurvive ? explainRisk(now) : null;
  };
}
