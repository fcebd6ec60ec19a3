// The intent book against a plain model of its rules: any steps by anybody, the same outcome and the same state after each.
import fc from "fast-check";
import { type Address, type Hex, type TransactionReceipt, zeroHash } from "viem";
import { expect, it } from "vitest";
import { isFullDepth, runsOf } from "../../tests/support/test-depth.ts";
import { attestationRegistryAbi, attestationRegistryBytecode } from "../generated/attestation-registry.ts";
import { intentBookAbi as abi, intentBookBytecode } from "../generated/intent-book.ts";
import { intentDomain } from "../hashes/intent-hash.ts";
import { decodeEvents, EVM_CHAIN_ID, revertReasonOf, startEvm } from "./evm.ts";
import { IntentModel } from "./intent-model.ts";
import { makeIntent, signTestIntent } from "./signed-intent.ts";

const evm = await startEvm();
const { owner, agent, solver, payer } = evm.chain.accounts;
const attestations = await evm.deploy(attestationRegistryAbi, attestationRegistryBytecode, []);
const book = await evm.deploy(abi, intentBookBytecode, [attestations.address]);
const domain = intentDomain(BigInt(EVM_CHAIN_ID), book.address);
const word = (byte: string): Hex => `0x${byte.repeat(32)}`;
const [plan, subject, schema] = [word("11"), word("22"), word("33")];

// Number 1 is what intents ask for, number 2 is revoked, number 3 is about something else.
await attestations.send(owner.address, "submitAttestation", [schema, subject, zeroHash]);
await attestations.send(owner.address, "submitAttestation", [schema, subject, zeroHash]);
await attestations.send(owner.address, "revokeAttestation", [2n]);
await attestations.send(owner.address, "submitAttestation", [plan, plan, zeroHash]);
const attested = (id: bigint, ofSubject: Hex, ofSchema: Hex) =>
  id === 1n || (ofSubject === zeroHash && ofSchema === zeroHash);

const people = [owner, agent, solver, payer] as const;
const person = fc.constantFrom(...people);
const small = (min: number, max: number) => fc.integer({ min, max }).map(BigInt);
/** Mostly what works, so that sequences get far; the rest is what must be rejected. */
const mostly = <T>(usual: T, ...others: T[]) =>
  fc.oneof(
    { arbitrary: fc.constant(usual), weight: 9 },
    { arbitrary: fc.constantFrom(...others), weight: 1 },
  );

const intentId = fc.oneof({ arbitrary: small(1, 2), weight: 9 }, { arbitrary: small(0, 4), weight: 1 });
const bidId = fc.oneof(
  { arbitrary: fc.integer({ min: 1, max: 2 }), weight: 9 },
  { arbitrary: fc.nat(4), weight: 1 },
);
const wait = fc.oneof({ arbitrary: fc.constant(0n), weight: 6 }, { arbitrary: small(1, 10), weight: 1 });

const submit = fc.record({
  kind: fc.constant("submit" as const),
  wait,
  owner: fc.constantFrom(owner, agent),
  signer: mostly<"owner" | "another">("owner", "another"),
  nonce: small(0, 5),
  amountInMax: small(6, 8),
  amountOutMin: small(3, 5),
  life: fc.oneof({ arbitrary: small(15, 60), weight: 12 }, { arbitrary: fc.constant(0n), weight: 1 }),
  slippageBps: mostly(50, 10_000, 10_001),
  dataHash: mostly(zeroHash, plan),
  subject: mostly(zeroHash, subject),
  schema: mostly(zeroHash, schema),
});
const bid = fc.record({
  kind: fc.constant("bid" as const),
  wait,
  intentId,
  caller: person,
  amountIn: small(3, 7),
  amountOut: small(4, 8),
  life: fc.oneof({ arbitrary: small(5, 15), weight: 9 }, { arbitrary: small(0, 70), weight: 1 }),
  executionHash: fc.constantFrom(zeroHash, plan),
});
const select = fc.record({
  kind: fc.constant("select" as const),
  wait,
  intentId,
  bidId,
  caller: mostly<"owner" | "anybody">("owner", "anybody"),
  anybody: person,
});
const fill = fc.record({
  kind: fc.constant("fill" as const),
  wait,
  intentId,
  caller: mostly<"selected" | "anybody">("selected", "anybody"),
  anybody: person,
  inAnothersName: mostly(false, true),
  inOff: mostly(0n, -1n, 1n),
  outOff: mostly(0n, -1n, 1n),
  attestationId: fc.constantFrom(0n, 1n, 1n, 2n, 3n),
});
const cancel = fc.record({ kind: fc.constant("cancel" as const), wait, intentId, caller: person });

const step = fc.oneof(
  { arbitrary: submit, weight: 1 },
  { arbitrary: bid, weight: 4 },
  { arbitrary: select, weight: 5 },
  { arbitrary: fill, weight: 4 },
  { arbitrary: cancel, weight: 1 },
);
/** Begins with intents and bids: before them everything is rejected. */
const steps = fc
  .tuple(
    submit,
    submit,
    fc.array(bid, { minLength: 4, maxLength: 4 }),
    fc.array(step, { minLength: 15, maxLength: 25 }),
  )
  .map(([first, second, bids, rest]): Step[] => [first, second, ...bids, ...rest]);
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

const outcomes = new Map<string, number>();

