// Hostile tokens do what their names say, and break careless readers.

import { BLOCK_GAS_LIMIT } from "@sextant/local-chain/edr-provider";
import { type Abi, encodeFunctionData, type Hex, numberToHex, size, zeroAddress } from "viem";
import { describe, expect, it } from "vitest";
import { bombTokenAbi, bombTokenBytecode } from "../generated/bomb-token.ts";
import { gasBurnerTokenAbi, gasBurnerTokenBytecode } from "../generated/gas-burner-token.ts";
import { lyingDecimalsTokenAbi, lyingDecimalsTokenBytecode } from "../generated/lying-decimals-token.ts";
import { multicall3Abi, multicall3Bytecode } from "../generated/multicall3.ts";
import { plainTokenAbi, plainTokenBytecode } from "../generated/plain-token.ts";
import { revertingTokenAbi, revertingTokenBytecode } from "../generated/reverting-token.ts";
import { silentTokenAbi, silentTokenBytecode } from "../generated/silent-token.ts";
import { decodeEvents, expectRevert, nativeBalance, startEvm } from "./evm.ts";

const evm = await startEvm();
const caller = evm.chain.accounts.payer.address;
const balanceOf = encodeFunctionData({ abi: plainTokenAbi, functionName: "balanceOf", args: [caller] });
const deploy = async (abi: Abi, bytecode: Hex) => (await evm.deploy(abi, bytecode, [])).address;

describe("the reverting token", () => {
  it("rejects every balance, and looks like a token otherwise", async () => {
    const token = await evm.deploy(revertingTokenAbi, revertingTokenBytecode, []);
    await expectRevert(token.read("balanceOf", [caller]), revertingTokenAbi, "BalanceRefused", [caller]);
    expect(await token.read("name", [])).toBe("Reverting");
    expect(await token.read("symbol", [])).toBe("NOPE");
    expect(await token.read("decimals", [])).toBe(18);
  });
});

describe("the gas burner", () => {
  it("burns all gas it is given, and looks like a token otherwise", async () => {
    const token = await evm.deploy(gasBurnerTokenAbi, gasBurnerTokenBytecode, []);
    expect(await token.read("name", [])).toBe("Gas Burner");
    expect(await token.read("symbol", [])).toBe("BURN");
    expect(await token.read("decimals", [])).toBe(18);
    const gas = 1_234_567n;
    const call = { from: caller, to: token.address, data: balanceOf, gas: numberToHex(gas), gasPrice: "0x0" };
    const hash = await evm.chain.request("eth_sendTransaction", [call]);
    const receipt = (await evm.chain.request("eth_getTransactionReceipt", [hash])) as {
      status: string;
      gasUsed: string;
    };
    expect(receipt.status).toBe("0x0");
    expect(BigInt(receipt.gasUsed)).toBe(gas);
  });
});

describe("the bomb", () => {
  it.each([balanceOf, "0x", "0x95d89b41"] as const)("returns a megabyte for %s", async (data) => {
    const bomb = await deploy(bombTokenAbi, bombTokenBytecode);
    expect(size(await evm.callRaw(caller, bomb, data))).toBe(1_048_576);
  });
});

describe("the silent token", () => {
  it("accepts everything and returns nothing", async () => {
    const silent = await deploy(silentTokenAbi, silentTokenBytecode);
    for (const data of [balanceOf, "0x", "0xdeadbeef"] as const) {
      expect(await evm.callRaw(caller, silent, data)).toBe("0x");
      await evm.sendRaw(caller, silent, data, 1n);
    }
    expect(await nativeBalance(evm, silent)).toBe(3n);
  });
});

describe("the lying token", () => {
  it("claims decimals that do not fit a byte, with honest balances", async () => {
    const token = await evm.deploy(lyingDecimalsTokenAbi, lyingDecimalsTokenBytecode, []);
    expect(await token.read("name", [])).toBe("Lying Decimals");
    expect(await token.read("symbol", [])).toBe("LIAR");
    expect(await token.read("decimals", [])).toBe(274n);
    expect(Number(await token.read("decimals", [])) % 256).toBe(18);
    for (const claim of [0n, 6n, 2n ** 256n - 1n]) {
      await token.send(caller, "setDecimals", [claim]);
      expect(await token.read("decimals", [])).toBe(claim);
    }
    expect(decodeEvents(await token.send(caller, "mint", [caller, 5n]), lyingDecimalsTokenAbi)).toEqual([
      { eventName: "Transfer", args: { from: zeroAddress, to: caller, value: 5n } },
    ]);
    expect(await token.read("balanceOf", [caller])).toBe(5n);
    expect(await token.read("totalSupply", [])).toBe(5n);
  });
});

// Why balances are read by a scanner of our own: failures being allowed does not help when the gas is gone.
describe("among five hundred good tokens in a multicall", () => {
  async function aggregate(hostile: readonly Hex[]): Promise<Hex> {
    const multicall = await evm.deploy(multicall3Abi, multicall3Bytecode, []);
    const good = await evm.deploy(plainTokenAbi, plainTokenBytecode, ["Plain", "PLN", 6]);
    const targets = [...hostile, ...Array.from({ length: 500 }, () => good.address)];
    const calls = targets.map((target) => ({ target, allowFailure: true, callData: balanceOf }));
    const data = encodeFunctionData({ abi: multicall3Abi, functionName: "aggregate3", args: [calls] });
    const call = { from: caller, to: multicall.address, data, gas: numberToHex(BLOCK_GAS_LIMIT) };
    return (await evm.chain.request("eth_call", [call, "latest"])) as Hex;
  }

  it("one gas burner fails a multicall of five hundred good tokens", async () => {
    expect(size(await aggregate([]))).toBeLessThan(100_000);
    const burner = await deploy(gasBurnerTokenAbi, gasBurnerTokenBytecode);
    await expect(aggregate([burner])).rejects.toThrow(/out of gas/i);
  });

  it("one bomb makes the result of a multicall a megabyte, and four fail it", async () => {
    const bomb = await deploy(bombTokenAbi, bombTokenBytecode);
    expect(size(await aggregate([bomb]))).toBeGreaterThan(1_048_576);
    await expect(aggregate([bomb, bomb, bomb, bomb])).rejects.toThrow(/out of gas/i);
  });
});
