// Repeated reads of a wallet: which are sent early, for how long, and what happens when early results do not come.
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { fixedReturnCode } from "../../tests/support/chain/fixed-return-contract.ts";
import { createTestRpc } from "../../tests/support/nodes/test-rpc.ts";
import { localChainConfig, startPortfolioStage } from "../../tests/support/portfolio/portfolio-stage.ts";
import { decodeWord } from "../lib/abi/return-data.ts";
import type { Hex } from "../lib/hex.ts";
import { createChainAccess } from "./chain-access.ts";
import { readGroups } from "./contract-reads/read-groups.ts";
import { defineRead } from "./contract-reads/reads.ts";
import { repeatReads } from "./repeated-reads.ts";
import type { PinnedChain } from "./types.ts";

const { signal } = new AbortController();
const word = (value: number): Hex => `0x${value.toString(16).padStart(64, "0")}`;
const account = (digits: string): Hex => `0x${digits.repeat(20)}`;
const [ONE, OTHER] = [account("a1"), account("b2")];
const CONTRACT: Hex = "0x0000000000000000000000000000000000c0de01";
const first = defineRead("function first()", decodeWord);
const later = defineRead("function later(uint256)", decodeWord);

const stage = await startPortfolioStage({
  [CONTRACT]: fixedReturnCode({ "first()": word(1), "later(uint256)": word(2) }),
});

type Work = (at: PinnedChain) => Promise<unknown>;

/** Reads that lead to so many others. */
const leadTo =
  (count: number): Work =>
  async (at) => {
    await readGroups(at, signal, first(CONTRACT));
    const numbers = [...Array(count).keys()];
    return readGroups(
      at,
      signal,
      numbers.map((number) => later(CONTRACT, [BigInt(number)])),
    );
  };

const asItIs = (at: PinnedChain): PinnedChain => at;

/** A process, and how many requests of contract calls each read of a wallet takes at a new block. */
async function openProcess(plan?: Parameters<typeof stage.node>[0]) {
  const node = await stage.node(plan);
  const { rpc } = createTestRpc([node.url], { limits: { requestTimeoutMs: 60_000 } });
  const access = createChainAccess(rpc, localChainConfig([]));
  let nowMs = 0;
  const requests = () =>
    node.requests.filter((calls) => calls.some(({ method }) => method === "eth_call")).length;
  return {
    access,
    wait: (ms: number) => {
      nowMs += ms;
    },
    async read(work: Work, { wallet = ONE, isNewBlock = true, around = asItIs } = {}) {
      if (isNewBlock) await stage.chain.mine();
      const pinned = await access.pin(signal, undefined, wallet);
      const before = requests();
      const { at, remember } = repeatReads(around(pinned), wallet, signal, () => nowMs);
      const result = await work(at);
      remember();
      return { result, requests: requests() - before };
    },
  };
}

describe("repeated reads", () => {
  it("send early what the last read led to", async () => {
    const { read } = await openProcess();
    expect(await read(leadTo(2))).toEqual({ result: [2n, 2n], requests: 2 });
    expect(await read(leadTo(2))).toEqual({ result: [2n, 2n], requests: 1 });
    expect(await read(leadTo(3))).toEqual({ result: [2n, 2n, 2n], requests: 2 });
    expect(await read(leadTo(3))).toEqual({ result: [2n, 2n, 2n], requests: 1 });
  });

  it("send early calls to placed code, words of storage and times of blocks", async () => {
    const { read } = await openProcess();
    const code = fixedReturnCode({ "first()": word(7) });
    const data = first(CONTRACT).calls[0]?.data ?? "0x";
    const work: Work = async (at) => {
      await readGroups(at, signal, first(CONTRACT));
      return Promise.all([
        at.callWithOverride({ code, data, isSmall: true }, signal),
        at.storage(CONTRACT, 5n, signal),
        at.timestamps([1, 2], signal),
      ]);
    };
    const before = await read(work);
    const after = await read(work);
    expect(after.result).toEqual(before.result);
    expect([before.requests > 1, after.requests]).toEqual([true, 1]);
  });

  it("early results serve other wallets of the block", async () => {
    const { read } = await openProcess();
    await read(leadTo(2));
    await read(leadTo(2));
    const other = await read(leadTo(2), { wallet: OTHER, isNewBlock: false });
    expect(other).toEqual({ result: [2n, 2n], requests: 0 });
  });

  it("a read that a node failed to return early is sent when it is needed", async () => {
    let isDown = false;
    const { read } = await openProcess((calls) =>
      isDown && calls.length > 1 ? { kind: "error", code: -32000, message: "missing trie node" } : null,
    );
    await read(leadTo(2));
    isDown = true;
    expect((await read(leadTo(2))).result).toEqual([2n, 2n]);
  });

  it("wait a second for early results, and then read what is needed", async () => {
    const { read } = await openProcess();
    await read(leadTo(1));
    let reads = 0;
    const around = (at: PinnedChain): PinnedChain => ({
      ...at,
      async read(calls, stop) {
        reads += 1;
        if (reads === 1) await sleep(60_000, undefined, { signal: stop });
        return at.read(calls, stop);
      },
    });
    expect((await read(leadTo(1), { around })).result).toEqual([2n]);
    expect(reads).toBe(3);
  });

  it("forget after ten minutes, and what three reads in a row have not needed", async () => {
    const { read, wait } = await openProcess();
    await read(leadTo(2));
    wait(600_000);
    expect((await read(leadTo(2))).requests).toBe(2);
    for (const needed of [1, 1]) expect((await read(leadTo(needed))).requests).toBe(1);
    expect((await read(leadTo(2))).requests).toBe(1);
    for (const needed of [1, 1, 1]) await read(leadTo(needed));
    expect((await read(leadTo(2))).requests).toBe(2);
  });

  it("remember three hundred reads of a wallet", async () => {
    const { read } = await openProcess();
    await read(leadTo(400));
    const known = await read(leadTo(300), { isNewBlock: true });
    expect(known.requests).toBe(1);
    expect((await read(leadTo(301))).requests).toBe(2);
  });

  it("remember nothing as of a requested block", async () => {
    const { access, read } = await openProcess();
    await read(leadTo(1));
    const past = await access.pin(signal, 1, ONE);
    expect(repeatReads(past, ONE, signal).at).toBe(past);
  });
});
