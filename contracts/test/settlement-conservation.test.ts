// Nothing is lost in a settlement: whatever the lines, a payer pays the gross amount, recipients get their lines, or nothing moves.
import fc from "fast-check";
import { type Address, decodeErrorResult, encodeFunctionData, zeroAddress, zeroHash } from "viem";
import { describe, expect, it } from "vitest";
import { runsOf } from "../../tests/support/test-depth.ts";
import { plainTokenAbi } from "../generated/plain-token.ts";
import { settlementAdapterAbi as abi } from "../generated/settlement-adapter.ts";
import { type SettlementInstruction, settlementExecutionHash } from "../hashes/settlement-hash.ts";
import { decodeEvents, EVM_CHAIN_ID, nativeBalance, RevertedError, startEvm } from "./evm.ts";
import {
  deployRevertingContract,
  instruction,
  line,
  NATIVE_TOKEN,
  openSettlementWorld,
  PAYER_TOKENS,
  recipient,
} from "./settlement-world.ts";

const evm = await startEvm();
const { payer, adapter, token, puppet } = await openSettlementWorld(evm);
const rejecting = await deployRevertingContract(evm);
const recipients = [recipient(1), recipient(2), recipient(3), payer, puppet.address, rejecting] as const;
const accounts = [...recipients, adapter.address];
const tokenArb = fc.constantFrom<Address>(NATIVE_TOKEN, token.address);

const lineArb = fc.record({
  to: fc.oneof(
    { weight: 8, arbitrary: fc.constantFrom<Address>(...recipients.slice(0, 5)) },
    { weight: 1, arbitrary: fc.constant<Address>(rejecting) },
  ),
  amount: fc.oneof(fc.bigInt(1n, 1_000n), fc.constant(PAYER_TOKENS / 3n)),
  kind: fc.integer({ min: 0, max: 9 }),
});
const linesArb = fc.array(lineArb, { minLength: 1, maxLength: 6 });

type Spoil = {
  readonly errorName: string;
  readonly apply: (one: SettlementInstruction) => SettlementInstruction;
};

function replaceLine(
  index: number,
  changes: Partial<SettlementInstruction["lines"][number]>,
): Spoil["apply"] {
  return (one) => ({
    ...one,
    lines: one.lines.map((each, at) => (at === index % one.lines.length ? { ...each, ...changes } : each)),
  });
}

const spoilArb = fc
  .nat({ max: 5 })
  .chain((index) =>
    fc.constantFrom<Spoil>(
      { errorName: "EmptyQuoteHash", apply: (one) => ({ ...one, quoteHash: zeroHash }) },
      { errorName: "EmptySettlementPlanHash", apply: (one) => ({ ...one, settlementPlanHash: zeroHash }) },
      { errorName: "DeadlineExpired", apply: (one) => ({ ...one, deadline: 1n }) },
      { errorName: "PayerMismatch", apply: (one) => ({ ...one, payer: recipient(1) }) },
      { errorName: "NoSettlementLines", apply: (one) => ({ ...one, lines: [] }) },
      { errorName: "InvalidRecipient", apply: replaceLine(index, { recipient: zeroAddress }) },
      { errorName: "InvalidRecipient", apply: replaceLine(index, { recipient: adapter.address }) },
      { errorName: "InvalidLineToken", apply: replaceLine(index, { token: recipient(9) }) },
      { errorName: "InvalidLineAmount", apply: replaceLine(index, { amount: 0n }) },
      { errorName: "LineTotalMismatch", apply: replaceLine(index, { amount: 2n ** 256n - 1n }) },
      { errorName: "LineTotalMismatch", apply: (one) => ({ ...one, grossAmount: one.grossAmount + 1n }) },
      { errorName: "LineTotalMismatch", apply: (one) => ({ ...one, grossAmount: one.grossAmount - 1n }) },
    ),
  );

async function balances(): Promise<readonly bigint[]> {
  const native = accounts.map((address) => nativeBalance(evm, address));
  const tokens = accounts.map((address) => token.read("balanceOf", [address]));
  return Promise.all([...native, ...tokens]);
}

/** The balance of every account afterwards if every line is paid and nothing else happens. */
function settled(before: readonly bigint[], one: SettlementInstruction): readonly bigint[] {
  const offset = one.token === NATIVE_TOKEN ? 0 : accounts.length;
  const after = [...before];
  const move = (address: Address, amount: bigint) => {
    const at = offset + accounts.indexOf(address);
    after[at] = (after[at] ?? 0n) + amount;
  };
  move(payer, -one.grossAmount);
  for (const { recipient: to, amount } of one.lines) move(to, amount);
  return after;
}

