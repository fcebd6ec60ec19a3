// `sextant mcp` as a process: it writes messages only, and may end while it pays.
// stdio.test.ts does the same in one process: the streams of the command, and a response that is lost.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { type ClientStage, openClientStage, walletAt } from "../client/client-stage.ts";
import { type FaultyProxy, startFaultyProxy } from "../client/faulty-proxy.ts";
import { TEST_NETWORK } from "../support/payments/paid-client.ts";
import { createTestFolder } from "../support/test-folder.ts";
import { expectMessagesOnly, MESSAGES_AND_JUNK } from "./stdio-messages.ts";
import { TOOL_CLIENTS } from "./tool-clients.ts";

let shop: ClientStage;
let proxy: FaultyProxy;
beforeAll(async () => {
  shop = await openClientStage();
  proxy = await startFaultyProxy(shop.url);
});
afterAll(async () => {
  await proxy?.stop();
  await shop?.close();
});

describe.each(TOOL_CLIENTS)("a client of the %s protocol", (year, connect) => {
  it("starts the command, and is not charged again by the next one when it ended before it responded", async () => {
    const folder = await createTestFolder();
    const { account, privateKey } = await shop.payer();
    const environment = {
      ...{ HOME: folder, SEXTANT_DATA: join(folder, "data"), SEXTANT_LOG_LEVEL: "warn" },
      ...{ SEXTANT_PORTFOLIO_URL: proxy.url, SEXTANT_PAYER_KEY: privateKey },
      ...{ SEXTANT_GUARD_NETWORK: TEST_NETWORK, SEXTANT_GUARD_ASSET: shop.paid.asset },
      ...{ SEXTANT_GUARD_PAYEES: shop.paid.payTo, SEXTANT_JOURNAL: join(folder, "payments.jsonl") },
    };
    const args = { address: walletAt(Number(year)), spam: "include" };
    const ended = await connect({ environment });
    expect(ended.protocol?.slice(0, 4)).toBe(year);
    // The service has settled, and the process never learns it.
    proxy.plan = () => "lose-response";
    proxy.onSettled = () => void ended.close();
    await expect(ended.call("wallet_snapshot", args)).rejects.toThrow(/closed/i);
    proxy.plan = () => "none";
    proxy.onSettled = () => undefined;
    const next = await connect({ environment });
    expect(await next.call("wallet_snapshot", args)).toMatchObject({
      structuredContent: { data: { address: walletAt(Number(year)) } },
    });
    await next.close();
    expect((await shop.payments(account.address)).chain).toHaveLength(1);
  }, 180_000);
});

it("writes nothing but messages to standard output, and ends with its input", async () => {
  const folder = await createTestFolder();
  const command = fileURLToPath(new URL("../../bin/sextant.mjs", import.meta.url));
  const child = spawn(process.execPath, [command, "mcp"], {
    env: {
      ...{ PATH: process.env.PATH ?? "", HOME: folder, SEXTANT_DATA: join(folder, "data") },
      ...{ SEXTANT_PORTFOLIO_URL: proxy.url, SEXTANT_LOG_LEVEL: "trace" },
    },
    stdio: ["pipe", "pipe", "ignore"],
  });
  const ended = once(child, "close");
  onTestFinished(() => void child.kill());
  child.stdin.write(MESSAGES_AND_JUNK);
  let out = "";
  child.stdout.on("data", (chunk: Buffer) => {
    out += chunk.toString();
    if (out.includes('"id":2')) child.stdin.end();
  });
  expect(await ended).toEqual([0, null]);
  expectMessagesOnly(out);
}, 60_000);
