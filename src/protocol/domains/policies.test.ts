// Policies: the latest one per subject, and spending windows that start and end as in the contract.
import { describe, expect, it } from "vitest";
import {
  LogSequence,
  MEMORY_ZERO_ADDRESS,
  type MemoryLogPosition,
  repeatAddressByte,
  repeatHashByte,
} from "../../../tests/support/index/memory-index.ts";
import { paymentWindows, policies, signedPayments, spendWindows } from "./policies.ts";

const ACCOUNT = repeatAddressByte("a1");
const [TOKEN, OTHER_TOKEN] = [repeatAddressByte("70"), repeatAddressByte("71")];
const [MERCHANT, FACILITATOR, RIVAL] = [
  repeatAddressByte("50"),
  repeatAddressByte("f1"),
  repeatAddressByte("f2"),
];
const NOON = 1_767_268_800;
const DAY = 86_400;

class Module extends LogSequence {
  set(name: string, args: Record<string, unknown>): this {
    return this.append("PolicyModule", name, { account: ACCOUNT, ...args });
  }
  spend(amount: bigint, dailyTotal: bigint, timestamp: number, token = TOKEN): this {
    return this.append(
      "PolicyModule",
      "SpendRecorded",
      { account: ACCOUNT, token, amount, dailyTotal },
      { timestamp },
    );
  }
  pay(dailyTotal: bigint, hash: string, timestamp: number, facilitator = FACILITATOR): this {
    const place: MemoryLogPosition = { timestamp };
    const args = { account: ACCOUNT, merchant: MERCHANT, token: TOKEN, facilitator, amount: 5n };
    return this.append(
      "PolicyModule",
      "SignedPaymentRecorded",
      { ...args, paymentHash: hash, dailyTotal },
      place,
    );
  }
}

describe("a policy", () => {
  it("a policy has only the columns of its type", async () => {
    const rows = await new Module().set("SpendLimitSet", { token: TOKEN, maxPerDay: 9n }).rows();
    expect(rows.one(policies)).toMatchObject({
      account: ACCOUNT,
      policy_type: "SPEND_LIMIT",
      policy_subject: TOKEN,
      token: TOKEN,
      max_per_day: 9n,
      target: null,
      selector: null,
      merchant: null,
      facilitator: null,
      guardian: null,
      max_per_payment: null,
      allowed: null,
      enabled: null,
      frozen: null,
    });
  });

  it("replaces a policy that is set again, with the block that set it", async () => {
    const rows = await new Module()
      .set("TargetAllowlistUpdated", { target: TOKEN, allowed: true })
      .set("TargetAllowlistUpdated", { target: OTHER_TOKEN, allowed: true })
      .set("TargetAllowlistUpdated", { target: TOKEN, allowed: false })
      .rows();
    expect(rows.of(policies).map((row) => [row.target, row.allowed, row.block_number])).toEqual([
      [TOKEN, false, 3n],
      [OTHER_TOKEN, true, 2n],
    ]);
  });

  it("stores one function policy per target and selector", async () => {
    const rows = await new Module()
      .set("FunctionAllowlistUpdated", { target: TOKEN, selector: "0xa9059cbb", allowed: true })
      .set("FunctionAllowlistUpdated", { target: TOKEN, selector: "0x095ea7b3", allowed: true })
      .set("FunctionAllowlistUpdated", { target: OTHER_TOKEN, selector: "0xa9059cbb", allowed: false })
      .rows();
    expect(rows.of(policies).map((row) => [row.target, row.selector, row.allowed])).toEqual([
      [TOKEN, "0xa9059cbb", true],
      [TOKEN, "0x095ea7b3", true],
      [OTHER_TOKEN, "0xa9059cbb", false],
    ]);
  });

  it("stores policies of two accounts apart", async () => {
    const rows = await new Module()
      .set("AccountFrozen", { frozen: true })
      .set("AccountFrozen", { account: RIVAL, frozen: false })
      .rows();
    expect(rows.of(policies).map((row) => [row.account, row.frozen])).toEqual([
      [ACCOUNT, true],
      [RIVAL, false],
    ]);
  });

  it("stores a policy of every type alongside the others", async () => {
    const payment = { merchant: MERCHANT, token: TOKEN, facilitator: FACILITATOR };
    const rows = await new Module()
      .set("SpendLimitSet", { token: TOKEN, maxPerDay: 9n })
      .set("TargetAllowlistUpdated", { target: TOKEN, allowed: true })
      .set("FunctionAllowlistUpdated", { target: TOKEN, selector: "0xa9059cbb", allowed: true })
      .set("FunctionAllowlistModeUpdated", { enabled: true })
      .set("PaymentPolicySet", { ...payment, maxPerPayment: 1n, maxPerDay: 2n, allowed: true })
      .set("GuardianSet", { guardian: RIVAL })
      .set("AccountFrozen", { frozen: false })
      .rows();
    expect(rows.of(policies).map((row) => row.policy_type)).toEqual([
      "SPEND_LIMIT",
      "TARGET_ALLOWLIST",
      "FUNCTION_ALLOWLIST",
      "FUNCTION_ALLOWLIST_MODE",
      "PAYMENT_POLICY",
      "GUARDIAN",
      "ACCOUNT_FROZEN",
    ]);
  });
});

