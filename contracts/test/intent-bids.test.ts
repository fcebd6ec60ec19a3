// Bids: made by anybody within the intent's bounds, selected by its owner, filled by the selected solver exactly as bid.
import { type Address, type Hex, zeroHash } from "viem";
import { describe, expect, it } from "vitest";
import { attestationRegistryAbi, attestationRegistryBytecode } from "../generated/attestation-registry.ts";
import { intentBookAbi as abi, intentBookBytecode } from "../generated/intent-book.ts";
import { intentDomain } from "../hashes/intent-hash.ts";
import { decodeEvents, EVM_CHAIN_ID, expectRevert, startEvm } from "./evm.ts";
import { type IntentOptions, makeIntent, signTestIntent } from "./signed-intent.ts";

const evm = await startEvm();
const { owner, agent, solver, payer, attestor } = evm.chain.accounts;
const attestations = await evm.deploy(attestationRegistryAbi, attestationRegistryBytecode, []);
const book = await evm.deploy(abi, intentBookBytecode, [attestations.address]);
const domain = intentDomain(BigInt(EVM_CHAIN_ID), book.address);
const word = (byte: string) => `0x${byte.repeat(32)}` as const;
const plan = word("99");

let lastNonce = 0n;

/** A new open intent of the owner: at most 1000 in, at least 900 out, a thousand seconds to live. */
async function openIntent(options: IntentOptions = {}) {
  lastNonce += 1n;
  // Takes up a time set for the next block by an earlier simulation.
  await evm.chain.mine();
  const deadline = (await evm.now()) + 1_000n;
  const intent = makeIntent(owner.address, deadline, { nonce: lastNonce, ...options });
  const args = await signTestIntent(owner.privateKey, intent, domain);
  const intentId = await book.call(payer.address, "submitIntent", args);
  await book.send(payer.address, "submitIntent", args);
  return { intentId, deadline };
}

/** A fill as the solver of `selectedIntent` may send it, with what a test wants different. */
const fillOf = (
  different: { amountIn?: bigint; amountOut?: bigint; solver?: Address; attestationId?: bigint } = {},
) => ({
  amountIn: 990n,
  amountOut: 910n,
  solver: solver.address,
  attestationId: 0n,
  executionData: "0xdeadbeef" as const,
  resultHash: word("aa"),
  traceHash: word("bb"),
  ...different,
});

/** An open intent with a bid of the solver that the owner has selected. */
async function selectedIntent(options: IntentOptions = {}, executionHash: Hex = plan) {
  const { intentId, deadline } = await openIntent(options);
  await book.send(solver.address, "submitBid", [intentId, 990n, 910n, 3n, deadline - 500n, executionHash]);
  await book.send(owner.address, "selectBid", [intentId, 1n]);
  return { intentId, deadline };
}