const send = (one: SettlementInstruction, value: bigint) =>
  adapter.send(payer, "executeSettlement", [one], value);

async function errorOf(outcome: Promise<unknown>): Promise<string | null> {
  try {
    await outcome;
    return null;
  } catch (error) {
    if (!(error instanceof RevertedError)) throw error;
    return decodeErrorResult({ abi: [...abi, ...plainTokenAbi], data: error.data }).errorName;
  }
}

describe("any settlement", () => {
  it("a valid settlement moves exactly the lines' amounts, or nothing if it is rejected", async () => {
    await fc.assert(
      fc.asyncProperty(tokenArb, linesArb, fc.boolean(), (paidIn, drawn, reenters) =>
        evm.undone(async () => {
          const lines = drawn.map(({ to, amount, kind }) => line(to, paidIn, amount, kind));
          const one = instruction(payer, paidIn, lines);
          const native = paidIn === NATIVE_TOKEN;
          if (reenters) {
            const own = instruction(puppet.address, NATIVE_TOKEN, [line(recipient(1), NATIVE_TOKEN, 1n)]);
            const again = encodeFunctionData({ abi, functionName: "executeSettlement", args: [own] });
            await puppet.send(payer, "rehearse", [adapter.address, 1n, again, false]);
          }
          const before = await balances();
          const rejected = await errorOf(send(one, native ? one.grossAmount : 0n));
          // A rejecting contract can reject coin but not tokens, which only the token's ledger knows of.
          const rejects = native && lines.some((each) => each.recipient === rejecting);
          const tooMuch = !native && one.grossAmount > PAYER_TOKENS;
          expect(rejected).toBe(
            rejects ? "NativeTransferFailed" : tooMuch ? "ERC20InsufficientAllowance" : null,
          );
          expect(await balances()).toEqual(rejected === null ? settled(before, one) : before);
          expect((await balances()).filter((_, at) => at % accounts.length === accounts.length - 1)).toEqual([
            0n,
            0n,
          ]);
        }),
      ),
      { numRuns: runsOf(50) },
    );
  });

  it("a settlement with one error moves nothing, and says what is wrong", async () => {
    const before = await balances();
    await fc.assert(
      fc.asyncProperty(tokenArb, linesArb, spoilArb, (paidIn, drawn, { errorName, apply }) =>
        evm.undone(async () => {
          const lines = drawn.map(({ to, amount, kind }) => line(to, paidIn, amount, kind));
          const one = apply(instruction(payer, paidIn, lines));
          expect(await errorOf(send(one, paidIn === NATIVE_TOKEN ? one.grossAmount : 0n))).toBe(errorName);
          expect(await balances()).toEqual(before);
        }),
      ),
      { numRuns: runsOf(80) },
    );
  });

  it("a settlement sent with another value than it needs moves nothing", async () => {
    const before = await balances();
    await fc.assert(
      fc.asyncProperty(tokenArb, linesArb, fc.bigInt(0n, 2_000n), async (paidIn, drawn, value) => {
        const lines = drawn.map(({ to, amount, kind }) => line(to, paidIn, amount, kind));
        const one = instruction(payer, paidIn, lines);
        fc.pre(value !== (paidIn === NATIVE_TOKEN ? one.grossAmount : 0n));
        const expected = paidIn === NATIVE_TOKEN ? "InvalidNativeValue" : "InvalidERC20Value";
        expect(await errorOf(send(one, value))).toBe(expected);
        expect(await balances()).toEqual(before);
      }),
      { numRuns: runsOf(30) },
    );
  });

  it("emits a settlement under the hash that clients compute", async () => {
    await fc.assert(
      fc.asyncProperty(linesArb, fc.bigInt(2n ** 32n, 2n ** 256n - 1n), (drawn, deadline) =>
        evm.undone(async () => {
          const lines = drawn.map(({ amount, kind }, at) =>
            line(recipient(at), token.address, (amount % 1_000n) + 1n, kind),
          );
          const one = instruction(payer, token.address, lines, { deadline });
          const executionHash = settlementExecutionHash(one, BigInt(EVM_CHAIN_ID), adapter.address);
          const [announced] = decodeEvents(await send(one, 0n), [...abi, ...plainTokenAbi]);
          expect(announced).toMatchObject({ eventName: "SettlementExecuted", args: { executionHash } });
        }),
      ),
      { numRuns: runsOf(25) },
    );
  });
});
