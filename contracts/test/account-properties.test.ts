// Whatever owner and session keys of an account try, in whatever order: limits hold, expired keys are dead, nonces work once.
import fc from "fast-check";
import { type Address, encodeFunctionData, getAddress, type Hex, pad, slice, zeroAddress } from "viem";
import { describe, expect, it } from "vitest";
import { runsOf } from "../../tests/support/test-depth.ts";
import { plainTokenAbi } from "../generated/plain-token.ts";
import type { SessionCall } from "../hashes/session-digest.ts";
import {
  FUNDS,
  openAccountWorld,
  sessionArgs,
  sessionKey,
  setValue,
  signSession,
  transferData,
  worldAbi,
} from "./account-world.ts";
import { nativeBalance, RevertedError, revertReasonOf, startEvm } from "./evm.ts";
import { jumpArb, smallArb } from "./policy-arbitraries.ts";
import { addSpend, limitRevertReason, noAllowance, spentInWindow } from "./policy-model.ts";

const evm = await startEvm();
const world = await openAccountWorld(evm);
const { account, module, token, target, puppet, signer } = world;
const relayer = evm.chain.accounts.payer.address;
const sink = getAddress(pad("0x51", { size: 20 }));
const tokenAddress = getAddress(token.address);
const FAR = 2n ** 40n;
await account.send(signer, "setTargetAllowed", [sink, true]);
await account.send(signer, "setSessionKey", [sessionKey.address, Number(FAR), true]);

async function signed(call: SessionCall) {
  return sessionArgs(call, await signSession(sessionKey, call, account.address));
}

describe("spending through the account", () => {
  const approveData = (amount: bigint) =>
    encodeFunctionData({ abi: plainTokenAbi, functionName: "approve", args: [sink, amount] });
  const wayArb = fc.constantFrom("owner" as const, "session" as const);
  const stepArb = fc.oneof(
    {
      weight: 1,
      arbitrary: fc.record({
        kind: fc.constant("limit" as const),
        token: fc.constantFrom<Address>(zeroAddress, tokenAddress),
        amount: smallArb,
      }),
    },
    {
      weight: 4,
      arbitrary: fc.record({
        kind: fc.constantFrom("native" as const, "transfer" as const, "approve" as const),
        way: wayArb,
        amount: smallArb,
      }),
    },
  );

  it("records a spend through the account whole or rejects it, for every caller", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.record({ step: stepArb, jump: jumpArb }), { minLength: 1, maxLength: 20 }),
        (steps) =>
          evm.undone(async () => {
            const limits = new Map([zeroAddress, tokenAddress].map((one) => [one as Address, noAllowance()]));
            let now = await evm.now();
            let [nativeGone, tokensGone, nonce] = [0n, 0n, 0n];
            for (const { step, jump } of steps) {
              now += jump;
              await evm.chain.setNextBlockTimestamp(now);
              const spentToken =
                step.kind === "limit" ? step.token : step.kind === "native" ? zeroAddress : tokenAddress;
              const limit = limits.get(spentToken);
              if (!limit) throw new Error("unknown token");
              if (step.kind === "limit") {
                await account.send(signer, "setSpendLimit", [spentToken, step.amount]);
                limit.maxPerDay = step.amount;
              } else {
                const { amount } = step;
                const native = step.kind === "native";
                const data = native
                  ? "0x"
                  : step.kind === "approve"
                    ? approveData(amount)
                    : transferData(sink, amount);
                const call = {
                  target: native ? sink : token.address,
                  value: native ? amount : 0n,
                  data,
                } as const;
                nonce += 1n;
                const sent =
                  step.way === "owner"
                    ? account.send(signer, "execute", [call.target, call.value, call.data])
                    : account.send(
                        relayer,
                        "executeWithSessionKey",
                        await signed({ ...call, deadline: now, nonce }),
                      );
                const rejected = await revertReasonOf(sent, worldAbi);
                expect(rejected).toEqual(limitRevertReason(spentToken, limit, amount, now));
                if (rejected === null) {
                  if (amount > 0n && limit.maxPerDay > 0n) addSpend(limit, amount, now);
                  if (native) nativeGone += amount;
                  if (step.kind === "transfer") tokensGone += amount;
                }
              }
              expect(await module.read("getSpentToday", [account.address, spentToken])).toBe(
                spentInWindow(limit, now),
              );
            }
            expect(await nativeBalance(evm, account.address)).toBe(FUNDS - nativeGone);
            expect(await token.read("balanceOf", [account.address])).toBe(FUNDS - tokensGone);
          }),
      ),
      { numRuns: runsOf(30) },
    );
  });
});

