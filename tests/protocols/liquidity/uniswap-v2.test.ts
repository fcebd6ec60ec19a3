// Uniswap v2 on its own bytecode: what the reader shows is what the pair would pay in the same block.
import type { Hex } from "viem";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { PairMarket } from "../../../src/portfolio/positions/uniswap-v2/contracts.ts";
import { createUniswapV2Reader } from "../../../src/portfolio/positions/uniswap-v2/reader.ts";
import { findSpamReasons } from "../../../src/portfolio/tokens/spam.ts";
import type { Holding } from "../../../src/portfolio/types.ts";
import { makeChainData, makePrices, makeSnapshot } from "../../support/portfolio/portfolio-parts.ts";
import { type Artifact, compileSources, readArtifact } from "../support/artifacts.ts";
import type { DeployedContract } from "../support/deployer.ts";
import { amountsOf, type LiquidityStage, startLiquidityStage } from "./liquidity-stage.ts";

const CORE = "@uniswap/v2-core/build";
const UNIT = 10n ** 18n;

// Says of itself whatever a pair says, and has a balance for every wallet; only the factory does not know it.
const FAKE_PAIR = `pragma solidity ^0.8.0;
contract FakePair {
  address public factory; address public token0; address public token1;
  uint256 public totalSupply = 1; uint256 public kLast;
  constructor(address f, address a, address b) { factory = f; token0 = a; token1 = b; }
  function getReserves() external pure returns (uint112, uint112, uint32) {
    return (type(uint112).max, type(uint112).max, 1);
  }
  function balanceOf(address) external pure returns (uint256) { return 1; }
}
contract GasBurner { fallback() external { while (true) {} } }
contract LyingToken {
  uint256 public constant totalSupply = type(uint112).max;
  mapping(address => uint256) public lies;
  function lie(address holder, uint256 amount) external { lies[holder] = amount; }
  function balanceOf(address holder) external view returns (uint256) { return lies[holder]; }
  function transfer(address, uint256) external pure returns (bool) { return true; }
  function decimals() external pure returns (uint8) { return 18; }
}
contract TrapToken {
  uint256 public constant totalSupply = type(uint112).max;
  mapping(address => uint256) public balanceOf;
  function give(address to, uint256 amount) external { balanceOf[to] += amount; }
  function transfer(address, uint256) external pure returns (bool) { revert("no pair pays this out"); }
  function decimals() external pure returns (uint8) { return 18; }
}`;

let stage: LiquidityStage;
let foreign: Readonly<Record<string, Artifact>>;
beforeAll(async () => {
  stage = await startLiquidityStage();
  foreign = await compileSources({ "foreign.sol": FAKE_PAIR });
});
afterAll(() => stage?.chain.stop());

let factory: DeployedContract;
let reader: ReturnType<typeof createUniswapV2Reader>;
beforeEach(async () => {
  factory = await stage.deployer.deploy(readArtifact(`${CORE}/UniswapV2Factory.json`), [stage.wallet]);
  reader = createUniswapV2Reader(new Map([[31337, [marketOf(factory.address)]]]));
});

async function createPair(tokenA: DeployedContract, tokenB: DeployedContract): Promise<DeployedContract> {
  await stage.deployer.send(factory, "createPair", [tokenA.address, tokenB.address]);
  const address = await stage.deployer.call<Hex>(factory, "getPair", [tokenA.address, tokenB.address]);
  return { address: address.toLowerCase() as Hex, abi: readArtifact(`${CORE}/UniswapV2Pair.json`).abi };
}

async function addLiquidity(pair: DeployedContract, amount0: bigint, amount1: bigint, to = stage.wallet) {
  await stage.deployer.send(stage.token0, "transfer", [pair.address, amount0]);
  await stage.deployer.send(stage.token1, "transfer", [pair.address, amount1]);
  await stage.deployer.send(pair, "mint", [to], { gas: 1_000_000n });
}

/** Sells token0; the fee stays in the pair. */
async function swap(pair: DeployedContract, amount: bigint) {
  const [reserve0, reserve1] = await stage.deployer.call<readonly [bigint, bigint]>(pair, "getReserves");
  const paid = amount * 997n;
  const out = (paid * reserve1) / (reserve0 * 1000n + paid);
  await stage.deployer.send(stage.token0, "transfer", [pair.address, amount]);
  await stage.deployer.send(pair, "swap", [0n, out, stage.wallet, "0x"], { gas: 1_000_000n });
}