describe("submitBid", () => {
  it("counts bids from 1 within each intent and stores what was offered", async () => {
    const { intentId, deadline } = await openIntent();
    const other = await openIntent();
    const first = [intentId, 990n, 910n, 3n, deadline, plan] as const;
    expect(await book.call(solver.address, "submitBid", first)).toBe(1n);
    expect(decodeEvents(await book.send(solver.address, "submitBid", first), abi)).toEqual([
      {
        eventName: "SolverBidSubmitted",
        args: {
          intentId,
          bidId: 1n,
          solver: solver.address,
          amountIn: 990n,
          amountOut: 910n,
          fee: 3n,
          validUntil: deadline,
          executionHash: plan,
        },
      },
    ]);
    expect(await book.call(agent.address, "submitBid", first)).toBe(2n);
    expect(await book.call(agent.address, "submitBid", [other.intentId, ...first.slice(1)] as never)).toBe(
      1n,
    );
    expect(await book.read("getBid", [intentId, 1n])).toEqual({
      solver: solver.address,
      amountIn: 990n,
      amountOut: 910n,
      fee: 3n,
      validUntil: deadline,
      executionHash: plan,
      selected: false,
      exists: true,
    });
    await expectRevert(book.read("getBid", [intentId, 0n]), abi, "BidNotFound");
    await expectRevert(book.read("getBid", [intentId, 2n]), abi, "BidNotFound");
    expect(await book.read("getSelectedBid", [intentId])).toBe(0n);
  });

  it("a bid keeps the intent's bounds, to the unit", async () => {
    const { intentId, deadline } = await openIntent();
    const bid = (amountIn: bigint, amountOut: bigint) =>
      book.call(solver.address, "submitBid", [intentId, amountIn, amountOut, 0n, deadline, plan]);
    await bid(1_000n, 900n);
    await bid(0n, 2n ** 256n - 1n);
    await expectRevert(bid(1_001n, 900n), abi, "ConstraintViolation");
    await expectRevert(bid(1_000n, 899n), abi, "ConstraintViolation");
    await expectRevert(bid(2n ** 256n - 1n, 0n), abi, "ConstraintViolation");
  });

  it("accepts a bid valid until a time in the future, at most the deadline", async () => {
    const { intentId, deadline } = await openIntent();
    const now = deadline - 10n;
    await evm.chain.setNextBlockTimestamp(now);
    const bid = (validUntil: bigint) =>
      book.call(solver.address, "submitBid", [intentId, 990n, 910n, 0n, validUntil, plan]);
    await bid(now + 1n);
    await bid(deadline);
    for (const validUntil of [0n, now - 1n, now, deadline + 1n, 2n ** 256n - 1n]) {
      await expectRevert(bid(validUntil), abi, "InvalidBid");
    }
  });

  it("accepts bids until the second before the deadline", async () => {
    const { intentId, deadline } = await openIntent();
    const bid = () => book.call(solver.address, "submitBid", [intentId, 990n, 910n, 0n, deadline, plan]);
    await evm.chain.setNextBlockTimestamp(deadline - 1n);
    await bid();
    for (const time of [deadline, deadline + 1n]) {
      await evm.chain.setNextBlockTimestamp(time);
      await expectRevert(bid(), abi, "IntentExpired");
    }
  });

  it("rejects a bid on an intent that does not exist or is not open", async () => {
    const { intentId, deadline } = await selectedIntent();
    const bid = (id: bigint) =>
      book.call(agent.address, "submitBid", [id, 990n, 910n, 0n, deadline - 1n, plan]);
    await bid(intentId);
    await expectRevert(bid(0n), abi, "IntentNotOpen");
    await expectRevert(bid(intentId + 1n), abi, "IntentNotOpen");
    await book.send(solver.address, "fillIntent", [intentId, fillOf()]);
    await expectRevert(bid(intentId), abi, "IntentNotOpen");
  });
});

