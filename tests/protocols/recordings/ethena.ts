// Ethena: sUSDe with rewards, a donation and a loss, and USDe in cooldown, on Ethena's own contracts.
import { type Hex, keccak256, parseEther, stringToHex } from "viem";
import { createErc4626Reader } from "../../../src/portfolio/positions/erc4626/reader.ts";
import { createEthenaReader } from "../../../src/portfolio/positions/ethena/reader.ts";
import type { Recorder } from "../support/recorder.ts";

const HOUR = 3_600n;

export async function recordEthena(recorder: Recorder, file: string): Promise<void> {
  const { deployer, chain, wallet, asWallet, artifact, holdingOf, record } = recorder;
  const { deploy, send, call } = deployer;
  const owner = chain.accounts.owner.address;
  const usde = await deploy(artifact("USDe"), [owner]);
  await send(usde, "setMinter", [owner]);
  await send(usde, "mint", [owner, parseEther("1000000")]);
  await send(usde, "mint", [wallet, parseEther("10000")]);
  const staked = await deploy(artifact("StakedUSDeV2"), [usde.address, owner, owner]);
  const market = { stakedUsde: staked.address, usde: usde.address };
  const readers = [createEthenaReader(new Map([[chain.chainId, [market]]])), createErc4626Reader(new Map())];
  const recordMoment = async (name: string, views: Readonly<Record<string, unknown>>) => {
    const holding = await holdingOf(staked);
    const listed = [await holdingOf(usde), holding];
    const holdings = holding.rawBalance === 0n ? [] : [holding];
    // The amount that leaving would pay; a blocked wallet cannot leave.
    const isFree = name !== "blacklisted" && holdings.length > 0;
    const leave = isFree ? "cooldownShares" : "previewRedeem";
    const shares = await call(staked, leave, [holding.rawBalance], { from: wallet });
    await record(name, { readers, listed, holdings, views: { shares, ...views } });
  };
  /** The amount that the cooldown pays to the wallet, found by waiting for its end. */
  const unstake = async () => {
    const snapshot = await chain.request("evm_snapshot");
    const before = await call<bigint>(usde, "balanceOf", [wallet]);
    await chain.increaseTime(91n * 24n * HOUR);
    await send(staked, "unstake", [wallet], asWallet);
    const after = await call<bigint>(usde, "balanceOf", [wallet]);
    await chain.request("evm_revert", [snapshot]);
    return after - before;
  };

  await send(usde, "approve", [staked.address, parseEther("1000000")]);
  await send(staked, "deposit", [parseEther("500000"), owner]);
  await send(usde, "approve", [staked.address, parseEther("10000")], asWallet);
  await send(staked, "deposit", [parseEther("10000"), wallet], asWallet);
  await send(staked, "transferInRewards", [parseEther("1234.567")]);
  await chain.increaseTime(3n * HOUR);
  await chain.mine();
  await recordMoment("half of the rewards vested", {});

  await chain.increaseTime(6n * HOUR);
  await send(usde, "transfer", [staked.address, parseEther("77777.7")]);
  await recordMoment("donated", {});

  await send(staked, "cooldownShares", [parseEther("4000")], asWallet);
  await recordMoment("in cooldown", { unstaked: await unstake() });
  await send(staked, "cooldownAssets", [parseEther("1000")], asWallet);
  await chain.increaseTime(91n * 24n * HOUR);
  await chain.mine();
  await recordMoment("cooldown over", { unstaked: await unstake() });

  const manager = keccak256(stringToHex("BLACKLIST_MANAGER_ROLE")) as Hex;
  await send(staked, "grantRole", [manager, owner]);
  await send(staked, "addToBlacklist", [wallet, true]);
  await recordMoment("blacklisted", { unstaked: await unstake() });
  await send(staked, "removeFromBlacklist", [wallet, true]);

  await send(staked, "unstake", [wallet], asWallet);
  await send(staked, "cooldownShares", [(await holdingOf(staked)).rawBalance], asWallet);
  await chain.increaseTime(91n * 24n * HOUR);
  await send(staked, "unstake", [wallet], asWallet);
  await recordMoment("emptied", {});
  recorder.write(file, { market });
}
