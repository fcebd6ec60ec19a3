// Rocket Pool: the rate of rETH before a report, after rewards and after a slashing, on Rocket Pool's own contracts.
import { concat, type Hex, keccak256, parseEther, stringToHex } from "viem";
import { createRateReader, ROCKET_POOL_TOKENS } from "../../../src/portfolio/positions/rate-reader.ts";
import type { Recorder } from "../support/recorder.ts";

const keyOf = (...parts: readonly string[]): Hex => keccak256(concat(parts.map((part) => stringToHex(part))));

export async function recordRocketPool(recorder: Recorder, file: string): Promise<void> {
  const { deployer, chain, wallet, artifact, holdingOf, record } = recorder;
  const { deploy, send, call } = deployer;
  const storage = await deploy(artifact("RocketStorage"));
  const balances = await deploy(artifact("RocketNetworkBalances"), [storage.address]);
  const rEth = await deploy(artifact("RocketTokenRETH"), [storage.address]);
  const setAddress = (name: string, address: Hex) =>
    send(storage, "setAddress", [keyOf("contract.address", name), address]);
  await setAddress("rocketNetworkBalances", balances.address);
  // The deposit pool mints; here the owner does.
  await setAddress("rocketDepositPool", chain.accounts.owner.address);
  const report = async (ether: bigint, supply: bigint) => {
    await send(storage, "setUint", [keyOf("network.balance.total"), ether]);
    await send(storage, "setUint", [keyOf("network.balance.reth.supply"), supply]);
  };
  const [shipped] = ROCKET_POOL_TOKENS.get(1) ?? [];
  if (!shipped) throw new Error("rETH is not in our data");
  const rated = { ...shipped, token: rEth.address, rate: { ...shipped.rate, contract: rEth.address } };
  const readers = [createRateReader("rocket-pool", new Map([[chain.chainId, [rated]]]))];
  const recordMoment = async (name: string) => {
    const holding = await holdingOf(rEth);
    const ether = await call(rEth, "getEthValue", [holding.rawBalance]);
    await record(name, { readers, listed: [holding], holdings: [holding], views: { ether } });
  };

  await send(rEth, "mint", [parseEther("12.345678901234567891"), wallet]);
  await recordMoment("before the first report");
  await report(parseEther("1148.765432109876543"), parseEther("1000"));
  await send(rEth, "mint", [parseEther("3.3"), wallet]);
  await recordMoment("rewarded");
  await report(parseEther("1101.000000000000000001"), parseEther("1000"));
  await recordMoment("slashed");
  await report(0n, parseEther("1000"));
  await recordMoment("worthless");
  recorder.write(file, { token: rEth.address });
}
