// Fees from two nodes: one that gives no response does not hold up payments, and payments at once share one read.
import { type PublicClient, toHex } from "viem";
import { afterAll, beforeAll, expect, it, onTestFinished } from "vitest";
import { openResponseProxy, type ResponseFaults } from "../../../../tests/support/nodes/response-proxy.ts";
import { openPaidStage, type PaidStage } from "../../../../tests/support/payments/paid-stage.ts";
import { silentLog } from "../../../../tests/support/quiet-log.ts";
import { systemClock } from "../../../lib/clock.ts";
import { Secret } from "../../../lib/secret.ts";
import { createFeeQuoteReader } from "./fees.ts";
import { createFacilitatorRpc, createViemClient } from "./viem-client.ts";

let stage: PaidStage;
beforeAll(async () => {
  stage = await openPaidStage("in process");
});
afterAll(() => stage.close());

async function clientOf(faults: ResponseFaults) {
  const wire = await openResponseProxy(stage.chain.rpcUrl, faults);
  onTestFinished(() => wire.close());
  const rpc = createFacilitatorRpc({
    urls: [new Secret(wire.url)],
    chainId: 31_337,
    log: silentLog,
    onCall: null,
  });
  const client: PublicClient = createViemClient(31_337, rpc, { pollMs: 20 });
  return { client, reads: () => wire.methods.filter((method) => method === "eth_getBlockByNumber").length };
}

const tip = (wei: bigint) => ({ eth_maxPriorityFeePerGas: { result: toHex(wei) } });
const silence = () => new Promise<null>(() => undefined);

it.each([
  ["first", 0],
  ["second", 1],
])("quotes fees of the other node while the %s one is silent, before its request ends", async (_, which) => {
  const other = await clientOf({ instead: tip(7n) });
  const silent = await clientOf({ instead: { eth_getBlockByNumber: silence } });
  const clients = [other.client, other.client].with(which, silent.client);
  const ended = silent.client.getBlock().catch(() => "the silent request ended");
  const quoted = createFeeQuoteReader(clients, systemClock)();
  expect(await Promise.race([quoted, ended])).toMatchObject({ priorityFeePerGas: 7n });
});

it("includes the fees of a node that responds a little later", async () => {
  const lower = { ...tip(3n), eth_getBlockByNumber: () => systemClock.sleep(50).then(() => null) };
  const clients = [await clientOf({ instead: tip(7n) }), await clientOf({ instead: lower })];
  const quote = await createFeeQuoteReader(
    clients.map(({ client }) => client),
    systemClock,
  )();
  expect(quote.priorityFeePerGas).toBe(3n);
  expect(quote.baseFeesPerGas).toHaveLength(2);
});

it("reads fees once however long it takes, and counts their age from arrival", async () => {
  let nowMs = 0;
  let arrive: () => void = () => undefined;
  const arrival = new Promise<null>((resolve) => {
    arrive = () => resolve(null);
  });
  const { client, reads } = await clientOf({ instead: { eth_getBlockByNumber: () => arrival } });
  const quotes = createFeeQuoteReader([client], { ...systemClock, nowMs: () => nowMs });
  const first = quotes();
  nowMs += 5_000;
  const second = quotes();
  arrive();
  expect(await second).toEqual(await first);
  nowMs += 900;
  await quotes();
  expect(reads()).toBe(1);
  nowMs += 200;
  await quotes();
  expect(reads()).toBe(2);
});

it("fails if no node responds, and reads the fees again", async () => {
  const faults = { before: ["eth_getBlockByNumber"] };
  const clients = [(await clientOf(faults)).client, (await clientOf(faults)).client];
  const quotes = createFeeQuoteReader(clients, systemClock);
  await expect(quotes()).rejects.toThrow("eth_getBlockByNumber");
  faults.before.pop();
  expect((await quotes()).baseFeesPerGas).toHaveLength(2);
});
