// The chain as a library user meets it: accounts, viem over both transports, mining modes, time, finality, stop.
import { once } from "node:events";
import { connect } from "node:net";
import {
  createPublicClient,
  createWalletClient,
  defineChain,
  encodeErrorResult,
  type Hex,
  http,
  numberToHex,
  parseAbi,
  parseEther,
  size,
  webSocket,
} from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { describe, expect, it, vi } from "vitest";
import { WebSocket } from "ws";
import { LOCAL_ACCOUNT_NAMES, localAccount, PREFUNDED_ACCOUNTS } from "./accounts.ts";
import type { LocalChain } from "./local-chain.ts";
import {
  EMITTER,
  emitLog,
  encodeTopic,
  PATIENT_POLL,
  readEmittedValues,
  readHeadNumber,
  readRpcBlock,
  startTestChain,
} from "./testing/log-emitter.ts";

/** Runtime code that copies the data behind its twelve bytes into memory and reverts with it. */
function revertingWith(data: Hex): Hex {
  const length = numberToHex(size(data), { size: 1 }).slice(2);
  return `0x60${length}600c60003960${length}6000fd${data.slice(2)}`;
}

function viemChain({ chainId, rpcUrl }: LocalChain) {
  const nativeCurrency = { name: "Ether", symbol: "ETH", decimals: 18 };
  return defineChain({
    id: chainId,
    name: "local",
    nativeCurrency,
    rpcUrls: { default: { http: [rpcUrl] } },
  });
}

