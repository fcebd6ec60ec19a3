// The furniture of a local chain: wrapped coin, plain token, vault, loan, price feed and multicall behave as expected.
import {
  encodeAbiParameters,
  encodeErrorResult,
  encodeFunctionData,
  getAddress,
  keccak256,
  numberToHex,
  parseAbiParameters,
  zeroAddress,
  zeroHash,
} from "viem";
import { describe, expect, it } from "vitest";
import { lendingMarketAbi, lendingMarketBytecode } from "../generated/lending-market.ts";
import { multicall3Abi, multicall3Bytecode } from "../generated/multicall3.ts";
import { plainTokenAbi, plainTokenBytecode } from "../generated/plain-token.ts";
import { priceFeedAbi, priceFeedBytecode } from "../generated/price-feed.ts";
import { vault4626Abi, vault4626Bytecode } from "../generated/vault4626.ts";
import { wrappedEtherAbi, wrappedEtherBytecode } from "../generated/wrapped-ether.ts";
import { actorBytecode, puppetAbi } from "./actor-contracts.ts";
import { decodeEvents, EVM_CHAIN_ID, expectRevert, nativeBalance, startEvm } from "./evm.ts";

const evm = await startEvm();
const accounts = evm.chain.accounts;
const owner = accounts.owner.address;
const payer = accounts.payer.address;
const merchant = accounts.merchant.address;
const plainToken = (decimals = 6) =>
  evm.deploy(plainTokenAbi, plainTokenBytecode, ["Plain", "PLN", decimals]);

describe("wrapped ether", () => {
  const deploy = () => evm.deploy(wrappedEtherAbi, wrappedEtherBytecode, []);

  it("wraps by deposit and by plain sending, and unwraps, always backed one to one", async () => {
    const weth = await deploy();
    expect(await weth.read("name", [])).toBe("Wrapped Ether");
    expect(await weth.read("symbol", [])).toBe("WETH");
    expect(await weth.read("decimals", [])).toBe(18);
    expect(decodeEvents(await weth.send(payer, "deposit", [], 5n), wrappedEtherAbi)).toEqual([
      { eventName: "Transfer", args: { from: zeroAddress, to: payer, value: 5n } },
      { eventName: "Deposit", args: { dst: payer, wad: 5n } },
    ]);
    await evm.sendRaw(payer, weth.address, "0x", 3n);
    expect(await weth.read("balanceOf", [payer])).toBe(8n);
    const before = await nativeBalance(evm, payer);
    expect(decodeEvents(await weth.send(payer, "withdraw", [6n]), wrappedEtherAbi)).toEqual([
      { eventName: "Transfer", args: { from: payer, to: zeroAddress, value: 6n } },
      { eventName: "Withdrawal", args: { src: payer, wad: 6n } },
    ]);
    expect((await nativeBalance(evm, payer)) - before).toBe(6n);
    expect(await weth.read("totalSupply", [])).toBe(2n);
    expect(await nativeBalance(evm, weth.address)).toBe(2n);
    const more = weth.call(payer, "withdraw", [3n]);
    await expectRevert(more, wrappedEtherAbi, "ERC20InsufficientBalance", [payer, 2n, 3n]);
  });

  it("wrapped ether cannot be drained by calling back, and keeps tokens if the coin is rejected", async () => {
    const weth = await deploy();
    const puppet = await evm.deploy(puppetAbi, actorBytecode("Puppet"), []);
    const deposit = encodeFunctionData({ abi: wrappedEtherAbi, functionName: "deposit" });
    const withdraw = (amount: bigint) =>
      encodeFunctionData({ abi: wrappedEtherAbi, functionName: "withdraw", args: [amount] });
    await weth.send(payer, "deposit", [], 100n);
    await puppet.send(payer, "perform", [weth.address, 10n, deposit], 10n);
    await puppet.send(payer, "rehearse", [weth.address, 0n, withdraw(10n), true]);
    const rejected = puppet.send(payer, "perform", [weth.address, 0n, withdraw(10n)]);
    await expectRevert(rejected, wrappedEtherAbi, "NativeTransferFailed", [getAddress(puppet.address), 10n]);
    expect(await weth.read("balanceOf", [puppet.address])).toBe(10n);
    await puppet.send(payer, "rehearse", [weth.address, 0n, withdraw(10n), false]);
    await puppet.send(payer, "perform", [weth.address, 0n, withdraw(10n)]);
    expect(await puppet.read("succeeded", [])).toBe(false);
    expect(await nativeBalance(evm, puppet.address)).toBe(10n);
    expect(await nativeBalance(evm, weth.address)).toBe(100n);
  });
});

