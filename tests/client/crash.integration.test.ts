// A process that is killed while it pays: the next one sends the same signature, pays once and gets the response.
// A fast test of the same rule, without processes: crash.test.ts.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createSextant } from "../../packages/client/create-sextant.ts";
import { openFileJournal } from "../../packages/client/journal/file-journal.ts";
import type { KillPhase } from "./buyer-child.ts";
import { startBuyer } from "./buyer-process.ts";
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
  let folder: string;
  let stage: ClientStage;
  let proxy: FaultyProxy;
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), "sextant-crash-"));
    stage = await openClientStage();
    proxy = await startFaultyProxy(stage.url);
  });
  afterAll(async () => {
    await proxy?.stop();
    await stage?.close();
    rmSync(folder, { recursive: true });
  });

  it.each(PHASES)(
    "pays once when it is killed %s and the next process takes its journal over",
    async (kill) => {
      const { account, privateKey } = await stage.payer();
      const file = join(folder, `${kill}.jsonl`);
      const purchase = { address: walletAt(PHASES.indexOf(kill)), name: "report" };
      const task = { portfolio: proxy.url, privateKey, journal: file, guard: stage.guard };
      const buyer = startBuyer({ ...task, purchases: [purchase], kill, killAt: 1 });
      proxy.onSettled = () => kill === "after-settlement" && buyer.child.kill("SIGKILL");
      const { signal, lines, err } = await buyer.ended;
      expect([signal, lines, err]).toEqual(["SIGKILL", [], ""]);

      const journal = openFileJournal(file);
      const sextant = createSextant({ portfolio: proxy.url, payer: account, guard: stage.guard, journal });
      const { data, receipt } = await sextant.getPortfolio(
        { address: purchase.address },
        { purchase: purchase.name },
      );
      expect(data).toMatchObject({ address: purchase.address });
      const { chain, ledger } = await stage.payments(account.address);
      expect(chain).toEqual([receipt?.transaction]);
      expect(ledger).toEqual(chain);
      const listed = await sextant.payments.list();
      expect(listed.map(({ state, transaction }) => [state, transaction])).toEqual([["paid", chain[0]]]);
      await journal.close();
    },
  );
});