/** Lets the model judge the step, then sends it: the rejection expected, and what the chain did. */
async function take(model: IntentModel, taken: Step, now: bigint) {
  switch (taken.kind) {
    case "submit": {
      const { nonce, amountInMax, amountOutMin, slippageBps, dataHash } = taken;
      const intent = makeIntent(taken.owner.address, now + taken.life, {
        ...{ nonce, amountInMax, amountOutMin, slippageBps, dataHash },
        requiredAttestationSubject: taken.subject,
        requiredAttestationSchema: taken.schema,
      });
      const signer = taken.signer === "owner" ? taken.owner : payer;
      const args = await signTestIntent(signer.privateKey, intent, domain);
      const rejection = model.submit(intent, signer.address, now);
      return { rejection, sent: book.send(payer.address, "submitIntent", args) };
    }
    case "bid": {
      const { amountIn, amountOut, executionHash, caller } = taken;
      const offer = { amountIn, amountOut, executionHash, validUntil: now + taken.life };
      const rejection = model.bid(taken.intentId, caller.address, offer, now);
      const args = [taken.intentId, amountIn, amountOut, 1n, offer.validUntil, executionHash] as const;
      return { rejection, sent: book.send(caller.address, "submitBid", args) };
    }
    case "select": {
      const owning = model.entry(taken.intentId)?.intent.owner;
      const caller = taken.caller === "owner" && owning ? owning : taken.anybody.address;
      const rejection = model.select(taken.intentId, caller, taken.bidId, now);
      return { rejection, sent: book.send(caller, "selectBid", [taken.intentId, BigInt(taken.bidId)]) };
    }
    case "fill": {
      const entry = model.entry(taken.intentId);
      const selected = entry?.bids[entry.selected - 1];
      const caller = taken.caller === "selected" && selected ? selected.solver : taken.anybody.address;
      const another: Address = caller === payer.address ? owner.address : payer.address;
      const claim = {
        amountIn: (selected?.amountIn ?? 5n) + taken.inOff,
        amountOut: (selected?.amountOut ?? 5n) + taken.outOff,
        solver: taken.inAnothersName ? another : caller,
        attestationId: taken.attestationId,
      };
      const rejection = model.fill(taken.intentId, caller, claim, now);
      const proof = { executionData: "0x", resultHash: plan, traceHash: zeroHash } as const;
      const sent = book.send(caller, "fillIntent", [taken.intentId, { ...claim, ...proof }]);
      return { rejection, sent, filledAs: selected };
    }
    case "cancel": {
      const rejection = model.cancel(taken.intentId, taken.caller.address);
      return { rejection, sent: book.send(taken.caller.address, "cancelIntent", [taken.intentId]) };
    }
  }
}

const statuses = { OPEN: 0, FILLED: 1, CANCELLED: 2 } as const;

async function expectSameState(model: IntentModel, intentIds: readonly bigint[]): Promise<void> {
  for (const id of intentIds) {
    const entry = model.entry(id);
    expect(await book.read("getIntentStatus", [id])).toBe(statuses[entry?.status ?? "OPEN"]);
    expect(await book.read("getSelectedBid", [id])).toBe(BigInt(entry?.selected ?? 0));
    for (const [index, made] of (entry?.bids ?? []).entries()) {
      const selected = entry?.selected === index + 1;
      expect(await book.read("getBid", [id, BigInt(index + 1)])).toMatchObject({ ...made, selected });
    }
  }
}

function fillsIn(receipt: TransactionReceipt): readonly unknown[] {
  return decodeEvents(receipt, abi)
    .filter(({ eventName }) => eventName === "IntentFilled")
    .map(({ args }) => args);
}

it("fills an intent at most once, by the selected solver, with exactly its bid", async () => {
  await fc.assert(
    fc.asyncProperty(steps, (sequence) =>
      evm.undone(async () => {
        const model = new IntentModel(attested);
        let now = (await evm.now()) + 1n;
        const filled = new Map<bigint, number>();
        for (const taken of sequence) {
          now += taken.wait;
          await evm.chain.setNextBlockTimestamp(now);
          const { rejection, sent, filledAs } = await take(model, taken, now);
          const outcome = `${taken.kind}: ${rejection ?? "accepted"}`;
          outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
          expect((await revertReasonOf(sent, abi))?.errorName).toBe(rejection);
          if (rejection === undefined && taken.kind === "fill" && filledAs) {
            const { solver: by, amountIn, amountOut } = filledAs;
            expect(fillsIn(await sent)).toEqual([
              { intentId: taken.intentId, solver: by, amountIn, amountOut },
            ]);
            filled.set(taken.intentId, (filled.get(taken.intentId) ?? 0) + 1);
          } else if (rejection === undefined) {
            expect(fillsIn(await sent)).toEqual([]);
          }
          if (taken.kind !== "submit") await expectSameState(model, [taken.intentId]);
        }
        // Nothing else moved along the way.
        await expectSameState(model, [0n, 1n, 2n, 3n, 4n, 5n]);
        for (const count of filled.values()) expect(count).toBe(1);
      }),
    ),
    { numRuns: runsOf(40) },
  );
  // Runs that never get far prove nothing; only all of them surely reach each outcome.
  if (!isFullDepth()) return;
  for (const outcome of ["select: accepted", "fill: accepted", "fill: IntentNotOpen"]) {
    expect(outcomes.get(outcome) ?? 0, outcome).toBeGreaterThan(0);
  }
});
