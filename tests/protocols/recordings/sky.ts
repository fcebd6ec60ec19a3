// Sky: sDAI and stUSDS as vaults, and the oracle that carries the savings rate to other chains, on Sky's own contracts.
import { type Hex, parseEther, stringToHex } from "viem";
import { createErc4626Reader } from "../../../src/portfolio/positions/erc4626/reader.ts";
import { createRateReader, SKY_TOKENS } from "../../../src/portfolio/positions/rate-reader.ts";
import { type Artifact, compileSources } from "../support/artifacts.ts";
import type { DeployedContract, Deployer } from "../support/deployer.ts";
import type { Recorder } from "../support/recorder.ts";

const RAY = 10n ** 27n;
const RAD = 10n ** 45n;
const YEAR = 365n * 86_400n;
/** About eight percent a year, per second. */
const RATE = 1_000000002440418608258400030n;
const word = (text: string): Hex => stringToHex(text, { size: 32 });

export async function recordSavings(recorder: Recorder, file: string): Promise<void> {
  const { deployer, chain, wallet, asWallet, holdingOf, record } = recorder;
  const { send, call } = deployer;
  const { dai, savings } = await deploySavingsDai(recorder);
  const { usds, staked } = await deployStakedUsds(recorder);
  const readers = [createErc4626Reader(new Map())];
  const recordMoment = async (name: string, vault: DeployedContract, asset: DeployedContract) => {
    const holding = await holdingOf(vault);
    const isHeld = holding.rawBalance > 0n;
    const redeem = () => call(vault, "redeem", [holding.rawBalance, wallet, wallet], { from: wallet });
    await record(name, {
      ...{ readers, listed: [await holdingOf(asset), holding], holdings: isHeld ? [holding] : [] },
      views: { redeemed: isHeld ? await redeem() : 0n },
    });
  };

  for (const [vault, asset] of [
    [savings, dai],
    [staked, usds],
  ] as const) {
    await send(asset, "approve", [vault.address, parseEther("1000")], asWallet);
    await send(vault, "deposit", [parseEther("1000"), wallet], asWallet);
  }
  await chain.increaseTime(YEAR / 3n);
  await chain.mine();
  await recordMoment("sDAI before the rate was collected", savings, dai);
  await recordMoment("stUSDS before the rate was collected", staked, usds);
  await send(staked, "cut", [parseEther("250") * RAY]);
  await recordMoment("stUSDS after a loss", staked, usds);
  for (const vault of [savings, staked]) {
    const shares = (await holdingOf(vault)).rawBalance;
    await send(vault, "redeem", [shares, wallet, wallet], asWallet);
  }
  await recordMoment("sDAI emptied", savings, dai);
  await recordMoment("stUSDS emptied", staked, usds);
  recorder.write(file, {
    sDai: savings.address,
    dai: dai.address,
    stUsds: staked.address,
    usds: usds.address,
  });
}

async function deploySavingsDai({ deployer, artifact, chain, wallet }: Recorder) {
  const { deploy, send } = deployer;
  const owner = chain.accounts.owner.address;
  const vat = await deploy(artifact("Vat"));
  const dai = await deploy(artifact("Dai"), [BigInt(chain.chainId)]);
  const join = await deploy(artifact("DaiJoin"), [vat.address, dai.address]);
  const pot = await deploy(artifact("Pot"), [vat.address]);
  await send(dai, "rely", [join.address]);
  await send(vat, "rely", [pot.address]);
  await send(vat, "hope", [join.address]);
  await castRate(deployer, pot, "dsr");
  await send(pot, "file", [word("vow"), owner]);
  await send(vat, "suck", [owner, owner, 1_000_000n * RAD]);
  await send(join, "exit", [wallet, parseEther("5000")]);
  const savings = await deploy(artifact("SavingsDai"), [join.address, pot.address]);
  return { dai, savings };
}

async function deployStakedUsds({ deployer, artifact, chain, deployProxied, wallet }: Recorder) {
  const { deploy, send } = deployer;
  const owner = chain.accounts.owner.address;
  const vat = await deploy(artifact("VatMock"));
  const usds = await deploy(artifact("UsdsMock"));
  const join = await deploy(artifact("UsdsJoinMock"), [vat.address, usds.address]);
  const jug = await deploy(artifact("JugMock"));
  const clip = await deploy(artifact("ClipMock"), [word("LSEV2-SKY-A")]);
  await send(usds, "mint", [wallet, parseEther("5000")]);
  await send(usds, "rely", [join.address]);
  const staked = await deployProxied("StUsds", [join.address, jug.address, clip.address, owner]);
  await send(vat, "rely", [staked.address]);
  await send(staked, "initialize");
  await send(staked, "file", [word("cap"), parseEther("1000000")]);
  await send(vat, "suck", [owner, join.address, 1_000_000n * RAD]);
  await castRate(deployer, staked, "str");
  return { usds, staked };
}

/** A rate can only be set in the second in which interest was collected at the old one. */
const SPELL_SOURCE = `pragma solidity ^0.8.20;
interface Target { function drip() external returns (uint256); function file(bytes32, uint256) external; }
contract Spell {
  function cast(Target target, bytes32 what, uint256 rate) external { target.drip(); target.file(what, rate); }
}`;

async function castRate({ deploy, send }: Deployer, target: DeployedContract, what: string): Promise<void> {
  const { Spell } = await compileSources({ "spell.sol": SPELL_SOURCE });
  const spell = await deploy(Spell as Artifact);
  await send(target, "rely", [spell.address]);
  await send(spell, "cast", [target.address, word(what), RATE]);
}

export async function recordSavingsRate(recorder: Recorder, file: string): Promise<void> {
  const { deployer, chain, wallet, artifact, holdingOf, record } = recorder;
  const { deploy, send, call } = deployer;
  const oracle = await deploy(artifact("SSRAuthOracle"));
  const token = await deploy(artifact("UsdsMock"));
  await send(token, "mint", [wallet, parseEther("1234.56789")]);
  const usds = await deploy(artifact("UsdsMock"));
  await send(oracle, "grantRole", [
    await call<Hex>(oracle, "DATA_PROVIDER_ROLE"),
    chain.accounts.owner.address,
  ]);
  const { timestamp } = (await chain.request("eth_getBlockByNumber", ["latest", false])) as {
    timestamp: Hex;
  };
  await send(oracle, "setSUSDSData", [
    { ssr: RATE, chi: 1_071234567890123456789012345n, rho: BigInt(timestamp) },
  ]);
  await chain.increaseTime(YEAR / 2n);
  await chain.mine();
  const [shipped] = SKY_TOKENS.get(8453) ?? [];
  if (!shipped) throw new Error("sUSDS is not in our data");
  const rated = {
    ...{ ...shipped, token: token.address, asset: usds.address },
    rate: { ...shipped.rate, contract: oracle.address },
  };
  const holding = await holdingOf(token);
  await record("half a year after the last message", {
    readers: [createRateReader("sky", new Map([[chain.chainId, [rated]]]))],
    listed: [holding],
    holdings: [holding],
    views: {
      rate: await call(oracle, "getConversionRate"),
      stored: await call(oracle, "getChi"),
      approximate: await call(oracle, "getConversionRateBinomialApprox"),
    },
  });
  recorder.write(file, { oracle: oracle.address, token: token.address, usds: usds.address });
}
