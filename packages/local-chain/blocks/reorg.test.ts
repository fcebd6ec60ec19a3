// Reorgs: what leaves the chain, what comes back, and what neither side may notice.
import { setTimeout as pause } from "node:timers/promises";
import { createWalletClient, type Hex, http, type RpcTransactionReceipt } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { describe, expect, it, vi } from "vitest";
import { localAccount } from "../accounts.ts";
import type { LocalChain } from "../local-chain.ts";
import {
  EMITTER,
  EMITTER_CODE,
  emitLog,
  encodeTopic,
  PATIENT_POLL,
  readAllLogs,
  readEmittedValues,
  readHeadNumber,
  readRpcBlock,
  startTestChain,
} from "../testing/log-emitter.ts";

const receiptOf = async (chain: LocalChain, hash: Hex) =>
  (await chain.request("eth_getTransactionReceipt", [hash])) as RpcTransactionReceipt | null;
const balanceOf = async (chain: LocalChain, address: string) =>
  BigInt((await chain.request("eth_getBalance", [address, "latest"])) as string);

describe("a reorg", () => {
  it.each([1, 2, 5])("replaces exactly the last %i blocks in a reorg that keeps nothing", async (depth) => {
    const chain = await startTestChain();
    for (let value = 1; value <= 6; value += 1) await emitLog(chain, value);
    const before = await Promise.all([1, 2, 3, 4, 5, 6].map((number) => readRpcBlock(chain, BigInt(number))));
    const reorg = await chain.reorg(depth);
    const after = await Promise.all([1, 2, 3, 4, 5, 6].map((number) => readRpcBlock(chain, BigInt(number))));
    const survivors = 6 - depth;
    expect(after.slice(0, survivors)).toEqual(before.slice(0, survivors));
    for (let index = survivors; index < 6; index += 1)
      expect(after[index]?.hash).not.toBe(before[index]?.hash);
    expect(await readEmittedValues(chain)).toEqual([1, 2, 3, 4, 5, 6].slice(0, survivors));
    expect(reorg.removed.map(({ hash }) => hash)).toEqual(before.slice(survivors).map((block) => block.hash));
    expect(reorg.added.map(({ hash }) => hash)).toEqual(after.slice(survivors).map((block) => block.hash));
    expect(reorg.parent.number).toBe(BigInt(survivors));
    expect(reorg.dropped).toHaveLength(depth);
    expect(await chain.request("eth_getBlockByHash", [before[5]?.hash, false])).toBeNull();
  });

  it("replays all transactions into other blocks", async () => {
    const chain = await startTestChain();
    const hashes = [await emitLog(chain, 1), await emitLog(chain, 2), await emitLog(chain, 3)];
    const before = await Promise.all(hashes.map((hash) => receiptOf(chain, hash)));
    const reorg = await chain.reorg(2, { replay: "all" });
    const after = await Promise.all(hashes.map((hash) => receiptOf(chain, hash)));
    expect(reorg.replayed).toEqual(hashes.slice(1));
    expect(reorg.dropped).toEqual([]);
    expect(after[0]).toEqual(before[0]);
    expect(after.map((receipt) => Number(receipt?.blockNumber))).toEqual([1, 2, 2]);
    expect(after[2]?.blockHash).not.toBe(before[2]?.blockHash);
    expect((await readAllLogs(chain)).map((log) => [Number(log.topics[0]), Number(log.logIndex)])).toEqual([
      [1, 0],
      [2, 0],
      [3, 1],
    ]);
  });

  it("drops transactions that are not replayed, and later nonces of their sender wait", async () => {
    const chain = await startTestChain();
    const { agent, solver } = chain.accounts;
    await emitLog(chain, 1, agent.address);
    await emitLog(chain, 2, solver.address);
    await emitLog(chain, 3, solver.address);
    const reorg = await chain.reorg(3, { replay: (transaction) => transaction.input !== encodeTopic(2) });
    expect(await readEmittedValues(chain)).toEqual([1]);
    expect(reorg.dropped).toHaveLength(1);
    await chain.request("eth_sendTransaction", [
      { from: solver.address, to: EMITTER, data: encodeTopic(4), gas: "0xc350", nonce: "0x0" },
    ]);
    expect(await readEmittedValues(chain)).toEqual([1, 4, 3]);
  });

  it("replays signed transactions of every common type", async () => {
    const chain = await startTestChain();
    const account = privateKeyToAccount(chain.accounts.payer.privateKey);
    const wallet = createWalletClient({ account, transport: http(chain.rpcUrl) });
    const common = { chain: null, to: EMITTER, data: encodeTopic(9), gas: 60_000n } as const;
    const delegate = createWalletClient({
      account: privateKeyToAccount(chain.accounts.guardian.privateKey),
      transport: http(chain.rpcUrl),
    });
    const authorization = await delegate.signAuthorization({
      contractAddress: EMITTER,
      chainId: 31337,
      nonce: 0,
    });
    const hashes = [
      await wallet.sendTransaction({ ...common, type: "legacy", gasPrice: 2n }),
      await wallet.sendTransaction({
        ...common,
        type: "eip2930",
        gasPrice: 2n,
        accessList: [{ address: EMITTER, storageKeys: [] }],
      }),
      await wallet.sendTransaction({
        ...common,
        type: "eip1559",
        maxFeePerGas: 2n,
        maxPriorityFeePerGas: 1n,
      }),
      await wallet.sendTransaction({
        ...common,
        type: "eip7702",
        authorizationList: [authorization],
        maxFeePerGas: 2n,
        maxPriorityFeePerGas: 1n,
      }),
      await wallet.sendTransaction({
        chain: null,
        data: "0x600a600c600039600a6000f3602a60005260206000f3",
        gas: 100_000n,
      }),
    ];
    const { contractAddress } = (await receiptOf(chain, hashes[4] ?? "0x")) ?? {};
    const reorg = await chain.reorg(5, { replay: "all" });
    expect(reorg.replayed).toEqual(hashes);
    for (const hash of hashes) expect((await receiptOf(chain, hash))?.status).toBe("0x1");
    expect((await receiptOf(chain, hashes[4] ?? "0x"))?.contractAddress).toBe(contractAddress);
  });

  it("rolls balances and nonces back", async () => {
    const chain = await startTestChain();
    const to = localAccount(500).address;
    const from = chain.accounts.payer.address;
    await chain.request("eth_sendTransaction", [{ from, to, value: "0x64" }]);
    await chain.request("eth_sendTransaction", [{ from, to, value: "0x1" }]);
    expect(await balanceOf(chain, to)).toBe(101n);
    await chain.reorg(1);
    expect(await balanceOf(chain, to)).toBe(100n);
    expect(await chain.request("eth_getTransactionCount", [from, "latest"])).toBe("0x1");
    await chain.reorg(2);
    expect(await balanceOf(chain, to)).toBe(0n);
  });

  it("drops a replayed transaction whose sender lost its money", async () => {
    const chain = await startTestChain();
    const poor = localAccount(600);
    const funding = { from: chain.accounts.owner.address, to: poor.address, value: "0xde0b6b3a7640000" };
    await chain.request("eth_sendTransaction", [funding]);
    const account = privateKeyToAccount(poor.privateKey);
    const wallet = createWalletClient({ account, transport: http(chain.rpcUrl) });
    const hash = await wallet.sendTransaction({ chain: null, to: EMITTER, gas: 50_000n, value: 1n });
    const reorg = await chain.reorg(2, { replay: (transaction) => transaction.hash === hash });
    expect(reorg.replayed).toEqual([]);
    expect(reorg.dropped).toHaveLength(2);
    expect(await chain.request("eth_pendingTransactions")).toEqual([]);
  });

  it("rejects unsigned transactions before it undoes anything", async () => {
    const chain = await startTestChain();
    const from = localAccount(700).address;
    await chain.request("hardhat_setBalance", [from, "0xde0b6b3a7640000"]);
    await chain.request("hardhat_impersonateAccount", [from]);
    await emitLog(chain, 1, from);
    await expect(chain.reorg(1, { replay: "all" })).rejects.toThrow(/no signature/);
    expect(await readEmittedValues(chain)).toEqual([1]);
    await chain.reorg(1);
    expect(await readEmittedValues(chain)).toEqual([]);
  });

  it("makes the chain longer, shorter, or only removes blocks", async () => {
    const chain = await startTestChain();
    await chain.mine(6);
    expect((await chain.reorg(2, { blocks: 5 })).added).toHaveLength(5);
    expect(await readHeadNumber(chain)).toBe(9);
    await chain.reorg(3, { blocks: 1 });
    expect(await readHeadNumber(chain)).toBe(7);
    const old = await readRpcBlock(chain, 7n);
    expect((await chain.reorg(1, { blocks: 0 })).added).toEqual([]);
    expect(await readHeadNumber(chain)).toBe(6);
    await chain.mine();
    expect((await readRpcBlock(chain, 7n)).hash).not.toBe(old.hash);
  });

  it("repeats a reorg at the same height with different blocks", async () => {
    const chain = await startTestChain({ genesisTimestamp: 1_700_000_000n });
    await chain.mine(4);
    const hashes = new Set([(await readRpcBlock(chain, 3n)).hash]);
    for (let round = 0; round < 5; round += 1) {
      await chain.reorg(2);
      hashes.add((await readRpcBlock(chain, 3n)).hash);
    }
    expect(hashes.size).toBe(6);
  });

  it("leaves pending transactions and the clock as they were", async () => {
    const chain = await startTestChain({ blockTimeMs: 0, genesisTimestamp: 1_700_000_000n });
    await emitLog(chain, 1);
    await chain.mine(2);
    await chain.increaseTime(5_000n);
    const waiting = await emitLog(chain, 2, chain.accounts.solver.address);
    await chain.reorg(2, { replay: "all" });
    expect(await readEmittedValues(chain)).toEqual([1]);
    expect(Number((await readRpcBlock(chain, 1n)).timestamp)).toBeGreaterThanOrEqual(1_700_005_000);
    expect(await receiptOf(chain, waiting)).toBeNull();
    await chain.mine();
    expect(await readEmittedValues(chain)).toEqual([1, 2]);
  });

  it("does not take the chain into the future, however often it happens", async () => {
    const chain = await startTestChain();
    await chain.mine(3);
    // Real time: a second has to pass for EDR's clock to be off by one.
    for (let round = 0; round < 3; round += 1) {
      await pause(1_050);
      await chain.reorg(2);
    }
    const { timestamp } = await readRpcBlock(chain, BigInt(await readHeadNumber(chain)));
    expect(Number(timestamp)).toBeLessThanOrEqual(Math.ceil(Date.now() / 1000));
  });

  it("drops what the mempool held when the parent was the head", async () => {
    const chain = await startTestChain({ blockTimeMs: 0 });
    await emitLog(chain, 1);
    await chain.setCode("0x00000000000000000000000000000000000000ab", "0x00");
    await chain.mine();
    expect(await readEmittedValues(chain)).toEqual([1]);
    await chain.reorg(1);
    expect(await readEmittedValues(chain)).toEqual([]);
    expect(await chain.request("eth_pendingTransactions")).toEqual([]);
  });

  it("continues interval mining", async () => {
    const chain = await startTestChain({ blockTimeMs: 15 });
    await vi.waitUntil(async () => (await readHeadNumber(chain)) >= 3, PATIENT_POLL);
    const reorg = await chain.reorg(2);
    const lastAdded = reorg.added.at(-1)?.number ?? 0n;
    await vi.waitUntil(async () => BigInt(await readHeadNumber(chain)) > lastAdded, PATIENT_POLL);
    const next = await readRpcBlock(chain, lastAdded + 1n);
    expect(next.parentHash).toBe(reorg.added.at(-1)?.hash);
  });

  it("shows readers either branch, never a state in between", async () => {
    const chain = await startTestChain();
    await chain.mine(20);
    let running = true;
    const reorg = chain.reorg(20).finally(() => {
      running = false;
    });
    const heads = new Set<number>();
    while (running) heads.add(await readHeadNumber(chain));
    await reorg;
    expect([...heads]).toEqual([20]);
  });

  it("preserves code placed at the fork's parent, and genesis code always", async () => {
    const chain = await startTestChain();
    const placed = "0x00000000000000000000000000000000000000ab";
    await chain.mine(2);
    await chain.setCode(placed, "0x60016002");
    await chain.mine(1);
    await chain.reorg(1);
    expect(await chain.request("eth_getCode", [placed, "latest"])).toBe("0x60016002");
    await chain.reorg(3);
    expect(await chain.request("eth_getCode", [placed, "latest"])).toBe("0x");
    expect(await chain.request("eth_getCode", [EMITTER, "latest"])).toBe(EMITTER_CODE);
  });

  it("works with snapshots that clients take and return to", async () => {
    const chain = await startTestChain();
    await chain.mine(3);
    const snapshot = await chain.request("evm_snapshot");
    await chain.request("hardhat_setBalance", [chain.accounts.owner.address, "0x1"]);
    await emitLog(chain, 1);
    expect(await chain.request("evm_revert", [snapshot])).toBe(true);
    expect(await readHeadNumber(chain)).toBe(3);
    await emitLog(chain, 2);
    await chain.reorg(1);
    expect(await readEmittedValues(chain)).toEqual([]);
    await chain.reorg(4);
    expect(await readHeadNumber(chain)).toBe(4);
    expect(await chain.request("evm_revert", [snapshot])).toBe(false);
  });

  it("reaches the allowed depth and no deeper", async () => {
    const chain = await startTestChain({ reorgDepthMax: 3 });
    await chain.mine(2);
    await expect(chain.reorg(3)).rejects.toThrow(/no snapshot of block -1/);
    await chain.mine(8);
    await expect(chain.reorg(4)).rejects.toThrow("Reorg depth must be an integer from 1 to 3, not 4");
    await expect(chain.reorg(0)).rejects.toThrow(/Reorg depth/);
    expect((await chain.reorg(3)).removed.map(({ number }) => Number(number))).toEqual([8, 9, 10]);
  });
});
