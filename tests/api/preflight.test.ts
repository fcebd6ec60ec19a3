// Preflight against the real contract: allowed calls pass, rejected ones revert, and following its advice helps.

import { policyModuleAbi as abi } from "@sextant/contracts/generated/policy-module";
import fc from "fast-check";
import {
  type Address,
  concat,
  decodeErrorResult,
  encodeFunctionData,
  type Hex,
  numberToHex,
  pad,
} from "viem";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  type PlannedCall,
  type PolicyChain,
  type PreflightRequest,
  startPolicyChain,
} from "../support/chain/policy-chain.ts";
import { runsOf } from "../support/test-depth.ts";

let world: PolicyChain;
let accounts = 0;

beforeAll(async () => {
  world = await startPolicyChain();
});

afterAll(() => world?.close());

const ZERO: Address = "0x0000000000000000000000000000000000000000";
const TOKEN: Address = pad("0xa1", { size: 20 });
const OTHER: Address = pad("0xb2", { size: 20 });
const SOMEONE: Address = pad("0xc3", { size: 20 });
const UINT256_MAX = 2n ** 256n - 1n;
const DAY = 86_400n;
const SELECTORS: readonly Hex[] = ["0xa9059cbb", "0x095ea7b3", "0x23b872dd", "0xdeadbeef"];

async function newAccount(): Promise<Address> {
  accounts += 1;
  const account = pad(numberToHex(0xacc0000 + accounts), { size: 20 });
  await world.chain.request("hardhat_impersonateAccount", [account]);
  return account;
}

/** The result of checkTransaction for the account at the head: null when it passes, otherwise the error's name. */
async function readRevert({ account, target, value, data }: PlannedCall): Promise<string | null> {
  const call = encodeFunctionData({ abi, functionName: "checkTransaction", args: [target, value, data] });
  const reverted = await world.revertOf(account, world.policyModule, call);
  return reverted === null ? null : decodeErrorResult({ abi, data: reverted }).errorName;
}

/** Moves on to an exact second, so that windows can be met at their edge. */
const sendAfter = (seconds: bigint, from: Address, data: Hex) =>
  world.sendAfter(seconds, from, world.policyModule, data);
const mineAfter = (seconds: bigint) => world.mineAfter(seconds);
const waitUntilSynced = () => world.synced();
const preflight = (planned: PlannedCall, query?: string) => world.preflight(planned, query);

// The sentence for each error of the contract.
const REASONS: Readonly<Record<string, RegExp>> = {
  AccountFrozenError: /^Account 0x\w+ is frozen\.$/,
  TargetNotAllowed: /^Target 0x\w+ is not allowed/,
  FunctionNotAllowed: /^Function 0x\w{8} of 0x\w+ is not allowed/,
  DailySpendLimitExceeded: /^Spending \d+ of .* exceeds the daily limit of \d+/,
};

async function expectAgreement(planned: PlannedCall): Promise<PreflightRequest> {
  const [result, revert] = await Promise.all([preflight(planned), readRevert(planned)]);
  expect({ allowed: result.allowed, planned, result }).toEqual({ allowed: revert === null, planned, result });
  if (revert !== null) expect(result.reasons[0]).toMatch(REASONS[revert] ?? /nothing/);
  return result;
}

const amountArb = fc.oneof(
  { weight: 8, arbitrary: fc.bigInt(0n, 12n) },
  { weight: 1, arbitrary: fc.constantFrom(UINT256_MAX, UINT256_MAX - 5n) },
);
const targetArb = fc.constantFrom<Address[]>(ZERO, TOKEN, OTHER);
const selectorArb = fc.constantFrom(...SELECTORS);
const jumpArb = fc.constantFrom(1n, 1n, 1n, DAY / 2n, DAY - 1n, DAY, DAY + 1n);