describe("selectBid", () => {
  it("picks one bid, and picking another deselects it", async () => {
    const { intentId, deadline } = await openIntent();
    for (const { address } of [solver, agent]) {
      await book.send(address, "submitBid", [intentId, 990n, 910n, 0n, deadline, plan]);
    }
    const selected = async () => [
      await book.read("getSelectedBid", [intentId]),
      (await book.read("getBid", [intentId, 1n])).selected,
      (await book.read("getBid", [intentId, 2n])).selected,
    ];
    const select = (bidId: bigint) => book.send(owner.address, "selectBid", [intentId, bidId]);
    expect(await selected()).toEqual([0n, false, false]);
    expect(decodeEvents(await select(1n), abi)).toEqual([
      { eventName: "SolverBidSelected", args: { intentId, bidId: 1n, solver: solver.address } },
    ]);
    expect(await selected()).toEqual([1n, true, false]);
    expect(decodeEvents(await select(2n), abi)).toEqual([
      { eventName: "SolverBidSelected", args: { intentId, bidId: 2n, solver: agent.address } },
    ]);
    expect(await selected()).toEqual([2n, false, true]);
    await select(2n);
    expect(await selected()).toEqual([2n, false, true]);
    await select(1n);
    expect(await selected()).toEqual([1n, true, false]);
    await expectRevert(book.call(agent.address, "fillIntent", [intentId, fillOf()]), abi, "Unauthorized");
  });

  it("takes a bid in the last second of its validity and not after", async () => {
    const { intentId, deadline } = await openIntent();
    const validUntil = deadline - 100n;
    await book.send(solver.address, "submitBid", [intentId, 990n, 910n, 0n, validUntil, plan]);
    await evm.chain.setNextBlockTimestamp(validUntil);
    await book.call(owner.address, "selectBid", [intentId, 1n]);
    await evm.chain.setNextBlockTimestamp(validUntil + 1n);
    await expectRevert(book.call(owner.address, "selectBid", [intentId, 1n]), abi, "BidExpired");
  });

  it("rejects the selection of a bid that is not on this intent", async () => {
    const { intentId } = await selectedIntent();
    const other = await openIntent();
    for (const bidId of [0n, 2n]) {
      await expectRevert(book.call(owner.address, "selectBid", [intentId, bidId]), abi, "BidNotFound");
    }
    await expectRevert(book.call(owner.address, "selectBid", [other.intentId, 1n]), abi, "BidNotFound");
  });

  it("lets only the owner select a bid, on an open intent", async () => {
    const { intentId } = await selectedIntent();
    for (const { address } of [solver, agent, payer]) {
      await expectRevert(book.call(address, "selectBid", [intentId, 1n]), abi, "Unauthorized");
    }
    await expectRevert(book.call(owner.address, "selectBid", [intentId + 1n, 1n]), abi, "Unauthorized");
    await book.send(solver.address, "fillIntent", [intentId, fillOf()]);
    await expectRevert(book.call(owner.address, "selectBid", [intentId, 1n]), abi, "IntentNotOpen");
  });
});

describe("fillIntent", () => {
  it("closes the intent with the bid's amounts and the solver's proof", async () => {
    const { intentId } = await selectedIntent();
    const receipt = await book.send(solver.address, "fillIntent", [intentId, fillOf({ attestationId: 77n })]);
    expect(decodeEvents(receipt, abi)).toEqual([
      {
        eventName: "IntentFilled",
        args: { intentId, solver: solver.address, amountIn: 990n, amountOut: 910n },
      },
      {
        eventName: "IntentFillProof",
        // Nothing is required, so whatever is named is only repeated.
        args: { intentId, resultHash: word("aa"), traceHash: word("bb"), attestationId: 77n },
      },
    ]);
    expect(await book.read("getIntentStatus", [intentId])).toBe(1);
    expect(await book.read("getSelectedBid", [intentId])).toBe(1n);
    await expectRevert(book.send(solver.address, "fillIntent", [intentId, fillOf()]), abi, "IntentNotOpen");
    await expectRevert(book.send(owner.address, "cancelIntent", [intentId]), abi, "IntentNotOpen");
  });

  it("fills after the bid's validity, until the second before the deadline", async () => {
    const { intentId, deadline } = await selectedIntent();
    const fill = () => book.call(solver.address, "fillIntent", [intentId, fillOf()]);
    await evm.chain.setNextBlockTimestamp(deadline - 1n);
    await fill();
    for (const time of [deadline, deadline + 1n]) {
      await evm.chain.setNextBlockTimestamp(time);
      await expectRevert(fill(), abi, "IntentExpired");
    }
    // A late intent is not marked: its status stays open.
    expect(await book.read("getIntentStatus", [intentId])).toBe(0);
  });

  it("lets only the selected solver fill an intent, in its own name", async () => {
    const { intentId, deadline } = await selectedIntent();
    await book.send(agent.address, "submitBid", [intentId, 990n, 910n, 0n, deadline - 1n, plan]);
    for (const { address } of [owner, agent, payer]) {
      await expectRevert(book.call(address, "fillIntent", [intentId, fillOf()]), abi, "Unauthorized");
    }
    const inAnothersName = fillOf({ solver: agent.address });
    await expectRevert(
      book.call(solver.address, "fillIntent", [intentId, inAnothersName]),
      abi,
      "BidNotSelected",
    );
  });

  it("rejects a fill without a selected bid on an open intent", async () => {
    const { intentId, deadline } = await openIntent();
    const fill = (id: bigint) => book.call(solver.address, "fillIntent", [id, fillOf()]);
    await expectRevert(fill(intentId), abi, "SelectedBidRequired");
    await book.send(solver.address, "submitBid", [intentId, 990n, 910n, 0n, deadline, plan]);
    await expectRevert(fill(intentId), abi, "SelectedBidRequired");
    await book.send(owner.address, "selectBid", [intentId, 1n]);
    await fill(intentId);
    await book.send(owner.address, "cancelIntent", [intentId]);
    await expectRevert(fill(intentId), abi, "IntentNotOpen");
    await expectRevert(fill(intentId + 1n), abi, "IntentNotOpen");
  });

  it.each([
    { amountIn: 989n },
    { amountIn: 991n },
    { amountOut: 909n },
    { amountOut: 911n },
    { amountIn: 910n, amountOut: 990n },
  ])("a fill takes no amounts but the bid's: %o", async (amounts) => {
    const { intentId } = await selectedIntent();
    const fill = book.call(solver.address, "fillIntent", [intentId, fillOf(amounts)]);
    await expectRevert(fill, abi, "ConstraintViolation");
  });

  it("fillIntent holds the bid to the execution that the intent requires", async () => {
    const fill = async (dataHash: Hex, executionHash: Hex) => {
      const { intentId } = await selectedIntent({ dataHash }, executionHash);
      return book.call(solver.address, "fillIntent", [intentId, fillOf()]);
    };
    await fill(plan, plan);
    await fill(zeroHash, plan);
    await fill(zeroHash, zeroHash);
    await expectRevert(fill(plan, word("98")), abi, "ExecutionCommitmentMismatch");
    await expectRevert(fill(plan, zeroHash), abi, "ExecutionCommitmentMismatch");
  });
});

