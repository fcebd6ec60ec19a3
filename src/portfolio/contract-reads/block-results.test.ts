// Results of a block: kept for other wallets of that block, and for nothing else.
import { describe, expect, it } from "vitest";
import { fixedReturnCode } from "../../../tests/support/chain/fixed-return-contract.ts";
import { createFastClock } from "../../../tests/support/fast-clock.ts";
import { createTestRpc } from "../../../tests/support/nodes/test-rpc.ts";
import { localChainConfig, startPortfolioStage } from "../../../tests/support/portfolio/portfolio-stage.ts";
import { decodeWord } from "../../lib/abi/return-data.ts";
import type { Hex } from "../../lib/hex.ts";
import { createChainAccess } from "../chain-access.ts";
import { BlockResults, keyOfCall, ResultsByBlock, readGroups } from "./read-groups.ts";
import { defineRead } from "./reads.ts";

const { signal } = new AbortController();
const word = (value: number): Hex => `0x${value.toString(16).padStart(64, "0")}`;
const account = (digits: string): Hex => `0x${digits.repeat(20)}`;
const [ONE, OTHER] = [account("a1"), account("b2")];
const ORACLE: Hex = "0x0000000000000000000000000000000000c0de01";
const price = defineRead("function price()", decodeWord);
const missing = defineRead("function missing()", decodeWord);
const balanceOf = defineRead("function balanceOf(address)", decodeWord);

const stage = await startPortfolioStage({
  [ORACLE]: fixedReturnCode({ "price()": word(7), "balanceOf(address)": word(9) }),
});

type FaultPlan = Parameters<typeof stage.node>[0];

/** Two wallets at the newest block, and how many contract calls the node got for what it is asked. */
async function openWallets(plan?: FaultPlan) {
  const node = await stage.node(plan);
  const clock = createFastClock(1_700_000_000_000);
  const access = createChainAccess(createTestRpc([node.url]).rpc, localChainConfig([]), clock);
  const countCalls = () => node.requests.flat().filter(({ method }) => method === "eth_call").length;
  const counted = async <T>(work: () => Promise<T>) => {
    const before = countCalls();
    const result = await work();
    return { result, calls: countCalls() - before };
  };
  return { access, clock, counted, pin: (wallet: Hex) => access.pin(signal, undefined, wallet) };
}

describe("results of a block", () => {
  it("reads once for all wallets of the block, and again at the next block", async () => {
    const { pin, counted } = await openWallets();
    const [one, other] = [await pin(ONE), await pin(OTHER)];
    expect(await counted(() => readGroups(one, signal, price(ORACLE)))).toEqual({ result: 7n, calls: 1 });
    expect(await counted(() => readGroups(other, signal, price(ORACLE)))).toEqual({ result: 7n, calls: 0 });
    await stage.chain.mine();
    const next = await pin(OTHER);
    expect(await counted(() => readGroups(next, signal, price(ORACLE)))).toEqual({ result: 7n, calls: 1 });
  });

  it("shares nothing between two blocks of one height", async () => {
    const { pin, counted } = await openWallets();
    const before = await pin(ONE);
    await readGroups(before, signal, price(ORACLE));
    await stage.chain.reorg(1);
    const after = await pin(ONE);
    expect(after.block.number).toBe(before.block.number);
    expect((await counted(() => readGroups(after, signal, price(ORACLE)))).calls).toBe(1);
  });

  it("keeps no result of a call that names the wallet or one of its sub-accounts", async () => {
    const { pin, counted } = await openWallets();
    const at = await pin(ONE);
    const subAccount: Hex = `${ONE.slice(0, -2) as Hex}07`;
    const group = [balanceOf(ORACLE, [ONE]), balanceOf(ORACLE, [subAccount])];
    await readGroups(at, signal, group);
    expect((await counted(() => readGroups(at, signal, group))).calls).toBe(1);
  });

  it("keeps no failure in a multicall, where its neighbours may be to blame", async () => {
    const { pin, counted } = await openWallets();
    const at = await pin(ONE);
    await readGroups(at, signal, missing(ORACLE));
    expect((await counted(() => readGroups(at, signal, missing(ORACLE)))).calls).toBe(1);
  });

  it("keeps the revert of a call that had gas of its own", async () => {
    const { pin, counted } = await openWallets();
    const at = await pin(ONE);
    const read = () => readGroups(at, signal, missing(ORACLE, [], 100_000));
    expect(await counted(read)).toEqual({ result: null, calls: 1 });
    expect(await counted(read)).toEqual({ result: null, calls: 0 });
  });

  it("keeps no failure of a node", async () => {
    let isDown = true;
    const { pin, counted } = await openWallets((calls) =>
      isDown && calls.some(({ method }) => method === "eth_call")
        ? { kind: "error", code: -32000, message: "missing trie node" }
        : null,
    );
    const at = await pin(ONE);
    await expect(readGroups(at, signal, price(ORACLE, [], 100_000))).rejects.toThrow();
    isDown = false;
    expect(await counted(() => readGroups(at, signal, price(ORACLE, [], 100_000)))).toEqual({
      ...{ result: 7n, calls: 1 },
    });
  });

  it("uses nothing as of a requested block, which must not depend on earlier reads", async () => {
    const { access, pin, counted } = await openWallets();
    const newest = await pin(ONE);
    await readGroups(newest, signal, price(ORACLE));
    const past = await access.pin(signal, newest.block.number, ONE);
    expect((await counted(() => readGroups(past, signal, price(ORACLE)))).calls).toBe(1);
  });

  it("reads again where no new block comes for half a minute", async () => {
    const { pin, counted, clock } = await openWallets();
    await readGroups(await pin(ONE), signal, price(ORACLE));
    await clock.sleep(30_000, signal);
    const later = await pin(OTHER);
    expect((await counted(() => readGroups(later, signal, price(ORACLE)))).calls).toBe(1);
  });
});

describe("the memory of a block", () => {
  const call = (number: number, gasMax?: number) => ({
    to: account("cc"),
    data: word(number),
    ...(gasMax && { gasMax }),
  });

  it("has a part of its own for contracts of anyone, so that junk leaves prices their place", () => {
    const results = new BlockResults(0).of(ONE);
    const junk = `0x${"5a".repeat(9_000)}` as const;
    const isKept = (number: number, gasMax?: number) => {
      const one = call(number, gasMax);
      results.keep(keyOfCall(one), one, junk);
      return results.find(keyOfCall(one)) !== undefined;
    };
    const kept = [...Array(200).keys()].filter((number) => isKept(number, 100_000)).length;
    expect(kept).toBeGreaterThan(20);
    expect(kept).toBeLessThan(30);
    expect(isKept(1)).toBe(true);
  });

  it("keeps no long result, and the results of the newest four blocks only", () => {
    const blocks = new ResultsByBlock(() => 0);
    const keep = (block: Hex, result: Hex) =>
      blocks
        .at(block)
        .of(ONE)
        .keep(keyOfCall(call(1)), call(1), result);
    const find = (block: Hex) =>
      blocks
        .at(block)
        .of(ONE)
        .find(keyOfCall(call(1)));
    keep(word(1), `0x${"5a".repeat(20_000)}`);
    expect(find(word(1))).toBeUndefined();
    for (const number of [1, 2, 3, 4, 5]) keep(word(number), "0x05");
    expect([5, 4, 3, 2].map((number) => find(word(number)))).toEqual(["0x05", "0x05", "0x05", "0x05"]);
    expect(find(word(1))).toBeUndefined();
  });
});
