// Payments by signature: what an account allows per merchant, token and facilitator, and what is then rejected.
import fc from "fast-check";
import { type Address, getAddress, type Hex, keccak256, pad, toHex, zeroAddress } from "viem";
import { describe, expect, it } from "vitest";
import { runsOf } from "../../tests/support/test-depth.ts";
import { policyModuleAbi as abi, policyModuleBytecode } from "../generated/policy-module.ts";
import { decodeEvents, expectRevert, type RevertReason, revertReasonOf, startEvm } from "./evm.ts";
import { amountArb, jumpArb, smallArb } from "./policy-arbitraries.ts";
import {
  addSpend,
  limitRevertReason,
  MODEL_UINT256_MAX,
  type ModelAllowance,
  noAllowance,
  spentInWindow,
  WINDOW_SECONDS,
} from "./policy-model.ts";

const evm = await startEvm();
const accounts = evm.chain.accounts;
const account = accounts.agent.address;
const outsider = accounts.payer.address;
const merchant = accounts.merchant.address;
const facilitator = accounts.facilitator.address;
const token = getAddress(pad("0x70", { size: 20 }));
const otherToken = getAddress(pad("0x7a", { size: 20 }));
const deploy = () => evm.deploy(abi, policyModuleBytecode, []);

describe("a signed payment", () => {
  const hash = (text: string) => keccak256(toHex(text));
  const key = [merchant, token, facilitator] as const;

  it("a signed payment follows the policy of merchant, token and facilitator, and is emitted", async () => {
    const module = await deploy();
    const set = await module.send(account, "setPaymentPolicy", [...key, 50n, 80n, true]);
    expect(decodeEvents(set, abi)).toEqual([
      {
        eventName: "PaymentPolicySet",
        args: { account, merchant, token, facilitator, maxPerPayment: 50n, maxPerDay: 80n, allowed: true },
      },
    ]);
    await module.read("checkSignedPayment", [...key, 50n], account);
    const start = (await evm.now()) + 3n;
    await evm.chain.setNextBlockTimestamp(start);
    const paid = await module.send(account, "recordSignedPayment", [...key, 50n, hash("1")]);
    expect(decodeEvents(paid, abi)).toEqual([
      {
        eventName: "SignedPaymentRecorded",
        args: { account, merchant, token, facilitator, amount: 50n, paymentHash: hash("1"), dailyTotal: 50n },
      },
    ]);
    expect(await module.read("getPaymentPolicy", [account, ...key])).toEqual({
      maxPerPayment: 50n,
      maxPerDay: 80n,
      spentToday: 50n,
      lastResetTimestamp: Number(start),
      allowed: true,
    });
    const tooMuch = [token, 51n, 50n] as const;
    await expectRevert(
      module.read("checkSignedPayment", [...key, 51n], account),
      abi,
      "PaymentAmountExceeded",
      tooMuch,
    );
    const over = [token, 81n, 80n] as const;
    await expectRevert(
      module.read("checkSignedPayment", [...key, 31n], account),
      abi,
      "DailySpendLimitExceeded",
      over,
    );
    const again = module.call(account, "recordSignedPayment", [...key, 1n, hash("1")]);
    await expectRevert(again, abi, "PaymentAlreadyRecorded", [hash("1")]);
    await module.send(account, "recordSignedPayment", [...key, 30n, hash("2")]);

    const mineAt = async (seconds: bigint) => {
      await evm.chain.setNextBlockTimestamp(seconds);
      await evm.chain.mine();
    };
    await mineAt(start + WINDOW_SECONDS - 1n);
    expect(await module.read("getPaymentPolicy", [account, ...key])).toMatchObject({ spentToday: 80n });
    await mineAt(start + WINDOW_SECONDS);
    expect(await module.read("getPaymentPolicy", [account, ...key])).toMatchObject({ spentToday: 0n });
    await module.read("checkSignedPayment", [...key, 50n], account);
  });

  it("rejects a signed payment for another key, for a forbidden one, and while frozen", async () => {
    const module = await deploy();
    await module.send(account, "setPaymentPolicy", [...key, 0n, 0n, true]);
    for (const other of [
      [outsider, token, facilitator],
      [merchant, otherToken, facilitator],
      [merchant, token, zeroAddress],
    ] as const) {
      const check = module.read("checkSignedPayment", [...other, 1n], account);
      await expectRevert(check, abi, "PaymentNotAllowed", other);
      const record = module.call(account, "recordSignedPayment", [...other, 1n, hash("1")]);
      await expectRevert(record, abi, "PaymentNotAllowed", other);
    }
    await expectRevert(
      module.read("checkSignedPayment", [...key, 1n], outsider),
      abi,
      "PaymentNotAllowed",
      key,
    );
    await module.send(account, "setAccountFrozen", [account, true]);
    await expectRevert(module.read("checkSignedPayment", [...key, 1n], account), abi, "AccountFrozenError", [
      account,
    ]);
    await expectRevert(
      module.call(account, "recordSignedPayment", [...key, 1n, hash("1")]),
      abi,
      "AccountFrozenError",
      [account],
    );
    await module.send(account, "setAccountFrozen", [account, false]);
    await module.send(account, "setPaymentPolicy", [...key, 0n, 0n, false]);
    await expectRevert(
      module.read("checkSignedPayment", [...key, 1n], account),
      abi,
      "PaymentNotAllowed",
      key,
    );
  });

  it("counts signed payments without a limit too, staying at the largest number", async () => {
    const module = await deploy();
    await module.send(account, "setPaymentPolicy", [...key, 0n, 0n, true]);
    await module.send(account, "recordSignedPayment", [...key, MODEL_UINT256_MAX, hash("1")]);
    const receipt = await module.send(account, "recordSignedPayment", [...key, 5n, hash("2")]);
    expect(decodeEvents(receipt, abi)[0]?.args).toMatchObject({ amount: 5n, dailyTotal: MODEL_UINT256_MAX });
    // A limit that comes later counts what was spent before it.
    await module.send(account, "setPaymentPolicy", [...key, 0n, 10n, true]);
    const over = [token, MODEL_UINT256_MAX, 10n] as const;
    await expectRevert(
      module.read("checkSignedPayment", [...key, 1n], account),
      abi,
      "DailySpendLimitExceeded",
      over,
    );
  });
});