async function holdingOf({ address, abi }: DeployedContract): Promise<Holding & { readonly contract: Hex }> {
  const rawBalance = await stage.deployer.call<bigint>({ address, abi }, "balanceOf", [stage.wallet]);
  return { contract: address, symbol: "UNI-V2", name: "Uniswap V2", decimals: 18, logo: null, rawBalance };
}

/** The amounts that the pair pays when the wallet returns all its tokens, in the order of the pair's tokens. */
async function burnAll(pair: DeployedContract): Promise<readonly bigint[]> {
  const balance = await stage.deployer.call<bigint>(pair, "balanceOf", [stage.wallet]);
  await stage.deployer.send(pair, "transfer", [pair.address, balance]);
  return stage.deployer.call<readonly bigint[]>(pair, "burn", [stage.wallet], { from: stage.wallet });
}

const shownAmounts = (amounts: Readonly<Record<string, bigint>>) => [
  amounts[stage.token0.address],
  amounts[stage.token1.address],
];

const swapArguments = (isFirst: boolean, amount: bigint) => [
  ...(isFirst ? [amount, 0n] : [0n, amount]),
  stage.wallet,
  "0x",
];

describe("Uniswap v2 on its own bytecode", () => {
  it.each([
    ["without a protocol fee", false],
    ["with a protocol fee that is due", true],
  ])("shows half of a pair as what it would pay, %s", async (_, withFee) => {
    if (withFee) await stage.deployer.send(factory, "setFeeTo", [`0x${"fe".repeat(20)}`]);
    const pair = await createPair(stage.token0, stage.token1);
    await addLiquidity(pair, 300_000n * UNIT, 100n * UNIT, `0x${"11".repeat(20)}`);
    await addLiquidity(pair, 300_000n * UNIT, 100n * UNIT);
    for (let count = 0; count < 5; count += 1) await swap(pair, 70_000n * UNIT + 12_345n);
    const holdings = [await holdingOf(pair)];
    const { positions, provenTokens, warnings, rounds, requests } = await stage.read(reader, { holdings });
    expect(positions).toMatchObject([
      { protocol: "uniswap-v2", kind: "liquidity", name: "Uniswap v2 pair", contract: pair.address },
    ]);
    expect(positions[0]?.receiptTokens).toEqual([pair.address]);
    expect(shownAmounts(amountsOf(positions[0]))).toEqual(await burnAll(pair));
    expect(provenTokens).toEqual(new Set([pair.address]));
    expect(warnings).toEqual([]);
    // Three calls to the unknown contract, one multicall for the proof, one for the state.
    expect([rounds, requests]).toEqual([3, 5]);
  });

  it("does not take a pair's word that its factory does not confirm", async () => {
    const real = await createPair(stage.token0, stage.token1);
    await addLiquidity(real, UNIT, UNIT, `0x${"11".repeat(20)}`);
    const args = [factory.address, stage.token0.address, stage.token1.address];
    const fake = await stage.deployer.deploy(foreign.FakePair as Artifact, args);
    const holdings = [await holdingOf(fake)];
    const { positions, provenTokens, warnings } = await stage.read(reader, { holdings });
    expect({ positions, provenTokens, warnings }).toEqual({
      positions: [],
      provenTokens: undefined,
      warnings: [],
    });
  });

  it("leaves a pair of an unknown factory a token, and a proven one is never spam", async () => {
    const pair = await createPair(stage.token0, stage.token1);
    await addLiquidity(pair, UNIT, UNIT);
    const holding = await holdingOf(pair);
    const other = createUniswapV2Reader(new Map([[31337, [marketOf(`0x${"fa".repeat(20)}`)]]]));
    const unknown = await stage.read(other, { holdings: [holding] });
    expect([unknown.positions, unknown.provenTokens, unknown.warnings]).toEqual([[], undefined, []]);
    const { provenTokens } = await stage.read(reader, { holdings: [holding] });
    const { chain } = await stage.pin();
    const reasons = (proven: boolean) => findSpamReasons(holding, { chain, unpriced: true, proven });
    expect(reasons(provenTokens?.has(holding.contract) === true)).toEqual([]);
    expect(reasons(unknown.provenTokens?.has(holding.contract) === true)).not.toEqual([]);
  });

  it("lets a token that lies about its balance fake only an amount of itself", async () => {
    const liar = await stage.deployer.deploy(foreign.LyingToken as Artifact);
    const pair = await createPair(stage.token0, liar);
    await stage.deployer.send(stage.token0, "transfer", [pair.address, UNIT]);
    await stage.deployer.send(liar, "lie", [pair.address, UNIT]);
    await stage.deployer.send(pair, "mint", [stage.wallet], { gas: 1_000_000n });
    await stage.deployer.send(liar, "lie", [pair.address, (1n << 112n) - 1n]);
    await stage.deployer.send(pair, "sync", [], { gas: 1_000_000n });
    const holdings = [await holdingOf(pair)];
    const listed = [stage.token0.address, liar.address];
    const { positions, warnings } = await stage.read(reader, { holdings, listed });
    const amounts = amountsOf(positions[0]);
    const [supply, held] = [
      await stage.deployer.call<bigint>(pair, "totalSupply"),
      holdings[0]?.rawBalance ?? 0n,
    ];
    expect(amounts[stage.token0.address]).toBe((UNIT * held) / supply);
    expect(amounts[liar.address]).toBe((((1n << 112n) - 1n) * held) / supply);
    expect(warnings).toEqual([]);
  });

  it("gives a pair no value that its unlisted token can keep from the wallet, and one of listed tokens its full value", async () => {
    const trap = await stage.deployer.deploy(foreign.TrapToken as Artifact);
    const { address } = stage.token0;
    const trapped = await createPair(stage.token0, trap);
    await stage.deployer.send(stage.token0, "transfer", [trapped.address, UNIT]);
    await stage.deployer.send(trap, "give", [trapped.address, UNIT]);
    await stage.deployer.send(trapped, "mint", [stage.wallet], { gas: 1_000_000n });
    const sound = await createPair(stage.token0, stage.token1);
    await addLiquidity(sound, UNIT, UNIT);
    const holdings = [await holdingOf(trapped), await holdingOf(sound)];
    const { positions, warnings } = await stage.read(reader, { holdings });
    // Its maker gets the coins by a swap, which pays out the other token only.
    await stage.deployer.send(trap, "give", [trapped.address, 1_000n * UNIT]);
    await stage.deployer.send(trapped, "swap", swapArguments(address < trap.address, UNIT / 2n), {
      gas: 1_000_000n,
    });
    await expect(burnAll(trapped)).rejects.toThrow();
    const chain = { ...(await stage.pin()).chain, stablecoins: new Set([address]) };
    const valued = makeSnapshot(makeChainData(chain, { positions, prices: makePrices({ [address]: "1" }) }));
    const valueIn = ({ address: contract }: DeployedContract) =>
      valued.positions.find((position) => position.contract === contract)?.valueUsd;
    const { totalValueUsd, stablecoinValueUsd } = valued.summary;
    expect([valueIn(trapped), Number(valueIn(sound)) > 0]).toEqual([null, true]);
    expect([totalValueUsd, stablecoinValueUsd]).toEqual([valueIn(sound), valueIn(sound)]);
    expect(warnings).toEqual([
      expect.stringMatching(
        /unlisted token, which may keep a withdrawal from the wallet: 1\. They have no value\.$/,
      ),
    ]);
  });

  it("reads the other pairs next to a contract that burns all gas", async () => {
    const pair = await createPair(stage.token0, stage.token1);
    await addLiquidity(pair, UNIT, UNIT);
    const burner = await stage.deployer.deploy(foreign.GasBurner as Artifact);
    const holdings = [{ ...(await holdingOf(pair)), contract: burner.address }, await holdingOf(pair)];
    const { positions, warnings } = await stage.read(reader, { holdings });
    expect(positions).toHaveLength(1);
    expect(warnings).toEqual([]);
  });

  it("reads nothing for a wallet with listed tokens only", async () => {
    const holdings = [await holdingOf(stage.token0)].map((holding) => ({ ...holding, symbol: "AAA" }));
    const { positions, rounds } = await stage.read(reader, { holdings });
    expect([positions, rounds]).toEqual([[], 0]);
  });
});

function marketOf(address: Hex): PairMarket {
  return {
    ...{ protocol: "uniswap-v2", name: "Uniswap v2", shape: "uniswap", factory: address },
    feeMint: { growth: 1n, now: 5n, last: 1n },
  };
}
