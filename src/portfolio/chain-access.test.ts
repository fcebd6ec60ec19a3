// Pinned reads of a real chain: one block, whatever happens to the chain, over nodes with different abilities.

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
import { createOverrideCaller } from "../chain/contract-calls.ts";
import { systemClock } from "../lib/clock.ts";
import { createChainAccess } from "./chain-access.ts";
import { rpcHoldingsProvider } from "./providers/rpc/provider.ts";

const RETURNING = numberedAddress(0xa1);
const REVERTING = numberedAddress(0xa2);
const LOOP = numberedAddress(0xa3);
const BOMB = numberedAddress(0xa4);
/** Returns the block number. */
const CLOCK = numberedAddress(0xa5);
const CLOCK_CODE: Hex = "0x435f5260205ff3";

const stage = await startPortfolioStage({
  [RETURNING]: returningCode(7n),
  [REVERTING]: HOSTILE_CODE.reverting,
  [LOOP]: HOSTILE_CODE.loop,
  [BOMB]: HOSTILE_CODE.bomb,
  [CLOCK]: CLOCK_CODE,
});
const { chain, wallet } = stage;
const owner = chain.accounts.owner.address;
const { signal } = new AbortController();
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
  it("reads calls in order, in one request, with null for a call that fails", async () => {
    const { node, at } = await pinned();
    const before = node.requests.length;
    const data = balanceOf;
    const to = [RETURNING, REVERTING, CLOCK, LOOP, numberedAddress(0xdead)];
    const read = await at.read(
      to.map((address) => ({ to: address, data, gasMax: 100_000 })),
      signal,
    );
    expect(read).toEqual([word(7), null, word(at.block.number), null, "0x"]);
    expect(node.requests).toHaveLength(before + 1);
    expect(await at.read([], signal)).toEqual([]);
    expect(node.requests).toHaveLength(before + 1);
  });

  it("loses only the contract whose result exceeds the size limit", async () => {
    const node = await stage.node();
    const { rpc } = createTestRpc([node.url], { limits: { responseBytesMax: 200_000 } });
    const at = await createChainAccess(rpc, localChainConfig([])).pin(signal);
    const calls = [RETURNING, BOMB, RETURNING].map((to) => ({ to, data: balanceOf }));
    expect(await at.read(calls, signal)).toEqual([word(7), null, word(7)]);
  });

  it("sets a gas limit on a read when the caller sets none", async () => {
    const { node, at } = await pinned();
    await at.read([{ to: RETURNING, data: "0x" }], signal);
    expect(node.requests.at(-1)?.[0]?.params).toEqual([
      { to: RETURNING, data: "0x", gas: numberToHex(10_000_000) },
      { blockHash: at.block.hash },
    ]);
  });

  it("rejects a read with a Fault when the node fails", async () => {
    const { at } = await pinned((calls) =>
      calls.some(({ method }) => method === "eth_call") ? { kind: "status", status: 502 } : null,
    );
    await expect(at.read([{ to: RETURNING, data: "0x" }], signal)).rejects.toMatchObject({
      code: "NODE_UNAVAILABLE",
    });
  });
});

