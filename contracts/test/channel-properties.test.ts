// Payment channels in any order of steps, by any caller, with right and wrong signatures: the contract equals the model.
import type { LocalAccount } from "@sextant/local-chain/accounts";
import fc from "fast-check";
import { type Address, encodeFunctionData, type Hex, pad, type TransactionReceipt, zeroAddress } from "viem";
import { describe, expect, it } from "vitest";
import { isFullDepth, runsOf } from "../../tests/support/test-depth.ts";
import { batchSettlementAbi as abi } from "../generated/batch-settlement.ts";
import { usdCoinAbi } from "../generated/usd-coin.ts";
import { ChannelModel, ModelError, type ModelEvent, type ModelRow, type ModelStep } from "./channel-model.ts";
import {
  BROKEN_SIGNATURE,
  type ChannelConfig,
  channelIdOf,
  claimBatchDigest,
  openChannelWorld,
  PAYER_DOLLARS,
  refundDigest,
  signDigest,
  type VoucherClaim,
  voucherDigest,
} from "./channel-world.ts";
import { decodeEvents, revertReasonOf } from "./evm.ts";

const { evm, channels, usd, wallet, keys, channelOf, depositArgs } = await openChannelWorld();
const { payer, payerAuthorizer, receiver, receiverAuthorizer, relayer, intruder } = keys;

/** Two share a receiver, one has a receiver authorizer of its own, one has a payer that is a contract. */
const sound = [
  channelOf(),
  channelOf({ payerAuthorizer: zeroAddress, salt: pad("0x02") }),
  channelOf({ payer: wallet.address, payerAuthorizer: zeroAddress, withdrawDelay: 1_000 }),
  channelOf({ receiver: relayer.address, receiverAuthorizer: intruder.address }),
] as const;
const unsound = [
  channelOf({ receiver: zeroAddress }),
  channelOf({ receiverAuthorizer: zeroAddress }),
  channelOf({ withdrawDelay: 899 }),
  channelOf({ withdrawDelay: 2_592_001 }),
] as const;
const accounts = [payer.address, wallet.address, receiver.address, relayer.address];

type Caller = LocalAccount;
/** A step, and who sends it; time passes before. */
type Act = { readonly step: Step; readonly caller: Caller; readonly seconds: bigint };
type Row = {
  readonly channel: ChannelConfig;
  readonly ceiling: bigint;
  readonly total: bigint;
  readonly signer: LocalAccount | null;
};
type Step =
  | { kind: "deposit"; channel: ChannelConfig; amount: bigint; signer: LocalAccount }
  | { kind: "claim"; rows: readonly Row[] }
  | { kind: "claimSigned"; rows: readonly Row[]; signer: LocalAccount }
  | { kind: "settle"; channel: ChannelConfig }
  | { kind: "refund"; channel: ChannelConfig; amount: bigint }
  | { kind: "refundSigned"; channel: ChannelConfig; amount: bigint; nonce: bigint; signer: LocalAccount }
  | { kind: "initiate"; channel: ChannelConfig; amount: bigint }
  | { kind: "finalize"; channel: ChannelConfig };
type AnyStep = Step | { kind: "multicall"; steps: readonly Step[] };

const signerOf = (channel: ChannelConfig) =>
  channel.payerAuthorizer === zeroAddress ? payer : payerAuthorizer;
const authorizerOf = (channel: ChannelConfig) =>
  channel.receiverAuthorizer === intruder.address ? intruder : receiverAuthorizer;

const channelArb = fc.constantFrom(...sound);
const amountArb = fc.bigInt(0n, 12n);
const usually = <T>(right: T, ...wrong: readonly T[]) =>
  fc.oneof(
    { weight: 15, arbitrary: fc.constant(right) },
    { weight: 1, arbitrary: fc.constantFrom(...wrong) },
  );
