// Intents: one selected bid, counters by address, details that match what was signed.
import { intentBookAbi } from "@sextant/contracts/generated/intent-book";
import { intentVector } from "@sextant/contracts/interface/hash-vectors";
import { encodeFunctionData, encodeFunctionResult } from "viem";
import { describe, expect, it } from "vitest";
import {
  LogSequence,
  MEMORY_DEPLOYMENT,
  MEMORY_ZERO_HASH,
  type MemoryChain,
  repeatAddressByte,
  repeatHashByte,
} from "../../../tests/support/index/memory-index.ts";
import { bids, fillProofs, fills, intents, solverActivity } from "./intents.ts";
import { solvers } from "./registries.ts";

const { intent } = intentVector;
const [SOLVER, RIVAL] = [repeatAddressByte("51"), repeatAddressByte("52")];

/** A chain whose book holds the intent of the published example under these ids. */
function bookOf(ids: readonly bigint[], changed: Partial<typeof intent> = {}): MemoryChain {
  const result = encodeFunctionResult({
    abi: intentBookAbi,
    functionName: "getIntent",
    result: { ...intent, ...changed },
  });
  const call = (id: bigint) =>
    encodeFunctionData({ abi: intentBookAbi, functionName: "getIntent", args: [id] });
  return { state: Object.fromEntries(ids.map((id) => [call(id), result])) };
}

class Book extends LogSequence {
  submitted(intentId = 1n): this {
    return this.append("IntentBook", "IntentSubmitted", {
      intentId,
      owner: intent.owner,
      nonce: intent.nonce,
    });
  }
  bid(bidId: bigint, solver = SOLVER, intentId = 1n): this {
    const terms = { amountIn: 990n, amountOut: 950n, fee: 3n, validUntil: 1_999_999_999n };
    return this.append("IntentBook", "SolverBidSubmitted", {
      intentId,
      bidId,
      solver,
      ...terms,
      executionHash: repeatHashByte("33"),
    });
  }
  selected(bidId: bigint, solver = SOLVER, intentId = 1n): this {
    return this.append("IntentBook", "SolverBidSelected", { intentId, bidId, solver });
  }
  filled(amountOut: bigint, solver = SOLVER, intentId = 1n, block?: number): this {
    const place = block === undefined ? {} : { block };
    return this.append("IntentBook", "IntentFilled", { intentId, solver, amountIn: 990n, amountOut }, place);
  }
}

describe("an intent", () => {
  it("an intent has the terms that its owner signed, and the published hash", async () => {
    const rows = await new Book().submitted().rows(bookOf([1n]));
    expect(rows.one(intents)).toEqual({
      intent_id: 1n,
      owner: intent.owner,
      intent_type: "SWAP_EXACT_IN_MAX_SLIPPAGE",
      input_token: intent.inputToken,
      output_token: intent.outputToken,
      amount_in_max: 1000n,
      amount_out_min: 900n,
      deadline: 2_000_000_000n,
      slippage_bps: 50,
      nonce: 7n,
      status: "OPEN",
      selected_bid_id: null,
      selected_solver: null,
      submitted_at: expect.any(BigInt),
      intent_hash: intentVector.structHash,
      execution_target: intent.execution.target,
      data_hash: repeatHashByte("33"),
      required_attestation_subject: repeatHashByte("44"),
      required_attestation_schema: repeatHashByte("55"),
      metadata_uri_hash: repeatHashByte("66"),
      block_number: 1n,
      tx_hash: expect.stringMatching(/^0x[0-9a-f]{64}$/),
      log_index: 0,
    });
  });

  it("an intent has lower-case addresses, though details are decoded with checksums", async () => {
    const token = "0xabcdef0123456789abcdef0123456789abcdef01";
    const changed = { inputToken: token, outputToken: token } as unknown as Partial<typeof intent>;
    const row = (await new Book().submitted().rows(bookOf([1n], changed))).one(intents);
    expect([row.input_token, row.output_token]).toEqual([token, token]);
  });

  it("an intent of an unknown type shows its number", async () => {
    const changed = { intentType: 7 } as unknown as Partial<typeof intent>;
    expect((await new Book().submitted().rows(bookOf([1n], changed))).one(intents).intent_type).toBe(
      "TYPE_7",
    );
  });

  it("a cancelled intent is CANCELLED and has the provenance of its submission", async () => {
    const rows = await new Book()
      .submitted()
      .append("IntentBook", "IntentCancelled", { intentId: 1n })
      .rows(bookOf([1n]));
    expect(rows.one(intents)).toMatchObject({ status: "CANCELLED", block_number: 1n });
  });
});

