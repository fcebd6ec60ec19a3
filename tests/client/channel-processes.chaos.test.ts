// Processes of one payer share a journal and its channel, and are killed: each purchase is charged once and delivered.
// The fast sentinel is tests/client/channel-kills.test.ts.
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { openFileJournal } from "../../packages/client/journal/file-journal.ts";
import { TEST_PRICE } from "../support/payments/paid-stage.ts";
import { createTestFolder } from "../support/test-folder.ts";
import type { KillPhase } from "./buyer-child.ts";
import { startBuyer } from "./buyer-process.ts";
import { type ClientStage, openClientStage, walletAt } from "./client-stage.ts";

const PHASES: readonly (KillPhase | null)[] = [
  "before-signing",
  "after-journal",
  "after-sending",
  "before-body",
  null,
];
const PURCHASES = 14;

let stage: ClientStage;
beforeAll(async () => {
  stage = await openClientStage({ channels: { limits: { blockAgeMsMax: 3_600_000, correctionMs: 200 } } });
});
afterAll(() => stage?.close());

it("buys each thing once with two processes at a time, whichever of them is killed", async () => {
  const { account, privateKey } = await stage.payer(10n);
  const folder = await createTestFolder();
  const file = join(folder, "payments.jsonl");
  const money = await stage.paid.balance(stage.paid.payTo);
  const guard = stage.guard;
  const all = Array.from({ length: PURCHASES }, (_, index) => index);
  const taskOf = (odd: boolean, kill: KillPhase | null) => ({
    ...{ portfolio: stage.url, privateKey, journal: file, guard, kill, killAt: 2 },
    channel: { deposit: "0.1", topUp: "0.1" },
    purchases: all
      .filter((index) => (index % 2 === 1) === odd)
      .map((index) => ({ address: walletAt(index), name: `p${index}` })),
  });
  const bought = new Set<string>();
  for (const kill of PHASES) {
    const ended = await Promise.all(
      [startBuyer(taskOf(false, kill)), startBuyer(taskOf(true, null))].map((each) => each.ended),
    );
    for (const { lines } of ended) for (const line of lines) if ("bought" in line) bought.add(line.bought);
    expect(ended[1]?.lines.filter((line) => "failed" in line)).toEqual([]);
  }
  expect(bought.size).toBe(PURCHASES);
  const journal = openFileJournal(file);
  const [channel, ...others] = (await journal.read()).channels.list();
  await journal.close();
  const total = BigInt(PURCHASES) * TEST_PRICE;
  expect([others, channel?.signed, channel?.charged]).toEqual([[], total, total]);
  await stage.service.claims?.claimNow(null);
  expect((await stage.paid.balance(stage.paid.payTo)) - money).toBe(total);
  const held = channel?.balance ?? 0n;
  expect((await stage.paid.balance(account.address)) + held).toBe(10_000_000n);
}, 240_000);
