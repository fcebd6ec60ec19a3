// Payments must survive a fail-over: checks that a synchronous standby has every commit, at start and while running.

import type { ledgerSettings } from "../../config/payment-settings.ts";
import type { Config } from "../../config/read-config.ts";
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

const COMMITS_WAIT =
  "Commits wait for a synchronous standby that does not confirm them: attach it, or change synchronous_standby_names.";

function explainRisk(replication: Replication): string | null {
  const { waitsForStandby, synchronous, hidden } = replication;
  if (!waitsForStandby) return `${WITHOUT_STANDBY}.`;
  // Nothing can be lost if the server waits; whether it waits for a standby that is there may be hidden from us.
  if (synchronous === 0 && hidden === 0) return STANDBY_MISSING;
  return explainWait(replication);
}

const explainWait = ({ waitingCommits }: Replication) => (waitingCommits > 0 ? COMMITS_WAIT : null);

type LedgerServers = {
  /** DATABASE_URL names several servers, which means that a fail-over is planned. */
  readonly hasFailOver: boolean;
  readonly allowAsyncLedger: boolean;
};

/** The message that a start on servers in this state must report. */
export function assessStart(replication: Replication, servers: LedgerServers) {
  const { waitsForStandby, synchronous, asynchronous, hidden } = replication;
  const risk = mustSurvive(servers) ? explainRisk(replication) : null;
  return {
    fault:
      risk === null ? null : new Fault(waitsForStandby ? "DATABASE_UNREACHABLE" : "CONFIG_INVALID", risk),
    isStandbyUnknown: waitsForStandby && synchronous === 0 && hidden > 0,
    // With one server nothing is known of a plan: only a replica without synchronous commits is worth a warning.
    isAsynchronous: !waitsForStandby && (servers.hasFailOver || asynchronous + hidden > 0),
  };
}

/** Why a running ledger would lose payments, or cannot record any, on servers in this state. */
export function assessRun(replication: Replication, servers: LedgerServers): string | null {
  return mustSurvive(servers) ? explainRisk(replication) : explainWait(replication);
}

const mustSurvive = ({ hasFailOver, allowAsyncLedger }: LedgerServers) => hasFailOver && !allowAsyncLedger;

/** Throws if a fail-over is planned and payments would not survive it. */
export async function checkLedgerReplication(
  database: Database,
  { allowAsyncLedger }: Config<typeof ledgerSettings>,
  log: Log,
): Promise<FindLedgerRisk> {
  const servers = { hasFailOver: database.hasFailOver, allowAsyncLedger };
  const { fault, isStandbyUnknown, isAsynchronous } = assessStart(await readReplication(database), servers);
  if (fault !== null) throw fault;
  if (isStandbyUnknown) {
    log.warn(
      { component: "payments", event: "ledger_standby_unknown", user: database.target.user },
      "Whether a synchronous standby is attached cannot be seen: grant pg_monitor to the user",
    );
  }
  if (isAsynchronous) {
    log.warn(
      { component: "payments", event: "ledger_asynchronous" },
      "A fail-over would lose payments: no standby has to confirm a commit",
    );
  }
  // Read in any case: it also shows whether the database responds.
  return async () => assessRun(await readReplication(database), servers);
}
