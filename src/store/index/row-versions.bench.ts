// Additions to rollups in a batch: summed in final blocks, a version for each block elsewhere.
import { bench, describe } from "vitest";
import { addAmounts } from "../../schema/change.ts";
import { address, uint63, unboundedInteger } from "../../schema/column.ts";
import { defineRollup } from "../../schema/table.ts";
import { RowVersions } from "./row-versions.ts";

const counts = defineRollup(
  "counts",
  { who: address, times: uint63, amount: unboundedInteger, fees: unboundedInteger },
  { key: ["who"] },
);
// About a batch of history: thousands of additions to some hundred rows.
const ADDITIONS = 6_000;
const ROWS = 200;

async function addAll(final: boolean): Promise<void> {
  const rows = new RowVersions(async () => new Map(), { final });
  for (let index = 0; index < ADDITIONS; index += 1) {
    const origin = { block_number: BigInt(index >> 2), tx_hash: "0x", log_index: 0 };
    const amounts = { times: 1n, amount: 1_000_000n, fees: 3n };
    rows.change(addAmounts(counts, { who: `0x${index % ROWS}` }, amounts), origin);
  }
  await rows.finish();
}

describe(`${ADDITIONS} additions to ${ROWS} rows`, () => {
  bench("summed in memory, one version each", () => addAll(true));
  bench("a version for each block", () => addAll(false));
});
