// A process that is killed while it pays: the next one sends the same signature, pays once and gets the response.
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createSextant } from "../../packages/client/create-sextant.ts";
import { openFileJournal } from "../../packages/client/journal/file-journal.ts";
import { createTestFolder } from "../support/test-folder.ts";
import type { KillPhase } from "./buyer-child.ts";
import { compileBuyer } from "./buyer-process.ts";
import { type ClientStage, openClientStage, walletAt } from "./client-stage.ts";
import { type FaultyProxy, startFaultyProxy } from "./faulty-proxy.ts";

const PHASES: readonly KillPhase[] = [
  "before-signing",
  "after-journal",
  "after-sending",
  "after-settlement",
  "before-body",
];

describe("a paying process", () => {
  let stage: ClientStage;
  let proxy: FaultyProxy;
  beforeAll(async () => {
    stage = await openClientStage();
    proxy = await startFaultyProxy(stage.url);
  });
  afterAll(async () => {
    await proxy?.stop();
    await stage?.close();
  });

  it("that is killed at any phase has paid once when the next has its response", async () => {
    const folder = await createTestFolder();
    const start = compileBuyer(folder);
    const { account, privateKey } = await stage.payer();
    const file = join(folder, "payments.jsonl");
    const { guard } = stage;
    for (const [index, kill] of PHASES.entries()) {
      const address = walletAt(index);
      const purchases = [{ address, name: `purchase-${index}` }];
      const task = { portfolio: proxy.url, privateKey, journal: file, guard, purchases };
      const buyer = start({ ...task, kill, killAt: 1 });
      proxy.onSettled = () => kill === "after-settlement" && buyer.child.kill("SIGKILL");
      const { signal, lines, err } = await buyer.ended;
      expect([kill, signal, lines, err]).toEqual([kill, "SIGKILL", [], ""]);

      const journal = openFileJournal(file);
      const sextant = createSextant({ portfolio: proxy.url, payer: account, guard, journal });
      const { data, receipt } = await sextant.getPortfolio({ address }, { purchase: `purchase-${index}` });
      await journal.close();
      const { chain, ledger } = await stage.payments(account.address);
      expect(data).toMatchObject({ address });
      expect(chain, kill).toHaveLength(index + 1);
      expect(chain).toContain(receipt?.transaction);
      expect(ledger).toEqual(chain);
    }
    const journal = openFileJournal(file);
    const { payments } = createSextant({ portfolio: proxy.url, payer: account, guard, journal });
    const listed = await payments.list();
    await journal.close();
    const { chain } = await stage.payments(account.address);
    expect(listed.map(({ transaction }) => transaction).sort()).toEqual(chain);
  });
});
