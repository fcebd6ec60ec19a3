// The portfolio's view of a real chain: one block, whatever happens to the chain, and nodes of every manner.

import { plainTokenAbi, plainTokenBytecode } from "@sextant/contracts/generated/plain-token";
import { HOSTILE_CODE, numberedAddress, returningCode } from "@sextant/contracts/test/hostile-token-code";
import { encodeDeployData, encodeFunctionData, getContractAddress, type Hex, numberToHex } from "viem";
import { describe, expect, it } from "vitest";
import type { NodeFaultInjection, NodeRpcCall } from "../../tests/support/nodes/node-faults.ts";
import { createTestRpc } from "../../tests/support/nodes/test-rpc.ts";
import {
  localChainConfig,
  rejectStateOverrides,
  startPortfolioStage,
} from "../../tests/support/portfolio/portfolio-stage.ts";
import { createOverrideCaller } from "../chain/state-override.ts";
import { systemClock } from "../lib/clock.ts";
import { createChainAccess } from "./chain-access.ts";
import { rpcHoldingsProvider } from "./providers/rpc/provider.ts";

const ANSWERING = numberedAddress(0xa1);
const REVERTING = numberedAddress(0xa2);
const LOOP = numberedAddress(0xa3);
const BOMB = numberedAddress(0xa4);
/** Answers with the block number. */
const CLOCK = numberedAddress(0xa5);
const CLOCK_CODE: Hex = "0x435f5260205ff3";

const stage = await startPortfolioStage({
  [ANSWERING]: returningCode(7n),
  [REVERTING]: HOSTILE_CODE.reverting,
  [LOOP]: HOSTILE_CODE.loop,
  [BOMB]: HOSTILE_CODE.bomb,
  [CLOCK]: CLOCK_CODE,
});
const { chain, wallet } = stage;
const owner = chain.accounts.owner.address;
const signal = AbortSignal.timeout(300_000);
const word = (value: number | bigint) => numberToHex(value, { size: 32 });
const balanceOf = encodeFunctionData({ abi: plainTokenAbi, functionName: "balanceOf", args: [wallet] });

async function send(transaction: object): Promise<void> {
  await chain.request("eth_sendTransaction", [{ from: owner, gas: numberToHex(3_000_000), ...transaction }]);
}

async function deployToken(): Promise<Hex> {
  const nonce = BigInt((await chain.request("eth_getTransactionCount", [owner, "latest"])) as Hex);
  await send({
    data: encodeDeployData({ abi: plainTokenAbi, bytecode: plainTokenBytecode, args: ["Plain", "PLN", 6] }),
  });
  return getContractAddress({ from: owner, nonce }).toLowerCase() as Hex;
}

const mint = (token: Hex, amount: bigint) =>
  send({
    to: token,
    data: encodeFunctionData({ abi: plainTokenAbi, functionName: "mint", args: [wallet, amount] }),
  });

async function pinned(
  plan?: (calls: readonly NodeRpcCall[]) => NodeFaultInjection | null,
  tokens: readonly Hex[] = [],
) {
  const node = await stage.node(plan);
  return { node, at: await stage.port(node, tokens).pin(signal) };
}

