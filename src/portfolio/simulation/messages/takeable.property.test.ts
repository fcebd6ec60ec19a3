// The amount that a message is said to allow is what its signature takes on a real chain, to the unit and no unit more.
import { usdCoinAbi } from "@sextant/contracts/generated/usd-coin";
import fc from "fast-check";
import { type Hex, parseAbi } from "viem";
import { expect, it } from "vitest";
import {
  authorizationOf,
  type MessageSample,
  permitBatchOf,
  permitBatchTransferOf,
  permitOf,
  permitSingleOf,
  permitTransferOf,
} from "../../../../tests/support/portfolio/message-samples.ts";
import { startMessageStage } from "../../../../tests/support/portfolio/message-stage.ts";
import { runsOf } from "../../../../tests/support/test-depth.ts";
import { PERMIT2 } from "../../exposure/revocations.ts";

/** In two parts: viem does not tell a struct from a list of structs. */
const singleAbi = parseAbi([
  "function permit(address owner, ((address token, uint160 amount, uint48 expiration, uint48 nonce) details, address spender, uint256 sigDeadline) single, bytes signature)",
  "function transferFrom(address from, address to, uint160 amount, address token)",
  "function permitTransferFrom(((address token, uint256 amount) permitted, uint256 nonce, uint256 deadline) permit, (address to, uint256 requestedAmount) transferDetails, address owner, bytes signature)",
]);

const batchAbi = parseAbi([
  "function permit(address owner, ((address token, uint160 amount, uint48 expiration, uint48 nonce)[] details, address spender, uint256 sigDeadline) batch, bytes signature)",
  "function permitTransferFrom(((address token, uint256 amount)[] permitted, uint256 nonce, uint256 deadline) permit, (address to, uint256 requestedAmount)[] transferDetails, address owner, bytes signature)",
]);

const stage = await startMessageStage();
const { wallet, spender, receiver, chainId, tokens } = stage;
const [usd, other] = tokens;

type Case = {
  readonly kind: (typeof KINDS)[number];
  readonly balances: readonly [bigint, bigint];
  readonly allowances: readonly [bigint, bigint];
  readonly amounts: readonly [bigint, bigint];
  /** Makes the message one that no contract accepts. */
  readonly flaw: "none" | "none " | "expired" | "nonce" | "chain" | "name";
};

const KINDS = [
  "permit",
  "transfer",
  "receive",
  "single",
  "batch",
  "transferFrom",
  "batchTransferFrom",
] as const;
const small = fc.bigInt(0n, 20n);
const pair = <T>(arbitrary: fc.Arbitrary<T>) => fc.tuple(arbitrary, arbitrary);
const MAX = 2n ** 160n - 1n;
const caseArb: fc.Arbitrary<Case> = fc.record({
  kind: fc.constantFrom(...KINDS),
  balances: pair(small),
  allowances: pair(fc.oneof(small, fc.constant(2n ** 256n - 1n))),
  amounts: pair(fc.oneof(small, fc.constant(MAX))),
  flaw: fc.constantFrom("none", "none ", "expired", "nonce", "chain", "name"),
});

/** The message of a case. */
function sampleOf({ kind, amounts, flaw }: Case, now: bigint): MessageSample {
  const until = String(flaw === "expired" ? now - 10n : now + 3_600n);
  const nonce = flaw === "nonce" ? "1" : "0";
  const domain = {
    ...(flaw === "chain" ? { chainId: 1 } : {}),
    ...(flaw === "name" ? { name: "USDC" } : {}),
  };
  const options = { chainId, token: usd, domain };
  const [amount, second] = amounts.map(String);
  const details = (token: Hex, value: string | undefined) => ({
    token,
    amount: value,
    expiration: until,
    nonce,
  });
  const owner = { owner: wallet, spender, value: amount, nonce, deadline: until };
  const authorization = { from: wallet, to: receiver, value: amount, validBefore: until };
  const batch = [details(usd, amount), details(other, second)];
  const permitted = [
    { token: usd, amount },
    { token: other, amount: second },
  ];
  const transfer = { permitted: permitted[0], spender, nonce: "3", deadline: until };
  switch (kind) {
    case "permit":
      return permitOf({ ...options, message: owner });
    case "transfer":
      return authorizationOf({ ...options, message: authorization });
    case "receive":
      return authorizationOf(
        { ...options, message: { ...authorization, to: spender } },
        "ReceiveWithAuthorization",
      );
    case "single":
      return permitSingleOf({
        ...options,
        message: { details: details(usd, amount), spender, sigDeadline: until },
      });
    case "batch":
      return permitBatchOf({ ...options, details: batch, message: { spender, sigDeadline: until } });
    case "transferFrom":
      return permitTransferOf({ ...options, message: transfer });
    case "batchTransferFrom":
      return permitBatchTransferOf({ ...options, permitted, message: { ...transfer, permitted } });
  }
}