describe("a bid that is selected again", () => {
  it("selecting another bid leaves exactly one selected", async () => {
    const story = new Book().submitted().bid(1n).bid(2n, RIVAL).selected(1n).selected(2n, RIVAL);
    const rows = await story.rows(bookOf([1n]));
    expect(rows.one(intents)).toMatchObject({ selected_bid_id: 2n, status: "OPEN" });
    expect(rows.of(bids).map((bid) => [bid.chain_bid_id, bid.solver])).toEqual([
      [1n, SOLVER],
      [2n, RIVAL],
    ]);
    const back = await story.selected(1n).rows(bookOf([1n]));
    expect(back.one(intents).selected_bid_id).toBe(1n);
  });

  it("counts as one win, for the solver whose bid is selected last", async () => {
    const wins = async (story: Book) =>
      (await story.rows(bookOf([1n]))).of(solverActivity).map((row) => [row.bids, row.selected_bids]);
    const story = new Book().submitted().bid(1n).bid(2n, RIVAL).bid(3n);
    expect(await wins(story)).toEqual([
      [2n, 0n],
      [1n, 0n],
    ]);
    expect(await wins(story.selected(1n).selected(1n).selected(3n))).toEqual([
      [2n, 1n],
      [1n, 0n],
    ]);
    expect(await wins(story.selected(2n, RIVAL))).toEqual([
      [2n, 0n],
      [1n, 1n],
    ]);
  });

  it("leaves other intents alone: bids are counted per intent", async () => {
    const story = new Book().submitted(1n).submitted(2n).bid(1n).bid(1n, RIVAL, 2n).selected(1n, RIVAL, 2n);
    const rows = await story.rows(bookOf([1n, 2n]));
    expect(rows.of(intents).map((row) => [row.intent_id, row.selected_bid_id])).toEqual([
      [1n, null],
      [2n, 1n],
    ]);
    expect(rows.of(bids)).toHaveLength(2);
  });
});

describe("a fill", () => {
  it("measures a fill in blocks since the submission and in surplus over the minimum", async () => {
    const rows = await new Book()
      .submitted()
      .bid(1n)
      .selected(1n)
      .filled(950n, SOLVER, 1n, 41)
      .rows(bookOf([1n]));
    expect(rows.one(intents)).toMatchObject({ status: "FILLED", selected_bid_id: 1n });
    expect(rows.one(fills)).toMatchObject({
      solver: SOLVER,
      amount_in: 990n,
      amount_out: 950n,
      latency_blocks: 40n,
      latency_seconds: expect.any(BigInt),
      surplus_out: 50n,
    });
    expect(rows.one(solverActivity)).toEqual({
      solver: SOLVER,
      bids: 1n,
      selected_bids: 1n,
      fills: 1n,
      latency_blocks_total: 40n,
      latency_seconds_total: rows.one(fills).latency_seconds,
      surplus_out_total: 50n,
    });
  });

  it("counts a fill for a solver that registers later", async () => {
    const story = new Book().submitted(1n).submitted(2n).filled(950n, SOLVER, 1n);
    story.append("SolverRegistry", "SolverRegistered", {
      solverId: 9n,
      operator: SOLVER,
      metadataURI: "ipfs://solver",
      capabilitiesHash: MEMORY_ZERO_HASH,
      bond: 5n,
    });
    const rows = await story.filled(901n, SOLVER, 2n).rows(bookOf([1n, 2n]));
    const solver = rows.one(solvers);
    const activity = rows.of(solverActivity).filter((row) => row.solver === solver.operator);
    expect(activity).toMatchObject([{ fills: 2n, surplus_out_total: 51n, latency_blocks_total: 5n }]);
  });

  it("counts a fill for the solver that filled, not for the others", async () => {
    const rows = await new Book()
      .submitted(1n)
      .submitted(2n)
      .filled(950n, SOLVER, 1n)
      .filled(900n, RIVAL, 2n)
      .rows(bookOf([1n, 2n]));
    expect(rows.of(solverActivity).map((row) => [row.solver, row.fills, row.surplus_out_total])).toEqual([
      [SOLVER, 1n, 50n],
      [RIVAL, 1n, 0n],
    ]);
  });

  it("stores a fill below the minimum as a negative surplus", async () => {
    const rows = await new Book()
      .submitted()
      .filled(1n)
      .rows(bookOf([1n]));
    expect(rows.one(fills).surplus_out).toBe(-899n);
  });

  it("stores the proof of a fill", async () => {
    const proof = { resultHash: repeatHashByte("0a"), traceHash: repeatHashByte("0b"), attestationId: 4n };
    const rows = await new Book()
      .submitted()
      .filled(950n)
      .append("IntentBook", "IntentFillProof", { intentId: 1n, ...proof })
      .rows(bookOf([1n]));
    expect(rows.one(fillProofs)).toMatchObject({
      intent_id: 1n,
      result_hash: proof.resultHash,
      trace_hash: proof.traceHash,
      attestation_id: 4n,
    });
  });

  it("a fill of an intent that was never submitted stops the index and names the log", async () => {
    await expect(new Book().filled(950n).rows()).rejects.toThrow(
      "IntentBook.IntentFilled, log 0 of block 1, could not be folded",
    );
  });
});

describe("the book", () => {
  it("ignores a change of its signing domain", async () => {
    const rows = await new LogSequence().append("IntentBook", "EIP712DomainChanged", {}).rows();
    expect(rows.of(intents)).toEqual([]);
  });

  it("reads the terms of a direct call from its calldata", async () => {
    const story = new Book().submitted();
    const [log] = story.logs;
    if (!log) throw new Error("a log was said");
    const input = encodeFunctionData({
      abi: intentBookAbi,
      functionName: "submitIntent",
      args: [intent, 27, MEMORY_ZERO_HASH, MEMORY_ZERO_HASH],
    });
    const { IntentBook } = MEMORY_DEPLOYMENT.contracts;
    const rows = await story.rows({ transactions: { [log.transactionHash]: { to: IntentBook, input } } });
    expect(rows.one(intents).intent_hash).toBe(intentVector.structHash);
  });
});