describe("a local chain", () => {
  it("reports its client version, chain id and network id", async () => {
    const chain = await startTestChain({ chainId: 84532 });
    expect(await chain.request("eth_chainId")).toBe("0x14a34");
    expect(await chain.request("net_version")).toBe("84532");
    expect(await chain.request("web3_clientVersion")).toMatch(/^edr\//);
    expect(chain.rpcUrl).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
  });

  it("funds the named and spare accounts, and no others", async () => {
    const chain = await startTestChain();
    const balance = async (address: string) =>
      BigInt((await chain.request("eth_getBalance", [address, "latest"])) as string);
    for (const name of LOCAL_ACCOUNT_NAMES) {
      expect(await balance(chain.accounts[name].address)).toBeGreaterThanOrEqual(parseEther("10000"));
    }
    expect(await balance(localAccount(PREFUNDED_ACCOUNTS - 1).address)).toBeGreaterThanOrEqual(
      parseEther("10000"),
    );
    expect(await balance(localAccount(PREFUNDED_ACCOUNTS).address)).toBe(0n);
  });

  it.each(["http", "webSocket"] as const)("serves viem over %s", async (kind) => {
    const chain = await startTestChain();
    const transport =
      kind === "http" ? http(chain.rpcUrl, { batch: true }) : webSocket(chain.wsUrl, { reconnect: false });
    const reader = createPublicClient({
      chain: viemChain(chain),
      transport,
      pollingInterval: 20,
      cacheTime: 0,
    });
    const account = privateKeyToAccount(chain.accounts.payer.privateKey);
    const wallet = createWalletClient({ account, chain: viemChain(chain), transport });
    const to = localAccount(1_000).address;
    const hash = await wallet.sendTransaction({ to, value: 5n });
    const receipt = await reader.waitForTransactionReceipt({ hash });
    expect(receipt.status).toBe("success");
    const results = await Promise.all([
      reader.getBalance({ address: to }),
      reader.getBlockNumber(),
      reader.getChainId(),
    ]);
    expect(results).toEqual([5n, 1n, 31337]);
  });

  it("reports a revert so that viem decodes the error", async () => {
    const chain = await startTestChain();
    const target = "0x00000000000000000000000000000000000000fa";
    const abi = parseAbi(["function poke() view", "error Rejected()", "error Error(string)"]);
    const reader = createPublicClient({ transport: http(chain.rpcUrl, { retryCount: 0 }) });
    const poke = () => reader.readContract({ address: target, abi, functionName: "poke" });
    const revertData = encodeErrorResult({ abi, errorName: "Rejected" });
    await chain.setCode(target, revertingWith(revertData));
    await expect(poke()).rejects.toThrow("Error: Rejected()");
    await expect(chain.request("eth_call", [{ to: target }, "latest"])).rejects.toMatchObject({
      code: 3,
      data: revertData,
      message: "execution reverted",
    });
    await chain.setCode(
      target,
      revertingWith(encodeErrorResult({ abi, errorName: "Error", args: ["too 'late'"] })),
    );
    await expect(poke()).rejects.toThrow("too 'late'");
    await expect(chain.request("eth_estimateGas", [{ to: target }])).rejects.toMatchObject({
      code: 3,
      message: "execution reverted: too 'late'",
    });
  });

  it("runs several chains side by side that share only the keys", async () => {
    const [one, two] = await Promise.all([
      startTestChain({ chainId: 1001 }),
      startTestChain({ chainId: 1002 }),
    ]);
    await emitLog(one, 7);
    expect(await readEmittedValues(one)).toEqual([7]);
    expect(await readEmittedValues(two)).toEqual([]);
    expect([await readHeadNumber(one), await readHeadNumber(two)]).toEqual([1, 0]);
    expect(await two.request("eth_chainId")).toBe("0x3ea");
  });

  it("queues a transaction with a nonce gap until the gap closes", async () => {
    const chain = await startTestChain();
    const from = chain.accounts.agent.address;
    const send = (nonce: number) =>
      chain.request("eth_sendTransaction", [
        { from, to: EMITTER, data: encodeTopic(nonce), gas: "0xc350", nonce: `0x${nonce.toString(16)}` },
      ]);
    await send(1);
    expect(await readEmittedValues(chain)).toEqual([]);
    await send(0);
    expect(await readEmittedValues(chain)).toEqual([0, 1]);
    expect(await chain.request("hardhat_getAutomine")).toBe(true);
  });

  it("mines pending transactions on an interval", async () => {
    const chain = await startTestChain({ blockTimeMs: 20 });
    const hash = await emitLog(chain, 3);
    await vi.waitUntil(
      async () => (await chain.request("eth_getTransactionReceipt", [hash])) !== null,
      PATIENT_POLL,
    );
    await vi.waitUntil(async () => (await readHeadNumber(chain)) >= 4, PATIENT_POLL);
    expect(await readEmittedValues(chain)).toEqual([3]);
  });

  it("mines only on request with a block time of 0", async () => {
    const chain = await startTestChain({ blockTimeMs: 0 });
    await emitLog(chain, 3);
    expect(await readHeadNumber(chain)).toBe(0);
    await chain.mine(3);
    expect(await readHeadNumber(chain)).toBe(3);
    expect(await readEmittedValues(chain)).toEqual([3]);
    expect((await readRpcBlock(chain, 1n)).transactions).toHaveLength(1);
  });

  it("changes its block time over RPC", async () => {
    const chain = await startTestChain();
    await chain.request("evm_setIntervalMining", [10]);
    await vi.waitUntil(async () => (await readHeadNumber(chain)) >= 2, PATIENT_POLL);
    await chain.request("evm_setIntervalMining", [0]);
    await chain.mine(0);
    const head = await readHeadNumber(chain);
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(await readHeadNumber(chain)).toBe(head);
    await expect(chain.request("evm_setIntervalMining", ["soon"])).rejects.toMatchObject({ code: -32602 });
  });

  it("starts at the given time, and follows changes of the clock", async () => {
    const chain = await startTestChain({ genesisTimestamp: 1_700_000_000n });
    expect(Number((await readRpcBlock(chain, 0n)).timestamp)).toBe(1_700_000_000);
    await chain.setNextBlockTimestamp(1_700_000_500n);
    await chain.mine();
    expect(Number((await readRpcBlock(chain, 1n)).timestamp)).toBe(1_700_000_500);
    await chain.increaseTime(3_600n);
    await chain.mine();
    expect(Number((await readRpcBlock(chain, 2n)).timestamp)).toBeGreaterThanOrEqual(1_700_004_100);
  });

  it("does not run ahead of the wall clock in a burst of blocks", async () => {
    const chain = await startTestChain({ genesisTimestamp: 1_700_000_000n });
    const startedAt = performance.now();
    await chain.mine(200);
    const elapsedSeconds = Math.ceil((performance.now() - startedAt) / 1000);
    const { timestamp } = await readRpcBlock(chain, 200n);
    expect(Number(timestamp)).toBeLessThanOrEqual(1_700_000_001 + elapsedSeconds + 1);
  });

  it.each(["finalized", "safe"])(
    "resolves the %s tag to the block finalityDepth below the head",
    async (tag) => {
      const chain = await startTestChain({ finalityDepth: 4 });
      await emitLog(chain, 1);
      expect(Number((await readRpcBlock(chain, tag)).number)).toBe(0);
      await chain.mine(5);
      expect(Number((await readRpcBlock(chain, tag)).number)).toBe(2);
      await emitLog(chain, 2);
      const logs = (filter: object) => chain.request("eth_getLogs", [filter]) as Promise<{ topics: Hex[] }[]>;
      expect((await logs({ fromBlock: "0x0", toBlock: tag })).map(({ topics }) => Number(topics[0]))).toEqual(
        [1],
      );
      expect(
        (await logs({ fromBlock: tag, toBlock: "latest" })).map(({ topics }) => Number(topics[0])),
      ).toEqual([2]);
    },
  );

  it("spaces the blocks of hardhat_mine, few or many", async () => {
    const chain = await startTestChain({ genesisTimestamp: 1_700_000_000n, reorgDepthMax: 2 });
    await chain.request("hardhat_mine", ["0x6", "0x3c"]);
    expect(await readHeadNumber(chain)).toBe(6);
    const timestamps: number[] = [];
    for (let number = 1n; number <= 6n; number += 1n)
      timestamps.push(Number((await readRpcBlock(chain, number)).timestamp));
    expect(timestamps.slice(1).map((time, index) => time - (timestamps[index] ?? 0))).toEqual([
      60, 60, 60, 60, 60,
    ]);
    await chain.reorg(2);
    await expect(chain.request("hardhat_mine", ["six"])).rejects.toMatchObject({ code: -32602 });
  });

  it.each([
    [{ chainId: 0 }, /chainId/],
    [{ port: 70_000 }, /port/],
    [{ blockTimeMs: 1 }, /Block time/],
    [{ reorgDepthMax: -1 }, /reorgDepthMax/],
    [{ finalityDepth: 0.5 }, /finalityDepth/],
  ])("does not start with %j", async (options, message) => {
    await expect(startTestChain(options)).rejects.toThrow(message);
  });

  it("stops a chain repeatedly, closes open sockets, and serves nothing afterwards", async () => {
    const chain = await startTestChain({ blockTimeMs: 10 });
    const socket = new WebSocket(chain.wsUrl);
    await once(socket, "open");
    // A connection that never says anything must not hold up the stop either.
    const idle = connect(Number(new URL(chain.rpcUrl).port), "127.0.0.1");
    await once(idle, "connect");
    const closed = Promise.all([once(socket, "close"), once(idle, "close")]);
    await fetch(chain.rpcUrl);
    await Promise.all([chain.stop(), chain.stop()]);
    await chain.stop();
    await closed;
    await expect(chain.request("eth_chainId")).rejects.toThrow("stopped");
    await expect(chain.mine()).rejects.toThrow("stopped");
    await expect(fetch(chain.rpcUrl)).rejects.toThrow();
  });
});
