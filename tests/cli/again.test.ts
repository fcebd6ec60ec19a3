// `--again`: the key alone gets what it has bought, on a machine that does not have the journal.
import { rmSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { LOCAL_JOURNAL } from "../../src/local/run-files.ts";
import { exampleSnapshot } from "../../src/schema/portfolio/examples.ts";
import { openPaidRun } from "./paid-run.ts";

let stage: Awaited<ReturnType<typeof openPaidRun>>;
beforeAll(async () => {
  stage = await openPaidRun({ signIn: true });
});
afterAll(() => stage?.close());

it("shows what the account has bought without its journal, and pays nothing for it", async () => {
  const payer = await stage.openPayer();
  stage.nameOrigin(payer.proxy.url);
  const wallet = ["wallet", exampleSnapshot.address, "--json"];
  const bought = await payer.run([...wallet, "--again"]);
  expect([bought.code, bought.err]).toEqual([0, expect.stringContaining("Paid $0.01 by ")]);
  rmSync(join(payer.folder, LOCAL_JOURNAL));
  const again = await payer.run([...wallet, "--again"]);
  expect([again.code, again.err]).toEqual([0, expect.stringContaining("Nothing was paid.")]);
  expect(again.out).toBe(bought.out);
  expect(await payer.transactions()).toHaveLength(1);
});