const rowArb: fc.Arbitrary<Row> = channelArb.chain((channel) =>
  fc.record({
    channel: fc.constant(channel),
    ceiling: fc.bigInt(10n, 30n),
    total: fc.bigInt(1n, 20n),
    signer: usually<LocalAccount | null>(signerOf(channel), intruder, null, null),
  }),
);
const rowsArb = fc.oneof(
  { weight: 3, arbitrary: rowArb.map((row) => [row]) },
  { weight: 1, arbitrary: fc.array(rowArb, { maxLength: 4 }) },
);
const depositArb: fc.Arbitrary<Step> = fc.record({
  kind: fc.constant("deposit" as const),
  channel: fc.oneof(
    { weight: 12, arbitrary: channelArb },
    { weight: 1, arbitrary: fc.constantFrom(...unsound) },
  ),
  amount: fc.oneof(
    { weight: 12, arbitrary: amountArb },
    { weight: 1, arbitrary: fc.constant(2n ** 128n - 1n) },
  ),
  signer: usually(payer, intruder),
});
const stepArb: fc.Arbitrary<Step> = fc.oneof(
  { weight: 3, arbitrary: depositArb },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant("claim" as const), rows: rowsArb }) },
  {
    weight: 3,
    arbitrary: rowsArb.chain((rows) =>
      fc.record({
        kind: fc.constant("claimSigned" as const),
        rows: fc.constant(rows),
        signer: usually(authorizerOf(rows[0]?.channel ?? sound[0]), payer),
      }),
    ),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("settle" as const), channel: channelArb }) },
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constant("refund" as const), channel: channelArb, amount: amountArb }),
  },
  {
    weight: 2,
    arbitrary: channelArb.chain((channel) =>
      fc.record({
        kind: fc.constant("refundSigned" as const),
        channel: fc.constant(channel),
        amount: amountArb,
        nonce: fc.bigInt(0n, 1n),
        signer: usually(authorizerOf(channel), payer),
      }),
    ),
  },
  {
    weight: 3,
    arbitrary: fc.record({ kind: fc.constant("initiate" as const), channel: channelArb, amount: amountArb }),
  },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant("finalize" as const), channel: channelArb }) },
);
/** Who may take the step, or anybody. */
const callerArb = (step: Step): fc.Arbitrary<Caller> => {
  const [channel] = "rows" in step ? step.rows.map((row) => row.channel) : [step.channel];
  const isPayers = step.kind === "initiate" || step.kind === "finalize";
  const right = isPayers ? payer : channel?.receiver === relayer.address ? relayer : receiver;
  return usually(right, payerAuthorizer, receiverAuthorizer, intruder);
};
const actArb: fc.Arbitrary<Act> = stepArb.chain((step) =>
  fc.record({
    step: fc.constant(step),
    caller: callerArb(step),
    seconds: fc.oneof({ weight: 4, arbitrary: fc.constant(0n) }, { weight: 1, arbitrary: fc.constant(990n) }),
  }),
);

const sign = (signer: LocalAccount | null, digest: Hex) =>
  signer === null ? BROKEN_SIGNATURE : signDigest(signer, digest);

const encodeRows = (rows: readonly Row[]): Promise<readonly VoucherClaim[]> =>
  Promise.all(
    rows.map(async ({ channel, ceiling, total, signer }) => ({
      voucher: { channel, maxClaimableAmount: ceiling },
      signature: await sign(signer, voucherDigest(channelIdOf(channel), ceiling)),
      totalClaimed: total,
    })),
  );

async function encode(step: AnyStep): Promise<Hex> {
  switch (step.kind) {
    case "deposit": {
      const args = await depositArgs(step.channel, step.amount, step.signer);
      return encodeFunctionData({ abi, functionName: "deposit", args });
    }
    case "claim":
      return encodeFunctionData({ abi, functionName: "claim", args: [await encodeRows(step.rows)] });
    case "claimSigned": {
      const rows = await encodeRows(step.rows);
      const signature = await signDigest(step.signer, claimBatchDigest(rows));
      return encodeFunctionData({ abi, functionName: "claimWithSignature", args: [rows, signature] });
    }
    case "settle": {
      const { receiver: account, token } = step.channel;
      return encodeFunctionData({ abi, functionName: "settle", args: [account, token] });
    }
    case "refund":
      return encodeFunctionData({ abi, functionName: "refund", args: [step.channel, step.amount] });
    case "refundSigned": {
      const { channel, amount, nonce, signer } = step;
      const signature = await signDigest(signer, refundDigest(channelIdOf(channel), nonce, amount));
      const args = [channel, amount, nonce, signature] as const;
      return encodeFunctionData({ abi, functionName: "refundWithSignature", args });
    }
    case "initiate":
      return encodeFunctionData({ abi, functionName: "initiateWithdraw", args: [step.channel, step.amount] });
    case "finalize":
      return encodeFunctionData({ abi, functionName: "finalizeWithdraw", args: [step.channel] });
    case "multicall":
      return encodeFunctionData({
        abi,
        functionName: "multicall",
        args: [await Promise.all(step.steps.map(encode))],
      });
  }
}

/** The same step with addresses instead of keys. */
function toModel(step: AnyStep): ModelStep {
  const rowOf = ({ signer, ...row }: Row): ModelRow => ({ ...row, signer: signer?.address ?? null });
  switch (step.kind) {
    case "deposit":
    case "refundSigned":
      return { ...step, signer: step.signer.address };
    case "claim":
      return { ...step, rows: step.rows.map(rowOf) };
    case "claimSigned":
      return { ...step, rows: step.rows.map(rowOf), signer: step.signer.address };
    case "multicall":
      return { ...step, steps: step.steps.map(toModel) };
    default:
      return step;
  }
}

/** Without money in the channels most steps would only fail. One channel stays empty. */
const FIRST_DEPOSITS = sound.slice(0, 3).map((channel) => ({
  step: { kind: "deposit" as const, channel, amount: 18n, signer: payer },
  caller: relayer,
  seconds: 0n,
}));

type Outcome = { readonly error: string | null; readonly events: readonly ModelEvent[] };
const allErrors = [...abi, ...usdCoinAbi] as const;
const met = new Set<string>();