describe("a required attestation", () => {
  const [subject, schema, other] = [word("51"), word("5c"), word("5d")];
  const attest = async (ofSchema: Hex, ofSubject: Hex) => {
    const args = [ofSchema, ofSubject, zeroHash] as const;
    const id = await attestations.call(attestor.address, "submitAttestation", args);
    await attestations.send(attestor.address, "submitAttestation", args);
    return id;
  };

  it.each([
    { needs: { requiredAttestationSubject: subject, requiredAttestationSchema: schema }, fits: [1, 0, 0, 0] },
    { needs: { requiredAttestationSubject: subject }, fits: [1, 1, 0, 0] },
    { needs: { requiredAttestationSchema: schema }, fits: [1, 0, 1, 0] },
    { needs: {}, fits: [1, 1, 1, 1] },
  ])("a required attestation must be about what the intent names: %o", async ({ needs, fits }) => {
    const { intentId } = await selectedIntent(needs);
    const offered = [
      await attest(schema, subject),
      await attest(other, subject),
      await attest(schema, other),
      await attest(other, other),
    ];
    for (const [index, attestationId] of offered.entries()) {
      const fill = book.call(solver.address, "fillIntent", [intentId, fillOf({ attestationId })]);
      if (fits[index] === 1) await fill;
      else await expectRevert(fill, abi, "RequiredAttestationMissing");
    }
  });

  it("a required attestation must exist and not be revoked when the intent is filled", async () => {
    const { intentId } = await selectedIntent({ requiredAttestationSubject: subject });
    const attestationId = await attest(schema, subject);
    const fill = (id: bigint) =>
      book.call(solver.address, "fillIntent", [intentId, fillOf({ attestationId: id })]);
    await fill(attestationId);
    await expectRevert(fill(0n), abi, "RequiredAttestationMissing");
    await expectRevert(fill(attestationId + 1n), abi, "RequiredAttestationMissing");
    await attestations.send(attestor.address, "revokeAttestation", [attestationId]);
    await expectRevert(fill(attestationId), abi, "RequiredAttestationMissing");
  });
});
