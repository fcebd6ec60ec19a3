// Session keys: what a signature of one lets anybody do, until when, how often, and never.
import {
  type Address,
  encodeErrorResult,
  encodeFunctionData,
  getAddress,
  type Hex,
  numberToHex,
  pad,
  slice,
  zeroAddress,
} from "viem";
import { describe, expect, it } from "vitest";
import { policyAccountAbi } from "../generated/policy-account.ts";
import { policyModuleAbi } from "../generated/policy-module.ts";
import type { SessionCall } from "../hashes/session-digest.ts";
import {
  type AccountWorld,
  ENTRY_POINT,
  openAccountWorld,
  otherSessionKey,
  sessionArgs,
  sessionKey,
  setValue,
  signSession,
  transferData,
  worldAbi,
} from "./account-world.ts";
import { decodeEvents, expectRevert, startEvm } from "./evm.ts";

const evm = await startEvm();
const relayer = evm.chain.accounts.payer.address;
const sink = getAddress(pad("0x51", { size: 20 }));
const FAR = 2n ** 40n;

/** A world whose session key never expires, unless a test says so. */
async function worldWithKey(expiresAt = FAR): Promise<AccountWorld> {
  const world = await openAccountWorld(evm);
  await world.account.send(world.signer, "setSessionKey", [sessionKey.address, Number(expiresAt), true]);
  return world;
}

function callOf({ target }: AccountWorld, changes: Partial<SessionCall> = {}): SessionCall {
  return { target: target.address, value: 0n, data: setValue(42n), deadline: FAR, nonce: 1n, ...changes };
}

async function relayed({ account }: AccountWorld, call: SessionCall, key = sessionKey) {
  return sessionArgs(call, await signSession(key, call, account.address));
}

