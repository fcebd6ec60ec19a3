// A buyer that stops while it pays: the next one, over the journal as it was then, pays once and gets the response.
// crash.integration.test.ts kills processes at the same phases.
import { copyFileSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { PrivateKeyAccount } from "viem";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { createSextant } from "../../packages/client/create-sextant.ts";
import { openFileJournal } from "../../packages/client/journal/file-journal.ts";
import { waitFor } from "../support/payments/paid-client.ts";
import { createTestFolder } from "../support/test-folder.ts";
import type { KillPhase } from "./buyer-child.ts";
import { type ClientStage, openClientStage, walletAt } from "./client-stage.ts";
import { type FaultyProxy, startFaultyProxy } from "./faulty-proxy.ts";

/** Signatures in the journal that a buyer leaves at each phase. */
const SIGNED: Readonly<Record<KillPhase, number>> = {
  "before-signing": 0,
  "after-journal": 1,
  "after-sending": 1,
  "after-settlement": 1,
  "before-body": 1,
};
const PHASES = Object.keys(SIGNED) as KillPhase[];

let stage: ClientStage;
let proxy: FaultyProxy;
beforeAll(async () => {
  stage = await openClientStage();
});
afterAll(() => stage?.close());
// Each test has its own: a request of the last one may still settle.
beforeEach(async () => {
  proxy = await startFaultyProxy(stage.url);
});
afterEach(() => proxy.stop());

type Purchase = { readonly address: string; readonly name: string };

/**
 * Buys up to the phase and goes no further. Returns a copy of its journal at that moment, as a crash would leave it, and
 * the end of the request that it had sent.
 */
async function buyUntil(phase: KillPhase, payer: PrivateKeyAccount, purchase: Purchase) {
  const folder = await createTestFolder();
  const [file, left] = [join(folder, "payments.jsonl"), join(folder, "left.jsonl")];
  const journal = openFileJournal(file);
  const end = new AbortController();
  let isStopped = false;
  let sent: Promise<unknown> = Promise.resolve();
  const markStopped = () => {
    if (isStopped) return;
    isStopped = true;
    copyFileSync(file, left);
  };
  const untilEnd = () =>
    new Promise<never>((_, reject) => end.signal.addEventListener("abort", () => reject(end.signal.reason)));
  const stopAt = async (reached: KillPhase) => {
    if (reached === phase) markStopped();
    if (isStopped) await untilEnd();
  };
  proxy.onSettled = () => phase === "after-settlement" && markStopped();
  const sextant = createSextant({
    portfolio: proxy.url,
    payer: {
      address: payer.address,
      async signTypedData(data) {
        await stopAt("before-signing");
        return payer.signTypedData(data);
      },
    },
    guard: stage.guard,
    journal: {
      read: () => journal.read(),
      exclusive: (act) =>
        journal.exclusive((book, append) =>
          act(book, async (record, options) => {
            await append(record, options);
            if (record.type === "signed") await stopAt("after-journal");
          }),
        ),
    },
    async fetch(input, init) {
      const response = fetch(input, init);
      if (!new Headers(init?.headers).has("payment-signature")) return response;
      sent = response.catch(() => undefined);
      await stopAt("after-sending");
      await response;
      await stopAt("before-body");
      return response;
    },
  });
  const options = { purchase: purchase.name, signal: end.signal };
  const bought = sextant.getPortfolio({ address: purchase.address }, options);
  onTestFinished(async () => {
    end.abort();
    await expect(bought).rejects.toThrow();
    await journal.close();
  });
  await Promise.race([waitFor(() => isStopped), bought]);
  return { left, sent };
}

describe("a purchase that stops", () => {
  it.each(PHASES)(
    "pays once for a purchase that stops %s, and delivers it to the next buyer",
    async (phase) => {
      const { account } = await stage.payer();
      const purchase = { address: walletAt(PHASES.indexOf(phase)), name: "report" };
      const { left, sent } = await buyUntil(phase, account, purchase);
      expect(readFileSync(left, "utf8").match(/"type":"signed"/g)?.length ?? 0).toBe(SIGNED[phase]);
      if (phase === "after-settlement" || phase === "before-body") {
        expect((await stage.payments(account.address)).chain).toHaveLength(1);
      }

      const journal = openFileJournal(left);
      const sextant = createSextant({ portfolio: proxy.url, payer: account, guard: stage.guard, journal });
      const { data, receipt } = await sextant.getPortfolio(
        { address: purchase.address },
        { purchase: purchase.name },
      );
      expect(data).toMatchObject({ address: purchase.address });
      await sent;
      const { chain, ledger } = await stage.payments(account.address);
      expect(chain).toEqual([receipt?.transaction]);
      expect(ledger).toEqual(chain);
      const listed = await sextant.payments.list();
      expect(listed.map(({ state, transaction }) => [state, transaction])).toEqual([["paid", chain[0]]]);
      await journal.close();
    },
  );
});