const settingArb: fc.Arbitrary<Hex> = fc.oneof(
  fc
    .tuple(targetArb, fc.boolean())
    .map(([target, allowed]) =>
      encodeFunctionData({ abi, functionName: "setTargetAllowed", args: [target, allowed] }),
    ),
  fc
    .tuple(targetArb, selectorArb, fc.boolean())
    .map((args) => encodeFunctionData({ abi, functionName: "setFunctionAllowed", args })),
  fc
    .tuple(fc.boolean())
    .map((args) => encodeFunctionData({ abi, functionName: "setUseFunctionAllowlist", args })),
  fc
    .tuple(targetArb, amountArb)
    .map((args) => encodeFunctionData({ abi, functionName: "setSpendLimit", args })),
  fc
    .tuple(targetArb, amountArb)
    .map((args) => encodeFunctionData({ abi, functionName: "recordSpend", args })),
);

const dataArb: fc.Arbitrary<Hex> = fc.oneof(
  fc.constantFrom<Hex[]>("0x", "0x00", "0xa9059c"),
  fc.tuple(selectorArb, amountArb, fc.constantFrom(0, 0, 0, -1, -32, 5)).map(([selector, amount, cut]) => {
    const parties = selector === "0x23b872dd" ? 2 : 1;
    const words = Array.from({ length: parties }, () => pad(SOMEONE, { size: 32 }));
    const whole = concat([selector, ...words, numberToHex(amount, { size: 32 }), "0x0102030405"]);
    return whole.slice(0, whole.length - 10 + cut * 2) as Hex;
  }),
);

const plannedArb = fc.record({
  target: fc.oneof({ weight: 6, arbitrary: targetArb }, { weight: 1, arbitrary: fc.constant(SOMEONE) }),
  value: amountArb,
  data: dataArb,
});

