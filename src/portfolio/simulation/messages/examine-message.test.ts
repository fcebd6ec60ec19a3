// Messages that drain wallets, each with its verdict: none is allowed; and the harmless ones that are.
import { usdCoinAbi } from "@sextant/contracts/generated/usd-coin";
import { Ajv2020 } from "ajv/dist/2020.js";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  authorizationOf,
  cowOrderOf,
  daiPermitOf,
  inchOrderOf,
  type MessageSample,
  permitBatchOf,
  permitOf,
  permitSingleOf,
  permitTransferOf,
  permitWitnessOf,
  safeTransactionOf,
  seaportOrderOf,
  userOperationOf,
  voucherOf,
} from "../../../../tests/support/portfolio/message-samples.ts";
import { startMessageStage } from "../../../../tests/support/portfolio/message-stage.ts";
import { runsOf } from "../../../../tests/support/test-depth.ts";
import { Fault } from "../../../lib/fault.ts";
import { simulationSchema } from "../../../schema/portfolio/simulation.ts";
import { getAssetKey, type PriceSource, quotePrice } from "../../types.ts";
import { decideVerdict } from "../verdict.ts";
import { writeType } from "./message-types.ts";
import { parseTypedData } from "./typed-data.ts";

/** Every token is worth a dollar, and the native coin two thousand, when this is set. */
let isPriced = false;
const prices: PriceSource = {
  name: "test",
  read: async ({ assets }) => ({
    prices: new Map(
      (isPriced ? assets : []).map((asset) => [
        getAssetKey(asset),
        quotePrice({ units: asset.contract === null ? 2_000n : 1n, scale: 0 }),
      ]),
    ),
    warnings: [],
  }),
};

const stage = await startMessageStage({ priceSources: [[prices]] });
const { wallet, spender, receiver, router, pool, unlisted, chainId } = stage;
const [usd, other] = stage.tokens;
await stage.mint(usd, 1_000n);
const now = await stage.now();
const soon = String(now + 3_600n);
const MAX = (2n ** 256n - 1n).toString();
const MAX160 = (2n ** 160n - 1n).toString();
const base = { chainId, token: usd };
const FAKE = `0x${"fa".repeat(20)}`;
const MULTISEND = "0x9641d764fc13c8b624c04430c7356c1c7c8102e2";
const DEPOSIT_COLLECTOR = "0x4020806089470a89826cb9fb1f4059150b550004";
const COLLECTION = `0x${"c0".repeat(20)}`;

const permitTo = (to: string, message: object = {}) =>
  permitOf({ ...base, message: { owner: wallet, spender: to, deadline: soon, ...message } });
const singleTo = (to: string, details: object = {}, changes: object = {}) =>
  permitSingleOf({
    ...base,
    ...changes,
    message: {
      details: { token: usd, amount: "5", expiration: soon, nonce: "0", ...details },
      ...{ spender: to, sigDeadline: soon },
    },
  });
const transferTo = (to: string, message: object = {}) =>
  authorizationOf({ ...base, message: { from: wallet, to, validBefore: soon, ...message } });
const heldBy = { owner: wallet, offerer: wallet, maker: wallet };
const listing = (message: object = {}) =>
  seaportOrderOf({
    chainId,
    token: COLLECTION,
    message: { offerer: heldBy.offerer, endTime: soon, ...message },
  });
const payment = (amount: string, recipient: string) => ({
  ...{ itemType: 0, token: `0x${"00".repeat(20)}`, identifierOrCriteria: "0" },
  ...{ startAmount: amount, endAmount: amount, recipient },
});
const cow = (message: object = {}) =>
  cowOrderOf({ ...base, message: { validTo: Number(soon), buyToken: other, ...message } });
const witnessed = (types: Record<string, string>, witness: object, message: object = {}) =>
  permitWitnessOf({ ...base, types, witness: { ...witness }, message: { deadline: soon, ...message } });
const INFO =
  "address reactor,address swapper,uint256 nonce,uint256 deadline,address additionalValidationContract,bytes additionalValidationData";
