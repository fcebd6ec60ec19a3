// The bloom, held against the blooms that a real EVM writes.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { EMITTERS, type LogChain, startLogChain } from "../../../tests/support/chain/log-chain.ts";
import { createTestRpc } from "../../../tests/support/nodes/test-rpc.ts";
import type { Hex } from "../../lib/hex.ts";
import { readHeaders } from "../headers.ts";
import { bloomMayContain, estimateBloomFalsePositiveRate } from "./filter.ts";

let logs: LogChain;
beforeAll(async () => {
  logs = await startLogChain({ blocks: 20, seed: 4 });
});
afterAll(() => logs.chain.stop());

describe("the logs bloom", () => {
  it("knows every address and topic of its block", async () => {
    const { rpc } = createTestRpc([logs.chain.rpcUrl]);
    const headers = await readHeaders(
      rpc,
      Array.from({ length: 21 }, (_, i) => i),
    );
    const all = (await logs.chain.request("eth_getLogs", [{ fromBlock: "0x0", toBlock: "latest" }])) as {
      address: Hex;
      topics: Hex[];
      blockNumber: Hex;
    }[];
    expect(all.length).toBeGreaterThan(10);
    for (const log of all) {
      const bloom = headers[Number(log.blockNumber)]?.logsBloom as Hex;
      for (const value of [log.address, ...log.topics]) expect(bloomMayContain(bloom, value)).toBe(true);
    }
    const withLogs = new Set(all.map((log) => Number(log.blockNumber)));
    const empty = headers.filter(({ number }) => !withLogs.has(number));
    expect(empty.length).toBeGreaterThan(0);
    for (const { logsBloom } of empty)
      for (const address of EMITTERS) expect(bloomMayContain(logsBloom, address)).toBe(false);
  });

  it("shows how little a full one proves", () => {
    expect(estimateBloomFalsePositiveRate(`0x${"0".repeat(512)}`)).toBe(0);
    expect(estimateBloomFalsePositiveRate(`0x${"f".repeat(512)}`)).toBe(1);
    expect(estimateBloomFalsePositiveRate(`0x${"3".repeat(512)}`)).toBeCloseTo(1 / 64);
  });
});
