// A policy account in the hands of its owner: who may command it, what it asks first, what it records, how it fails.
import {
  concat,
  encodeErrorResult,
  encodeFunctionData,
  getAddress,
  type Hex,
  hexToBigInt,
  keccak256,
  numberToHex,
  pad,
  toHex,
  zeroAddress,
  zeroHash,
} from "viem";
import { sign } from "viem/accounts";
import { describe, expect, it } from "vitest";
import { plainTokenAbi } from "../generated/plain-token.ts";
import { policyAccountAbi, policyAccountBytecode } from "../generated/policy-account.ts";
import { policyModuleAbi } from "../generated/policy-module.ts";
import { ENTRY_POINT, FUNDS, openAccountWorld, setValue, transferData, worldAbi } from "./account-world.ts";
import { decodeEvents, expectBareRevert, expectRevert, nativeBalance, startEvm } from "./evm.ts";
import { findPermissionlessFunctions } from "./permissionless-functions.ts";

const evm = await startEvm();
const { owner, payer, guardian, merchant } = evm.chain.accounts;
const sink = getAddress(pad("0x51", { size: 20 }));
const world = () => openAccountWorld(evm);

/** The entry point and the account itself have no key; the node lets a test speak for them. */
async function speakFor(address: Hex): Promise<void> {
  await evm.chain.request("hardhat_impersonateAccount", [address]);
}

describe("a new account", () => {
  it("a new account knows its signer, module and entry point, and no session key", async () => {
    const { account, module, signer } = await world();
    expect(await account.read("signer", [])).toBe(signer);
    expect(await account.read("policyModule", [])).toBe(getAddress(module.address));
    expect(await account.read("entryPoint", [])).toBe(ENTRY_POINT);
    expect(await account.read("sessionKeys", [payer.address])).toEqual([0, false]);
    expect(await account.read("usedSessionNonces", [payer.address, 0n])).toBe(false);
  });

  it("rejects an account without a signer, or with a module that is not a contract", async () => {
    const { module } = await world();
    const deploy = (signer: Hex, policyModule: Hex) =>
      evm.deploy(policyAccountAbi, policyAccountBytecode, [signer, policyModule]);
    await expectRevert(deploy(zeroAddress, module.address), policyAccountAbi, "InvalidSigner", [zeroAddress]);
    await expectRevert(deploy(owner.address, payer.address), policyAccountAbi, "InvalidPolicyModule", [
      payer.address,
    ]);
  });

  it("offers no ERC-1271, so that no permit can move its tokens past the limits", async () => {
    const { account } = await world();
    const callData = encodeFunctionData({
      abi: [
        {
          type: "function",
          name: "isValidSignature",
          inputs: [{ type: "bytes32" }, { type: "bytes" }],
          outputs: [{ type: "bytes4" }],
          stateMutability: "view",
        },
      ],
      args: [zeroHash, "0x"],
    });
    await expectBareRevert(evm.callRaw(owner.address, account.address, callData));
  });

  it("an account takes native coin", async () => {
    const { account } = await world();
    await evm.sendRaw(owner.address, account.address, "0x", 5n);
    expect(await nativeBalance(evm, account.address)).toBe(FUNDS + 5n);
  });

  it("reads its user operation nonce from the entry point", async () => {
    const { account } = await world();
    await evm.undone(async () => {
      // Returns the sum of both arguments: the account and the key.
      await evm.chain.setCode(ENTRY_POINT, "0x600435602435015f5260205ff3");
      expect(await account.read("getNonce", [])).toBe(hexToBigInt(account.address));
      expect(await account.read("getNonce", [7n])).toBe(hexToBigInt(account.address) + 7n);
    });
  });
});