const NOTHING = `0x${"00".repeat(20)}`;
const uniswapX = (reactor: string) =>
  witnessed(
    {
      V2DutchOrder:
        "OrderInfo info,address cosigner,address baseInputToken,uint256 baseInputStartAmount,uint256 baseInputEndAmount,DutchOutput[] baseOutputs",
      OrderInfo: INFO,
      DutchOutput: "address token,uint256 startAmount,uint256 endAmount,address recipient",
    },
    {
      info: {
        ...{ reactor, swapper: wallet, nonce: "0", deadline: soon },
        ...{ additionalValidationContract: NOTHING, additionalValidationData: "0x" },
      },
      ...{ cosigner: NOTHING, baseInputToken: usd, baseInputStartAmount: "5", baseInputEndAmount: "5" },
      baseOutputs: [{ token: other, startAmount: "9", endAmount: "2", recipient: wallet }],
    },
    { spender: reactor },
  );
const withTypes = (sample: MessageSample, types: object, rest: object = {}): MessageSample => ({
  ...sample,
  types: { ...sample.types, ...types },
  ...rest,
});
const nameless = { EIP712Domain: [{ name: "verifyingContract", type: "address" }] };

type Drainer = readonly [title: string, verdict: "block" | "caution", code: string, sample: MessageSample];

