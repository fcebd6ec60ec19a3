// Runs the code of Compound v2 once on a local chain and records what it returns to the reader:
//
//   npx tsx tests/protocols/lending/record-compound/run.ts <compound-protocol> "<source>"
//
// The folder has the contracts as the protocol's own build compiled them, one JSON file each with `abi` and `bytecode`; the
// source is what they were built from, such as "compound-finance/compound-protocol at a3214f6 of 2022-06-06". The recording
// goes to tests/fixtures.

import { readdirSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { LOCAL_GENESIS_CODE } from "@sextant/contracts/deploy/deploy";
import { startLocalChain } from "@sextant/local-chain/local-chain";
import type { Hex } from "viem";
import { MULTICALL3 } from "../../../../src/chain/aggregate3.ts";
import { createChainAccess } from "../../../../src/portfolio/chain-access.ts";
import { createCompoundV2Reader } from "../../../../src/portfolio/positions/compound-v2/reader.ts";
import type { ContractRead, PinnedChain, PositionReader } from "../../../../src/portfolio/types.ts";
import { createTestRpc } from "../../../support/nodes/test-rpc.ts";
import { localChainConfig } from "../../../support/portfolio/portfolio-stage.ts";
import { type Artifact, readArtifact, readArtifactFile } from "../../support/artifacts.ts";
import { createDeployer, type DeployedContract } from "../../support/deployer.ts";

const [compoundFolder = "", compoundSource = ""] = process.argv.slice(2);
if (compoundSource === "") throw new Error("Name a folder and a source for Compound v2.");
const EMPTY_WALLET: Hex = `0x${"5e".repeat(20)}`;
const UNIT = 10n ** 18n;

/** The compiled contracts of a folder, by their names. */
function openArtifacts(folder: string): (name: string) => Artifact {
  const files = readdirSync(folder, { recursive: true, encoding: "utf8" });
  return (name) => {
    const file = files.find((path) => basename(path) === `${name}.json`);
    if (file === undefined) throw new Error(`${name} is not in ${folder}`);
    return readArtifactFile(join(folder, file));
  };
}

const chain = await startLocalChain({ chainId: 31337, code: LOCAL_GENESIS_CODE });
const { owner, payer } = chain.accounts;
const wallet = payer.address.toLowerCase() as Hex;
const asWallet = { key: payer.privateKey };
const deployer = createDeployer(chain, owner.privateKey);
const { deploy, send, call } = deployer;

async function deployToken(symbol: string, decimals: number): Promise<DeployedContract> {
  const path = "@aave/core-v3/artifacts/contracts/mocks/tokens/MintableERC20.sol/MintableERC20.json";
  return deploy(readArtifact(path), [symbol, symbol, decimals]);
}

async function give(
  token: DeployedContract,
  spender: Hex,
  amount: bigint,
  to: "wallet" | "lender",
): Promise<void> {
  const { address, privateKey } = to === "wallet" ? payer : owner;
  await send(token, "mint", [address, amount]);
  await send(token, "approve", [spender, amount], { key: privateKey });
}

/** Reads as a chain without Multicall3, so that every single response is on record. */
async function record(reader: PositionReader, of: Hex): Promise<Record<string, Hex | null>> {
  const { signal } = new AbortController();
  const { rpc } = createTestRpc([chain.rpcUrl], { limits: { requestTimeoutMs: 60_000 } });
  const at = await createChainAccess(rpc, localChainConfig([])).pin(signal);
  const responses: Record<string, Hex | null> = {};
  const recording: PinnedChain = {
    ...at,
    read: async (calls: readonly ContractRead[], stop) => {
      const single = calls.filter(({ to }) => to !== MULTICALL3);
      const results = await at.read(single, stop);
      for (const [index, { to, data }] of single.entries())
        responses[`${to} ${data}`] = results[index] ?? null;
      return calls.map((each) =>
        each.to === MULTICALL3 ? null : (responses[`${each.to} ${each.data}`] ?? null),
      );
    },
  };
  await reader.read({ at: recording, wallet: of, holdings: [] }, signal);
  return responses;
}

async function writeRecording(
  file: string,
  source: string,
  readers: readonly PositionReader[],
  facts: object,
): Promise<void> {
  const block = (await chain.request("eth_getBlockByNumber", ["latest", false])) as { timestamp: Hex };
  const responses: Record<string, Hex | null> = {};
  for (const reader of readers)
    for (const of of [wallet, EMPTY_WALLET]) Object.assign(responses, await record(reader, of));
  const recording = {
    source,
    recordedBy: "tests/protocols/lending/record-compound/run.ts",
    wallet,
    timestamp: Number(block.timestamp),
    ...facts,
    responses,
  };
  writeFileSync(file, `${JSON.stringify(recording, null, 2)}\n`);
}

const usdc = await deployToken("USDC", 6);
const col = await deployToken("COL", 18);

async function recordCompoundV2(): Promise<void> {
  const find = openArtifacts(compoundFolder);
  const comptroller = await deploy(find("Comptroller"));
  const oracle = await deploy(find("SimplePriceOracle"));
  await send(comptroller, "_setPriceOracle", [oracle.address]);
  await send(comptroller, "_setCloseFactor", [UNIT / 2n]);
  const rates = await deploy(find("JumpRateModel"), [UNIT / 50n, UNIT / 5n, UNIT, (8n * UNIT) / 10n]);
  const deployMarket = async (token: DeployedContract, decimals: number, price: bigint) => {
    const market = await deploy(find("CErc20Immutable"), [
      ...[token.address, comptroller.address, rates.address, 2n * 10n ** BigInt(decimals + 8)],
      ...[`Compound ${decimals}`, `c${decimals}`, 8, owner.address],
    ]);
    await send(comptroller, "_supportMarket", [market.address]);
    await send(oracle, "setUnderlyingPrice", [market.address, price]);
    await send(comptroller, "_setCollateralFactor", [market.address, (7n * UNIT) / 10n]);
    return market;
  };
  const cUsdc = await deployMarket(usdc, 6, 9999n * 10n ** 26n);
  const cCol = await deployMarket(col, 18, 2_000n * UNIT);
  const cEther = await deploy(find("CEther"), [
    ...[comptroller.address, rates.address, 2n * 10n ** 26n, "Compound Ether", "cETH", 8, owner.address],
  ]);
  await send(comptroller, "_supportMarket", [cEther.address]);
  await give(usdc, cUsdc.address, 1_000_000_000000n, "lender");
  await send(cUsdc, "mint", [1_000_000_000000n]);
  await give(col, cCol.address, 500n * UNIT, "wallet");
  await send(cCol, "mint", [500n * UNIT], asWallet);
  await send(cEther, "mint", [], { ...asWallet, value: 2n * UNIT });
  await send(comptroller, "enterMarkets", [[cCol.address]], asWallet);
  await send(cUsdc, "borrow", [600_000_000000n], asWallet);
  // Interest is counted in blocks.
  await chain.mine(5_000);
  const pool = {
    ...{ name: "Test", comptroller: comptroller.address, nativeMarket: cEther.address },
    markets: [cUsdc.address, cEther.address, cCol.address],
  };
  const older = { ...pool, markets: [cUsdc.address, cEther.address] };
  await writeRecording(
    "tests/fixtures/positions/compound-v2.json",
    compoundSource,
    [pool, older].map((each) => createCompoundV2Reader(new Map([[31337, [each]]]))),
    {
      pool,
      views: {
        oracle: oracle.address,
        ...{ baseToken: usdc.address, collateralToken: col.address, collateralMarket: cCol.address },
        borrowed: String(await call(cUsdc, "borrowBalanceCurrent", [wallet])),
        borrowedStored: String(await call(cUsdc, "borrowBalanceStored", [wallet])),
        collateral: String(await call(cCol, "balanceOfUnderlying", [wallet])),
        ether: String(await call(cEther, "balanceOfUnderlying", [wallet])),
        liquidity: (await call<bigint[]>(comptroller, "getAccountLiquidity", [wallet])).map(String),
      },
    },
  );
}

await recordCompoundV2();
await chain.stop();