describe("executeWithSessionKey", () => {
  it("makes the signed call for any relayer, and returns its result", async () => {
    const world = await worldWithKey();
    const { account, target, puppet, signer } = world;
    const valueCall = callOf(world, { data: encodeFunctionData({ abi: valueAbi }), nonce: 5n });
    await account.send(relayer, "executeWithSessionKey", await relayed(world, callOf(world)));
    expect(await target.read("value", [])).toBe(42n);
    expect(await account.call(relayer, "executeWithSessionKey", await relayed(world, valueCall))).toBe(
      numberToHex(42n, { size: 32 }),
    );
    expect(await account.read("usedSessionNonces", [sessionKey.address, 1n])).toBe(true);
    expect(await account.read("usedSessionNonces", [sessionKey.address, 5n])).toBe(false);
    expect(await account.read("usedSessionNonces", [otherSessionKey.address, 1n])).toBe(false);

    await account.send(signer, "setSpendLimit", [zeroAddress, 10n]);
    const paying = callOf(world, { target: puppet.address, value: 3n, data: "0x", nonce: 2n ** 256n - 1n });
    const receipt = await account.send(relayer, "executeWithSessionKey", await relayed(world, paying));
    const self = getAddress(account.address);
    expect(decodeEvents(receipt, worldAbi)).toEqual([
      { eventName: "SpendRecorded", args: { account: self, token: zeroAddress, amount: 3n, dailyTotal: 3n } },
      {
        eventName: "SessionKeyExecuted",
        args: {
          sessionKey: sessionKey.address,
          target: getAddress(puppet.address),
          value: 3n,
          nonce: 2n ** 256n - 1n,
        },
      },
    ]);
  });

  it("executes up to and including the key's last second", async () => {
    const expiresAt = (await evm.now()) + 1_000n;
    const world = await worldWithKey(expiresAt);
    const args = await relayed(world, callOf(world));
    await evm.chain.setNextBlockTimestamp(expiresAt);
    await world.account.call(relayer, "executeWithSessionKey", args);
    await evm.chain.setNextBlockTimestamp(expiresAt + 1n);
    const late = world.account.call(relayer, "executeWithSessionKey", args);
    await expectRevert(late, worldAbi, "SessionKeyExpired");
  });

  it("executes up to and including the signature's deadline", async () => {
    const world = await worldWithKey();
    const deadline = (await evm.now()) + 2_000n;
    const args = await relayed(world, callOf(world, { deadline }));
    await evm.chain.setNextBlockTimestamp(deadline);
    await world.account.call(relayer, "executeWithSessionKey", args);
    await evm.chain.setNextBlockTimestamp(deadline + 1n);
    const late = world.account.call(relayer, "executeWithSessionKey", args);
    await expectRevert(late, worldAbi, "SessionKeyExpired");
  });

  it("rejects keys that are unknown, switched off, or another account's", async () => {
    const world = await worldWithKey();
    const { account, signer } = world;
    const call = callOf(world);
    const run = async (key = sessionKey) =>
      account.call(relayer, "executeWithSessionKey", await relayed(world, call, key));
    await expectRevert(run(otherSessionKey), worldAbi, "InvalidSessionKey");
    // The account's own signer is not a session key.
    await expectRevert(run(evm.chain.accounts.agent), worldAbi, "InvalidSessionKey");
    await account.send(signer, "setSessionKey", [sessionKey.address, Number(FAR), false]);
    await expectRevert(run(), worldAbi, "InvalidSessionKey");
    await account.send(signer, "setSessionKey", [sessionKey.address, 1, false]);
    await expectRevert(run(), worldAbi, "InvalidSessionKey");
    await account.send(signer, "setSessionKey", [sessionKey.address, Number(FAR), true]);
    await run();
  });

  it("takes every nonce once, per key", async () => {
    const world = await worldWithKey();
    const { account, signer } = world;
    await account.send(signer, "setSessionKey", [otherSessionKey.address, Number(FAR), true]);
    await account.send(relayer, "executeWithSessionKey", await relayed(world, callOf(world)));
    const replay = account.call(relayer, "executeWithSessionKey", await relayed(world, callOf(world)));
    await expectRevert(replay, worldAbi, "SessionNonceUsed");
    const other = await relayed(world, callOf(world, { data: setValue(1n) }));
    await expectRevert(account.call(relayer, "executeWithSessionKey", other), worldAbi, "SessionNonceUsed");
    await account.send(
      relayer,
      "executeWithSessionKey",
      await relayed(world, callOf(world), otherSessionKey),
    );
    // Switching a key off and on again does not give its nonces back.
    for (const active of [false, true]) {
      await account.send(signer, "setSessionKey", [sessionKey.address, Number(FAR), active]);
    }
    await expectRevert(account.call(relayer, "executeWithSessionKey", other), worldAbi, "SessionNonceUsed");
  });

  it("uses up nothing when the call fails: the same signature may succeed later", async () => {
    const world = await worldWithKey();
    const { account, token, signer } = world;
    await account.send(signer, "setSpendLimit", [token.address, 5n]);
    const call = callOf(world, { target: token.address, data: transferData(sink, 6n) });
    const args = await relayed(world, call);
    await expectRevert(
      account.send(relayer, "executeWithSessionKey", args),
      worldAbi,
      "DailySpendLimitExceeded",
      [getAddress(token.address), 6n, 5n],
    );
    expect(await account.read("usedSessionNonces", [sessionKey.address, 1n])).toBe(false);
    await account.send(signer, "setSpendLimit", [token.address, 6n]);
    await account.send(relayer, "executeWithSessionKey", args);
    expect(await token.read("balanceOf", [sink])).toBe(6n);
  });
});

