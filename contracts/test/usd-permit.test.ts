// Allowances by signature, and what any sequence of authorizations can do to balances and nonces.
import fc from "fast-check";
import { keccak256 } from "viem";
import { beforeEach, describe, expect, it } from "vitest";
import { usdCoinAbi as abi, usdCoinBytecode } from "../generated/usd-coin.ts";
import { type Contract, decodeEvents, expectRevert, revertReasonOf, startEvm } from "./evm.ts";
import {
  authorizationArgs,
  highS,
  signAuthorization,
  signCancellation,
  signPermit,
  usdDomain,
  vrs,
} from "./usd-authorizations.ts";

const evm = await startEvm();
const { owner, payer, merchant, solver } = evm.chain.accounts;
const relayer = solver.address;
const FAR = 2n ** 40n;
const FUNDS = 1_000n;
let usd: Contract<typeof abi>;

beforeEach(async () => {
  usd = await evm.deploy(abi, usdCoinBytecode, []);
  await usd.send(owner.address, "mint", [payer.address, FUNDS]);
});

describe("a permit", () => {
  const permit = (changes: { readonly deadline?: bigint; readonly nonce?: bigint } = {}) => ({
    owner: payer.address,
    spender: relayer,
    value: 7n,
    nonce: 0n,
    deadline: FAR,
    ...changes,
  });
  const argsOf = (one: ReturnType<typeof permit>) =>
    [one.owner, one.spender, one.value, one.deadline] as const;

  it.each(["bytes", "v, r, s"] as const)(
    "a permit sets the allowance once, its signature given as %s",
    async (form) => {
      const one = permit();
      const signature = await signPermit(payer, usdDomain(usd.address), one);
      const args =
        form === "bytes"
          ? ([...argsOf(one), signature] as const)
          : ([...argsOf(one), ...vrs(signature)] as const);
      expect(await usd.read("nonces", [payer.address])).toBe(0n);
      const receipt = await usd.send(merchant.address, "permit", args);
      expect(decodeEvents(receipt, abi)).toEqual([
        { eventName: "Approval", args: { owner: payer.address, spender: relayer, value: 7n } },
      ]);
      expect(await usd.read("allowance", [payer.address, relayer])).toBe(7n);
      expect(await usd.read("nonces", [payer.address])).toBe(1n);
      await expectRevert(usd.call(merchant.address, "permit", args), abi, "InvalidSignature", [
        payer.address,
      ]);
    },
  );

  it("a permit works up to and including its deadline", async () => {
    const deadline = (await evm.now()) + 50n;
    const one = permit({ deadline });
    const args = [...argsOf(one), await signPermit(payer, usdDomain(usd.address), one)] as const;
    await evm.chain.setNextBlockTimestamp(deadline);
    await usd.call(relayer, "permit", args);
    await evm.chain.setNextBlockTimestamp(deadline + 1n);
    await expectRevert(usd.call(relayer, "permit", args), abi, "PermitExpired", [deadline]);
  });

  it("a permit needs the owner's next nonce, the owner's key and this token", async () => {
    const sign = (key = payer, nonce = 0n, domain = usdDomain(usd.address)) =>
      signPermit(key, domain, permit({ nonce }));
    const wrong = [
      await sign(payer, 1n),
      await sign(merchant),
      await sign(payer, 0n, usdDomain(usd.address, { chainId: 1 })),
      highS(await sign()),
    ];
    for (const signature of wrong) {
      const call = usd.call(relayer, "permit", [...argsOf(permit()), signature]);
      await expectRevert(call, abi, "InvalidSignature", [payer.address]);
    }
  });
});

describe("any sequence of authorizations", () => {
  const stepArb = fc.record({
    kind: fc.constantFrom("transfer" as const, "receive" as const, "cancel" as const),
    nonce: fc.integer({ min: 0, max: 5 }),
    value: fc.bigInt(0n, 600n),
    validFrom: fc.bigInt(-2n, 2n),
    validFor: fc.bigInt(0n, 3n),
  });

  it("authorizations use every nonce once, in any order, and neither make nor lose money", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(stepArb, { minLength: 1, maxLength: 12 }), (steps) =>
        evm.undone(async () => {
          const used = new Set<number>();
          let paid = 0n;
          let now = await evm.now();
          for (const step of steps) {
            now += 5n;
            await evm.chain.setNextBlockTimestamp(now);
            const nonce = keccak256(`0x0${step.nonce}`);
            const validAfter = now + step.validFrom - 1n;
            const validBefore = validAfter + 1n + step.validFor;
            const inTime = now > validAfter && now < validBefore;
            const domain = usdDomain(usd.address);
            if (step.kind === "cancel") {
              const signature = await signCancellation(payer, domain, payer.address, nonce);
              const sent = usd.send(relayer, "cancelAuthorization", [payer.address, nonce, signature]);
              const rejected = await revertReasonOf(sent, abi);
              expect(rejected === null).toBe(!used.has(step.nonce));
              used.add(step.nonce);
            } else {
              const receives = step.kind === "receive";
              const kind = receives ? "ReceiveWithAuthorization" : "TransferWithAuthorization";
              const one = {
                from: payer.address,
                to: merchant.address,
                value: step.value,
                validAfter,
                validBefore,
                nonce,
              };
              const args = [
                ...authorizationArgs(one),
                await signAuthorization(payer, domain, kind, one),
              ] as const;
              const sent = receives
                ? usd.send(merchant.address, "receiveWithAuthorization", args)
                : usd.send(relayer, "transferWithAuthorization", args);
              const rejected = await revertReasonOf(sent, abi);
              const affordable = paid + step.value <= FUNDS;
              expect(rejected === null).toBe(inTime && affordable && !used.has(step.nonce));
              if (rejected === null) {
                used.add(step.nonce);
                paid += step.value;
              }
            }
            expect(await usd.read("authorizationState", [payer.address, nonce])).toBe(used.has(step.nonce));
          }
          expect(await usd.read("balanceOf", [merchant.address])).toBe(paid);
          expect(await usd.read("balanceOf", [payer.address])).toBe(FUNDS - paid);
          expect(await usd.read("totalSupply", [])).toBe(FUNDS);
        }),
      ),
      { numRuns: 25 },
    );
  });
});