async function take(step: AnyStep, caller: Caller): Promise<Outcome> {
  let receipt: TransactionReceipt | undefined;
  const data = await encode(step);
  const sent = evm.sendRaw(caller.address, channels.address, data).then((one) => {
    receipt = one;
  });
  const reason = await revertReasonOf(sent, allErrors);
  const logs = receipt?.logs.filter(({ address }) => address === channels.address.toLowerCase()) ?? [];
  const events = receipt ? decodeEvents({ ...receipt, logs }, abi) : [];
  return { error: reason?.errorName ?? null, events: events as readonly ModelEvent[] };
}

function expectOf(model: ChannelModel, step: AnyStep, caller: Caller, time: bigint): Outcome {
  try {
    return { error: null, events: model.run(toModel(step), caller.address, time) };
  } catch (error) {
    if (!(error instanceof ModelError)) throw error;
    return { error: error.message, events: [] };
  }
}

async function compareState(model: ChannelModel): Promise<void> {
  for (const config of sound) {
    const id = [channelIdOf(config)] as const;
    const [balance, claimed] = await channels.read("channels", id);
    const [amount, since] = await channels.read("pendingWithdrawals", id);
    const refunds = await channels.read("refundNonce", id);
    const withdrawal = since === 0 && amount === 0n ? null : { amount, since: BigInt(since) };
    expect({ balance, claimed, refunds, withdrawal }).toEqual(model.channel(config));
    expect(claimed <= balance).toBe(true);
  }
  let held = 0n;
  for (const config of sound) held += model.channel(config).balance;
  for (const account of [receiver.address, relayer.address]) {
    const [claimed, settled] = await channels.read("receivers", [account, usd.address]);
    expect({ claimed, settled }).toEqual(model.receiver(account));
    held -= settled;
  }
  // Every token in the contract belongs to a channel or to a receiver, and is still there.
  expect(await usd.read("balanceOf", [channels.address])).toBe(held);
  for (const account of accounts) await compareTokens(account, model.gain(account));
}

async function compareTokens(account: Address, gain: bigint): Promise<void> {
  const funded = account === payer.address || account === wallet.address ? PAYER_DOLLARS : 0n;
  expect(await usd.read("balanceOf", [account])).toBe(funded + gain);
}

async function runActs(acts: readonly { step: AnyStep; caller: Caller; seconds: bigint }[]): Promise<void> {
  const model = new ChannelModel(new Map([[wallet.address, payer.address]]));
  for (const { step, caller, seconds } of [...FIRST_DEPOSITS, ...acts]) {
    if (seconds > 0n) await evm.chain.increaseTime(seconds);
    const outcome = await take(step, caller);
    expect({ step, outcome }).toEqual({ step, outcome: expectOf(model, step, caller, await evm.now()) });
    for (const name of [outcome.error, ...outcome.events.map(({ eventName }) => eventName)]) {
      if (name !== null) met.add(name);
    }
  }
  await compareState(model);
}

describe("payment channels against the model", () => {
  it("channels do what the model does after any steps by any callers", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(actArb, { minLength: 5, maxLength: 25 }), (acts) =>
        evm.undone(() => runActs(acts)),
      ),
      { numRuns: runsOf(200) },
    );
    // Deposits overflow and withdrawals end in few runs: only all runs meet everything.
    if (isFullDepth()) expect([...met].sort()).toEqual(EVERYTHING);
  });

  it("a multicall takes all of its steps in order, or none", async () => {
    const stepsArb = fc.array(stepArb, { minLength: 1, maxLength: 4 });
    const multicallArb = fc.record({
      step: stepsArb.map((steps) => ({ kind: "multicall" as const, steps })),
      caller: fc.constantFrom(receiver, payer, receiverAuthorizer),
      seconds: fc.constantFrom(0n, 990n),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(fc.oneof(actArb, multicallArb), { minLength: 3, maxLength: 12 }), (acts) =>
        evm.undone(() => runActs(acts)),
      ),
      { numRuns: runsOf(120) },
    );
  });
});

const EVERYTHING = [
  "ChannelClosed",
  "ChannelCreated",
  "ClaimExceedsBalance",
  "ClaimExceedsCeiling",
  "Claimed",
  "DepositOverflow",
  "Deposited",
  "ECDSAInvalidSignature",
  "EmptyBatch",
  "InvalidChannel",
  "InvalidRefundNonce",
  "InvalidSignature",
  "NotAuthorizedToClaim",
  "NotAuthorizedToFinalizeWithdraw",
  "NotAuthorizedToRefund",
  "NotReceiverAuthorizer",
  "NothingToWithdraw",
  "Refunded",
  "Settled",
  "WithdrawAmountExceedsAvailable",
  "WithdrawDelayNotElapsed",
  "WithdrawDelayOutOfRange",
  "WithdrawFinalized",
  "WithdrawInitiated",
  "WithdrawalAlreadyPending",
  "WithdrawalNotPending",
  "ZeroDeposit",
  "ZeroRefund",
];