describe("a plain token", () => {
  it.each([0, 6, 18, 255])(
    "a plain token has the name, symbol and %s decimals it was given",
    async (decimals) => {
      const token = await plainToken(decimals);
      expect(await token.read("name", [])).toBe("Plain");
      expect(await token.read("symbol", [])).toBe("PLN");
      expect(await token.read("decimals", [])).toBe(decimals);
      expect(await token.read("owner", [])).toBe(owner);
    },
  );

  it("only its owner mints a plain token", async () => {
    const token = await plainToken();
    expect(decodeEvents(await token.send(owner, "mint", [payer, 5n]), plainTokenAbi)).toEqual([
      { eventName: "Transfer", args: { from: zeroAddress, to: payer, value: 5n } },
    ]);
    const rejected = token.call(payer, "mint", [payer, 5n]);
    await expectRevert(rejected, plainTokenAbi, "OwnableUnauthorizedAccount", [payer]);
    await token.send(owner, "transferOwnership", [payer]);
    await token.send(payer, "mint", [payer, 5n]);
    expect(await token.read("totalSupply", [])).toBe(10n);
  });
});

describe("a vault", () => {
  it("turns deposits into shares, and what it is given into yield for them", async () => {
    const token = await plainToken();
    const vault = await evm.deploy(vault4626Abi, vault4626Bytecode, [token.address, "Vault", "vPLN"]);
    expect(await vault.read("asset", [])).toBe(getAddress(token.address));
    expect(await vault.read("name", [])).toBe("Vault");
    expect(await vault.read("symbol", [])).toBe("vPLN");
    expect(await vault.read("decimals", [])).toBe(6);
    for (const holder of [payer, merchant]) {
      await token.send(owner, "mint", [holder, 1_000n]);
      await token.send(holder, "approve", [vault.address, 1_000n]);
    }
    expect(decodeEvents(await vault.send(payer, "deposit", [1_000n, payer]), vault4626Abi)).toEqual([
      { eventName: "Transfer", args: { from: payer, to: getAddress(vault.address), value: 1_000n } },
      { eventName: "Transfer", args: { from: zeroAddress, to: payer, value: 1_000n } },
      { eventName: "Deposit", args: { sender: payer, owner: payer, assets: 1_000n, shares: 1_000n } },
    ]);
    await token.send(owner, "mint", [vault.address, 1_000n]);
    expect(await vault.read("totalAssets", [])).toBe(2_000n);
    // One virtual share owns its part of the yield: rounding is always in favour of the vault.
    expect(await vault.read("convertToAssets", [1_000n])).toBe(1_999n);
    expect(await vault.read("convertToShares", [1_000n])).toBe(500n);
    await vault.send(merchant, "deposit", [1_000n, merchant]);
    expect(await vault.read("balanceOf", [merchant])).toBe(500n);
    await vault.send(payer, "redeem", [1_000n, payer, payer]);
    expect(await token.read("balanceOf", [payer])).toBe(1_999n);
    const more = vault.call(merchant, "redeem", [501n, merchant, merchant]);
    await expectRevert(more, vault4626Abi, "ERC4626ExceededMaxRedeem", [merchant, 501n, 500n]);
  });

  it("gives no shares of others to a first depositor who inflates the price", async () => {
    const token = await plainToken();
    const vault = await evm.deploy(vault4626Abi, vault4626Bytecode, [token.address, "Vault", "vPLN"]);
    await token.send(owner, "mint", [payer, 10_001n]);
    await token.send(owner, "mint", [merchant, 10_000n]);
    for (const holder of [payer, merchant]) await token.send(holder, "approve", [vault.address, 20_000n]);
    await vault.send(payer, "deposit", [1n, payer]);
    await token.send(payer, "transfer", [vault.address, 10_000n]);
    await vault.send(merchant, "deposit", [10_000n, merchant]);
    await vault.send(payer, "redeem", [1n, payer, payer]);
    // The attack costs the attacker: it ends with less than it began with.
    expect(await token.read("balanceOf", [payer])).toBeLessThan(10_001n);
  });
});