describe("commands", () => {
  it("passes commands of the signer, the entry point and the account itself to the module", async () => {
    const { account, module, signer, target } = await world();
    await speakFor(ENTRY_POINT);
    await speakFor(account.address);
    for (const from of [signer, ENTRY_POINT, account.address]) {
      await evm.undone(async () => {
        const events = async (sent: ReturnType<typeof account.send>) => decodeEvents(await sent, worldAbi);
        const self = getAddress(account.address);
        expect(await events(account.send(from, "setSpendLimit", [sink, 9n]))).toEqual([
          { eventName: "SpendLimitSet", args: { account: self, token: sink, maxPerDay: 9n } },
        ]);
        expect(await events(account.send(from, "setTargetAllowed", [sink, true]))).toEqual([
          { eventName: "TargetAllowlistUpdated", args: { account: self, target: sink, allowed: true } },
        ]);
        expect(await events(account.send(from, "setFunctionAllowed", [sink, "0xdeadbeef", true]))).toEqual([
          {
            eventName: "FunctionAllowlistUpdated",
            args: { account: self, target: sink, selector: "0xdeadbeef", allowed: true },
          },
        ]);
        expect(await events(account.send(from, "setGuardian", [guardian.address]))).toEqual([
          { eventName: "GuardianSet", args: { account: self, guardian: guardian.address } },
        ]);
        expect(await events(account.send(from, "setSessionKey", [payer.address, 123, true]))).toEqual([
          {
            eventName: "SessionKeyUpdated",
            args: { sessionKey: payer.address, expiresAt: 123, active: true },
          },
        ]);
        expect(await account.read("sessionKeys", [payer.address])).toEqual([123, true]);
        await account.send(from, "execute", [target.address, 0n, setValue(4n)]);
        expect(await target.read("value", [])).toBe(4n);
        expect(await events(account.send(from, "setUseFunctionAllowlist", [true]))).toEqual([
          { eventName: "FunctionAllowlistModeUpdated", args: { account: self, enabled: true } },
        ]);
        expect(await events(account.send(from, "setAccountFrozen", [true]))).toEqual([
          { eventName: "AccountFrozen", args: { account: self, frozen: true } },
        ]);
        expect(await module.read("isAccountFrozen", [account.address])).toBe(true);
        expect(await module.read("guardianOf", [account.address])).toBe(guardian.address);
        expect(await module.read("isFunctionAllowed", [account.address, sink, "0xdeadbeef"])).toBe(true);
      });
    }
  });

  it("commands of any other account change nothing, whatever it sends", async () => {
    const { account, module, token, signer } = await world();
    await account.send(signer, "setGuardian", [guardian.address]);
    await account.send(signer, "setSessionKey", [merchant.address, 2 ** 48 - 1, true]);
    const open = await findPermissionlessFunctions({
      evm,
      contract: account,
      // A guardian and a holder of a session key may run no command.
      outsiders: [payer.address, guardian.address, merchant.address],
      pool: {
        numbers: [0n, 1n, 2n ** 256n - 1n],
        addresses: [account.address, module.address, token.address, payer.address, ENTRY_POINT],
        words: [zeroHash],
      },
      world: () =>
        Promise.all([
          nativeBalance(evm, account.address),
          token.read("balanceOf", [account.address]),
          module.read("guardianOf", [account.address]),
          module.read("isAccountFrozen", [account.address]),
          module.read("getSpendLimit", [account.address, token.address]),
          account.read("sessionKeys", [merchant.address]),
          account.read("sessionKeys", [payer.address]),
        ]),
      numRuns: 10,
    });
    expect(open).toEqual([]);
    const rejected = account.call(payer.address, "execute", [token.address, 0n, "0x"]);
    await expectRevert(rejected, policyAccountAbi, "AccountUnauthorized", [payer.address]);
  });

  it("rejects a session key at the zero address", async () => {
    const { account, signer } = await world();
    const call = account.call(signer, "setSessionKey", [zeroAddress, 5, true]);
    await expectRevert(call, policyAccountAbi, "InvalidSessionKey");
  });
});

