// Preflight for session keys against a real PolicyAccount: it allows what the account executes, and rejects the rest.

import { policyAccountAbi, policyAccountBytecode } from "@sextant/contracts/generated/policy-account";
import { policyModuleAbi } from "@sextant/contracts/generated/policy-module";
import { vault4626Abi } from "@sextant/contracts/generated/vault4626";
import { ENTRY_POINT, sessionArgs, sessionKey, signSession } from "@sextant/contracts/test/account-world";
import fc from "fast-check";
import {
  type Address,
  concat,
  decodeErrorResult,
  encodeDeployData,
  encodeFunctionData,
  getAddress,
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

const abi = [...policyAccountAbi, ...policyModuleAbi.filter(({ type }) => type === "error")] as const;
const ZERO: Address = "0x0000000000000000000000000000000000000000";
const TOKEN: Address = pad("0xa1", { size: 20 });
const OTHER: Address = pad("0xb2", { size: 20 });
const SINK: Address = pad("0xc3", { size: 20 });
const KEY = sessionKey.address.toLowerCase() as Address;
const UINT256_MAX = 2n ** 256n - 1n;
const DAY = 86_400n;
const FAR = 2n ** 40n;
const REDEEM: Hex = "0xba087652";

let world: PolicyChain;
let signer: Address;

beforeAll(async () => {
  world = await startPolicyChain();
  signer = world.chain.accounts.agent.address;
});

afterAll(() => world?.close());

/** A new account, whose own calls a test may send: rules set this way are those the account sets for itself. */
async function newAccount(): Promise<Address> {
  const data = encodeDeployData({
    abi: policyAccountAbi,
    bytecode: policyAccountBytecode,
    args: [signer, world.policyModule],
  });
  const account = await world.sendAfter(1n, signer, null, data);
  if (account === null) throw new Error("The account was not deployed");
  await world.chain.request("hardhat_impersonateAccount", [account]);
  return account;
}

const setRule = (account: Address, data: Hex, seconds = 1n) =>
  world.sendAfter(seconds, account, world.policyModule, data);

const giveKey = (account: Address, expiresAt: bigint, active: boolean) =>
  world.sendAfter(
    1n,
    signer,
    account,
    encodeFunctionData({
      abi: policyAccountAbi,
      functionName: "setSessionKey",
      args: [KEY, Number(expiresAt), active],
    }),
  );

/** Name of the error with which the account rejects the call; null when it makes the call, which may then fail. */
async function rejection({ account, target, value, data }: PlannedCall): Promise<string | null> {
  const call = { target, value, data, deadline: FAR, nonce: 0n };
  const args = sessionArgs(call, await signSession(sessionKey, call, getAddress(account)));
  const sent = encodeFunctionData({ abi: policyAccountAbi, functionName: "executeWithSessionKey", args });
  const reverted = await world.revertOf(signer, account, sent);
  const name = reverted === null ? null : decodeErrorResult({ abi, data: reverted }).errorName;
  return name === "ExecutionFailed" ? null : name;
}

// The sentence for each error.
const REASONS: Readonly<Record<string, RegExp>> = {
  SessionTargetForbidden: /^Session keys may never call 0x\w{40}:/,
  InvalidSessionKey: /^0x\w{40} is not an active session key of account 0x\w{40}\.$/,
  SessionKeyExpired: /^Session key 0x\w{40} expired at \d+\.$/,
  AccountFrozenError: /^Account 0x\w{40} is frozen\.$/,
  TargetNotAllowed: /^Target 0x\w{40} is not allowed/,
  FunctionNotAllowed: /^Function 0x\w{8} of 0x\w{40} is not allowed/,
  DailySpendLimitExceeded: /^Spending \d+ of .* exceeds the daily limit of \d+/,
  TruncatedTokenCall: /^The call of \w+ on 0x\w{40} is cut short of its amount\.$/,
  SessionFunctionForbidden: /^Session keys may not call function 0x\w{8} of 0x\w{40}:/,
};
const NO_POLICY_HELPS = [
  "SessionTargetForbidden",
  "InvalidSessionKey",
  "SessionKeyExpired",
  "TruncatedTokenCall",
];

function canBeHelped({ reasons }: PreflightRequest): boolean {
  return !reasons.some((reason) => NO_POLICY_HELPS.some((name) => REASONS[name]?.test(reason)));
}

async function expectAgreement(planned: PlannedCall): Promise<PreflightRequest> {
  const [said, rejected] = await Promise.all([world.preflight(planned), rejection(planned)]);
  expect({ allowed: said.allowed, planned, said }).toEqual({ allowed: rejected === null, planned, said });
  if (rejected !== null) expect(said.reasons[0]).toMatch(REASONS[rejected] ?? /nothing/);
  return said;
}

const selectors: readonly Hex[] = [
  "0xa9059cbb",
  "0x095ea7b3",
  "0x23b872dd",
  REDEEM,
  "0x00000000",
  "0xa9059c00",
];
const amountArb = fc.oneof(
  { weight: 8, arbitrary: fc.bigInt(0n, 12n) },
  { weight: 1, arbitrary: fc.constantFrom(UINT256_MAX, UINT256_MAX - 5n) },
);
const targetArb = fc.constantFrom<Address[]>(ZERO, TOKEN, OTHER);
const selectorArb = fc.constantFrom(...selectors);
const jumpArb = fc.constantFrom(1n, 1n, 1n, DAY / 2n, DAY - 1n, DAY, DAY + 1n);
const module = policyModuleAbi;
const settingArb: fc.Arbitrary<Hex> = fc.oneof(
  fc
    .tuple(targetArb, selectorArb, fc.boolean())
    .map((args) => encodeFunctionData({ abi: module, functionName: "setFunctionAllowed", args })),
  fc
    .tuple(fc.constantFrom(false, false, true))
    .map((args) => encodeFunctionData({ abi: module, functionName: "setUseFunctionAllowlist", args })),
  fc
    .tuple(targetArb, amountArb)
    .map((args) => encodeFunctionData({ abi: module, functionName: "setSpendLimit", args })),
  fc
    .tuple(targetArb, amountArb)
    .map((args) => encodeFunctionData({ abi: module, functionName: "recordSpend", args })),
);
const dataArb: fc.Arbitrary<Hex> = fc.oneof(
  { weight: 1, arbitrary: fc.constantFrom<Hex[]>("0x", "0x00", "0xa9059c") },
  {
    weight: 4,
    arbitrary: fc
      .tuple(selectorArb, amountArb, fc.constantFrom(0, 0, 0, -1, -32, 5))
      .map(([selector, amount, cut]) => {
        const parties = selector === "0x23b872dd" ? 2 : 1;
        const words = Array.from({ length: parties }, () => pad(SINK, { size: 32 }));
        const whole = concat([selector, ...words, numberToHex(amount, { size: 32 }), "0x0102030405"]);
        return whole.slice(0, whole.length - 10 + cut * 2) as Hex;
      }),
  },
);
const placeArb = fc.oneof(
  { weight: 8, arbitrary: targetArb },
  { weight: 1, arbitrary: fc.constantFrom("account" as const, "module" as const, "entry point" as const) },
);

describe("preflight for a session key", () => {
  it("agrees with the account, and its advice makes the call pass", { timeout: 90_000 }, async () => {
    const scenario = fc.record({
      allowed: fc.subarray([ZERO, TOKEN, OTHER], { minLength: 2 }),
      frozen: fc.constantFrom(false, false, false, false, true),
      settings: fc.array(fc.tuple(jumpArb, settingArb), { maxLength: 12 }),
      // Expiry of the key relative to the requested block; null for a key that was never granted.
      life: fc.constantFrom(null, -1n, 0n, 1n, DAY, DAY, DAY, DAY, DAY),
      active: fc.constantFrom(true, true, true, true, false),
      wait: jumpArb,
      planned: fc.array(fc.record({ place: placeArb, value: amountArb, data: dataArb }), {
        minLength: 12,
        maxLength: 12,
      }),
    });
    await fc.assert(
      fc.asyncProperty(scenario, async ({ allowed, frozen, settings, life, active, wait, planned }) => {
        const account = await newAccount();
        const places = { account, module: world.policyModule, "entry point": ENTRY_POINT } as const;
        for (const target of allowed) {
          const args = [target, true] as const;
          await setRule(account, encodeFunctionData({ abi: module, functionName: "setTargetAllowed", args }));
        }
        for (const [jump, data] of settings) await setRule(account, data, jump);
        if (frozen) {
          const args = [account, true] as const;
          await setRule(account, encodeFunctionData({ abi: module, functionName: "setAccountFrozen", args }));
        }
        if (life !== null) await giveKey(account, world.now() + 1n + wait + life, active);
        await world.mineAfter(wait);
        const head = await world.synced();
        const plans = planned.map(({ place, value, data }) => {
          const target = place in places ? places[place as keyof typeof places] : (place as Address);
          return { account, target, value, data, session_key: KEY };
        });
        const before = await Promise.all(plans.map(expectAgreement));
        const helped = before.findIndex((said) => !said.allowed && canBeHelped(said));
        const [plan, said] = [plans[helped], before[helped]];
        if (!plan || !said) return;
        for (const { data } of said.required_policy_updates) await setRule(account, data);
        await world.synced();
        const after = await expectAgreement(plan);
        expect(after.allowed || !canBeHelped(after)).toBe(true);
        expect(await world.preflight(plan, `?block=${head}`)).toEqual(said);
      }),
      { numRuns: runsOf(30) },
    );
  });

  it("advises how to allow a redeem from a vault with a limit", async () => {
    const account = await newAccount();
    const vault = world.local.Vault4626;
    await giveKey(account, FAR, true);
    for (const data of [
      encodeFunctionData({ abi: module, functionName: "setTargetAllowed", args: [vault, true] }),
      encodeFunctionData({ abi: module, functionName: "setSpendLimit", args: [vault, 10n] }),
    ]) {
      await setRule(account, data);
    }
    await world.synced();
    const redeem = encodeFunctionData({
      abi: vault4626Abi,
      functionName: "redeem",
      args: [1_000_000n, SINK, account],
    });
    const plan = { account, target: vault, value: 0n, data: redeem, session_key: KEY };
    const allow = encodeFunctionData({
      abi: module,
      functionName: "setFunctionAllowed",
      args: [vault, REDEEM, true],
    });
    expect(await expectAgreement(plan)).toEqual({
      allowed: false,
      action: `Call ${vault} with function ${REDEEM}.`,
      reasons: [
        `Session keys may not call function ${REDEEM} of ${vault}: the target has a spend limit, which does not count this function.`,
      ],
      missing_policies: ["FUNCTION_ALLOWLIST"],
      spend_checks: [],
      required_policy_updates: [
        {
          policy_type: "FUNCTION_ALLOWLIST",
          target: vault,
          selector: REDEEM,
          suggested_value: true,
          to: world.policyModule,
          data: allow,
        },
      ],
    });
    const { session_key, ...byOwner } = plan;
    expect(session_key).toBe(KEY);
    expect((await world.preflight(byOwner)).allowed).toBe(true);
    await setRule(account, allow);
    await world.synced();
    expect((await expectAgreement(plan)).allowed).toBe(true);
  });

  it.each([["0x1"], [null], [7], ["agent"]])("rejects %o as a session key", async (session_key) => {
    const body = { account: SINK, target: TOKEN, value: "0", data: "0x", session_key };
    const response = await world.client.call("/preflight", { method: "POST", body });
    expect(response.status).toBe(400);
    expect((response.body as { error: string }).error).toMatch(/^session_key must be /);
  });
});
