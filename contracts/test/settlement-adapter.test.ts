// Settlements: what is rejected, what is paid, what is announced, and what hostile tokens and recipients can do.
import { encodeErrorResult, encodeFunctionData, getAddress, keccak256, zeroAddress, zeroHash } from "viem";
import { describe, expect, it } from "vitest";
import { multicall3Abi, multicall3Bytecode } from "../generated/multicall3.ts";
import { plainTokenAbi } from "../generated/plain-token.ts";
import { settlementAdapterAbi as abi } from "../generated/settlement-adapter.ts";
import { type SettlementInstruction, settlementExecutionHash } from "../hashes/settlement-hash.ts";
import { crookedTokenBehaviours } from "./actor-contracts.ts";
import {
  decodeEvents,
  EVM_CHAIN_ID,
  expectBareRevert,
  expectRevert,
  nativeBalance,
  startEvm,
} from "./evm.ts";
import {
  deployRevertingContract,
  instruction,
  line,
  NATIVE_TOKEN,
  openSettlementWorld,
  PAYER_TOKENS,
  recipient,
  type SettlementWorld,
  TEST_PLAN_HASH,
  TEST_QUOTE_HASH,
} from "./settlement-world.ts";

const evm = await startEvm();
const world = () => openSettlementWorld(evm);
const eventsAbi = [...abi, ...plainTokenAbi.filter(({ type }) => type === "event")] as const;
const settle = ({ adapter, payer }: SettlementWorld, one: SettlementInstruction, value = 0n, from = payer) =>
  adapter.send(from, "executeSettlement", [one], value);