describe("a session key", () => {
  const anyCallArb = fc.record({
    target: fc.constantFrom(
      target.address,
      token.address,
      puppet.address,
      sink,
      account.address,
      module.address,
    ),
    value: smallArb,
    data: fc.constantFrom<Hex>("0x", setValue(9n), transferData(sink, 3n), "0xdeadbeef"),
    deadline: fc.constantFrom(0n, FAR, 2n ** 256n - 1n),
    nonce: fc.bigInt(0n, 2n ** 256n - 1n),
  });

  it("a session key can do nothing after it expired, whatever it signs", async () => {
    await fc.assert(
      fc.asyncProperty(
        anyCallArb,
        fc.bigInt(1n, 1_000n),
        fc.oneof(fc.constant(1n), fc.bigInt(1n, 10n ** 9n)),
        (call, life, after) =>
          evm.undone(async () => {
            const expiresAt = (await evm.now()) + life;
            await account.send(signer, "setSessionKey", [sessionKey.address, Number(expiresAt), true]);
            await evm.chain.setNextBlockTimestamp(expiresAt + after);
            const outcome = account.send(relayer, "executeWithSessionKey", await signed(call));
            const rejected = await revertReasonOf(outcome, worldAbi);
            const forbidden = call.target === account.address || call.target === module.address;
            expect(rejected?.errorName).toBe(forbidden ? "SessionTargetForbidden" : "SessionKeyExpired");
            expect(await nativeBalance(evm, account.address)).toBe(FUNDS);
            expect(await token.read("balanceOf", [account.address])).toBe(FUNDS);
            expect(await target.read("value", [])).toBe(0n);
          }),
      ),
      { numRuns: runsOf(60) },
    );
  });

  it("a session key uses its nonces in any order, each once", async () => {
    const noncesArb = fc.array(fc.oneof(fc.bigInt(0n, 6n), fc.bigInt(0n, 2n ** 256n - 1n)), {
      minLength: 1,
      maxLength: 12,
    });
    await fc.assert(
      fc.asyncProperty(noncesArb, (nonces) =>
        evm.undone(async () => {
          const used = new Set<bigint>();
          for (const nonce of nonces) {
            const call = { target: sink, value: 1n, data: "0x", deadline: FAR, nonce } as const;
            const outcome = account.send(relayer, "executeWithSessionKey", await signed(call));
            const rejected = await revertReasonOf(outcome, worldAbi);
            expect(rejected?.errorName ?? null).toBe(used.has(nonce) ? "SessionNonceUsed" : null);
            used.add(nonce);
            expect(await account.read("usedSessionNonces", [sessionKey.address, nonce])).toBe(true);
          }
          expect(await nativeBalance(evm, sink)).toBe(BigInt(used.size));
        }),
      ),
      { numRuns: runsOf(25) },
    );
  });

  it("no bytes but a session key's signature make the account act", async () => {
    const call = { target: sink, value: 1n, data: "0x", deadline: FAR, nonce: 0n } as const;
    const good = await signSession(sessionKey, call, account.address);
    const bytes = (length: number) =>
      fc
        .uint8Array({ minLength: length, maxLength: length })
        .map((one): Hex => `0x${Buffer.from(one).toString("hex")}`);
    const forgedArb = fc.oneof(
      bytes(65),
      // One bit of a good signature flipped.
      fc.integer({ min: 0, max: 65 * 8 - 1 }).map((bit): Hex => {
        const copy = Buffer.from(good.slice(2), "hex");
        copy[bit >> 3] = (copy[bit >> 3] ?? 0) ^ (1 << (bit & 7));
        return `0x${copy.toString("hex")}`;
      }),
      fc.integer({ min: 1, max: 65 }).map((cut): Hex => (cut === 65 ? "0x" : slice(good, 0, 65 - cut))),
    );
    await fc.assert(
      fc.asyncProperty(forgedArb, async (forged) => {
        const outcome = account.call(relayer, "executeWithSessionKey", sessionArgs(call, forged));
        await expect(outcome).rejects.toBeInstanceOf(RevertedError);
      }),
      { numRuns: runsOf(150) },
    );
    await account.call(relayer, "executeWithSessionKey", sessionArgs(call, good));
  });
});
