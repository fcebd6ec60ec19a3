// Session keys calling any function of any target: the account follows the plain rules, and limits bound what leaves.
import fc from "fast-check";
import {
  type Abi,
  type Address,
  concat,
  encodeFunctionData,
  type Hex,
  hexToBigInt,
  numberToHex,
  zeroAddress,
} from "viem";
import { describe, expect, it } from "vitest";
import { isFullDepth, runsOf } from "../../tests/support/test-depth.ts";
import { FUNDS, sessionArgs, sessionKey, signSession, transferData, worldAbi } from "./account-world.ts";
import { puppetAbi } from "./actor-contracts.ts";
import { nativeBalance, type RevertReason, revertReasonOf, startEvm } from "./evm.ts";
import { smallArb } from "./policy-arbitraries.ts";
import {
  addSpend,
  type ModelAllowance,
  noAllowance,
  type PolicyCall,
  sessionRevertReason,
  tokenAmount,
} from "./policy-model.ts";
import { encodeVaultCalls, openVaultWorld } from "./vault-world.ts";

const evm = await startEvm();
const world = await openVaultWorld(evm);
const { account, module, vault, weth, token, puppet, multicall, target, signer } = world;
const { payer, merchant: thief } = evm.chain.accounts;
const calls = encodeVaultCalls({ account: account.address, sink: thief.address });
const FAR = 2n ** 40n;
const tokens = [vault.address, weth.address, token.address] as const;
const targets = [...tokens, puppet.address, multicall.address, target.address] as const;

const tokenArb = fc.constantFrom<Address>(...tokens);
const targetArb = fc.constantFrom<Address>(...targets);
const amountArb = fc.oneof({ weight: 4, arbitrary: smallArb }, { weight: 2, arbitrary: fc.constant(FUNDS) });
const unwrap = (amount: bigint) =>
  encodeFunctionData({ abi: weth.abi, functionName: "withdraw", args: [amount] });
const wrap = encodeFunctionData({ abi: weth.abi, functionName: "deposit" });

/** Calls of a token, a vault or a wrapped coin, known to the limits or not. */
const tokenDataArb: fc.Arbitrary<Hex> = fc.oneof(
  fc
    .tuple(
      fc.constantFrom(
        calls.redeem,
        calls.withdraw,
        calls.deposit,
        calls.mint,
        calls.increaseAllowance,
        calls.permit,
        unwrap,
        (amount: bigint) => calls.multicall([calls.redeem(amount)]),
        (amount: bigint) => transferData(thief.address, amount),
        (amount: bigint) => calls.transferFrom(amount),
      ),
      amountArb,
    )
    .map(([call, amount]) => call(amount)),
  fc
    .tuple(amountArb, fc.constantFrom(thief.address, puppet.address, multicall.address, vault.address))
    .map(([amount, spender]) => calls.approve(amount, spender)),
);
const strangeDataArb: fc.Arbitrary<Hex> = fc.oneof(
  fc.constantFrom<Hex>("0x", "0x00", "0xba0876", wrap),
  fc.uint8Array({ maxLength: 40 }).map((bytes): Hex => `0x${Buffer.from(bytes).toString("hex")}`),
  // Cut short, in the amount or before.
  fc
    .tuple(tokenDataArb, fc.integer({ min: 1, max: 40 }))
    .map(([data, cut]): Hex => `0x${data.slice(2, Math.max(10, data.length - 2 * cut))}`),
  // A known or unknown selector with words of no meaning.
  fc
    .tuple(fc.constantFrom<Hex>("0xa9059cbb", "0x23b872dd", "0xba087652", "0xdeadbeef"), fc.array(smallArb))
    .map(([selector, words]) => concat([selector, ...words.map((word) => numberToHex(word, { size: 32 }))])),
);
const dataArb = fc.oneof({ weight: 4, arbitrary: tokenDataArb }, { weight: 1, arbitrary: strangeDataArb });

/** The same through a contract that makes any call: a puppet, or a batch. */
const indirectArb: fc.Arbitrary<PolicyCall> = fc
  .tuple(tokenArb, dataArb, fc.boolean())
  .map(([through, callData, batch]) => ({
    target: batch ? multicall.address : puppet.address,
    value: 0n,
    data: batch
      ? encodeFunctionData({
          abi: multicall.abi,
          functionName: "aggregate3",
          args: [[{ target: through, allowFailure: true, callData }]],
        })
      : encodeFunctionData({ abi: puppetAbi, functionName: "perform", args: [through, 0n, callData] }),
  }));
const callArb: fc.Arbitrary<PolicyCall> = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({
      target: tokenArb,
      value: fc.oneof({ weight: 4, arbitrary: fc.constant(0n) }, { weight: 1, arbitrary: amountArb }),
      data: dataArb,
    }),
  },
  { weight: 1, arbitrary: fc.record({ target: targetArb, value: amountArb, data: strangeDataArb }) },
  { weight: 2, arbitrary: indirectArb },
);

let nonce = 0n;

/**
 * The error with which the account rejected the call; null when the call was made, whether or not the target then
 * failed.
 */