describe("executeSettlement", () => {
  it("pays every line in tokens and announces the settlement with its hash", async () => {
    const own = await world();
    const { payer, adapter, token } = own;
    const one = instruction(payer, token.address, [
      line(recipient(1), token.address, 70n, 0),
      line(recipient(2), token.address, 20n, 2),
      { ...line(recipient(1), token.address, 10n, 9), metadataHash: keccak256("0x0a") },
    ]);
    const executionHash = settlementExecutionHash(one, BigInt(EVM_CHAIN_ID), adapter.address);
    expect(await adapter.call(payer, "executeSettlement", [one])).toBe(executionHash);
    const transfer = (to: number, value: bigint) => ({
      eventName: "Transfer",
      args: { from: payer, to: recipient(to), value },
    });
    expect(decodeEvents(await settle(own, one), eventsAbi)).toEqual([
      {
        eventName: "SettlementExecuted",
        args: {
          quoteHash: TEST_QUOTE_HASH,
          settlementPlanHash: TEST_PLAN_HASH,
          payer,
          token: getAddress(token.address),
          grossAmount: 100n,
          executionHash,
        },
      },
      transfer(1, 70n),
      transfer(2, 20n),
      transfer(1, 10n),
    ]);
    expect(await token.read("balanceOf", [recipient(1)])).toBe(80n);
    expect(await token.read("balanceOf", [recipient(2)])).toBe(20n);
    expect(await token.read("balanceOf", [payer])).toBe(PAYER_TOKENS - 100n);
    expect(await token.read("balanceOf", [adapter.address])).toBe(0n);
  });

  it("pays every line in native coin", async () => {
    const own = await world();
    const { payer, adapter } = own;
    expect(await adapter.read("NATIVE_TOKEN", [])).toBe(zeroAddress);
    const one = instruction(payer, NATIVE_TOKEN, [
      line(recipient(3), NATIVE_TOKEN, 5n),
      line(recipient(4), NATIVE_TOKEN, 6n),
    ]);
    const receipt = await settle(own, one, 11n);
    expect(decodeEvents(receipt, abi)).toMatchObject([
      { eventName: "SettlementExecuted", args: { token: NATIVE_TOKEN, grossAmount: 11n } },
    ]);
    expect(await nativeBalance(evm, recipient(3))).toBe(5n);
    expect(await nativeBalance(evm, recipient(4))).toBe(6n);
    expect(await nativeBalance(evm, adapter.address)).toBe(0n);
  });

  it("takes all ten kinds of lines and no other", async () => {
    const own = await world();
    const { payer, adapter, token } = own;
    const kinds = Array.from({ length: 10 }, (_, kind) => line(recipient(5), token.address, 1n, kind));
    await settle(own, instruction(payer, token.address, kinds));
    const one = instruction(payer, token.address, [line(recipient(5), token.address, 1n, 10)]);
    await expectBareRevert(adapter.call(payer, "executeSettlement", [one]));
  });

  it("executes a settlement up to and including its deadline", async () => {
    const own = await world();
    const { payer, adapter, token } = own;
    const deadline = (await evm.now()) + 1_000n;
    const lines = [line(recipient(6), token.address, 1n)];
    const one = instruction(payer, token.address, lines, { deadline });
    await evm.chain.setNextBlockTimestamp(deadline);
    await adapter.call(payer, "executeSettlement", [one]);
    await evm.chain.setNextBlockTimestamp(deadline + 1n);
    await expectRevert(adapter.call(payer, "executeSettlement", [one]), abi, "DeadlineExpired");
  });

  it("lets a payer pay itself among others", async () => {
    const own = await world();
    const { payer, token } = own;
    const lines = [line(payer, token.address, 3n), line(recipient(7), token.address, 4n)];
    await settle(own, instruction(payer, token.address, lines));
    expect(await token.read("balanceOf", [payer])).toBe(PAYER_TOKENS - 4n);
  });

  it.each<[string, (one: SettlementInstruction, own: SettlementWorld) => SettlementInstruction]>([
    ["EmptyQuoteHash", (one) => ({ ...one, quoteHash: zeroHash })],
    ["EmptySettlementPlanHash", (one) => ({ ...one, settlementPlanHash: zeroHash })],
    ["DeadlineExpired", (one) => ({ ...one, deadline: 0n })],
    ["PayerMismatch", (one) => ({ ...one, payer: recipient(8) })],
    ["NoSettlementLines", (one) => ({ ...one, lines: [] })],
    ["InvalidRecipient", (one) => ({ ...one, lines: [line(zeroAddress, one.token, 10n)] })],
    ["InvalidRecipient", (one, { adapter }) => ({ ...one, lines: [line(adapter.address, one.token, 10n)] })],
    ["InvalidLineToken", (one) => ({ ...one, lines: [line(recipient(8), NATIVE_TOKEN, 10n)] })],
    ["InvalidLineAmount", (one) => ({ ...one, lines: [...one.lines, line(recipient(8), one.token, 0n)] })],
    ["LineTotalMismatch", (one) => ({ ...one, grossAmount: one.grossAmount + 1n })],
    ["LineTotalMismatch", (one) => ({ ...one, grossAmount: one.grossAmount - 1n })],
    [
      "LineTotalMismatch",
      (one) => ({ ...one, lines: [...one.lines, line(recipient(8), one.token, 2n ** 256n - 1n)] }),
    ],
  ] as const)("rejects a settlement with %s", async (errorName, spoil) => {
    const own = await world();
    const { payer, token, adapter } = own;
    const good = instruction(payer, token.address, [line(recipient(8), token.address, 10n)]);
    await adapter.call(payer, "executeSettlement", [good]);
    const call = adapter.call(payer, "executeSettlement", [spoil(good, own)]);
    await expectRevert(call, abi, errorName as "EmptyQuoteHash");
  });

  it("takes exactly the gross amount in native coin, and none with tokens", async () => {
    const { payer, adapter, token } = await world();
    const native = instruction(payer, NATIVE_TOKEN, [line(recipient(9), NATIVE_TOKEN, 10n)]);
    for (const value of [0n, 9n, 11n]) {
      await expectRevert(
        adapter.call(payer, "executeSettlement", [native], value),
        abi,
        "InvalidNativeValue",
      );
    }
    const tokens = instruction(payer, token.address, [line(recipient(9), token.address, 10n)]);
    await expectRevert(adapter.call(payer, "executeSettlement", [tokens], 1n), abi, "InvalidERC20Value");
  });

  it("rejects a settlement for another account, and money without a settlement", async () => {
    const { payer, adapter, token } = await world();
    const thief = evm.chain.accounts.solver.address;
    const one = instruction(payer, token.address, [line(thief, token.address, 10n)]);
    await expectRevert(adapter.call(thief, "executeSettlement", [one]), abi, "PayerMismatch");
    await expectBareRevert(evm.callRaw(payer, adapter.address, "0x", 1n));
  });
});