const DRAINERS: readonly Drainer[] = [
  ["a permit of everything for a person", "block", "unlimited-approval", permitTo(spender, { value: MAX })],
  ["a permit of a little for a person", "block", "spender-without-code", permitTo(spender)],
  ["a permit for an unknown contract", "caution", "unknown-spender", permitTo(unlisted)],
  [
    "a permit of everything for an unknown contract",
    "block",
    "unlimited-approval",
    permitTo(unlisted, { value: MAX }),
  ],
  ["a permit without end for a known contract", "caution", "no-expiry", permitTo(router, { value: MAX })],
  ["a permit that can be used for years", "caution", "far-deadline", permitTo(router, { deadline: MAX })],
  ["a permit of someone else", "caution", "other-signer", permitTo(router, { owner: receiver })],
  ["a permit with a used nonce", "caution", "nonce-unusable", permitTo(router, { nonce: "9" })],
  ["a permit that has expired", "caution", "signature-expired", permitTo(router, { deadline: "9" })],
  [
    "a permit of DAI for a person",
    "block",
    "spender-without-code",
    daiPermitOf({ ...base, message: { holder: wallet, spender } }),
  ],
  [
    "a permit for another chain",
    "block",
    "other-chain",
    permitOf({
      ...base,
      domain: { chainId: 1 },
      message: { owner: wallet, spender: router, deadline: soon },
    }),
  ],
  ["a permit without a chain", "block", "no-chain-id", withTypes(permitTo(router), nameless)],
  [
    "a permit under another name of the token",
    "block",
    "domain-mismatch",
    permitOf({
      ...base,
      domain: { name: "USDC" },
      message: { owner: wallet, spender: router, deadline: soon },
    }),
  ],
  [
    "a permit of an unlisted token",
    "caution",
    "unlisted-token",
    permitOf({ chainId, token: unlisted, message: { owner: wallet, spender: router, deadline: soon } }),
  ],
  [
    "a permit of a token that imitates a listed one",
    "block",
    "lookalike-contract",
    permitOf({
      chainId,
      token: unlisted,
      domain: { name: "Tоken 0" },
      message: { owner: wallet, spender: router, deadline: soon },
    }),
  ],
  [
    "a batch of Permit2 for a person",
    "block",
    "spender-without-code",
    permitBatchOf({
      ...base,
      details: [usd, other].map((token) => ({ token, amount: MAX160, expiration: soon, nonce: "0" })),
      message: { spender, sigDeadline: soon },
    }),
  ],
  [
    "an allowance in Permit2 for a contract that does not use it",
    "caution",
    "unknown-spender",
    singleTo(pool),
  ],
  [
    "an allowance in Permit2 for years",
    "caution",
    "long-permission",
    singleTo(router, { expiration: "1900000000000" }),
  ],
  [
    "an allowance in an imitation of Permit2",
    "block",
    "lookalike-contract",
    singleTo(router, {}, { domain: { verifyingContract: FAKE } }),
  ],
  [
    "an allowance in Permit2 under another name",
    "block",
    "domain-mismatch",
    singleTo(router, {}, { domain: { name: "Permit" } }),
  ],
  [
    "a transfer through Permit2 by a person",
    "block",
    "spender-without-code",
    permitTransferOf({ ...base, message: { spender, deadline: soon } }),
  ],
  [
    "a transfer through Permit2 for something unknown",
    "caution",
    "unknown-message",
    witnessed({ Gift: "address to" }, { to: spender }, { spender: router }),
  ],
  [
    "a payment of x402 by another contract than its proxy",
    "block",
    "lookalike-contract",
    witnessed(
      { Witness: "address to,uint256 validAfter" },
      { to: router, validAfter: "0" },
      { spender: unlisted },
    ),
  ],
  ["an order of UniswapX at another reactor", "block", "lookalike-contract", uniswapX(unlisted)],
  [
    "a signed transfer to a router, from which anyone takes it",
    "caution",
    "unknown-receiver",
    transferTo(router),
  ],
  [
    "a deposit into a channel that may be anyone's",
    "caution",
    "unknown-receiver",
    authorizationOf(
      { ...base, message: { from: wallet, to: DEPOSIT_COLLECTOR, validBefore: soon } },
      "ReceiveWithAuthorization",
    ),
  ],
  ["a permit for a contract that makes calls for anyone", "block", "unknown-spender", permitTo(MULTISEND)],
  ["a signed transfer to an unknown account", "caution", "unknown-receiver", transferTo(receiver)],
  [
    "a signed transfer that can be used for years",
    "caution",
    "far-deadline",
    transferTo(router, { validBefore: MAX }),
  ],
  [
    "a permit for all NFTs of a collection",
    "block",
    "operator-for-all",
    {
      ...permitTo(router),
      primaryType: "PermitForAll",
      types: {
        ...permitTo(router).types,
        PermitForAll: [
          { name: "operator", type: "address" },
          { name: "approved", type: "bool" },
          { name: "nonce", type: "uint256" },
          { name: "deadline", type: "uint256" },
        ],
      },
      message: { operator: spender, approved: true, nonce: "0", deadline: soon },
    },
  ],
  ["a listing that asks for nothing", "block", "given-away", listing({ consideration: [] })],
  [
    "a listing that asks for one wei",
    "block",
    "given-away",
    listing({ consideration: [payment("1", wallet)] }),
  ],
  [
    "a listing that pays someone else",
    "block",
    "given-away",
    listing({ consideration: [payment("1000000000000000000", receiver)] }),
  ],
  [
    "a listing at an imitation of Seaport",
    "block",
    "lookalike-contract",
    seaportOrderOf({
      chainId,
      token: COLLECTION,
      domain: { verifyingContract: FAKE },
      message: { offerer: wallet },
    }),
  ],
  [
    "a listing for a fair price",
    "caution",
    "rate-unknown",
    listing({ consideration: [payment("1000000000000000000", wallet)] }),
  ],
  ["an order at CoW for someone else", "block", "given-away", cow({ receiver })],
  ["an order at CoW for nothing", "block", "given-away", cow({ buyAmount: "0" })],
  ["an order at CoW", "caution", "rate-unknown", cow({ buyAmount: "5000000000000000000" })],
  [
    "an order at 1inch whose price is code",
    "caution",
    "order-runs-code",
    inchOrderOf({ ...base, message: { maker: wallet, makerTraits: (1n << 249n).toString() } }),
  ],
  [
    "a transaction of a Safe that runs foreign code",
    "block",
    "delegate-call",
    safeTransactionOf({ ...base, message: { to: spender, operation: 1 } }),
  ],
  [
    "a transaction of a Safe",
    "caution",
    "account-call",
    safeTransactionOf({ ...base, message: { to: usd, data: "0x095ea7b3" } }),
  ],
  [
    "a transaction of a Safe that refunds its sender",
    "caution",
    "account-pays",
    safeTransactionOf({ ...base, message: { gasPrice: "1" } }),
  ],
  ["a user operation", "caution", "account-call", userOperationOf({ ...base, message: { sender: wallet } })],
  [
    "a user operation for an imitation of the entry point",
    "block",
    "lookalike-contract",
    userOperationOf({ ...base, domain: { verifyingContract: FAKE } }),
  ],
  ["a voucher of a channel without money", "caution", "above-deposit", voucherOf(base)],
  [
    "a message of an unknown type",
    "caution",
    "unknown-message",
    {
      ...permitTo(router),
      primaryType: "Claim",
      types: { ...permitTo(router).types, Claim: [{ name: "airdrop", type: "uint256" }] },
      message: { airdrop: "1" },
    },
  ],
  [
    "a message of an unknown contract",
    "caution",
    "unknown-domain",
    {
      ...permitTo(router),
      domain: { ...permitTo(router).domain, verifyingContract: FAKE },
      primaryType: "Claim",
      types: { ...permitTo(router).types, Claim: [{ name: "airdrop", type: "uint256" }] },
      message: { airdrop: "1" },
    },
  ],
  [
    "an unknown message in the name of Permit2",
    "block",
    "lookalike-contract",
    {
      ...permitTo(router),
      domain: { ...permitTo(router).domain, name: "Реrmit２" },
      primaryType: "Claim",
      types: { ...permitTo(router).types, Claim: [{ name: "airdrop", type: "uint256" }] },
      message: { airdrop: "1" },
    },
  ],
  [
    "a permit that shows more than it signs",
    "caution",
    "unsigned-fields",
    permitTo(router, { youGet: "1000 USDC" }),
  ],
  [
    "a permit whose fields change their order",
    "caution",
    "unknown-message",
    withTypes(permitTo(router), { Permit: [...(permitTo(router).types.Permit ?? [])].reverse() }),
  ],
];

