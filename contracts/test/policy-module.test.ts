// Rules that an account sets for itself, powers of its guardian, and calls that the module then rejects.
import { type Address, concat, getAddress, type Hex, pad, toHex, zeroAddress } from "viem";
import { describe, expect, it } from "vitest";
import { policyModuleAbi as abi, policyModuleBytecode } from "../generated/policy-module.ts";
import { decodeEvents, expectRevert, startEvm } from "./evm.ts";
import { MODEL_UINT256_MAX, WINDOW_SECONDS } from "./policy-model.ts";

const evm = await startEvm();
const accounts = evm.chain.accounts;
const account = accounts.agent.address;
const guardian = accounts.guardian.address;
const outsider = accounts.payer.address;
const token = getAddress(pad("0x70", { size: 20 }));
const target = getAddress(pad("0x7a", { size: 20 }));
const deploy = () => evm.deploy(abi, policyModuleBytecode, []);
const word = (value: bigint): Hex => toHex(value, { size: 32 });
const TRANSFER = "0xa9059cbb";
const APPROVE = "0x095ea7b3";
const TRANSFER_FROM = "0x23b872dd";

/** The next transaction, and every pending call until then, happens at this time. */
const nextAt = (seconds: bigint) => evm.chain.setNextBlockTimestamp(seconds);

async function mineAt(seconds: bigint): Promise<void> {
  await nextAt(seconds);
  await evm.chain.mine();
}

describe("settings", () => {
  it("the settings of an account start empty", async () => {
    const module = await deploy();
    expect(await module.read("getSpendLimit", [account, token])).toEqual({
      maxPerDay: 0n,
      spentToday: 0n,
      lastResetTimestamp: 0,
    });
    expect(await module.read("getSpentToday", [account, token])).toBe(0n);
    expect(await module.read("isTargetAllowed", [account, target])).toBe(false);
    expect(await module.read("isFunctionAllowed", [account, target, TRANSFER])).toBe(false);
    expect(await module.read("guardianOf", [account])).toBe(zeroAddress);
    expect(await module.read("isAccountFrozen", [account])).toBe(false);
    expect(await module.read("getPaymentPolicy", [account, target, token, outsider])).toEqual({
      maxPerPayment: 0n,
      maxPerDay: 0n,
      spentToday: 0n,
      lastResetTimestamp: 0,
      allowed: false,
    });
  });

  it("emits settings with every argument, and stores them per account", async () => {
    const module = await deploy();
    const event = async (
      receipt: Parameters<typeof decodeEvents>[0] | Promise<Parameters<typeof decodeEvents>[0]>,
    ) => decodeEvents(await receipt, abi);
    expect(await event(module.send(account, "setSpendLimit", [token, 77n]))).toEqual([
      { eventName: "SpendLimitSet", args: { account, token, maxPerDay: 77n } },
    ]);
    expect(await event(module.send(account, "setTargetAllowed", [target, true]))).toEqual([
      { eventName: "TargetAllowlistUpdated", args: { account, target, allowed: true } },
    ]);
    expect(await event(module.send(account, "setFunctionAllowed", [target, TRANSFER, true]))).toEqual([
      { eventName: "FunctionAllowlistUpdated", args: { account, target, selector: TRANSFER, allowed: true } },
    ]);
    expect(await event(module.send(account, "setUseFunctionAllowlist", [true]))).toEqual([
      { eventName: "FunctionAllowlistModeUpdated", args: { account, enabled: true } },
    ]);
    expect(await event(module.send(account, "setGuardian", [guardian]))).toEqual([
      { eventName: "GuardianSet", args: { account, guardian } },
    ]);
    expect(await event(module.send(account, "setAccountFrozen", [account, true]))).toEqual([
      { eventName: "AccountFrozen", args: { account, frozen: true } },
    ]);
    expect(await module.read("getSpendLimit", [account, token])).toMatchObject({ maxPerDay: 77n });
    expect(await module.read("isTargetAllowed", [account, target])).toBe(true);
    expect(await module.read("isFunctionAllowed", [account, target, TRANSFER])).toBe(true);
    expect(await module.read("isFunctionAllowed", [account, target, APPROVE])).toBe(false);
    expect(await module.read("guardianOf", [account])).toBe(guardian);
    expect(await module.read("isAccountFrozen", [account])).toBe(true);

    expect(await module.read("getSpendLimit", [outsider, token])).toMatchObject({ maxPerDay: 0n });
    expect(await module.read("isTargetAllowed", [outsider, target])).toBe(false);
    expect(await module.read("isFunctionAllowed", [outsider, target, TRANSFER])).toBe(false);
    expect(await module.read("guardianOf", [outsider])).toBe(zeroAddress);
    expect(await module.read("isAccountFrozen", [outsider])).toBe(false);
  });

  it("settings can be taken back", async () => {
    const module = await deploy();
    for (const on of [true, false]) {
      await module.send(account, "setTargetAllowed", [target, on]);
      await module.send(account, "setFunctionAllowed", [target, TRANSFER, on]);
      await module.send(account, "setAccountFrozen", [account, on]);
      expect(await module.read("isTargetAllowed", [account, target])).toBe(on);
      expect(await module.read("isFunctionAllowed", [account, target, TRANSFER])).toBe(on);
      expect(await module.read("isAccountFrozen", [account])).toBe(on);
    }
  });
});

