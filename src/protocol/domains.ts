// All domains of the protocol; loading them checks that they cover every event exactly once.
import type { AbiEvent } from "viem";
import type { Domain } from "../schema/domain.ts";
import type { Table } from "../schema/table.ts";
import {
  disputesDomain,
  quotesDomain,
  receiptsDomain,
  settlementsDomain,
  trustSignalsDomain,
} from "./domains/commerce.ts";
import { intentsDomain } from "./domains/intents.ts";
import { facilitatorsDomain, merchantsDomain, servicesDomain } from "./domains/merchants.ts";
import { policiesDomain, sessionKeysDomain } from "./domains/policies.ts";
import { agentsDomain, attestationsDomain, attestorsDomain, solversDomain } from "./domains/registries.ts";
import { EQUIVALENT_FOLD_VERSIONS, FOLD_VERSION } from "./fold-version.ts";

export const domains: readonly Domain[] = requireFullCoverage([
  agentsDomain,
  intentsDomain,
  policiesDomain,
  sessionKeysDomain,
  attestationsDomain,
  solversDomain,
  attestorsDomain,
  merchantsDomain,
  servicesDomain,
  facilitatorsDomain,
  quotesDomain,
  receiptsDomain,
  disputesDomain,
  trustSignalsDomain,
  settlementsDomain,
]);

export const tables: readonly Table[] = domains.flatMap((each) => each.tables);

/** The source of the rows: when it changes, the indexer rebuilds them from the stored logs. */
export const rowDeclaration = {
  tables,
  foldVersion: FOLD_VERSION,
  equivalentFoldVersions: EQUIVALENT_FOLD_VERSIONS,
} as const;

/** Throws when an event of a contract has no rule or two, or a rule has no event. */
export function requireFullCoverage(all: readonly Domain[]): readonly Domain[] {
  for (const contract of new Set(all.map((each) => each.contract))) {
    const siblings = all.filter((each) => each.contract === contract);
    const withRule = siblings.flatMap((each) => Object.keys(each.events)).sort();
    const declared = eventNames(siblings[0]?.abi ?? []).sort();
    if (withRule.join() !== declared.join()) {
      throw new Error(
        `${contract}: the ABI has ${declared.join()}, the domains have rules for ${withRule.join()}`,
      );
    }
  }
  const names = all.flatMap((each) => each.tables.map(({ name }) => name));
  const duplicate = names.find((name, index) => names.indexOf(name) !== index);
  if (duplicate) throw new Error(`the table ${duplicate} belongs to two domains`);
  return all;
}

function eventNames(abi: Domain["abi"]): string[] {
  return abi.filter((item): item is AbiEvent => item.type === "event").map(({ name }) => name);
}