describe("a token settlement", () => {
  it("a token settlement fails whole when allowance or balance do not suffice", async () => {
    const own = await world();
    const { payer, adapter, token } = own;
    const lines = [line(recipient(10), token.address, 1n), line(recipient(11), token.address, PAYER_TOKENS)];
    const one = instruction(payer, token.address, lines);
    await expectRevert(settle(own, one), plainTokenAbi, "ERC20InsufficientAllowance", [
      getAddress(adapter.address),
      PAYER_TOKENS - 1n,
      PAYER_TOKENS,
    ]);
    await token.send(payer, "approve", [adapter.address, 2n ** 256n - 1n]);
    await expectRevert(settle(own, one), plainTokenAbi, "ERC20InsufficientBalance", [
      payer,
      PAYER_TOKENS - 1n,
      PAYER_TOKENS,
    ]);
    expect(await token.read("balanceOf", [recipient(10)])).toBe(0n);
  });

  it("rejects a settlement in a token that is not a contract", async () => {
    const { payer, adapter } = await world();
    const nothing = recipient(12);
    const one = instruction(payer, nothing, [line(recipient(13), nothing, 1n)]);
    await expectBareRevert(adapter.call(payer, "executeSettlement", [one]));
  });

  it("rejects a token that moves anything but the line's amount", async () => {
    const own = await world();
    const { payer, crooked } = own;
    const token = getAddress(crooked.address);
    const to = recipient(14);
    const one = instruction(payer, token, [line(to, token, 10n)]);
    const after = PAYER_TOKENS - 10n;
    const wrong = {
      KEEPS_FEE: [token, to, 10n, 9n],
      OVERCHARGES: [token, payer, after, after - 1n],
      OVERPAYS: [token, to, 10n, 11n],
      MOVES_NOTHING: [token, payer, after, PAYER_TOKENS],
    } as const;
    for (const [habit, args] of Object.entries(wrong)) {
      await crooked.send(payer, "setHabit", [crookedTokenBehaviours.indexOf(habit as keyof typeof wrong)]);
      await expectRevert(settle(own, one), abi, "InexactTokenTransfer", args);
    }
    await crooked.send(payer, "setHabit", [crookedTokenBehaviours.indexOf("ANSWERS_FALSE")]);
    await expectRevert(settle(own, one), abi, "SafeERC20FailedOperation", [token]);
    expect(await crooked.read("balanceOf", [payer])).toBe(PAYER_TOKENS);
    // Old tokens return nothing and transfer correctly: they are accepted.
    await crooked.send(payer, "setHabit", [crookedTokenBehaviours.indexOf("ANSWERS_NOTHING")]);
    await settle(own, one);
    expect(await crooked.read("balanceOf", [to])).toBe(10n);
  });

  it("rejects a fee also when a payer pays itself", async () => {
    const own = await world();
    const { payer, crooked } = own;
    const token = getAddress(crooked.address);
    await crooked.send(payer, "setHabit", [crookedTokenBehaviours.indexOf("KEEPS_FEE")]);
    const one = instruction(payer, token, [line(payer, token, 10n)]);
    await expectRevert(settle(own, one), abi, "InexactTokenTransfer", [
      token,
      payer,
      PAYER_TOKENS,
      PAYER_TOKENS - 1n,
    ]);
  });

  it("a token that calls its recipient cannot enter a settlement again", async () => {
    const own = await world();
    const { payer, adapter, crooked, puppet } = own;
    await crooked.send(payer, "setHabit", [crookedTokenBehaviours.indexOf("CALLS_RECIPIENT")]);
    await crooked.send(payer, "mint", [puppet.address, 50n]);
    const again = encodeFunctionData({
      abi,
      functionName: "executeSettlement",
      args: [instruction(puppet.address, crooked.address, [line(recipient(15), crooked.address, 1n)])],
    });
    await puppet.send(payer, "rehearse", [adapter.address, 0n, again, false]);
    await settle(own, instruction(payer, crooked.address, [line(puppet.address, crooked.address, 10n)]));
    expect(await puppet.read("returned", [])).toBe(
      encodeErrorResult({ abi, errorName: "ReentrancyGuardReentrantCall" }),
    );
    expect(await crooked.read("balanceOf", [puppet.address])).toBe(60n);
  });

  it("fails when the recipient moves the tokens on before the adapter has counted them", async () => {
    const own = await world();
    const { payer, crooked, puppet } = own;
    await crooked.send(payer, "setHabit", [crookedTokenBehaviours.indexOf("CALLS_RECIPIENT")]);
    const moveOn = encodeFunctionData({
      abi: plainTokenAbi,
      functionName: "transfer",
      args: [recipient(16), 4n],
    });
    await puppet.send(payer, "rehearse", [crooked.address, 0n, moveOn, true]);
    const one = instruction(payer, crooked.address, [line(puppet.address, crooked.address, 10n)]);
    const args = [getAddress(crooked.address), getAddress(puppet.address), 10n, 6n];
    await expectRevert(settle(own, one), abi, "InexactTokenTransfer", args);
  });
});