describe("a guardian", () => {
  it("freezes and releases its account, and a replaced one no longer does", async () => {
    const module = await deploy();
    await module.send(account, "setGuardian", [guardian]);
    expect(decodeEvents(await module.send(guardian, "setAccountFrozen", [account, true]), abi)).toEqual([
      { eventName: "AccountFrozen", args: { account, frozen: true } },
    ]);
    await module.send(guardian, "setAccountFrozen", [account, false]);
    expect(await module.read("isAccountFrozen", [account])).toBe(false);
    await module.send(account, "setGuardian", [accounts.owner.address]);
    await expectRevert(module.call(guardian, "setAccountFrozen", [account, true]), abi, "Unauthorized");
    await module.send(accounts.owner.address, "setAccountFrozen", [account, true]);
    await module.send(account, "setGuardian", [zeroAddress]);
    await expectRevert(
      module.call(accounts.owner.address, "setAccountFrozen", [account, false]),
      abi,
      "Unauthorized",
    );
    // The account itself always can: the brake is against session keys and callers, not against the owner.
    await module.send(account, "setAccountFrozen", [account, false]);
    expect(await module.read("isAccountFrozen", [account])).toBe(false);
  });

  it("a guardian freezes only its account, and changes no other setting", async () => {
    const module = await deploy();
    await module.send(account, "setGuardian", [guardian]);
    await expectRevert(module.call(guardian, "setAccountFrozen", [outsider, true]), abi, "Unauthorized");
    await expectRevert(module.call(outsider, "setAccountFrozen", [account, true]), abi, "Unauthorized");
    await module.send(guardian, "setSpendLimit", [token, 5n]);
    await module.send(guardian, "setTargetAllowed", [target, true]);
    expect(await module.read("getSpendLimit", [account, token])).toMatchObject({ maxPerDay: 0n });
    expect(await module.read("isTargetAllowed", [account, target])).toBe(false);
  });
});