describe("execute", () => {
  it("returns what the target returned", async () => {
    const { account, token, signer } = await world();
    const callData = encodeFunctionData({ abi: plainTokenAbi, functionName: "decimals" });
    expect(await account.call(signer, "execute", [token.address, 0n, callData])).toBe(
      numberToHex(6n, { size: 32 }),
    );
  });

  it("records native and token spend before it calls, in that order", async () => {
    const { account, module, puppet, token, signer } = await world();
    const self = getAddress(account.address);
    const puppetAddress = getAddress(puppet.address);
    await account.send(signer, "setSpendLimit", [zeroAddress, 10n]);
    await account.send(signer, "setSpendLimit", [puppet.address, 20n]);
    // The puppet takes value and calldata of any kind: here it plays a token that wants to be paid.
    const both = await account.send(signer, "execute", [puppet.address, 4n, transferData(sink, 7n)]);
    expect(decodeEvents(both, worldAbi)).toEqual([
      { eventName: "SpendRecorded", args: { account: self, token: zeroAddress, amount: 4n, dailyTotal: 4n } },
      {
        eventName: "SpendRecorded",
        args: { account: self, token: puppetAddress, amount: 7n, dailyTotal: 7n },
      },
    ]);
    expect(await nativeBalance(evm, puppet.address)).toBe(4n);
    await account.send(signer, "setSpendLimit", [token.address, 5n]);
    const paid = await account.send(signer, "execute", [token.address, 0n, transferData(sink, 5n)]);
    expect(decodeEvents(paid, worldAbi)).toEqual([
      {
        eventName: "SpendRecorded",
        args: { account: self, token: getAddress(token.address), amount: 5n, dailyTotal: 5n },
      },
      { eventName: "Transfer", args: { from: self, to: sink, value: 5n } },
    ]);
    expect(await token.read("balanceOf", [sink])).toBe(5n);
    expect(await module.read("getSpentToday", [account.address, zeroAddress])).toBe(4n);
    const overNative = account.call(signer, "execute", [puppet.address, 7n, "0x"]);
    await expectRevert(overNative, worldAbi, "DailySpendLimitExceeded", [zeroAddress, 11n, 10n]);
    const overToken = account.call(signer, "execute", [token.address, 0n, transferData(sink, 1n)]);
    await expectRevert(overToken, worldAbi, "DailySpendLimitExceeded", [getAddress(token.address), 6n, 5n]);
  });

  it("counts approvals and pulls, not only transfers", async () => {
    const { account, module, token, signer } = await world();
    await account.send(signer, "setSpendLimit", [token.address, 10n]);
    const approve = encodeFunctionData({ abi: plainTokenAbi, functionName: "approve", args: [sink, 4n] });
    await account.send(signer, "execute", [token.address, 0n, approve]);
    expect(await module.read("getSpentToday", [account.address, token.address])).toBe(4n);
    await token.send(owner.address, "mint", [payer.address, 6n]);
    await token.send(payer.address, "approve", [account.address, 6n]);
    const pull = encodeFunctionData({
      abi: plainTokenAbi,
      functionName: "transferFrom",
      args: [payer.address, sink, 6n],
    });
    await account.send(signer, "execute", [token.address, 0n, pull]);
    expect(await module.read("getSpentToday", [account.address, token.address])).toBe(10n);
    const more = encodeFunctionData({ abi: plainTokenAbi, functionName: "approve", args: [sink, 1n] });
    await expectRevert(
      account.call(signer, "execute", [token.address, 0n, more]),
      worldAbi,
      "DailySpendLimitExceeded",
      [getAddress(token.address), 11n, 10n],
    );
  });

  it("counts native value and token amount together when both mean the zero address", async () => {
    const { account, signer } = await world();
    await account.send(signer, "setTargetAllowed", [zeroAddress, true]);
    await account.send(signer, "setSpendLimit", [zeroAddress, 10n]);
    const call = account.call(signer, "execute", [zeroAddress, 6n, transferData(sink, 5n)]);
    await expectRevert(call, worldAbi, "DailySpendLimitExceeded", [zeroAddress, 11n, 10n]);
  });

  it("execute obeys every rule of the module", async () => {
    const { account, module, target, signer } = await world();
    await account.send(signer, "setGuardian", [guardian.address]);
    await account.send(signer, "setUseFunctionAllowlist", [true]);
    const run = () => account.call(signer, "execute", [target.address, 0n, setValue(1n)]);
    const selector = setValue(1n).slice(0, 10);
    await expectRevert(run(), worldAbi, "FunctionNotAllowed", [getAddress(target.address), selector]);
    await account.send(signer, "setTargetAllowed", [target.address, false]);
    await expectRevert(run(), worldAbi, "TargetNotAllowed", [getAddress(target.address)]);
    await module.send(guardian.address, "setAccountFrozen", [account.address, true]);
    await expectRevert(run(), worldAbi, "AccountFrozenError", [getAddress(account.address)]);
    // Frozen means: no calls. The owner can still change rules, and release the account.
    await account.send(signer, "setTargetAllowed", [target.address, true]);
    await account.send(signer, "setUseFunctionAllowlist", [false]);
    await account.send(signer, "setAccountFrozen", [false]);
    await run();
  });

  it.each([
    ["transfer", concat([transferData(sink, 5n).slice(0, 10) as Hex, pad(sink), toHex("", { size: 31 })])],
    ["a bare approve selector", "0x095ea7b3"],
    ["transferFrom with two words", concat(["0x23b872dd", pad(sink), pad(sink)])],
  ] as [string, Hex][])("rejects a token call cut short of its amount: %s", async (_, data) => {
    const { account, token, signer } = await world();
    const call = account.call(signer, "execute", [token.address, 0n, data]);
    await expectRevert(call, worldAbi, "TruncatedTokenCall", [
      getAddress(token.address),
      data.slice(0, 10),
      BigInt(data.length / 2 - 1),
    ]);
  });

  it("hands on why a call failed, and then has spent nothing", async () => {
    const { account, module, token, puppet, signer } = await world();
    await account.send(signer, "setSpendLimit", [token.address, FUNDS * 2n]);
    const why = encodeErrorResult({
      abi: plainTokenAbi,
      errorName: "ERC20InsufficientBalance",
      args: [account.address, FUNDS, FUNDS + 1n],
    });
    const data = transferData(sink, FUNDS + 1n);
    await expectRevert(
      account.send(signer, "execute", [token.address, 0n, data]),
      worldAbi,
      "ExecutionFailed",
      [why],
    );
    expect(await module.read("getSpentToday", [account.address, token.address])).toBe(0n);
    const poor = account.send(signer, "execute", [puppet.address, FUNDS + 1n, "0x"]);
    await expectRevert(poor, worldAbi, "ExecutionFailed", ["0x"]);
  });

  it("execute sets payment policies only when the module is an allowed target", async () => {
    const { account, module, signer } = await world();
    const set = encodeFunctionData({
      abi: policyModuleAbi,
      functionName: "setPaymentPolicy",
      args: [merchant.address, sink, zeroAddress, 5n, 9n, true],
    });
    const call = [module.address, 0n, set] as const;
    await expectRevert(account.call(signer, "execute", call), worldAbi, "TargetNotAllowed", [
      getAddress(module.address),
    ]);
    await account.send(signer, "setTargetAllowed", [module.address, true]);
    await account.send(signer, "execute", call);
    const policy = await module.read("getPaymentPolicy", [
      account.address,
      merchant.address,
      sink,
      zeroAddress,
    ]);
    expect(policy).toMatchObject({ maxPerPayment: 5n, maxPerDay: 9n, allowed: true });
  });
});