describe("preflight", () => {
  it("agrees with the contract, and its advice makes the transaction pass", { timeout: 60_000 }, async () => {
    const scenario = fc.record({
      // Most accounts allow the targets, so that later rules are reached.
      generous: fc.boolean(),
      frozen: fc.constantFrom(false, false, false, true),
      settings: fc.array(fc.tuple(jumpArb, settingArb), { maxLength: 12 }),
      wait: jumpArb,
      planned: fc.array(plannedArb, { minLength: 12, maxLength: 12 }),
    });
    await fc.assert(
      fc.asyncProperty(scenario, async ({ generous, frozen, settings, wait, planned }) => {
        const account = await newAccount();
        for (const target of generous ? [ZERO, TOKEN, OTHER] : []) {
          const args = [target, true] as const;
          await sendAfter(1n, account, encodeFunctionData({ abi, functionName: "setTargetAllowed", args }));
        }
        for (const [jump, data] of settings) await sendAfter(jump, account, data);
        if (frozen) {
          const args = [account, true] as const;
          await sendAfter(1n, account, encodeFunctionData({ abi, functionName: "setAccountFrozen", args }));
        }
        await mineAfter(wait);
        const head = await waitUntilSynced();
        const plans = planned.map((each) => ({ account, ...each }));
        const before = await Promise.all(plans.map(expectAgreement));
        const rejected = before.findIndex(({ allowed }) => !allowed);
        const [plan, result] = [plans[rejected], before[rejected]];
        if (!plan || !result) return;
        expect(result.required_policy_updates).not.toEqual([]);
        for (const { to, data } of result.required_policy_updates) {
          expect(to).toBe(world.policyModule.toLowerCase());
          await sendAfter(1n, account, data);
        }
        await waitUntilSynced();
        expect((await expectAgreement(plan)).allowed).toBe(true);
        expect(await preflight(plan, `?block=${head}`)).toEqual(result);
      }),
      { numRuns: runsOf(30) },
    );
  });

  it("counts a spend until its window ends, to the second", async () => {
    const account = await newAccount();
    const settings = [
      encodeFunctionData({ abi, functionName: "setTargetAllowed", args: [TOKEN, true] }),
      encodeFunctionData({ abi, functionName: "setSpendLimit", args: [ZERO, 10n] }),
      encodeFunctionData({ abi, functionName: "recordSpend", args: [ZERO, 4n] }),
    ];
    for (const data of settings) await sendAfter(1n, account, data);
    const plan = { account, target: TOKEN, value: 7n, data: "0x" } as const;
    const responses: boolean[] = [];
    for (const wait of [DAY - 1n, 1n]) {
      await mineAfter(wait);
      await waitUntilSynced();
      responses.push((await expectAgreement(plan)).allowed);
    }
    expect(responses).toEqual([false, true]);
  });

  it("lists the checked rules in the order of the contract", async () => {
    const account = await newAccount();
    const settings = [
      encodeFunctionData({ abi, functionName: "setUseFunctionAllowlist", args: [true] }),
      encodeFunctionData({ abi, functionName: "setSpendLimit", args: [ZERO, 5n] }),
      encodeFunctionData({ abi, functionName: "setSpendLimit", args: [TOKEN, 10n] }),
      encodeFunctionData({ abi, functionName: "recordSpend", args: [TOKEN, 4n] }),
      encodeFunctionData({ abi, functionName: "setAccountFrozen", args: [account, true] }),
    ];
    for (const data of settings) await sendAfter(1n, account, data);
    await waitUntilSynced();
    const data = concat(["0xa9059cbb", pad(SOMEONE, { size: 32 }), numberToHex(7n, { size: 32 })]);
    const to = world.policyModule.toLowerCase();
    expect(await preflight({ account, target: TOKEN, value: 6n, data })).toEqual({
      allowed: false,
      action: `Transfer 7 of token ${TOKEN} to ${SOMEONE} (transfer), sending 6 wei along.`,
      reasons: [
        `Account ${account} is frozen.`,
        `Target ${TOKEN} is not allowed for this account.`,
        `Function 0xa9059cbb of ${TOKEN} is not allowed for this account.`,
        "Spending 6 of the native coin exceeds the daily limit of 5: 0 is spent, 5 remains.",
        `Spending 7 of ${TOKEN} exceeds the daily limit of 10: 4 is spent, 6 remains.`,
      ],
      missing_policies: ["TARGET_ALLOWLIST", "FUNCTION_ALLOWLIST"],
      spend_checks: [
        { token: ZERO, attempted: "6", spent: "0", max_per_day: "5", remaining: "5", ok: false },
        { token: TOKEN, attempted: "7", spent: "4", max_per_day: "10", remaining: "6", ok: false },
      ],
      required_policy_updates: [
        {
          policy_type: "ACCOUNT_FROZEN",
          suggested_value: false,
          to,
          data: encodeFunctionData({ abi, functionName: "setAccountFrozen", args: [account, false] }),
        },
        {
          policy_type: "TARGET_ALLOWLIST",
          target: TOKEN,
          suggested_value: true,
          to,
          data: encodeFunctionData({ abi, functionName: "setTargetAllowed", args: [TOKEN, true] }),
        },
        {
          policy_type: "FUNCTION_ALLOWLIST",
          target: TOKEN,
          selector: "0xa9059cbb",
          suggested_value: true,
          to,
          data: encodeFunctionData({
            abi,
            functionName: "setFunctionAllowed",
            args: [TOKEN, "0xa9059cbb", true],
          }),
        },
        {
          policy_type: "SPEND_LIMIT",
          token: ZERO,
          suggested_value: "6",
          to,
          data: encodeFunctionData({ abi, functionName: "setSpendLimit", args: [ZERO, 6n] }),
        },
        {
          policy_type: "SPEND_LIMIT",
          token: TOKEN,
          suggested_value: "11",
          to,
          data: encodeFunctionData({ abi, functionName: "setSpendLimit", args: [TOKEN, 11n] }),
        },
      ],
    });
  });

  it.each([
    ["0x", 5n, /^Send 5 wei to 0x\w{40}\.$/],
    ["0xdeadbeef", 0n, /^Call 0x\w{40} with function 0xdeadbeef\.$/],
    ["0xdead", 1n, /^Call 0x\w{40} with 2 bytes and no function, sending 1 wei along\.$/],
    ["0x095ea7b3", 0n, /^Call approve on 0x\w{40} with arguments that are cut short\.$/],
    [
      concat(["0x095ea7b3", pad(SOMEONE, { size: 32 }), numberToHex(9n, { size: 32 })]),
      0n,
      /^Approve 0x0*c3 to spend 9 of token 0x0*a1 \(approve\)\.$/,
    ],
    [
      concat([
        "0x23b872dd",
        pad(SOMEONE, { size: 32 }),
        pad(OTHER, { size: 32 }),
        numberToHex(9n, { size: 32 }),
      ]),
      0n,
      /^Transfer 9 of token 0x0*a1 from 0x0*c3 to 0x0*b2 \(transferFrom\)\.$/,
    ],
  ] as const)("describes %s", async (data, value, sentence) => {
    const planned = { account: SOMEONE, target: TOKEN, value, data };
    const plain = await preflight(planned);
    expect(plain.action).toMatch(sentence);
    const {
      action_parts = [],
      reason_parts = [],
      ...same
    } = await preflight({ ...planned, include: "parts" });
    expect(same).toEqual(plain);
    const join = (parts: typeof action_parts) => parts.map(({ text }) => text).join("");
    expect(join(action_parts)).toBe(plain.action);
    expect(reason_parts.map(join)).toEqual(plain.reasons);
    expect(action_parts.filter(({ kind }) => kind === "address").length).toBeGreaterThan(0);
  });

  it("names the token of each amount of a reason if parts are included", async () => {
    const account = await newAccount();
    await sendAfter(
      1n,
      account,
      encodeFunctionData({ abi, functionName: "setSpendLimit", args: [ZERO, 5n] }),
    );
    await waitUntilSynced();
    const planned = { account, target: TOKEN, value: 6n, data: "0x" } as const;
    const { reason_parts = [] } = await preflight({ ...planned, include: "parts" });
    const amounts = reason_parts.at(-1)?.filter(({ kind }) => kind === "amount");
    expect(amounts?.map(({ amount, token }) => [amount, token])).toEqual([
      ["6", ZERO],
      ["5", ZERO],
      ["0", ZERO],
      ["5", ZERO],
    ]);
  });

  it.each([
    [{ account: "0x1" }, /^account must be an address/],
    [{ target: null }, /^target must be a string\.$/],
    [{ value: "-1" }, /^value must be a whole number/],
    [{ value: "1".repeat(79) }, /^value must be a whole number from 0 to 2\^256 - 1/],
    [{ value: 1 }, /^value must be a string\.$/],
    [{ account: undefined }, /^account is required\.$/],
    [{ account: "" }, /^account must be an address/],
    [{ data: "0x0" }, /^data must be 0x-prefixed hex with whole bytes\.$/],
    [{ include: "rows" }, /^include must be one of parts\.$/],
  ])("rejects %o", async (wrong, sentence) => {
    const body = { account: SOMEONE, target: TOKEN, value: "0", data: "0x", ...wrong };
    const response = await world.client.call("/preflight", { method: "POST", body });
    expect(response.status).toBe(400);
    expect((response.body as { error: string }).error).toMatch(sentence);
  });

  it.each([{}, { value: "", data: "" }, { value: "0" }, { data: "0x", session_key: "" }])(
    "takes no value and no data for 0 and 0x: %o",
    async (given) => {
      const call = async (body: object) =>
        (await world.client.call("/preflight", { method: "POST", body })).text;
      const transaction = { account: SOMEONE, target: TOKEN };
      const whole = await call({ ...transaction, value: "0", data: "0x" });
      expect(whole).toContain('"allowed":');
      expect(await call({ ...transaction, ...given })).toBe(whole);
    },
  );

  it("rejects a block that is not indexed", async () => {
    const body = { account: SOMEONE, target: TOKEN, value: "0", data: "0x" };
    for (const block of ["999999999", "-1", "1e3", "9".repeat(30)]) {
      expect((await world.client.call(`/preflight?block=${block}`, { method: "POST", body })).status).toBe(
        400,
      );
    }
  });
});