describe("checkTransaction", () => {
  const check = (
    module: Awaited<ReturnType<typeof deploy>>,
    to: Address,
    value: bigint,
    data: Hex,
    from = account,
  ) => module.read("checkTransaction", [to, value, data], from);

  it("checks in order: frozen, target, function, native limit, token limit", async () => {
    const module = await deploy();
    const spend = concat([TRANSFER, word(1n), word(11n)]);
    await module.send(account, "setAccountFrozen", [account, true]);
    await module.send(account, "setUseFunctionAllowlist", [true]);
    await module.send(account, "setSpendLimit", [zeroAddress, 5n]);
    await module.send(account, "setSpendLimit", [target, 10n]);
    await expectRevert(check(module, target, 6n, spend), abi, "AccountFrozenError", [account]);
    await module.send(account, "setAccountFrozen", [account, false]);
    await expectRevert(check(module, target, 6n, spend), abi, "TargetNotAllowed", [target]);
    await module.send(account, "setTargetAllowed", [target, true]);
    await expectRevert(check(module, target, 6n, spend), abi, "FunctionNotAllowed", [target, TRANSFER]);
    await module.send(account, "setFunctionAllowed", [target, TRANSFER, true]);
    const native = [zeroAddress, 6n, 5n] as const;
    await expectRevert(check(module, target, 6n, spend), abi, "DailySpendLimitExceeded", native);
    const tokens = [target, 11n, 10n] as const;
    await expectRevert(check(module, target, 5n, spend), abi, "DailySpendLimitExceeded", tokens);
    await check(module, target, 5n, concat([TRANSFER, word(1n), word(10n)]));
    await expectRevert(check(module, target, 0n, "0x", outsider), abi, "TargetNotAllowed", [target]);
  });

  it("checks the function only in function mode and only with four bytes of data", async () => {
    const module = await deploy();
    await module.send(account, "setTargetAllowed", [target, true]);
    await check(module, target, 0n, "0xdeadbeef");
    await module.send(account, "setUseFunctionAllowlist", [true]);
    for (const data of ["0x", "0xde", "0xdead", "0xdeadbe"] as const) await check(module, target, 0n, data);
    for (const data of ["0xdeadbeef", "0xdeadbeef00", "0x00000000"] as const) {
      const rejected = [target, data.slice(0, 10)] as const;
      await expectRevert(check(module, target, 0n, data), abi, "FunctionNotAllowed", rejected);
    }
    await module.send(account, "setFunctionAllowed", [target, "0xdeadbeef", true]);
    await check(module, target, 0n, "0xdeadbeef00");
    await expectRevert(check(module, target, 0n, "0xdeadbee0"), abi, "FunctionNotAllowed", [
      target,
      "0xdeadbee0",
    ]);
    await module.send(account, "setTargetAllowed", [token, true]);
    await expectRevert(check(module, token, 0n, "0xdeadbeef"), abi, "FunctionNotAllowed", [
      token,
      "0xdeadbeef",
    ]);
  });

  it("counts native value of a call to the zero address and token amounts of it one by one", async () => {
    const module = await deploy();
    await module.send(account, "setTargetAllowed", [zeroAddress, true]);
    await module.send(account, "setSpendLimit", [zeroAddress, 10n]);
    await check(module, zeroAddress, 10n, concat([APPROVE, word(1n), word(10n)]));
    const over = [zeroAddress, 11n, 10n] as const;
    const data = concat([APPROVE, word(1n), word(11n)]);
    await expectRevert(check(module, zeroAddress, 0n, data), abi, "DailySpendLimitExceeded", over);
  });

  it("changes nothing in a check", async () => {
    const module = await deploy();
    await module.send(account, "setTargetAllowed", [target, true]);
    await module.send(account, "setSpendLimit", [zeroAddress, 10n]);
    for (let times = 0; times < 3; times += 1) await check(module, target, 10n, "0x");
    expect(await module.read("getSpentToday", [account, zeroAddress])).toBe(0n);
  });
});

describe("getTokenSpend", () => {
  const amount = 0x1122334455n;
  it.each<[string, Hex, bigint]>([
    ["transfer", concat([TRANSFER, word(9n), word(amount)]), amount],
    ["approve", concat([APPROVE, word(9n), word(amount)]), amount],
    ["transferFrom", concat([TRANSFER_FROM, word(8n), word(9n), word(amount)]), amount],
    ["transfer of everything", concat([TRANSFER, word(9n), word(MODEL_UINT256_MAX)]), MODEL_UINT256_MAX],
    ["transfer with trailing bytes", concat([TRANSFER, word(9n), word(amount), "0xffff"]), amount],
    [
      "transferFrom with trailing bytes",
      concat([TRANSFER_FROM, word(8n), word(9n), word(amount), "0xff"]),
      amount,
    ],
    ["transfer one byte short", concat([TRANSFER, word(9n), word(amount)]).slice(0, -2) as Hex, 0n],
    ["approve one byte short", concat([APPROVE, word(9n), word(amount)]).slice(0, -2) as Hex, 0n],
    [
      "transferFrom one byte short",
      concat([TRANSFER_FROM, word(8n), word(9n), word(amount)]).slice(0, -2) as Hex,
      0n,
    ],
    ["transferFrom as short as a transfer", concat([TRANSFER_FROM, word(8n), word(amount)]), 0n],
    ["only a selector", TRANSFER, 0n],
    ["three bytes", "0xa9059c", 0n],
    ["nothing", "0x", 0n],
    ["another function", concat(["0x40c10f19", word(9n), word(amount)]), 0n],
  ])("reads %s", async (_, data, expected) => {
    const module = await deploy();
    expect(await module.read("getTokenSpend", [token, data])).toEqual([token, expected]);
  });
});