describe("a native settlement", () => {
  it("a native settlement fails whole when one recipient rejects", async () => {
    const own = await world();
    const { payer } = own;
    const rejecting = await deployRevertingContract(evm);
    const lines = [line(recipient(17), NATIVE_TOKEN, 5n), line(rejecting, NATIVE_TOKEN, 1n)];
    await expectRevert(settle(own, instruction(payer, NATIVE_TOKEN, lines), 6n), abi, "NativeTransferFailed");
    expect(await nativeBalance(evm, recipient(17))).toBe(0n);
  });

  it("a recipient of native coin cannot enter a settlement again", async () => {
    const own = await world();
    const { payer, adapter, puppet } = own;
    const inner = instruction(puppet.address, NATIVE_TOKEN, [line(recipient(18), NATIVE_TOKEN, 1n)]);
    const again = encodeFunctionData({ abi, functionName: "executeSettlement", args: [inner] });
    const one = instruction(payer, NATIVE_TOKEN, [
      line(puppet.address, NATIVE_TOKEN, 5n),
      line(recipient(19), NATIVE_TOKEN, 5n),
    ]);
    await puppet.send(payer, "rehearse", [adapter.address, 1n, again, true]);
    await expectRevert(settle(own, one, 10n), abi, "NativeTransferFailed");
    await puppet.send(payer, "rehearse", [adapter.address, 1n, again, false]);
    await settle(own, one, 10n);
    expect(await puppet.read("returned", [])).toBe(
      encodeErrorResult({ abi, errorName: "ReentrancyGuardReentrantCall" }),
    );
    expect(await nativeBalance(evm, puppet.address)).toBe(5n);
    expect(await nativeBalance(evm, recipient(19))).toBe(5n);
    expect(await nativeBalance(evm, adapter.address)).toBe(0n);
  });

  it("contracts can pay a native settlement, twice in one transaction too", async () => {
    const { payer, adapter } = await world();
    const multicall = await evm.deploy(multicall3Abi, multicall3Bytecode, []);
    const one = instruction(multicall.address, NATIVE_TOKEN, [line(recipient(20), NATIVE_TOKEN, 3n)]);
    const callData = encodeFunctionData({ abi, functionName: "executeSettlement", args: [one] });
    const call = { target: adapter.address, allowFailure: false, value: 3n, callData };
    await multicall.send(payer, "aggregate3Value", [[call, call]], 6n);
    expect(await nativeBalance(evm, recipient(20))).toBe(6n);
  });
});