describe("state overrides", () => {
  const call = { code: CLOCK_CODE, data: "0x" } as const;

  it("calls with a state override at the pinned block, by its hash", async () => {
    const { node, at } = await pinned();
    await chain.mine(2);
    expect(await at.callWithOverride(call, signal)).toBe(word(at.block.number));
    expect(node.requests.at(-1)?.[0]?.params[1]).toEqual({ blockHash: at.block.hash });
  });

  it("overrides state by block number if the node requires it, and checks that the block is canonical", async () => {
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

  it("a small call travels with the reads of the moment, and a large one by itself", async () => {
    const { node, at } = await pinned();
    const read = () => at.read([{ to: RETURNING, data: balanceOf }], signal);
    const countRequests = async (isSmall: boolean) => {
      const before = node.requests.length;
      const results = await Promise.all([at.callWithOverride({ ...call, isSmall }, signal), read()]);
      return { results, requests: node.requests.length - before };
    };
    const results = [word(at.block.number), [word(7)]];
    // The first call also learns that the node places code.
    await at.callWithOverride(call, signal);
    expect(await countRequests(true)).toEqual({ results, requests: 1 });
    expect(await countRequests(false)).toEqual({ results, requests: 2 });
  });

  it("runs code as an account, and calls from the account without code, in one request", async () => {
    const { node, at } = await pinned();
    const account: Hex = `0x${"7a".repeat(20)}`;
    const plainCalls = [
      { to: RETURNING, data: "0x" },
      { to: REVERTING, data: "0x" },
    ] as const;
    const sent = node.requests.length;
    const results = await at.callAsAccount({ ...call, account, plainCalls }, signal);
    expect(results).toEqual({
      returnData: word(at.block.number),
      plainResults: [{ ok: expect.any(String) }, { reverted: expect.anything() }],
    });
    expect(node.requests.length).toBe(sent + 1);
    const block = { blockHash: at.block.hash };
    expect(node.requests.at(-1)?.map(({ params }) => params)).toEqual([
      [expect.objectContaining({ from: account, to: account }), block, { [account]: { code: CLOCK_CODE } }],
      [{ from: account, to: RETURNING, data: "0x" }, block],
      [{ from: account, to: REVERTING, data: "0x" }, block],
    ]);
    expect(
      await (await pinned(rejectStateOverrides)).at.callAsAccount({ ...call, account, plainCalls }, signal),
    ).toBeNull();
  });

  it("returns null when the node rejects or ignores a state override", async () => {
    expect(await (await pinned(rejectStateOverrides)).at.callWithOverride(call, signal)).toBeNull();
    const { at } = await pinned();
    // Without code: what a node that ignores the third parameter executes.
    expect(await at.callWithOverride({ code: "0x", data: "0x" }, signal)).toBeNull();
  });

  it("tries state overrides again after ten minutes on a node that rejected them", async () => {
    let rejects = true;
    const { node, at } = await pinned((calls) => (rejects ? rejectStateOverrides(calls) : null));
    let nowMs = 0;
    const overrides = createOverrideCaller(createTestRpc([node.url]).rpc, {
      ...systemClock,
      nowMs: () => nowMs,
    });
    expect(await overrides.callWithOverride(at.block, call, signal)).toBeNull();
    rejects = false;
    expect(await overrides.callWithOverride(at.block, call, signal)).toBeNull();
    nowMs += 10 * 60_000;
    expect(await overrides.callWithOverride(at.block, call, signal)).toBe(word(at.block.number));
  });

  it("returns null when a gateway rejects a state override as too large", async () => {
    const { at } = await pinned((calls) =>
      calls.some(({ params }) => params.length > 2) ? { kind: "status", status: 413 } : null,
    );
    expect(await at.callWithOverride(call, signal)).toBeNull();
  });

  it("returns null for an override that reverts or runs out of gas, and keeps overrides enabled", async () => {
    const { at } = await pinned();
    expect(await at.callWithOverride({ code: "0x5f5ffd", data: "0x" }, signal)).toBeNull();
    expect(
      await at.callWithOverride({ code: HOSTILE_CODE.loop, data: "0x", gasMax: 100_000 }, signal),
    ).toBeNull();
    expect(await at.callWithOverride(call, signal)).toBe(word(at.block.number));
  });
});

describe("the pinned block", () => {
  it("serves all reads from the pinned block although new blocks arrive", async () => {
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

  it("rejects with a retryable Fault after a reorg, never with another block's balances", async () => {
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

describe("an earlier state", () => {
  const SECONDS = 10;
  /** With a fifth more, in case that blocks come faster than on average. */
  const blocksBack = Math.ceil((SECONDS * 1_200) / localChainConfig([]).blockTimeMs);
  const call = { to: CLOCK, data: "0x" } as const;

  it("reads an earlier state from a block at least as old as requested", async () => {
    await chain.increaseTime(BigInt(SECONDS));
    await chain.mine(blocksBack);
    const { at } = await pinned();
    const results = await at.readEarlier?.(SECONDS, [call, { ...call, to: REVERTING }], signal);
    expect(results).toEqual([word(at.block.number - blocksBack), null]);
  });

  it("returns no earlier state if the block is too young, or older than the chain", async () => {
    await chain.mine(blocksBack + 1);
    const { at } = await pinned();
    expect(await at.readEarlier?.(SECONDS, [call], signal)).toBeNull();
    expect(await at.readEarlier?.(10 ** 9, [call], signal)).toBeNull();
  });

  it.each(["missing trie node 1234 (path ) state is not available", "header not found"])(
    "returns no earlier state if the node says: %s",
    async (message) => {
      await chain.increaseTime(BigInt(SECONDS));
      await chain.mine(blocksBack);
      const { at } = await pinned((calls) =>
        calls.some(({ method, params }) => method === "eth_call" && typeof params[1] === "string")
          ? { kind: "member-error", code: -32000, message }
          : null,
      );
      expect(await at.readEarlier?.(SECONDS, [call], signal)).toBeNull();
    },
  );

  it("rejects the read of an earlier state when the caller aborts", async () => {
    const { at } = await pinned();
    const reason = new Error("enough");
    await expect(at.readEarlier?.(0, [call], AbortSignal.abort(reason))).rejects.toBe(reason);
  });
});

describe("transfers", () => {
  const pinWithFilter = async () => {
    const { at, node } = await pinned();
    return { at, node, all: { wallet, side: "to", fromBlock: 0, toBlock: at.block.number } as const };
  };

  it("filters transfers by side, contract and range", async () => {
    const token = await deployToken();
    await mint(token, 5n);
    const { at, all } = await pinWithFilter();
    const [last] = (await at.transfers(all, signal)).slice(-1);
    expect(last).toMatchObject({
      contract: token,
      from: numberedAddress(0),
      to: wallet,
      blockNumber: at.block.number,
      amount: 5n,
      isErc721: false,
      tokenId: null,
    });
    expect(await at.transfers({ ...all, contract: token }, signal)).toEqual([last]);
    expect(await at.transfers({ ...all, contract: numberedAddress(9) }, signal)).toEqual([]);
    expect(await at.transfers({ ...all, toBlock: at.block.number - 1 }, signal)).not.toContainEqual(last);
    expect(await at.transfers({ ...all, side: "from" }, signal)).not.toContainEqual(last);
  });

  it("searches both sides in one request, with the header that proves the range once", async () => {
    const token = await deployToken();
    await mint(token, 5n);
    const { at, node, all } = await pinWithFilter();
    const before = node.requests.length;
    const [received, sent] = await Promise.all([
      at.transfers({ ...all, contract: token }, signal),
      at.transfers({ ...all, contract: token, side: "from" }, signal),
    ]);
    expect([received.length, sent.length]).toEqual([1, 0]);
    expect(node.requests.slice(before).map((calls) => calls.map(({ method }) => method))).toEqual([
      ["eth_getLogs", "eth_getBlockByNumber", "eth_getLogs"],
    ]);
  });

  it("reads the hash of a block in the request of the logs that are read at the same time", async () => {
    const { node, at } = await pinned();
    const number = at.block.number - 1;
    const before = node.requests.length;
    const filter = { wallet, fromBlock: 0, toBlock: at.block.number } as const;
    const [hash] = await Promise.all([
      at.blockHash?.(number, signal),
      at.transfers({ ...filter, side: "from" }, signal),
      at.transfers({ ...filter, side: "to" }, signal),
    ]);
    const block = (await chain.request("eth_getBlockByNumber", [numberToHex(number), false])) as {
      hash: Hex;
    };
    expect(hash).toBe(block.hash);
    expect(node.requests.length - before).toBe(1);
  });

  it("searches the other side alone if the node fails for one of two", async () => {
    const topic = wallet.slice(2);
    const { at } = await pinned((calls) =>
      calls.some(({ method, params }) => {
        const { topics = [] } = (params[0] ?? {}) as { readonly topics?: readonly unknown[] };
        return method === "eth_getLogs" && String(topics[1]).includes(topic);
      })
        ? { kind: "status", status: 500 }
        : null,
    );
    const all = { wallet, fromBlock: 0, toBlock: at.block.number } as const;
    const [received, sent] = await Promise.allSettled([
      at.transfers({ ...all, side: "to" }, signal),
      at.transfers({ ...all, side: "from" }, signal),
    ]);
    expect([received.status, sent.status]).toEqual(["fulfilled", "rejected"]);
  });

  it("rejects transfers and timestamps above the pinned block", async () => {
    const { at, all } = await pinWithFilter();
    await expect(at.transfers({ ...all, toBlock: at.block.number + 1 }, signal)).rejects.toMatchObject({
      code: "INTERNAL",
    });
    await expect(at.timestamps([at.block.number + 1], signal)).rejects.toMatchObject({ code: "INTERNAL" });
  });

  it("rejects transfers with LOGS_TOO_LARGE when the node wants a smaller range", async () => {
    const message = "query returned more than 10000 results";
    const { at } = await pinned((calls) =>
      calls.some(({ method }) => method === "eth_getLogs")
        ? { kind: "member-error", code: -32005, message }
        : null,
    );
    const all = { wallet, side: "to", fromBlock: 0, toBlock: at.block.number } as const;
    await expect(at.transfers(all, signal)).rejects.toMatchObject({ code: "LOGS_TOO_LARGE" });
  });

  it("reads the senders of transactions in one request, without one that no node has", async () => {
    const token = await deployToken();
    await mint(token, 5n);
    const { at, node, all } = await pinWithFilter();
    const hashes = (await at.transfers(all, signal)).slice(-1).map(({ transactionHash }) => transactionHash);
    const before = node.requests.length;
    const senders = await at.senders([...hashes, ...hashes], signal);
    expect([...senders]).toEqual([[hashes[0], chain.accounts.owner.address.toLowerCase()]]);
    expect(node.requests.length).toBe(before + 1);
    expect(await at.senders([], signal)).toEqual(new Map());
    const unknown: Hex = `0x${"ab".repeat(32)}`;
    expect([...(await at.senders([...hashes, unknown], signal)).keys()]).toEqual(hashes);
  });

  it("reads the timestamps of several blocks in one request", async () => {
    // Blocks mined in quick succession may share a timestamp.
    await chain.increaseTime(60n);
    await chain.mine();
    const { at, node } = await pinWithFilter();
    const first = (await chain.request("eth_getBlockByNumber", ["0x0", false])) as { timestamp: string };
    const times = await at.timestamps([at.block.number, 0, at.block.number], signal);
    expect(times).toEqual(
      new Map([
        [at.block.number, at.block.timestamp],
        [0, Number(first.timestamp)],
      ]),
    );
    expect(at.block.timestamp).toBeGreaterThan(Number(first.timestamp));
    expect(node.requests.at(-1)).toHaveLength(2);
  });
});