describe("recordSpend", () => {
  it("recordSpend adds up inside the window and says the total", async () => {
    const module = await deploy();
    await module.send(account, "setSpendLimit", [token, 100n]);
    const start = (await evm.now()) + 10n;
    await nextAt(start);
    expect(decodeEvents(await module.send(account, "recordSpend", [token, 60n]), abi)).toEqual([
      { eventName: "SpendRecorded", args: { account, token, amount: 60n, dailyTotal: 60n } },
    ]);
    await nextAt(start + 5n);
    expect(decodeEvents(await module.send(account, "recordSpend", [token, 40n]), abi)).toEqual([
      { eventName: "SpendRecorded", args: { account, token, amount: 40n, dailyTotal: 100n } },
    ]);
    const over = [token, 101n, 100n] as const;
    await expectRevert(
      module.send(account, "recordSpend", [token, 1n]),
      abi,
      "DailySpendLimitExceeded",
      over,
    );
    expect(await module.read("getSpentToday", [account, token])).toBe(100n);
    expect(await module.read("getSpentToday", [outsider, token])).toBe(0n);
    expect(await module.read("getSpendLimit", [account, token])).toEqual({
      maxPerDay: 100n,
      spentToday: 100n,
      lastResetTimestamp: Number(start),
    });
  });

  it("opens a new window exactly 86,400 seconds after the first spend, not one second earlier", async () => {
    const module = await deploy();
    await module.send(account, "setSpendLimit", [token, 100n]);
    const start = (await evm.now()) + 10n;
    await nextAt(start);
    await module.send(account, "recordSpend", [token, 100n]);

    await mineAt(start + WINDOW_SECONDS - 1n);
    expect(await module.read("getSpentToday", [account, token])).toBe(100n);
    const over = [token, 101n, 100n] as const;
    await nextAt(start + WINDOW_SECONDS - 1n);
    await expectRevert(
      module.call(account, "recordSpend", [token, 1n]),
      abi,
      "DailySpendLimitExceeded",
      over,
    );

    await mineAt(start + WINDOW_SECONDS);
    expect(await module.read("getSpentToday", [account, token])).toBe(0n);
    // The stored numbers only change with the next spend.
    expect(await module.read("getSpendLimit", [account, token])).toMatchObject({ spentToday: 100n });
    await nextAt(start + WINDOW_SECONDS + 1n);
    await module.send(account, "recordSpend", [token, 100n]);
    expect(await module.read("getSpendLimit", [account, token])).toEqual({
      maxPerDay: 100n,
      spentToday: 100n,
      lastResetTimestamp: Number(start + WINDOW_SECONDS + 1n),
    });
  });

  it("records nothing without a limit", async () => {
    const module = await deploy();
    const receipt = await module.send(account, "recordSpend", [token, MODEL_UINT256_MAX]);
    expect(receipt.logs).toEqual([]);
    expect(await module.read("getSpentToday", [account, token])).toBe(0n);
  });

  it("keeps total and window when the limit changes, also through 0 and back", async () => {
    const module = await deploy();
    await module.send(account, "setSpendLimit", [token, 100n]);
    await module.send(account, "recordSpend", [token, 80n]);
    const before = await module.read("getSpendLimit", [account, token]);
    await module.send(account, "setSpendLimit", [token, 0n]);
    await module.send(account, "recordSpend", [token, 1_000n]);
    await module.send(account, "setSpendLimit", [token, 90n]);
    expect(await module.read("getSpendLimit", [account, token])).toEqual({ ...before, maxPerDay: 90n });
    const over = [token, 91n, 90n] as const;
    await expectRevert(
      module.call(account, "recordSpend", [token, 11n]),
      abi,
      "DailySpendLimitExceeded",
      over,
    );
    await module.send(account, "setSpendLimit", [token, 50n]);
    const lowered = [token, 81n, 50n] as const;
    await expectRevert(
      module.call(account, "recordSpend", [token, 1n]),
      abi,
      "DailySpendLimitExceeded",
      lowered,
    );
    const receipt = await module.send(account, "recordSpend", [token, 0n]);
    expect(decodeEvents(receipt, abi)).toEqual([
      { eventName: "SpendRecorded", args: { account, token, amount: 0n, dailyTotal: 80n } },
    ]);
  });

  it("reaches the largest number and cannot wrap around it", async () => {
    const module = await deploy();
    await module.send(account, "setSpendLimit", [token, MODEL_UINT256_MAX]);
    await module.send(account, "recordSpend", [token, MODEL_UINT256_MAX - 1n]);
    const over = [token, MODEL_UINT256_MAX, MODEL_UINT256_MAX] as const;
    await expectRevert(
      module.call(account, "recordSpend", [token, 2n]),
      abi,
      "DailySpendLimitExceeded",
      over,
    );
    await module.send(account, "recordSpend", [token, 1n]);
    expect(await module.read("getSpentToday", [account, token])).toBe(MODEL_UINT256_MAX);
  });
});