describe("any sequence of payments", () => {
  const keys = [merchant, outsider].flatMap((payee) =>
    [token, otherToken].flatMap((paidIn) =>
      [zeroAddress, facilitator].map((carrier) => [payee, paidIn, carrier] as const),
    ),
  );
  const hashes = ["0x01", "0x02", "0x03", "0x04"].map((text) => keccak256(text as Hex));
  type Policy = ModelAllowance & { maxPerPayment: bigint; allowed: boolean };
  const keyArb = fc.constantFrom(...keys);
  const ownerArb = fc.constantFrom(account, accounts.guardian.address);
  const stepArb = fc.oneof(
    {
      weight: 3,
      arbitrary: fc.record({
        kind: fc.constant("policy" as const),
        perPayment: smallArb,
        perDay: amountArb,
        allowed: fc.integer({ min: 0, max: 3 }).map((n) => n > 0),
      }),
    },
    {
      weight: 8,
      arbitrary: fc.record({
        kind: fc.constant("pay" as const),
        amount: amountArb,
        hash: fc.constantFrom(...hashes),
      }),
    },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant("freeze" as const), frozen: fc.boolean() }) },
  );

  it("payments keep to their key's limits, and every hash counts once per account", async () => {
    const stepsArb = fc.array(fc.record({ step: stepArb, key: keyArb, owner: ownerArb, jump: jumpArb }), {
      minLength: 1,
      maxLength: 25,
    });
    const module = await deploy();
    await fc.assert(
      fc.asyncProperty(stepsArb, (steps) =>
        evm.undone(async () => {
          const policies = new Map<string, Policy>();
          const recorded = new Set<string>();
          const frozen = new Set<Address>();
          let now = await evm.now();
          const policyOf = (owner: Address, key: (typeof keys)[number]): Policy => {
            const name = [owner, ...key].join();
            const policy = policies.get(name) ?? { ...noAllowance(), maxPerPayment: 0n, allowed: false };
            policies.set(name, policy);
            return policy;
          };
          for (const { step, key, owner, jump } of steps) {
            now += jump;
            await evm.chain.setNextBlockTimestamp(now);
            const policy = policyOf(owner, key);
            if (step.kind === "policy") {
              const { perPayment, perDay, allowed } = step;
              await module.send(owner, "setPaymentPolicy", [...key, perPayment, perDay, allowed]);
              Object.assign(policy, { maxPerPayment: perPayment, maxPerDay: perDay, allowed });
            } else if (step.kind === "freeze") {
              await module.send(owner, "setAccountFrozen", [owner, step.frozen]);
              if (step.frozen) frozen.add(owner);
              else frozen.delete(owner);
            } else {
              const { amount, hash } = step;
              const expected = paymentRejection(owner, key, policy, amount, now, frozen.has(owner));
              const used = recorded.has(`${owner}${hash}`);
              const sent = await revertReasonOf(
                module.send(owner, "recordSignedPayment", [...key, amount, hash]),
                abi,
              );
              expect(sent).toEqual(used ? { errorName: "PaymentAlreadyRecorded", args: [hash] } : expected);
              if (sent === null) {
                addSpend(policy, amount, now);
                recorded.add(`${owner}${hash}`);
              }
            }
            const { maxPerPayment, maxPerDay, allowed } = policy;
            expect(await module.read("getPaymentPolicy", [owner, ...key])).toEqual({
              maxPerPayment,
              maxPerDay,
              spentToday: spentInWindow(policy, now),
              lastResetTimestamp: Number(policy.start),
              allowed,
            });
          }
        }),
      ),
      { numRuns: runsOf(60) },
    );
  });

  function paymentRejection(
    owner: Address,
    key: (typeof keys)[number],
    policy: Policy,
    amount: bigint,
    now: bigint,
    frozen: boolean,
  ): RevertReason | null {
    if (frozen) return { errorName: "AccountFrozenError", args: [owner] };
    if (!policy.allowed) return { errorName: "PaymentNotAllowed", args: key };
    if (policy.maxPerPayment > 0n && amount > policy.maxPerPayment) {
      return { errorName: "PaymentAmountExceeded", args: [key[1], amount, policy.maxPerPayment] };
    }
    return limitRevertReason(key[1], policy, amount, now);
  }
});
