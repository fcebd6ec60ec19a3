// Transactions and contract calls from a real chain.

import { type LocalChain, startLocalChain } from "@sextant/local-chain/local-chain";
import { EMITTER, EMITTER_CODE, emitLog, encodeTopic } from "@sextant/local-chain/testing/log-emitter";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { type FaultyNode, planFaults, startFaultyNode } from "../../tests/support/nodes/faulty-node.ts";
import type { NodeFaultInjection } from "../../tests/support/nodes/node-faults.ts";
import { createTestRpc } from "../../tests/support/nodes/test-rpc.ts";
import type { Hex } from "../lib/hex.ts";
import { callContracts } from "./contract-calls.ts";
import { readHeader } from "./headers.ts";
import { readTransactions } from "./transactions.ts";

/** Returns the block number: NUMBER, MSTORE, RETURN. */
const CLOCK: Hex = "0x00000000000000000000000000000000000c10c0";
/** Reverts with the first word of the calldata. */
const REVERTER: Hex = "0x000000000000000000000000000000000005a1d0";

let chain: LocalChain;
const nodes: FaultyNode[] = [];
beforeAll(async () => {
  const code = {
    [EMITTER]: EMITTER_CODE,
    [CLOCK]: "0x4360005260206000f3",
    [REVERTER]: "0x60003560005260206000fd",
  } as const;
  chain = await startLocalChain({ chainId: 31337, code });
});
afterAll(() => chain.stop());
afterEach(async () => {
  await Promise.all(nodes.splice(0).map((node) => node.stop()));
});
async function through(...injections: (NodeFaultInjection | null)[]) {
  const node = await startFaultyNode({ upstream: chain.rpcUrl, plan: planFaults(injections) });
  nodes.push(node);
  return createTestRpc([node.url]).rpc;
}

describe("transactions", () => {
  it("reads transactions by hash with their calldata and block", async () => {
    const hashes = [await emitLog(chain, 1), await emitLog(chain, 2)];
    const rpc = await through({ kind: "reversed" });
    const found = await readTransactions(rpc, [...hashes, hashes[0] as Hex]);
    const head = await readHeader(rpc, "latest");
    expect([...found.keys()]).toEqual(hashes);
    expect(found.get(hashes[1] as Hex)).toEqual({
      from: chain.accounts.agent.address.toLowerCase(),
      to: EMITTER,
      input: encodeTopic(2),
      blockHash: head.hash,
      blockNumber: head.number,
    });
  });

  it("requests wrong transactions again, and reports one that no node has as missing", async () => {
    const hash = await emitLog(chain, 3);
    const rpc = await through({ kind: "null-result" }, { kind: "garbage" });
    expect((await readTransactions(rpc, [hash])).get(hash)?.input).toBe(encodeTopic(3));
    await expect(readTransactions(rpc, [`0x${"12".repeat(32)}`])).rejects.toMatchObject({
      code: "BLOCK_MISSING",
    });
  });
});

describe("contract calls", () => {
  it("returns call results in order, at their block, with reverts as values", async () => {
    await chain.mine(3);
    const rpc = await through({ kind: "reversed" });
    const block = await readHeader(rpc, 1);
    const word = encodeTopic(7);
    expect(
      await callContracts(rpc, [
        { to: CLOCK, data: "0x", block: 2 },
        { to: REVERTER, data: word, block: 2 },
        { to: CLOCK, data: "0x", block: { blockHash: block.hash } },
        { to: `0x${"5e".repeat(20)}`, data: "0x", block: 2 },
      ]),
    ).toEqual([{ ok: encodeTopic(2) }, { reverted: word }, { ok: encodeTopic(1) }, { ok: "0x" }]);
  });

  it("fails a call at a missing block, instead of reporting a revert", async () => {
    const rpc = await through();
    const failed = callContracts(rpc, [{ to: CLOCK, data: "0x", block: 99_999 }]);
    await expect(failed).rejects.toMatchObject({ code: "BLOCK_MISSING" });
  });
});
