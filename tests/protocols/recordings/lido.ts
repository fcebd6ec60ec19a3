// Lido: staking, a slashing, and withdrawals in each state, on Lido's own contracts.
import { type Hex, keccak256, parseEther, stringToHex } from "viem";
import { createLidoReader } from "../../../src/portfolio/positions/lido/reader.ts";
import { RECORDED_SPENDER, RECORDED_THIEF } from "../../support/portfolio/recorded-exposure.ts";
import { type Artifact, compileSources } from "../support/artifacts.ts";
import type { DeployedContract } from "../support/deployer.ts";
import type { Recorder } from "../support/recorder.ts";

/** Aragon's proxy remembers its kernel, which decides about permissions; here it allows everything. */
const ARAGON_SOURCE = `pragma solidity ^0.8.20;
import {ERC1967Proxy} from "@openzeppelin/contracts/proxy/ERC1967/ERC1967Proxy.sol";
contract Kernel {
  function hasPermission(address, address, bytes32, bytes calldata) external pure returns (bool) { return true; }
}
contract AppProxy is ERC1967Proxy {
  constructor(address implementation, Kernel kernel, bytes32 position) ERC1967Proxy(implementation, "") {
    assembly { sstore(position, kernel) }
  }
  receive() external payable { _fallback(); }
}`;
const KERNEL_POSITION = keccak256(stringToHex("aragonOS.appStorage.kernel"));
const RATE_SCALE = 10n ** 27n;

type Lido = {
  readonly stEth: DeployedContract;
  readonly wstEth: DeployedContract;
  readonly queue: DeployedContract;
};

async function deployLido({ deployer, chain, artifact, deployProxied }: Recorder): Promise<Lido> {
  const { deploy, send, call } = deployer;
  const owner = chain.accounts.owner.address;
  const { Kernel, AppProxy } = await compileSources({ "aragon.sol": ARAGON_SOURCE });
  const kernel = await deploy(Kernel as Artifact);
  const implementation = await deploy(artifact("Lido"));
  const proxy = await deploy(AppProxy as Artifact, [implementation.address, kernel.address, KERNEL_POSITION]);
  const stEth = { address: proxy.address, abi: implementation.abi };
  const wstEth = await deploy(artifact("WstETH"), [stEth.address]);
  const queue = await deployProxied("WithdrawalQueueERC721", [
    wstEth.address,
    "Lido: stETH Withdrawal NFT",
    "unstETH",
  ]);
  // The owner stands for every part that is not run here, above all the one that reports validators.
  const services = (
    artifact("LidoLocator").abi.find(({ type }) => type === "constructor") as {
      readonly inputs: readonly { readonly components: readonly { readonly name: string }[] }[];
    }
  ).inputs[0]?.components.map(({ name }) => [name, owner]);
  const locator = await deploy(artifact("LidoLocator"), [
    {
      ...Object.fromEntries(services ?? []),
      ...{ lido: stEth.address, withdrawalQueue: queue.address, wstETH: wstEth.address },
    },
  ]);
  await send(stEth, "initialize", [locator.address, owner], { value: parseEther("1") });
  await send(stEth, "resume");
  await send(queue, "initialize", [owner]);
  for (const [role, account] of [
    ["RESUME_ROLE", owner],
    ["PAUSE_ROLE", owner],
    ["FINALIZE_ROLE", stEth.address],
  ] as const)
    await send(queue, "grantRole", [await call<Hex>(queue, role), account]);
  await send(queue, "resume");
  return { stEth, wstEth, queue };
}

/** Ether of validators, as a report of Lido's oracle leaves it. */
async function reportValidators({ deployer }: Recorder, { stEth }: Lido, balance: bigint): Promise<void> {
  await deployer.send(stEth, "processClStateUpdate", [1n, 0n, 0n, balance]);
}

/** Up to a request, at today's rate, with the ether that Lido has buffered. */
async function finalize(
  { chain, deployer }: Recorder,
  { stEth, queue }: Lido,
  request: bigint,
): Promise<void> {
  const { send, call } = deployer;
  const rate = await call<bigint>(stEth, "getPooledEthByShares", [RATE_SCALE]);
  const [ether, shares] = await call<readonly [bigint, bigint]>(queue, "prefinalize", [[request], rate]);
  await send(stEth, "collectRewardsAndProcessWithdrawals", [1n, 0n, 0n, 0n, 0n, request, rate, ether]);
  await send(stEth, "transferSharesFrom", [queue.address, chain.accounts.owner.address, shares]);
  await send(stEth, "burnShares", [shares]);
}