const ajv = new Ajv2020({ strict: false, validateFormats: false });
const isSimulation = ajv.compile(simulationSchema);

async function judge(sample: MessageSample) {
  const simulation = await stage.simulate(sample);
  expect(isSimulation(simulation), ajv.errorsText(isSimulation.errors)).toBe(true);
  const { verdict, reasons } = simulation;
  return { verdict, reasons };
}

describe("a message that drains", () => {
  it.each(DRAINERS)("has its verdict: %s", async (_, verdict, code, sample) => {
    const judged = await judge(sample);
    expect(judged.reasons.map((reason) => reason.code)).toContain(code);
    expect(judged.verdict).toBe(verdict);
  });
});

const ALLOWED: readonly (readonly [title: string, sample: MessageSample])[] = [
  ["a permit of a little for a known contract", permitTo(router)],
  ["a permit for a pool", permitTo(pool)],
  ["a permit that takes an allowance back", permitTo(spender, { value: "0" })],
  ["an allowance in Permit2 for a known contract", singleTo(router)],
  [
    "a transfer through Permit2 by a known contract",
    permitTransferOf({ ...base, message: { spender: router, deadline: soon } }),
  ],
  ["a transfer to the wallet itself", transferTo(wallet)],
];

describe("a message that gives unknown accounts nothing", () => {
  it.each(ALLOWED)("is allowed: %s", async (_, sample) => {
    expect(await judge(sample)).toEqual({ verdict: "allow", reasons: [] });
  });
});

it("says that the nonce of a permit is gone once it was used", async () => {
  await stage.undone(async () => {
    const sample = permitTo(router);
    const { message } = sample as { message: Record<string, unknown> };
    const args = [wallet, router, message.value, message.deadline, await stage.sign(sample)];
    expect(await stage.call(receiver, usd, usdCoinAbi, "permit", args)).toBe(true);
    const { reasons, takeable } = await stage.examine(sample);
    expect(reasons.map(({ code }) => code)).toEqual(["nonce-unusable"]);
    expect(takeable).toMatchObject([{ amountMax: 5n, amount: 0n }]);
  });
});

it("blocks a transfer to an address that only looks like one that the wallet has paid", async () => {
  await stage.undone(async () => {
    const [friend, poisoned] = [`0x1234${"5".repeat(32)}abcd`, `0x1234${"6".repeat(32)}abcd`];
    expect(await stage.call(wallet, usd, usdCoinAbi, "transfer", [friend, 1n])).toBe(true);
    const simulation = await stage.simulate(transferTo(poisoned));
    expect(simulation.verdict).toBe("block");
    expect(simulation.reasons[0]).toMatchObject({ code: "lookalike-receiver", account: poisoned });
    expect(simulation.receivers).toMatchObject([{ account: poisoned, lookalikeOf: friend }]);
    const paid = await stage.simulate(transferTo(friend));
    expect(paid.receivers).toMatchObject([{ account: friend, lookalikeOf: null }]);
    expect(paid.verdict).toBe("caution");
  });
});