async function byKey(
  call: PolicyCall,
): Promise<{ readonly rejection: RevertReason | null; readonly made: boolean }> {
  nonce += 1n;
  const session = { ...call, deadline: FAR, nonce };
  const args = sessionArgs(session, await signSession(sessionKey, session, account.address));
  const rejection = await revertReasonOf(
    account.send(payer.address, "executeWithSessionKey", args),
    worldAbi,
  );
  return rejection?.errorName === "ExecutionFailed"
    ? { rejection: null, made: false }
    : { rejection, made: rejection === null };
}

describe("a session key that calls any function", () => {
  const limitArb = fc.tuple(fc.constantFrom<Address>(zeroAddress, ...targets), smallArb);
  const selectorArb = fc.constantFrom<Hex>(
    "0x00000000",
    "0xba087600",
    "0xba087652",
    "0xa9059cbb",
    "0x095ea7b3",
    "0x23b872dd",
    "0xdeadbeef",
    "0x2e1a7d4d",
  );
  const rulesArb = fc.record({
    frozen: fc.integer({ min: 0, max: 9 }).map((n) => n === 0),
    forbidden: fc.option(targetArb, { freq: 4 }),
    functionMode: fc.integer({ min: 0, max: 3 }).map((n) => n === 0),
    functions: fc.array(fc.tuple(tokenArb, selectorArb), { maxLength: 8 }),
    limits: fc.array(limitArb, { maxLength: 5 }),
  });

  it("rejects calls of a session key when and why the rules say so", async () => {
    let forbidden = 0;
    await fc.assert(
      fc.asyncProperty(rulesArb, fc.array(callArb, { minLength: 8, maxLength: 8 }), (given, made) =>
        evm.undone(async () => {
          const limits = new Map<Address, ModelAllowance>();
          for (const [one, maxPerDay] of given.limits) {
            await account.send(signer, "setSpendLimit", [one, maxPerDay]);
            limits.set(one, { ...noAllowance(), maxPerDay });
          }
          for (const [one, selector] of given.functions) {
            await account.send(signer, "setFunctionAllowed", [one, selector, true]);
          }
          await account.send(signer, "setUseFunctionAllowlist", [given.functionMode]);
          if (given.forbidden) await account.send(signer, "setTargetAllowed", [given.forbidden, false]);
          if (given.frozen) await account.send(signer, "setAccountFrozen", [true]);
          const rules = {
            frozen: given.frozen,
            targets: new Set<Address>(targets.filter((one) => one !== given.forbidden)),
            functionMode: given.functionMode,
            functions: new Set(given.functions.map(([one, selector]) => `${one} ${selector}`)),
            limits,
          };
          for (const call of made) {
            const now = (await evm.now()) + 1n;
            const outcome = await byKey(call);
            expect(outcome.rejection).toEqual(sessionRevertReason(account.address, rules, call, now));
            if (outcome.rejection?.errorName === "SessionFunctionForbidden") forbidden += 1;
            if (!outcome.made) continue;
            for (const [one, amount] of [
              [zeroAddress, call.value],
              [call.target, tokenAmount(call.data)],
            ] as const) {
              const limit = limits.get(one);
              if (limit && limit.maxPerDay > 0n && amount > 0n) addSpend(limit, amount, now);
            }
          }
        }),
      ),
      { numRuns: runsOf(40) },
    );
    if (isFullDepth()) expect(forbidden).toBeGreaterThan(0);
  });

  it("a session key moves at most the limit of every token, approvals included", async () => {
    const limitsArb = fc.uniqueArray(
      fc.tuple(fc.constantFrom<Address>(zeroAddress, ...tokens), fc.bigInt(1n, 12n)),
      { minLength: 1, maxLength: 4, selector: ([one]) => one },
    );
    await fc.assert(
      fc.asyncProperty(limitsArb, fc.array(callArb, { minLength: 1, maxLength: 15 }), (limits, made) =>
        evm.undone(async () => {
          for (const limit of limits) await account.send(signer, "setSpendLimit", limit);
          for (const call of made) await byKey(call);
          for (const [one, cap] of limits) {
            const spent = await module.read("getSpentToday", [account.address, one]);
            expect(spent).toBeLessThanOrEqual(cap);
            expect(FUNDS - (await leftOf(one))).toBeLessThanOrEqual(spent);
          }
        }),
      ),
      { numRuns: runsOf(40) },
    );
  });

  /** The balance of the account after every spender took all that it may. */
  async function leftOf(one: Address): Promise<bigint> {
    if (one === zeroAddress) return nativeBalance(evm, account.address);
    const balance = () => readToken(one, "balanceOf", [account.address]);
    for (const spender of [thief.address, puppet.address]) {
      const allowance = await readToken(one, "allowance", [account.address, spender]);
      const held = await balance();
      const data = calls.transferFrom(allowance < held ? allowance : held);
      if (spender === thief.address) await evm.sendRaw(thief.address, one, data);
      else await puppet.send(thief.address, "perform", [one, 0n, data]);
    }
    return balance();
  }
});

async function readToken(one: Address, functionName: string, args: readonly Address[]): Promise<bigint> {
  const data = encodeFunctionData({ abi: token.abi as Abi, functionName, args });
  return hexToBigInt(await evm.callRaw(payer.address, one, data));
}