describe("a session signature", () => {
  it.each<[string, (call: SessionCall) => SessionCall]>([
    ["target", (call) => ({ ...call, target: sink })],
    ["value", (call) => ({ ...call, value: 1n })],
    ["data", (call) => ({ ...call, data: setValue(43n) })],
    ["data with one byte more", (call) => ({ ...call, data: `${call.data}00` })],
    ["deadline", (call) => ({ ...call, deadline: call.deadline + 1n })],
    ["nonce", (call) => ({ ...call, nonce: 2n })],
  ])("a session signature is bound to its %s", async (_, change) => {
    const world = await worldWithKey();
    const call = callOf(world);
    const signature = await signSession(sessionKey, call, world.account.address);
    const mutated = world.account.call(
      relayer,
      "executeWithSessionKey",
      sessionArgs(change(call), signature),
    );
    await expectRevert(mutated, worldAbi, "InvalidSessionKey");
  });

  it("a session signature is bound to the chain and the account", async () => {
    const world = await worldWithKey();
    const other = await worldWithKey();
    const call = callOf(world);
    const run = async (account: Address, chainId: bigint) =>
      world.account.call(
        relayer,
        "executeWithSessionKey",
        sessionArgs(call, await signSession(sessionKey, call, account, chainId)),
      );
    await run(world.account.address, 31_337n);
    await expectRevert(run(world.account.address, 84_532n), worldAbi, "InvalidSessionKey");
    await expectRevert(run(other.account.address, 31_337n), worldAbi, "InvalidSessionKey");
  });

  it("a session signature has one form only: 65 bytes, low s, v 27 or 28", async () => {
    const world = await worldWithKey();
    const call = callOf(world);
    const good = await signSession(sessionKey, call, world.account.address);
    const [r, s, v] = [slice(good, 0, 32), BigInt(slice(good, 32, 64)), Number(slice(good, 64))];
    const order = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;
    const join = (first: Hex, second: bigint, last: string): Hex =>
      `${first}${numberToHex(second, { size: 32 }).slice(2)}${last}`;
    const vHex = v.toString(16);
    await world.account.call(relayer, "executeWithSessionKey", sessionArgs(call, good));
    const yParityIntoS = BigInt(v - 27) << 255n;
    for (const bad of [
      join(r, order - s, (v === 27 ? 28 : 27).toString(16)),
      join(r, order - s, vHex),
      join(r, s, (v - 27).toString().padStart(2, "0")),
      join(r, s | yParityIntoS, ""),
      `${good}00`,
      slice(good, 0, 64),
      `0x${"00".repeat(65)}`,
      `0x${"ff".repeat(65)}`,
      "0x",
    ] as const) {
      const call65 = world.account.call(relayer, "executeWithSessionKey", sessionArgs(call, bad));
      await expectRevert(call65, worldAbi, "InvalidSessionKey");
    }
  });
});

describe("a session key", () => {
  it("a session key never calls the account, its module or the entry point", async () => {
    const world = await worldWithKey();
    const { account, module, signer } = world;
    const release = encodeFunctionData({
      abi: policyModuleAbi,
      functionName: "setSpendLimit",
      args: [zeroAddress, 0n],
    });
    for (const target of [account.address, module.address, ENTRY_POINT]) {
      await account.send(signer, "setTargetAllowed", [target, true]);
      for (const data of [release, "0x"] as const) {
        const args = await relayed(world, callOf(world, { target, data }));
        const run = account.call(relayer, "executeWithSessionKey", args);
        await expectRevert(run, worldAbi, "SessionTargetForbidden", [getAddress(target)]);
      }
    }
  });

  it("holds a session key to every rule of the account", async () => {
    const world = await worldWithKey();
    const { account, module, target, token, signer } = world;
    const run = async (changes: Partial<SessionCall> = {}) =>
      account.call(relayer, "executeWithSessionKey", await relayed(world, callOf(world, changes)));
    await expectRevert(run({ target: sink }), worldAbi, "TargetNotAllowed", [sink]);
    await account.send(signer, "setUseFunctionAllowlist", [true]);
    await expectRevert(run(), worldAbi, "FunctionNotAllowed", [
      getAddress(target.address),
      slice(setValue(0n), 0, 4),
    ]);
    await account.send(signer, "setUseFunctionAllowlist", [false]);
    await account.send(signer, "setSpendLimit", [zeroAddress, 4n]);
    await expectRevert(run({ value: 5n }), worldAbi, "DailySpendLimitExceeded", [zeroAddress, 5n, 4n]);
    const cut = slice(transferData(sink, 1n), 0, 67);
    await expectRevert(run({ target: token.address, data: cut }), worldAbi, "TruncatedTokenCall", [
      getAddress(token.address),
      "0xa9059cbb",
      67n,
    ]);
    await account.send(signer, "setGuardian", [evm.chain.accounts.guardian.address]);
    await module.send(evm.chain.accounts.guardian.address, "setAccountFrozen", [account.address, true]);
    await expectRevert(run(), worldAbi, "AccountFrozenError", [getAddress(account.address)]);
  });

  it("hands on why its call failed", async () => {
    const world = await worldWithKey();
    const call = callOf(world, { data: "0xffffffff" });
    const run = world.account.call(relayer, "executeWithSessionKey", await relayed(world, call));
    await expectRevert(run, worldAbi, "ExecutionFailed", ["0x"]);
  });
});

