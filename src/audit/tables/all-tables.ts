// The audits of all tables; together they cover every table exactly once.
import { tables } from "../../protocol/domains.ts";
import { activityAudits } from "./activity.ts";
import { commerceAudits } from "./commerce.ts";
import type { TableAudit } from "./define-audit.ts";
import { intentAudits } from "./intents.ts";
import { policyAudits } from "./policies.ts";
import { registryAudits } from "./registries.ts";

export const tableAudits: readonly TableAudit[] = requireFullCoverage([
  ...registryAudits,
  ...intentAudits,
  ...policyAudits,
  ...commerceAudits,
  ...activityAudits,
]);

/** Throws at load when a table has no audit or two. */
function requireFullCoverage(all: readonly TableAudit[]): readonly TableAudit[] {
  const audited = all.map(({ table }) => table.name);
  const missing = tables.filter(({ name }) => !audited.includes(name)).map(({ name }) => name);
  if (missing.length > 0) throw new Error(`no audit in src/audit/tables for ${missing.join(", ")}`);
  const duplicate = audited.find((name, index) => audited.indexOf(name) !== index);
  if (duplicate) throw new Error(`the table ${duplicate} has two audits`);
  return all;
}