describe("a lending market", () => {
  const LLTV = 860_000_000_000_000_000n;
  const agent = accounts.agent.address;

  /** Dollars with 6 decimals against a coin with 18, at 3,000 dollars; the pool has 10,000 dollars. */
  async function openMarket() {
    const [dollars, coin] = [await plainToken(6), await plainToken(18)];
    const feed = (answer: bigint) => evm.deploy(priceFeedAbi, priceFeedBytecode, ["Price", 8, answer]);
    const [dollarFeed, coinFeed] = [await feed(10n ** 8n), await feed(3_000n * 10n ** 8n)];
    const addresses = [dollars.address, coin.address, dollarFeed.address, coinFeed.address] as const;
    const market = await evm.deploy(lendingMarketAbi, lendingMarketBytecode, [...addresses, 24n, LLTV]);
    for (const [token, holder, amount] of [
      [dollars, owner, 10_000_000_000n],
      [dollars, merchant, 10_000_000_000n],
      [coin, payer, 10n ** 18n],
    ] as const) {
      await token.send(owner, "mint", [holder, amount]);
      await token.send(holder, "approve", [market.address, amount]);
    }
    await market.send(owner, "supply", [10_000_000_000n]);
    await market.send(payer, "supplyCollateral", [10n ** 18n]);
    const id = await market.read("id", []);
    return { dollars, coin, coinFeed, market, id };
  }

  it("a lending market lends up to its ratio, and shows it as Morpho Blue would", async () => {
    const { dollars, coin, market, id } = await openMarket();
    const params = [dollars.address, coin.address, market.address, zeroAddress, LLTV] as const;
    const types = parseAbiParameters("address, address, address, address, uint256");
    expect(id).toBe(keccak256(encodeAbiParameters(types, params)));
    expect(await market.read("idToMarketParams", [id])).toEqual([
      ...params.slice(0, 4).map((address) => getAddress(address as string)),
      LLTV,
    ]);
    expect(await market.read("price", [])).toBe(3_000n * 10n ** 24n);
    const more = market.call(payer, "borrow", [2_580_000_001n, payer, payer]);
    await expectRevert(more, lendingMarketAbi, "InsufficientCollateral", []);
    await market.send(payer, "borrow", [2_580_000_000n, payer, merchant]);
    expect(await dollars.read("balanceOf", [merchant])).toBe(12_580_000_000n);
    expect(await market.read("position", [id, payer])).toEqual([0n, 2_580_000_000_000_000n, 10n ** 18n]);
    expect((await market.read("market", [id])).slice(0, 4)).toEqual([
      ...[10_000_000_000n, 10_000_000_000_000_000n, 2_580_000_000n, 2_580_000_000_000_000n],
    ]);
    for (const view of ["market", "idToMarketParams"] as const)
      expect((await market.read(view, [zeroHash])).map(BigInt).every((word) => word === 0n)).toBe(true);
    expect(await market.read("position", [zeroHash, payer])).toEqual([0n, 0n, 0n]);
    const withdrawal = market.call(owner, "withdraw", [7_420_000_001n, owner, owner]);
    await expectRevert(withdrawal, lendingMarketAbi, "InsufficientLiquidity", []);
    await market.send(owner, "withdraw", [7_420_000_000n, owner, owner]);
  });

  it("an operator of a lending market can take what it is worth until the account ends that", async () => {
    const { dollars, coin, market, id } = await openMarket();
    await market.send(payer, "borrow", [2_000_000_000n, payer, payer]);
    const take = () => market.call(agent, "withdrawCollateral", [1n, payer, agent]);
    await expectRevert(take(), lendingMarketAbi, "Unauthorized", []);
    expect(
      decodeEvents(await market.send(payer, "setAuthorization", [agent, true]), lendingMarketAbi),
    ).toEqual([
      {
        eventName: "SetAuthorization",
        args: { caller: payer, authorizer: payer, authorized: agent, newIsAuthorized: true },
      },
    ]);
    const all = market.call(agent, "withdrawCollateral", [10n ** 18n, payer, agent]);
    await expectRevert(all, lendingMarketAbi, "InsufficientCollateral", []);
    await dollars.send(payer, "approve", [market.address, 2_000_000_000n]);
    await market.send(payer, "repay", [2_000_000_000n, payer]);
    await market.send(agent, "withdrawCollateral", [10n ** 18n - 1n, payer, agent]);
    expect(await coin.read("balanceOf", [agent])).toBe(10n ** 18n - 1n);
    expect(await market.read("position", [id, payer])).toEqual([0n, 0n, 1n]);
    await market.send(payer, "setAuthorization", [agent, false]);
    await expectRevert(take(), lendingMarketAbi, "Unauthorized", []);
  });

  it("a lending market lets a loan be liquidated only once its collateral is worth too little", async () => {
    const { coin, coinFeed, market, id } = await openMarket();
    await market.send(payer, "borrow", [2_500_000_000n, payer, payer]);
    const early = market.call(merchant, "liquidate", [payer, 1_000_000_000n]);
    await expectRevert(early, lendingMarketAbi, "HealthyPosition", []);
    // 86 % of 2,906.97 dollars are less than 2,500.
    await coinFeed.send(owner, "setAnswer", [290_697_000_000n]);
    await market.send(merchant, "liquidate", [payer, 1_000_000_000n]);
    const seized = await coin.read("balanceOf", [merchant]);
    // 1,050 dollars of it.
    expect(seized).toBe((1_050_000_000n * 10n ** 36n) / (290_697n * 10n ** 22n));
    expect(await market.read("position", [id, payer])).toEqual([
      0n,
      1_500_000_000_000_000n,
      10n ** 18n - seized,
    ]);
  });
});