/** Uses the signature to take these amounts; whether all of it succeeded. */
async function take(kind: Case["kind"], sample: MessageSample, wanted: readonly bigint[]): Promise<boolean> {
  const signature = await stage.sign(sample);
  const { message } = sample;
  const permit2 = (name: string, args: readonly unknown[]) => {
    const isBatch = name !== "transferFrom" && kind.startsWith("batch");
    return stage.call(spender, PERMIT2, isBatch ? batchAbi : singleAbi, name, args);
  };
  const token = (name: string, args: readonly unknown[]) => stage.call(spender, usd, usdCoinAbi, name, args);
  const pull = async () => {
    for (const [index, amount] of wanted.entries()) {
      if (!(await permit2("transferFrom", [wallet, receiver, amount, tokens[index]]))) return false;
    }
    return true;
  };
  const details = wanted.map((requestedAmount) => ({ to: receiver, requestedAmount }));
  switch (kind) {
    case "permit":
      return (
        (await token("permit", [wallet, spender, message.value, message.deadline, signature])) &&
        (await token("transferFrom", [wallet, receiver, wanted[0]]))
      );
    case "transfer":
    case "receive": {
      const { from, to, value, validAfter, validBefore, nonce } = message;
      const name = kind === "transfer" ? "transferWithAuthorization" : "receiveWithAuthorization";
      return (
        value === String(wanted[0]) &&
        token(name, [from, to, value, validAfter, validBefore, nonce, signature])
      );
    }
    case "single":
    case "batch":
      return (await permit2("permit", [wallet, message, signature])) && pull();
    case "transferFrom":
      return permit2("permitTransferFrom", [message, details[0], wallet, signature]);
    case "batchTransferFrom":
      return permit2("permitTransferFrom", [message, details, wallet, signature]);
  }
}

async function takenOf(task: () => Promise<boolean>): Promise<readonly bigint[] | null> {
  const before = await Promise.all(tokens.map((token) => stage.balanceOf(token, wallet)));
  const isTaken = await stage.undone(async () => {
    if (!(await task())) return null;
    return Promise.all(tokens.map((token) => stage.balanceOf(token, wallet)));
  });
  return isTaken?.map((after, index) => (before[index] ?? 0n) - after) ?? null;
}

it("allows exactly what the signature then takes, over random amounts, balances and allowances", async () => {
  await fc.assert(
    fc.asyncProperty(caseArb, (one) =>
      stage.undone(async () => {
        for (const [index, token] of tokens.entries()) {
          await stage.mint(token, one.balances[index] ?? 0n);
          await stage.call(wallet, token, usdCoinAbi, "approve", [PERMIT2, one.allowances[index]]);
        }
        const sample = sampleOf(one, await stage.now());
        const { takeable, content } = await stage.examine(sample);
        const isUsed = tokens.map((token) => takeable.some(({ asset }) => asset.contract === token));
        const said = tokens.map(
          (token) => takeable.find(({ asset }) => asset.contract === token)?.amount ?? 0n,
        );
        const wanted = said.slice(0, isUsed.lastIndexOf(true) + 1);
        expect(content).not.toBeNull();
        const isExact = one.kind === "transfer" || one.kind === "receive";
        const taken = await takenOf(() => take(one.kind, sample, wanted));
        // A signature that takes nothing may be rejected as a whole.
        if (wanted.some((amount) => amount > 0n)) expect(taken).toEqual(said);
        else expect(taken ?? [0n, 0n]).toEqual([0n, 0n]);
        for (const index of isExact ? [] : wanted.keys()) {
          const more = wanted.map((amount, at) => (at === index ? amount + 1n : amount));
          expect(await takenOf(() => take(one.kind, sample, more))).toBeNull();
        }
        // All or nothing: the whole amount, although it is said that nothing can be taken.
        if (isExact && said[0] === 0n && one.amounts[0] > 0n) {
          expect(await takenOf(() => take(one.kind, sample, [one.amounts[0]]))).toBeNull();
        }
      }),
    ),
    { numRuns: runsOf(300, { min: 14 }) },
  );
}, 600_000);