describe("user operations", () => {
  it("accepts user operations that the signer signed, and pays the entry point what is missing", async () => {
    const { account, signer } = await world();
    await speakFor(ENTRY_POINT);
    const userOpHash = keccak256("0x0102");
    const operation = (signature: Hex) => ({
      sender: account.address,
      nonce: 0n,
      initCode: "0x" as const,
      callData: "0x" as const,
      accountGasLimits: zeroHash,
      preVerificationGas: 0n,
      gasFees: zeroHash,
      paymasterAndData: "0x" as const,
      signature,
    });
    const signedBy = async (key: Hex) =>
      operation(await sign({ hash: userOpHash, privateKey: key, to: "hex" }));
    const good = await signedBy(evm.chain.accounts.agent.privateKey);
    expect(evm.chain.accounts.agent.address).toBe(signer);
    expect(await account.call(ENTRY_POINT, "validateUserOp", [good, userOpHash, 0n])).toBe(0n);
    for (const bad of [
      await signedBy(payer.privateKey),
      operation("0x"),
      operation(`0x${"00".repeat(65)}`),
    ]) {
      expect(await account.call(ENTRY_POINT, "validateUserOp", [bad, userOpHash, 0n])).toBe(1n);
    }
    expect(await account.call(ENTRY_POINT, "validateUserOp", [good, keccak256("0x03"), 0n])).toBe(1n);
    const before = await nativeBalance(evm, ENTRY_POINT);
    await account.send(ENTRY_POINT, "validateUserOp", [good, userOpHash, 17n]);
    expect((await nativeBalance(evm, ENTRY_POINT)) - before).toBe(17n);
    for (const from of [signer, payer.address]) {
      const call = account.call(from, "validateUserOp", [good, userOpHash, 0n]);
      await expectRevert(call, policyAccountAbi, "AccountUnauthorized", [from]);
    }
  });
});
