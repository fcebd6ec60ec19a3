// Gas costs by the pinned block: the chain's own base fee, the data fee of rollups, and nodes that do not tell.
import type { Hex } from "viem";
import { describe, expect, it } from "vitest";
import { openRecordedChain, type RecordedCall } from "../../../tests/support/chain/recorded-chain.ts";
import {
  makeChainConfig,
  makeChainData,
  makeHolding,
} from "../../../tests/support/portfolio/portfolio-parts.ts";
import { startPortfolioStage } from "../../../tests/support/portfolio/portfolio-stage.ts";
import { describeGas } from "../valuation/describe-account.ts";
import { readGas } from "./gas.ts";

const { signal } = new AbortController();
const ORACLE: Hex = "0x420000000000000000000000000000000000000f";
const GWEI = 10n ** 9n;
const l1Fee = (bytes: number, fee: bigint): RecordedCall => ({
  to: ORACLE,
  function: "getL1FeeUpperBound(uint256) view returns (uint256)",
  args: [`${bytes}`],
  result: `${fee}`,
});

function rollup(baseFee: bigint | null, calls: readonly RecordedCall[]) {
  const chain = makeChainConfig("base", 8453);
  return { ...openRecordedChain({ chain, calls }), baseFee: async () => baseFee };
}

describe("gas", () => {
  it("prices gas by the base fee of the pinned block and the tip, whatever comes after", async () => {
    const stage = await startPortfolioStage();
    const at = await stage.port(await stage.node()).pin(signal);
    const block = (await stage.chain.request("eth_getBlockByHash", [at.block.hash, false])) as {
      readonly baseFeePerGas: Hex;
    };
    const price = BigInt(block.baseFeePerGas) + 1_000_000n;
    const costs = { gasPrice: price, transferCost: 21_000n * price, tokenTransferCost: 65_000n * price };
    expect(await readGas(at, signal)).toEqual({ gas: costs, warnings: [] });
    await stage.chain.mine(5);
    expect(await readGas(at, signal)).toEqual({ gas: costs, warnings: [] });
  });

  it("includes the fee for data of a rollup", async () => {
    const at = rollup(9_000_000n, [l1Fee(120, 5n * GWEI), l1Fee(190, 7n * GWEI)]);
    expect((await readGas(at, signal)).gas).toEqual({
      gasPrice: 10_000_000n,
      transferCost: 21_000n * 10_000_000n + 5n * GWEI,
      tokenTransferCost: 65_000n * 10_000_000n + 7n * GWEI,
    });
  });

  it("leaves out the data fee on a copy of the chain without its oracle", async () => {
    const chain = makeChainConfig("base", 8453);
    const at = { ...openRecordedChain({ chain, calls: [], otherwise: "0x" }), baseFee: async () => 1n };
    expect((await readGas(at, signal)).gas).toMatchObject({ transferCost: 21_000n * 1_000_001n });
  });

  it("includes what Arbitrum's node says about data", async () => {
    const chain = makeChainConfig("arbitrum", 42161);
    const words = (gas: number) =>
      `0x${[gas, 7, 9].map((n) => n.toString(16).padStart(64, "0")).join("")}` as Hex;
    const at = {
      ...openRecordedChain({ chain, calls: [], spoil: ({ data }) => words(data.length > 400 ? 900 : 500) }),
      baseFee: async () => 100n,
    };
    expect((await readGas(at, signal)).gas).toEqual({
      gasPrice: 100n,
      transferCost: 21_000n * 100n + 500n * 100n,
      tokenTransferCost: 65_000n * 100n + 900n * 100n,
    });
  });

  it.each([
    ["the data fee", rollup(1n, [])],
    ["the base fee", rollup(null, [l1Fee(120, 1n), l1Fee(190, 1n)])],
  ])("returns no gas costs, with a warning, without %s", async (_, at) => {
    expect(await readGas(at, signal)).toEqual({
      gas: null,
      warnings: ["What transactions cost on Base is unknown: its fees could not be read."],
    });
  });
});

describe("gas readiness", () => {
  const chain = makeChainConfig("base", 8453);
  const native = { ...chain.native, contract: null, logo: null };
  const gas = { gasPrice: 1n, transferCost: 21_000n, tokenTransferCost: 65_000n };

  it.each([
    [0n, "0", "0", false],
    [64_999n, "3", "0", false],
    [65_000n, "3", "1", true],
  ])(
    "counts the transfers that a balance of %s wei pays for",
    (balance, transfers, tokenTransfers, ready) => {
      const holdings = balance === 0n ? [] : [makeHolding(native, balance)];
      const described = describeGas(makeChainData(chain, { holdings, gas }));
      expect(described).toMatchObject({ transfers, tokenTransfers, ready, rawBalance: `${balance}` });
    },
  );

  it("says that gas readiness is unknown if the costs are", () => {
    expect(describeGas(makeChainData(chain, { gas: null }))).toMatchObject({ gasPrice: null, ready: null });
  });
});