describe("a price feed", () => {
  const deploy = () => evm.deploy(priceFeedAbi, priceFeedBytecode, ["ETH / USD", 8, 3_000n]);

  it("publishes rounds, now or as of another time", async () => {
    const feed = await deploy();
    const born = BigInt(await evm.now());
    expect(await feed.read("description", [])).toBe("ETH / USD");
    expect(await feed.read("decimals", [])).toBe(8);
    expect(await feed.read("version", [])).toBe(1n);
    expect(await feed.read("latestRoundData", [])).toEqual([1n, 3_000n, born, born, 1n]);
    const later = born + 60n;
    await evm.chain.setNextBlockTimestamp(later);
    expect(decodeEvents(await feed.send(owner, "setAnswer", [3_100n]), priceFeedAbi)).toEqual([
      { eventName: "AnswerUpdated", args: { current: 3_100n, roundId: 2n, updatedAt: later } },
    ]);
    expect(decodeEvents(await feed.send(owner, "setAnswerAt", [-5n, 7n]), priceFeedAbi)).toEqual([
      { eventName: "AnswerUpdated", args: { current: -5n, roundId: 3n, updatedAt: 7n } },
    ]);
    expect(await feed.read("latestRoundData", [])).toEqual([3n, -5n, 7n, 7n, 3n]);
    expect(await feed.read("getRoundData", [2n])).toEqual([2n, 3_100n, later, later, 2n]);
    for (const roundId of [0n, 4n, 2n ** 80n - 1n]) {
      await expectRevert(feed.read("getRoundData", [roundId]), priceFeedAbi, "NoDataPresent", [roundId]);
    }
  });

  it("takes prices from its owner only", async () => {
    const feed = await deploy();
    const error = "OwnableUnauthorizedAccount";
    await expectRevert(feed.call(payer, "setAnswer", [1n]), priceFeedAbi, error, [payer]);
    await expectRevert(feed.call(payer, "setAnswerAt", [1n, 1n]), priceFeedAbi, error, [payer]);
  });
});

