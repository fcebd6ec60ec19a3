// The same requests by plain fetch and by the client, in turns: what the client, its guard and its journal add.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { toHex } from "viem";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { createSextant } from "../../packages/client/create-sextant.ts";
import { openFileJournal } from "../../packages/client/journal/file-journal.ts";
import { createMemoryJournal, type Journal } from "../../packages/client/journal/journal.ts";
import type { GuardOptions } from "../../packages/client/payments/guard.ts";
import { transferTypedData } from "../../packages/client/payments/token-typed-data.ts";
import { quantilesOf } from "../harness/measurement.ts";
import { sendToParent } from "../harness/progress.ts";

export type ClientLoadTask = { readonly url: string; readonly rounds: number };

/** Medians in milliseconds. */
export type ClientLoadReport = Readonly<Record<keyof typeof ways, number>>;

const { url, rounds } = JSON.parse(process.argv[2] ?? "") as ClientLoadTask;
const folder = mkdtempSync(join(tmpdir(), "sextant-bench-"));
const account = privateKeyToAccount(generatePrivateKey());
const ADDRESS = `0x${"77".repeat(20)}`;
// Before the first requests are measured, code is compiled and connections are opened.
const WARM_UP = 30;

type Terms = { network: string; asset: `0x${string}`; payTo: `0x${string}`; amount: string };

function createBuyer(journal: Journal) {
  const guard: GuardOptions = {
    network: "eip155:31337",
    asset: `0x${"a5".repeat(20)}`,
    payees: [`0x${"b0".repeat(20)}`],
  };
  return createSextant({ api: url, portfolio: url, payer: account, guard, journal });
}

const file = openFileJournal(join(folder, "payments.jsonl"));
const [inMemory, inFile] = [createBuyer(createMemoryJournal()), createBuyer(file)];

/** A payment as it takes the fewest steps: no check, no record. */
async function payByHand(): Promise<unknown> {
  const request = `${url}/portfolio?address=${ADDRESS}`;
  const unpaid = await fetch(request);
  await unpaid.text();
  const required = JSON.parse(atob(unpaid.headers.get("payment-required") ?? "")) as { accepts: [Terms] };
  const [accepted] = required.accepts;
  const authorization = {
    from: account.address,
    to: accepted.payTo,
    value: BigInt(accepted.amount),
    validAfter: 0n,
    validBefore: BigInt(Math.floor(Date.now() / 1_000) + 60),
    nonce: toHex(crypto.getRandomValues(new Uint8Array(32))),
  };
  const token = { name: "USD Coin", version: "2", chainId: 31_337, address: accepted.asset };
  const signature = await account.signTypedData(transferTypedData(token, authorization));
  const sent = Object.fromEntries(Object.entries(authorization).map(([key, value]) => [key, String(value)]));
  const payment = { x402Version: 2, accepted, payload: { authorization: sent, signature } };
  const paid = await fetch(request, { headers: { "payment-signature": btoa(JSON.stringify(payment)) } });
  return paid.json();
}

const ways = {
  free: async () => (await fetch(`${url}/agents/1`)).json(),
  freeByClient: () => inMemory.getAgent({ agentId: "1" }),
  paid: payByHand,
  paidWithGuard: () => inMemory.getPortfolio({ address: ADDRESS }),
  paidWithJournal: () => inFile.getPortfolio({ address: ADDRESS }),
};

function shuffle<T>(list: readonly T[]): T[] {
  return list
    .map((each) => ({ each, key: Math.random() }))
    .sort((a, b) => a.key - b.key)
    .map(({ each }) => each);
}

const took = Object.fromEntries(Object.keys(ways).map((name) => [name, [] as number[]]));
for (let round = -WARM_UP; round < rounds; round += 1) {
  // In turns and in another order each time: what else the machine does, and what the last way left, meets all alike.
  for (const [name, run] of shuffle(Object.entries(ways))) {
    const started = performance.now();
    await run();
    if (round >= 0) took[name]?.push(performance.now() - started);
  }
}
await file.close();
rmSync(folder, { recursive: true });
sendToParent(Object.fromEntries(Object.entries(took).map(([name, ms]) => [name, quantilesOf(ms).medianMs])));