describe("a target that calls back", () => {
  const reentry = (args: Awaited<ReturnType<typeof relayed>>) =>
    encodeFunctionData({ abi: policyAccountAbi, functionName: "executeWithSessionKey", args });

  it("a target that calls back cannot use the signature of its call again", async () => {
    const world = await worldWithKey();
    const { account, puppet } = world;
    const args = await relayed(world, callOf(world, { target: puppet.address, value: 1n, data: "0x" }));
    await puppet.send(relayer, "rehearse", [account.address, 0n, reentry(args), false]);
    await account.send(relayer, "executeWithSessionKey", args);
    expect(await puppet.read("succeeded", [])).toBe(false);
    expect(await puppet.read("returned", [])).toBe(
      encodeErrorResult({ abi: policyAccountAbi, errorName: "SessionNonceUsed" }),
    );
  });

  it("a target that calls back meets the totals of the call it is part of", async () => {
    const world = await worldWithKey();
    const { account, module, puppet, signer } = world;
    await account.send(signer, "setSpendLimit", [zeroAddress, 10n]);
    const pay = (value: bigint, nonce: bigint) =>
      relayed(world, callOf(world, { target: puppet.address, value, data: "0x", nonce }));
    await evm.undone(async () => {
      await puppet.send(relayer, "rehearse", [account.address, 0n, reentry(await pay(5n, 2n)), false]);
      await account.send(relayer, "executeWithSessionKey", await pay(6n, 1n));
      expect(await puppet.read("returned", [])).toBe(
        encodeErrorResult({
          abi: policyModuleAbi,
          errorName: "DailySpendLimitExceeded",
          args: [zeroAddress, 11n, 10n],
        }),
      );
      expect(await module.read("getSpentToday", [account.address, zeroAddress])).toBe(6n);
    });
    await puppet.send(relayer, "rehearse", [account.address, 0n, reentry(await pay(4n, 2n)), true]);
    await account.send(relayer, "executeWithSessionKey", await pay(6n, 1n));
    expect(await puppet.read("succeeded", [])).toBe(true);
    expect(await module.read("getSpentToday", [account.address, zeroAddress])).toBe(10n);
  });

  it("a target that calls back has no command over the account", async () => {
    const world = await worldWithKey();
    const { account, puppet, token } = world;
    const steal = encodeFunctionData({
      abi: policyAccountAbi,
      functionName: "execute",
      args: [token.address, 0n, transferData(sink, 1n)],
    });
    await puppet.send(relayer, "rehearse", [account.address, 0n, steal, false]);
    const call = callOf(world, { target: puppet.address, data: "0x" });
    await account.send(relayer, "executeWithSessionKey", await relayed(world, call));
    expect(await puppet.read("returned", [])).toBe(
      encodeErrorResult({ abi: policyAccountAbi, errorName: "AccountUnauthorized", args: [puppet.address] }),
    );
  });
});

const valueAbi = [
  { type: "function", name: "value", inputs: [], outputs: [{ type: "uint256" }], stateMutability: "view" },
] as const;