describe("multicall", () => {
  const decimals = encodeFunctionData({ abi: plainTokenAbi, functionName: "decimals" });
  const six = numberToHex(6n, { size: 32 });
  const mint = encodeFunctionData({ abi: plainTokenAbi, functionName: "mint", args: [payer, 1n] });

  async function deployed() {
    const multicall = await evm.deploy(multicall3Abi, multicall3Bytecode, []);
    const token = await plainToken();
    const good = { target: token.address, callData: decimals };
    const bad = { target: token.address, callData: mint };
    const why = encodeErrorResult({
      abi: plainTokenAbi,
      errorName: "OwnableUnauthorizedAccount",
      args: [multicall.address],
    });
    return { multicall, good, bad, why };
  }

  it("hands on what every call returned, also of those that may fail", async () => {
    const { multicall, good, bad, why } = await deployed();
    const success = { success: true, returnData: six };
    const failure = { success: false, returnData: why };
    expect(
      await multicall.call(payer, "aggregate3", [
        [
          { ...good, allowFailure: false },
          { ...bad, allowFailure: true },
        ],
      ]),
    ).toEqual([success, failure]);
    expect(await multicall.call(payer, "tryAggregate", [false, [bad, good]])).toEqual([failure, success]);
    const [blockNumber, returned] = await multicall.call(payer, "aggregate", [[good, good]]);
    expect(returned).toEqual([six, six]);
    expect(blockNumber).toBe((await multicall.read("getBlockNumber", [])) + 1n);
    const [, hash, results] = await multicall.call(payer, "tryBlockAndAggregate", [false, [bad]]);
    expect([hash, results]).toEqual([zeroHash, [failure]]);
    const [, , both] = await multicall.call(payer, "blockAndAggregate", [[good]]);
    expect(both).toEqual([success]);
  });

  it("fails whole at a call that must succeed, and names it", async () => {
    const { multicall, good, bad, why } = await deployed();
    const failed = [1n, why] as const;
    const strict = [good, bad].map((one) => ({ ...one, allowFailure: false }));
    await expectRevert(multicall.call(payer, "aggregate3", [strict]), multicall3Abi, "CallFailed", failed);
    await expectRevert(
      multicall.call(payer, "aggregate", [[good, bad]]),
      multicall3Abi,
      "CallFailed",
      failed,
    );
    for (const call of [
      () => multicall.call(payer, "tryAggregate", [true, [good, bad]]),
      () => multicall.call(payer, "tryBlockAndAggregate", [true, [good, bad]]),
      () => multicall.call(payer, "blockAndAggregate", [[good, bad]]),
    ]) {
      await expectRevert(call(), multicall3Abi, "CallFailed", failed);
    }
  });

  it("spends the value it is sent, exactly", async () => {
    const { multicall } = await deployed();
    const call = { target: merchant, allowFailure: false, value: 2n, callData: "0x" } as const;
    const before = await nativeBalance(evm, merchant);
    await multicall.send(payer, "aggregate3Value", [[call, call]], 4n);
    expect((await nativeBalance(evm, merchant)) - before).toBe(4n);
    for (const sent of [5n, 6n]) {
      await evm.undone(async () => {
        await evm.chain.request("hardhat_setBalance", [multicall.address, "0x10"]);
        const off = multicall.call(payer, "aggregate3Value", [[call, call]], sent);
        await expectRevert(off, multicall3Abi, "ValueMismatch", [sent, 4n]);
      });
    }
  });

  it("returns data of the block, the chain and balances", async () => {
    const { multicall } = await deployed();
    const head = (await evm.chain.request("eth_getBlockByNumber", ["latest", false])) as {
      number: `0x${string}`;
      parentHash: string;
      timestamp: string;
      miner: `0x${string}`;
      mixHash: string;
      gasLimit: string;
      baseFeePerGas: string;
    };
    expect(await multicall.read("getBlockNumber", [])).toBe(BigInt(head.number));
    expect(await multicall.read("getLastBlockHash", [])).toBe(head.parentHash);
    expect(await multicall.read("getBlockHash", [BigInt(head.number) - 1n])).toBe(head.parentHash);
    expect(await multicall.read("getBlockHash", [BigInt(head.number) + 1n])).toBe(zeroHash);
    expect(await multicall.read("getCurrentBlockTimestamp", [])).toBe(BigInt(head.timestamp));
    expect(await multicall.read("getCurrentBlockCoinbase", [])).toBe(getAddress(head.miner));
    expect(await multicall.read("getCurrentBlockDifficulty", [])).toBe(BigInt(head.mixHash));
    expect(await multicall.read("getCurrentBlockGasLimit", [])).toBe(BigInt(head.gasLimit));
    expect(await multicall.read("getBasefee", [])).toBe(BigInt(head.baseFeePerGas));
    expect(await multicall.read("getChainId", [])).toBe(BigInt(EVM_CHAIN_ID));
    expect(await multicall.read("getEthBalance", [payer])).toBe(await nativeBalance(evm, payer));
  });
});