it("compares what an order gives and receives once both have a price", async () => {
  isPriced = true;
  try {
    const token = 10n ** 18n;
    const sell = (buyAmount: bigint) =>
      stage.simulate(cow({ sellAmount: (100n * token).toString(), buyAmount: buyAmount.toString() }));
    const bad = await sell(80n * token);
    expect(bad.reasons.map(({ code }) => code)).toContain("value-lost");
    const fair = await sell(99n * token);
    expect(fair.reasons.map(({ code }) => code)).not.toContain("value-lost");
    expect(fair.reasons.map(({ code }) => code)).not.toContain("rate-unknown");
    expect(fair.message).toMatchObject({
      standard: "cow-order",
      takeable: [{ contract: usd, rawAmountMax: (100n * token).toString(), rawAmount: "0" }],
      receives: [{ contract: other, recipient: wallet, amountMin: "99" }],
    });
  } finally {
    isPriced = false;
  }
});

it("says in the response who may take what, until when, and how much of it is there", async () => {
  isPriced = true;
  try {
    const simulation = await stage.simulate(permitTo(unlisted, { value: "2000" }));
    expect(simulation).toMatchObject({
      wallet,
      success: null,
      message: {
        standard: "permit",
        primaryType: "Permit",
        verifyingContract: usd,
        expiresAt: new Date(Number(soon) * 1_000).toISOString(),
        takeable: [{ contract: usd, owner: wallet, rawAmountMax: "2000", rawAmount: "1000" }],
      },
      permissionChanges: [
        { kind: "erc20-allowance", contract: usd, spender: unlisted, rawAfter: "2000", rawBalance: "1000" },
      ],
    });
  } finally {
    isPriced = false;
  }
});

it("reads what orders give and receive at least, and to whom", async () => {
  const { content } = await stage.examine(uniswapX(unlisted));
  expect(content?.orders).toMatchObject([
    {
      maker: wallet,
      gives: [{ asset: { contract: usd }, amount: 5n }],
      receives: [{ asset: { contract: other }, amount: 2n, recipient: wallet }],
    },
  ]);
});

/** Every place of a value, to change one of them. */
function listPlaces(value: unknown, path: readonly string[] = []): readonly (readonly string[])[] {
  if (typeof value !== "object" || value === null) return [path];
  return [path, ...Object.entries(value).flatMap(([key, each]) => listPlaces(each, [...path, key]))];
}

function replaceAt(value: unknown, [key, ...rest]: readonly string[], by: unknown): unknown {
  if (key === undefined) return by;
  if (Array.isArray(value))
    return value.map((each, i) => (String(i) === key ? replaceAt(each, rest, by) : each));
  return { ...(value as object), [key]: replaceAt((value as Record<string, unknown>)[key], rest, by) };
}

it("allows no change of an allowed message that it does not understand, and never fails", async () => {
  const values = fc.oneof(
    fc.jsonValue(),
    fc.constantFrom<unknown>(
      FAKE,
      spender,
      unlisted,
      MAX,
      "0",
      0,
      1,
      "uint256",
      "address",
      "Permit",
      "Permit2",
      chainId,
      null,
      [],
      {},
    ),
  );
  const mutation = fc
    .constantFrom(...ALLOWED.map(([, sample]) => sample))
    .chain((sample) =>
      fc.tuple(
        fc.constant(sample),
        fc.array(fc.tuple(fc.constantFrom(...listPlaces(sample)), values), { minLength: 1, maxLength: 2 }),
      ),
    );
  await fc.assert(
    fc.asyncProperty(mutation, async ([sample, changes]) => {
      const changed = changes.reduce<unknown>((value, [path, by]) => {
        try {
          return replaceAt(value, path, by);
        } catch {
          // The first change has removed the place of the second.
          return value;
        }
      }, sample);
      try {
        const typed = parseTypedData(changed);
        const { reasons, content } = await stage.examine(changed as MessageSample);
        if (decideVerdict(reasons).verdict !== "allow") return;
        const original = parseTypedData(sample);
        expect(writeType(typed.types, typed.primaryType)).toBe(
          writeType(original.types, original.primaryType),
        );
        expect(typed.domainSeparator).toBe(original.domainSeparator);
        expect(
          content?.permissions.every((each) => each.amount === 0n || [router, pool].includes(each.spender)),
        ).toBe(true);
        expect(
          content?.transfers.every(({ by, to }) => [router, wallet].some((known) => known === (by ?? to))),
        ).toBe(true);
      } catch (error) {
        if (!(error instanceof Fault)) throw error;
        expect(error.code).toBe("INPUT_INVALID");
      }
    }),
    { numRuns: runsOf(1_500, { min: 60 }) },
  );
}, 600_000);