export async function recordLido(recorder: Recorder, file: string): Promise<void> {
  const { deployer, chain, wallet, asWallet, holdingOf, record, recordExposed } = recorder;
  const { send, call } = deployer;
  const lido = await deployLido(recorder);
  const { stEth, wstEth, queue } = lido;
  const market = { wstEth: wstEth.address, stEth: stEth.address, withdrawalQueue: queue.address };
  const readers = [createLidoReader(new Map([[chain.chainId, [market]]]))];
  const listed = [await holdingOf(wstEth)];
  const recordMoment = async (name: string, views: Readonly<Record<string, unknown>>) =>
    record(name, { readers, listed, holdings: [await holdingOf(wstEth)], views });
  const staked = async () => ({
    unwrapped: await call(wstEth, "unwrap", [(await holdingOf(wstEth)).rawBalance], { from: wallet }),
  });

  await send(stEth, "submit", [wallet], { ...asWallet, value: parseEther("100") });
  await send(stEth, "approve", [wstEth.address, parseEther("40")], asWallet);
  await send(wstEth, "wrap", [parseEther("40")], asWallet);
  await reportValidators(recorder, lido, parseEther("7.3"));
  await recordMoment("staked", await staked());

  await send(stEth, "approve", [queue.address, parseEther("100")], asWallet);
  await send(
    queue,
    "requestWithdrawals",
    [[parseEther("5"), parseEther("9"), parseEther("11")], wallet],
    asWallet,
  );
  await finalize(recorder, lido, 1n);
  await send(queue, "claimWithdrawal", [1n], asWallet);
  const waiting = async (ids: readonly bigint[]) =>
    Promise.all(ids.map((id) => waitingEther(recorder, lido, id)));
  await recordMoment("requested", { ...(await staked()), waiting: await waiting([2n, 3n]) });

  // Validators lose ether before the second request is final.
  await reportValidators(recorder, lido, parseEther("0.7"));
  await finalize(recorder, lido, 2n);
  const views = {
    ...{ ...(await staked()), claimed: await claimable(recorder, lido, 2n), claimRequested: parseEther("9") },
    ...{ waiting: await waiting([3n]), waitingRequested: parseEther("11") },
  };
  await recordMoment("slashed", views);
  // A thief may take the request that waits, and a known operator both.
  await send(queue, "approve", [RECORDED_THIEF, 3n], asWallet);
  await send(queue, "setApprovalForAll", [RECORDED_SPENDER, true], asWallet);
  await recordExposed("approved", { readers, listed, views });
  // Now nothing can be unwrapped, requested or claimed, but nothing is lost either.
  await send(stEth, "stop");
  await send(queue, "pauseFor", [86_400n]);
  await recordMoment("paused", views);

  await send(stEth, "resume");
  await send(queue, "resume");
  await send(queue, "claimWithdrawal", [2n], asWallet);
  await finalize(recorder, lido, 3n);
  await send(queue, "claimWithdrawal", [3n], asWallet);
  await send(wstEth, "unwrap", [(await holdingOf(wstEth)).rawBalance], asWallet);
  await record("emptied", { readers, listed, views: {} });
  recorder.write(file, { market });
}

/** The amount that the queue would set aside for a request if all up to it became final now. */
async function waitingEther({ deployer }: Recorder, { stEth, queue }: Lido, id: bigint): Promise<bigint> {
  const { call } = deployer;
  const rate = await call<bigint>(stEth, "getPooledEthByShares", [RATE_SCALE]);
  const batch = async (last: bigint) =>
    last <= (await call<bigint>(queue, "getLastFinalizedRequestId"))
      ? 0n
      : (await call<readonly [bigint, bigint]>(queue, "prefinalize", [[last], rate]))[0];
  return (await batch(id)) - (await batch(id - 1n));
}

/** The amount of a claim: the ether that leaves the queue. */
async function claimable(
  { chain, deployer, asWallet }: Recorder,
  { queue }: Lido,
  request: bigint,
): Promise<bigint> {
  const balance = async () =>
    BigInt((await chain.request("eth_getBalance", [queue.address, "latest"])) as Hex);
  const snapshot = await chain.request("evm_snapshot");
  const before = await balance();
  await deployer.send(queue, "claimWithdrawal", [request], asWallet);
  const after = await balance();
  await chain.request("evm_revert", [snapshot]);
  return before - after;
}
