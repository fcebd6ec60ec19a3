// Audits more random histories. src/cli/commands/audit.integration.test.ts and table.test.ts audit everything of one history.
import { afterEach, describe, expect, inject, it } from "vitest";
import { openAuditedIndex } from "../../tests/support/index/audited-index.ts";
import { simulateHistory } from "../../tests/support/index/simulated-history.ts";
import { casesOf } from "../../tests/support/test-depth.ts";
import { tables } from "../protocol/domains.ts";

let close: (() => Promise<void>) | undefined;

afterEach(() => close?.());

describe("an audit of a correct index", () => {
  it.each(casesOf(11, 12))(
    "finds no difference at any quarter of history %i",
    { timeout: 120_000 },
    async (seed) => {
      const server = inject("postgres");
      const simulated = await simulateHistory({ server, migratedTemplate: inject("migratedTemplate"), seed });
      const index = await openAuditedIndex(simulated.history);
      close = async () => {
        await index.close();
        await simulated.close();
      };
      for (const quarter of [1, 2, 3, 4]) {
        const { results } = await index.audit({ block: Math.floor((index.head * quarter) / 4) });
        expect(results.flatMap(({ firstDifferences }) => firstDifferences)).toEqual([]);
        expect(results).toHaveLength(tables.length);
        if (quarter === 4) expect(results.filter(({ compared }) => compared === 0)).toEqual([]);
      }
    },
  );
});