describe("reads", () => {
  it("come in order, in one request, with null for what a contract does not answer", async () => {
    const { node, at } = await pinned();
    const before = node.requests.length;
    const data = balanceOf;
    const to = [ANSWERING, REVERTING, CLOCK, LOOP, numberedAddress(0xdead)];
    const read = await at.read(
      to.map((address) => ({ to: address, data, gasMax: 100_000 })),
      signal,
    );
    expect(read).toEqual([word(7), null, word(at.block.number), null, "0x"]);
    expect(node.requests).toHaveLength(before + 1);
    expect(await at.read([], signal)).toEqual([]);
    expect(node.requests).toHaveLength(before + 1);
  });

  it("lose only the contract whose answer is larger than we read", async () => {
    const node = await stage.node();
    const { rpc } = createTestRpc([node.url], { limits: { responseBytesMax: 200_000 } });
    const at = await createChainAccess(rpc, localChainConfig([])).pin(signal);
    const calls = [ANSWERING, BOMB, ANSWERING].map((to) => ({ to, data: balanceOf }));
    expect(await at.read(calls, signal)).toEqual([word(7), null, word(7)]);
  });

  it("are limited in gas also where the caller does not say so", async () => {
    const { node, at } = await pinned();
    await at.read([{ to: ANSWERING, data: "0x" }], signal);
    expect(node.requests.at(-1)?.[0]?.params).toEqual([
      { to: ANSWERING, data: "0x", gas: numberToHex(10_000_000) },
      { blockHash: at.block.hash },
    ]);
  });

  it("reject with a Fault when the node fails", async () => {
    const { at } = await pinned((calls) =>
      calls.some(({ method }) => method === "eth_call") ? { kind: "status", status: 502 } : null,
    );
    await expect(at.read([{ to: ANSWERING, data: "0x" }], signal)).rejects.toMatchObject({
      code: "NODE_UNAVAILABLE",
    });
  });
});

describe("lent code", () => {
  const call = { code: CLOCK_CODE, data: "0x" } as const;

  it("runs at the pinned block, by its hash", async () => {
    const { node, at } = await pinned();
    await chain.mine(2);
    expect(await at.callWithOverride(call, signal)).toBe(word(at.block.number));
    expect(node.requests.at(-1)?.[0]?.params[1]).toEqual({ blockHash: at.block.hash });
  });

  it("runs by the number of the block where a node wants that, and looks whether it is still the block", async () => {
    const byNumberOnly = (calls: readonly NodeRpcCall[]): NodeFaultInjection | null =>
      calls.some(({ params }) => params.length > 2 && typeof params[1] === "object")
        ? { kind: "error", code: -32602, message: "invalid argument 1: hex string expected" }
        : null;
    const { at } = await pinned(byNumberOnly);
    await chain.mine(2);
    expect(await at.callWithOverride(call, signal)).toBe(word(at.block.number));
    await chain.reorg(3);
    await expect(at.callWithOverride(call, signal)).rejects.toMatchObject({ code: "BLOCK_MISSING" });
  });

  it("is not lent by nodes that refuse it or do not notice it", async () => {
    expect(await (await pinned(rejectStateOverrides)).at.callWithOverride(call, signal)).toBeNull();
    const { at } = await pinned();
    // No code at all is what a node that ignores the third parameter calls.
    expect(await at.callWithOverride({ code: "0x", data: "0x" }, signal)).toBeNull();
  });

  it("is asked for again, after a while, of a node that refused it", async () => {
    let refuses = true;
    const { node, at } = await pinned((calls) => (refuses ? rejectStateOverrides(calls) : null));
    let nowMs = 0;
    const lending = createOverrideCaller(createTestRpc([node.url]).rpc, {
      ...systemClock,
      nowMs: () => nowMs,
    });
    expect(await lending.callWithOverride(at.block, call, signal)).toBeNull();
    refuses = false;
    expect(await lending.callWithOverride(at.block, call, signal)).toBeNull();
    nowMs += 10 * 60_000;
    expect(await lending.callWithOverride(at.block, call, signal)).toBe(word(at.block.number));
  });

  it("is not lent for a call that is too large for a gateway", async () => {
    const { at } = await pinned((calls) =>
      calls.some(({ params }) => params.length > 2) ? { kind: "status", status: 413 } : null,
    );
    expect(await at.callWithOverride(call, signal)).toBeNull();
  });

  it("that reverts or runs out of gas gives nothing, and other code is lent again", async () => {
    const { at } = await pinned();
    expect(await at.callWithOverride({ code: "0x5f5ffd", data: "0x" }, signal)).toBeNull();
    expect(
      await at.callWithOverride({ code: HOSTILE_CODE.loop, data: "0x", gasMax: 100_000 }, signal),
    ).toBeNull();
    expect(await at.callWithOverride(call, signal)).toBe(word(at.block.number));
  });
});

