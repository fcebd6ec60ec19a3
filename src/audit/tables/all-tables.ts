// The audits of all tables; together they cover every table exactly once.
import { tables } from "../../protocol/domains.ts";
import { attestationsAudit, attesterActivityAudit } from "./attestations.ts";
import { facilitatorsAudit, merchantsAudit, servicesAudit } from "./commerce.ts";
import {
  commerceTotalsAudit,
  facilitatorVolumesAudit,
  merchantRecordsAudit,
  railVolumesAudit,
  serviceVolumesAudit,
  tokenVolumesAudit,
} from "./commerce-totals.ts";
import type { TableAudit } from "./define-audit.ts";
import { bidsAudit, fillProofsAudit, fillsAudit, intentsAudit, solverActivityAudit } from "./intents.ts";
import { attestorsAudit, solversAudit } from "./operators.ts";
import { policiesAudit } from "./policies.ts";
import { agentsAudit } from "./registries.ts";
import { disputesAudit, quotesAudit, receiptsAudit, settlementsAudit } from "./sales.ts";
import { sessionExecutionsAudit, sessionKeysAudit } from "./session-keys.ts";
import { paymentWindowsAudit, signedPaymentsAudit, spendWindowsAudit } from "./spending.ts";
import { signalCountsAudit, subjectSignalCountsAudit, trustSignalsAudit } from "./trust-signals.ts";

export const tableAudits: readonly TableAudit[] = coveringAll([
  agentsAudit,
  intentsAudit,
  bidsAudit,
  fillsAudit,
  fillProofsAudit,
  solverActivityAudit,
  policiesAudit,
  spendWindowsAudit,
  paymentWindowsAudit,
  signedPaymentsAudit,
  sessionKeysAudit,
  sessionExecutionsAudit,
  attestationsAudit,
  attesterActivityAudit,
  solversAudit,
  attestorsAudit,
  merchantsAudit,
  servicesAudit,
  facilitatorsAudit,
  quotesAudit,
  receiptsAudit,
  disputesAudit,
  trustSignalsAudit,
  settlementsAudit,
  commerceTotalsAudit,
  tokenVolumesAudit,
  railVolumesAudit,
  facilitatorVolumesAudit,
  serviceVolumesAudit,
  merchantRecordsAudit,
  signalCountsAudit,
  subjectSignalCountsAudit,
]);

/** Refuses to load when a table has no audit or two: a new table can not be forgotten here. */
function coveringAll(all: readonly TableAudit[]): readonly TableAudit[] {
  const audited = all.map(({ table }) => table.name).sort();
  const declared = tables.map(({ name }) => name).sort();
  if (audited.join() === declared.join()) return all;
  throw new Error(`the tables are ${declared.join()}, but there are audits of ${audited.join()}`);
}