describe("a guardian that is replaced", () => {
  it("a new guardian replaces the one before", async () => {
    const rows = await new Module()
      .set("GuardianSet", { guardian: FACILITATOR })
      .set("GuardianSet", { guardian: RIVAL })
      .rows();
    expect(rows.one(policies)).toMatchObject({ policy_type: "GUARDIAN", guardian: RIVAL });
  });
});

describe("payment policies that differ in the facilitator", () => {
  it("stores payment policies that differ in the facilitator apart", async () => {
    const terms = { merchant: MERCHANT, token: TOKEN, maxPerPayment: 1n, allowed: true };
    const rows = await new Module()
      .set("PaymentPolicySet", { ...terms, facilitator: FACILITATOR, maxPerDay: 2n })
      .set("PaymentPolicySet", { ...terms, facilitator: RIVAL, maxPerDay: 3n })
      .set("PaymentPolicySet", { ...terms, facilitator: MEMORY_ZERO_ADDRESS, maxPerDay: 4n })
      .rows();
    expect(rows.of(policies).map((row) => [row.facilitator, row.max_per_day])).toEqual([
      [FACILITATOR, 2n],
      [RIVAL, 3n],
      [MEMORY_ZERO_ADDRESS, 4n],
    ]);
  });

  it("gives payments through different facilitators windows of their own", async () => {
    const rows = await new Module()
      .pay(5n, repeatHashByte("01"), NOON)
      .pay(5n, repeatHashByte("02"), NOON + 60, RIVAL)
      .pay(10n, repeatHashByte("03"), NOON + 120)
      .rows();
    expect(rows.of(paymentWindows).map((row) => [row.facilitator, row.spent, row.window_start])).toEqual([
      [FACILITATOR, 10n, BigInt(NOON)],
      [RIVAL, 5n, BigInt(NOON + 60)],
    ]);
    expect(rows.of(signedPayments).map((row) => row.payment_hash)).toEqual([
      repeatHashByte("01"),
      repeatHashByte("02"),
      repeatHashByte("03"),
    ]);
  });
});

describe("a spending window", () => {
  const windowAfter = async (story: Module) => {
    const { spent, window_start } = (await story.rows()).one(spendWindows);
    return { spent, start: Number(window_start) };
  };

  it("a spending window starts with the first spend, not with the day", async () => {
    expect(await windowAfter(new Module().spend(4n, 4n, NOON))).toEqual({ spent: 4n, start: NOON });
  });

  it("a spending window goes on to its last second", async () => {
    const story = new Module().spend(4n, 4n, NOON).spend(3n, 7n, NOON + DAY - 1);
    expect(await windowAfter(story)).toEqual({ spent: 7n, start: NOON });
  });

  it("a new spending window follows after exactly 86400 seconds", async () => {
    const story = new Module().spend(4n, 4n, NOON).spend(3n, 3n, NOON + DAY);
    expect(await windowAfter(story)).toEqual({ spent: 3n, start: NOON + DAY });
  });

  it("measures a spending window from its start, not from the last spend", async () => {
    const story = new Module()
      .spend(4n, 4n, NOON)
      .spend(3n, 7n, NOON + DAY - 1)
      .spend(2n, 2n, NOON + DAY + 5);
    expect(await windowAfter(story)).toEqual({ spent: 2n, start: NOON + DAY + 5 });
  });

  it("a spend of nothing opens a spending window, as in the contract", async () => {
    const story = new Module().spend(0n, 0n, NOON).spend(6n, 6n, NOON + 100);
    expect(await windowAfter(story)).toEqual({ spent: 6n, start: NOON });
  });

  it("a changed limit does not change the spending window", async () => {
    const story = new Module().spend(4n, 4n, NOON).set("SpendLimitSet", { token: TOKEN, maxPerDay: 100n });
    expect(await windowAfter(story)).toEqual({ spent: 4n, start: NOON });
  });

  it("keeps one spending window per token", async () => {
    const rows = await new Module()
      .spend(4n, 4n, NOON)
      .spend(1n, 1n, NOON + 9, OTHER_TOKEN)
      .rows();
    expect(rows.of(spendWindows).map((row) => [row.token, row.window_start])).toEqual([
      [TOKEN, BigInt(NOON)],
      [OTHER_TOKEN, BigInt(NOON + 9)],
    ]);
  });

  it("a window of payments rolls over after exactly 86400 seconds", async () => {
    const story = new Module()
      .pay(5n, repeatHashByte("01"), NOON)
      .pay(10n, repeatHashByte("02"), NOON + DAY - 1);
    expect((await story.rows()).one(paymentWindows)).toMatchObject({
      spent: 10n,
      window_start: BigInt(NOON),
    });
    story.pay(5n, repeatHashByte("03"), NOON + DAY);
    expect((await story.rows()).one(paymentWindows)).toMatchObject({
      spent: 5n,
      window_start: BigInt(NOON + DAY),
    });
  });
});