describe("the pinned block", () => {
  it("is what everything is read at, although new blocks come", async () => {
    const token = await deployToken();
    await mint(token, 5n);
    for (const plan of [undefined, rejectStateOverrides]) {
      const { at } = await pinned(plan, [token]);
      const before = await rpcHoldingsProvider.read({ at, wallet }, signal);
      await mint(token, 100n);
      await send({ to: wallet, value: numberToHex(1_000) });
      const after = await rpcHoldingsProvider.read({ at, wallet }, signal);
      expect(after).toEqual(before);
      expect(after.holdings.map(({ contract }) => contract)).toContain(token);
    }
  });

  it("that a reorg took away gives a Fault that may be tried again, and never another block's balances", async () => {
    const token = await deployToken();
    await chain.mine(2);
    await mint(token, 5n);
    for (const plan of [undefined, rejectStateOverrides]) {
      const { at } = await pinned(plan, [token]);
      await chain.reorg(1);
      const outcome = rpcHoldingsProvider.read({ at, wallet }, signal);
      await expect(outcome).rejects.toMatchObject({ code: "BLOCK_MISSING", retry: true });
      await expect(
        at.transfers({ wallet, side: "to", fromBlock: 0, toBlock: at.block.number }, signal),
      ).rejects.toMatchObject({ code: "BLOCK_MISSING" });
    }
  });
});

describe("transfers", () => {
  const question = async () => {
    const { at, node } = await pinned();
    return { at, node, all: { wallet, side: "to", fromBlock: 0, toBlock: at.block.number } as const };
  };

  it("are those of one side within the range", async () => {
    const token = await deployToken();
    await mint(token, 5n);
    const { at, all } = await question();
    const [last] = (await at.transfers(all, signal)).slice(-1);
    expect(last).toMatchObject({
      contract: token,
      from: numberedAddress(0),
      to: wallet,
      blockNumber: at.block.number,
      isErc721: false,
    });
    expect(await at.transfers({ ...all, toBlock: at.block.number - 1 }, signal)).not.toContainEqual(last);
    expect(await at.transfers({ ...all, side: "from" }, signal)).not.toContainEqual(last);
  });

  it("are not asked for above the pinned block", async () => {
    const { at, all } = await question();
    await expect(at.transfers({ ...all, toBlock: at.block.number + 1 }, signal)).rejects.toMatchObject({
      code: "INTERNAL",
    });
    await expect(at.timestamps([at.block.number + 1], signal)).rejects.toMatchObject({ code: "INTERNAL" });
  });

  it("want a smaller range where the node says so", async () => {
    const message = "query returned more than 10000 results";
    const { at } = await pinned((calls) =>
      calls.some(({ method }) => method === "eth_getLogs")
        ? { kind: "member-error", code: -32005, message }
        : null,
    );
    const all = { wallet, side: "to", fromBlock: 0, toBlock: at.block.number } as const;
    await expect(at.transfers(all, signal)).rejects.toMatchObject({ code: "LOGS_TOO_LARGE" });
  });

  it("with the times of their blocks, in one request", async () => {
    // Blocks that follow one another quickly may share their second.
    await chain.increaseTime(60n);
    await chain.mine();
    const { at, node } = await question();
    const first = (await chain.request("eth_getBlockByNumber", ["0x0", false])) as { timestamp: string };
    const times = await at.timestamps([at.block.number, 0, at.block.number], signal);
    expect(times).toEqual([at.block.timestamp, Number(first.timestamp), at.block.timestamp]);
    expect(at.block.timestamp).toBeGreaterThan(Number(first.timestamp));
    expect(node.requests.at(-1)).toHaveLength(2);
  });
});
