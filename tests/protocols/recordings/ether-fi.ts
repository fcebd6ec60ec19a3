// ether.fi: the rates of eETH and weETH after rewards and after a slashing, on ether.fi's own contracts.
import { getContractAddress, type Hex, hexToNumber, parseEther, zeroAddress } from "viem";
import {
  createRateReader,
  ETHER_FI_TOKENS,
  type RatedToken,
} from "../../../src/portfolio/positions/rate-reader.ts";
import { type Artifact, compileSources } from "../support/artifacts.ts";
import type { DeployedContract } from "../support/deployer.ts";
import type { Recorder } from "../support/recorder.ts";

/** Stands for roles, limits and the list of blocked accounts: it allows everything. */
const GUARD_SOURCE = "pragma solidity ^0.8.20; contract Guard { fallback() external {} }";

async function deployEtherFi({ deployer, chain, deployProxied }: Recorder) {
  const { deploy, send } = deployer;
  const owner = chain.accounts.owner.address;
  const { Guard } = await compileSources({ "guard.sol": GUARD_SOURCE });
  const guard = (await deploy(Guard as Artifact)).address;
  // The pool and its token know each other from their constructors on.
  const count = hexToNumber((await chain.request("eth_getTransactionCount", [owner, "latest"])) as Hex);
  const poolAddress = getContractAddress({ from: owner, nonce: BigInt(count + 3) });
  const eEth = await deployProxied("EETH", [poolAddress, guard, guard, guard]);
  const pool = await deployProxied("LiquidityPool", [
    {
      ...{ stakingManager: guard, nodesManager: guard, eETH: eEth.address, withdrawRequestNFT: guard },
      ...{ liquifier: guard, etherFiRedemptionManager: guard, priorityWithdrawalQueue: guard },
      ...{ blacklister: guard, etherFiAdminContract: owner, membershipManager: guard, roleRegistry: guard },
    },
  ]);
  const weEth = await deployProxied("WeETH", [eEth.address, pool.address, guard, guard]);
  for (const contract of [pool, eEth, weEth]) await send(contract, "initialize");
  return { pool, eEth, weEth };
}

/** Our data with the addresses of this chain. */
function relocate({
  eEth,
  weEth,
}: Readonly<Record<"eEth" | "weEth", DeployedContract>>): readonly RatedToken[] {
  const [shippedWeEth, shippedEEth] = ETHER_FI_TOKENS.get(1) ?? [];
  if (!shippedWeEth || !shippedEEth) throw new Error("weETH or eETH is not in our data");
  const contract = weEth.address;
  return [
    { ...shippedWeEth, token: contract, rate: { ...shippedWeEth.rate, contract } },
    { ...shippedEEth, token: eEth.address, asset: contract, rate: { ...shippedEEth.rate, contract } },
  ];
}

export async function recordEtherFi(recorder: Recorder, file: string): Promise<void> {
  const { deployer, chain, wallet, asWallet, holdingOf, record } = recorder;
  const { send, call } = deployer;
  const { pool, eEth, weEth } = await deployEtherFi(recorder);
  const readers = [createRateReader("ether-fi", new Map([[chain.chainId, relocate({ eEth, weEth })]]))];
  const recordMoment = async (name: string) => {
    const holdings = [await holdingOf(eEth), await holdingOf(weEth)];
    const [free, wrapped] = holdings.map(({ rawBalance }) => rawBalance);
    const views = {
      wrapped: await call(weEth, "wrap", [free], { from: wallet }),
      unwrapped: await call(weEth, "unwrap", [wrapped], { from: wallet }),
      // Results for one whole token, which are the rates.
      wrappedOne: await call(weEth, "wrap", [parseEther("1")], { from: wallet }),
      unwrappedOne: await call(weEth, "unwrap", [parseEther("1")], { from: wallet }),
      claim: await call(pool, "getTotalEtherClaimOf", [wallet]),
    };
    await record(name, { readers, listed: holdings, holdings, views });
  };

  await send(pool, "deposit", [zeroAddress], { ...asWallet, value: parseEther("33.3") });
  await send(eEth, "approve", [weEth.address, parseEther("1000")], asWallet);
  await send(weEth, "wrap", [parseEther("12.1")], asWallet);
  for (let report = 0; report < 20; report += 1) await send(pool, "rebase", [parseEther("0.08"), 0n]);
  await recordMoment("rewarded");
  await send(pool, "rebase", [-parseEther("0.75"), 0n]);
  await recordMoment("slashed");
  recorder.write(file, { eEth: eEth.address, weEth: weEth.address });
}
