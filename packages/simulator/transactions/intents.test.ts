// Steps with intents, bids, attestations, solvers and attestors do on chain what their names say.

import { intentBookAbi } from "@sextant/contracts/generated/intent-book";
import { type Hex, parseEther, toHex } from "viem";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type DeployedChain, startDeployedChain } from "../deployed-chain.ts";
import { readEvents } from "../read-events.ts";
import { revokeAttestation, submitAttestation } from "./attestations.ts";
import { registerAttestor, updateAttestor } from "./attestors.ts";
import { fillIntent, selectBid, submitBid } from "./bids.ts";
import { cancelIntent, type IntentInput, signIntent, submitIntent } from "./intents.ts";
import { actThroughMulticall } from "./multicall.ts";
import { addBond, registerSolver, updateSolver, withdrawBond } from "./solvers.ts";

let stage: DeployedChain;
const word = (value: number): Hex => toHex(value, { size: 32 });

async function emittedBy(step: () => Promise<unknown>) {
  const { chain, deployment, world } = stage;
  const from = Number(await world.client.getBlockNumber({ cacheTime: 0 })) + 1;
  await step();
  const events = await readEvents(chain.request, deployment, from);
  return events.map(({ contract, event, args }) => [`${contract}.${event}`, args]);
}

async function wish(execution: IntentInput["execution"] = {}): Promise<IntentInput> {
  const { world } = stage;
  const deadline = (await world.timeline.now()) + 3_600n;
  return {
    inputToken: world.local.UsdCoin,
    outputToken: world.local.WrappedEther,
    constraints: { amountInMax: 1_000n, amountOutMin: 900n, deadline, slippageBps: 50 },
    execution,
  };
}

beforeAll(async () => {
  stage = await startDeployedChain();
});
afterAll(() => stage.chain.stop());

describe("intent steps", () => {
  it("submits by the owner, by a relayer and through a contract", async () => {
    const { world } = stage;
    const { agent, payer } = world.actors;
    for (const sender of [agent, payer, actThroughMulticall(world, payer)]) {
      const signed = await signIntent(world, agent, await wish());
      const events = await emittedBy(() => submitIntent(world, sender, signed));
      expect(events).toMatchObject([
        ["IntentBook.IntentSubmitted", { owner: agent.address, nonce: signed.intent.nonce }],
      ]);
    }
  });

  it("bids, selects, selects another, and fills with a proof and the required attestation", async () => {
    const { world } = stage;
    const { agent, solver, merchant, attestor } = world.actors;
    const [schema, subject, dataHash] = [word(1), word(2), word(3)];
    const signed = await signIntent(
      world,
      agent,
      await wish({ dataHash, requiredAttestationSchema: schema, requiredAttestationSubject: subject }),
    );
    const intentId = await submitIntent(world, agent, signed);
    const validUntil = signed.intent.constraints.deadline;
    const terms = { amountIn: 990n, amountOut: 910n, fee: 1n, validUntil, executionHash: dataHash };
    expect(await emittedBy(() => submitBid(world, solver, intentId, terms))).toEqual([
      ["IntentBook.SolverBidSubmitted", { intentId, bidId: 1n, solver: solver.address, ...terms }],
    ]);
    expect(await submitBid(world, merchant, intentId, terms)).toBe(2n);
    for (const [bidId, bidder] of [
      [2n, merchant],
      [1n, solver],
    ] as const) {
      expect(await emittedBy(() => selectBid(world, agent, intentId, bidId))).toEqual([
        ["IntentBook.SolverBidSelected", { intentId, bidId, solver: bidder.address }],
      ]);
    }
    const attestationId = await submitAttestation(world, attestor, { schema, subject, dataHash: word(4) });
    const proof = { executionData: "0x1234", resultHash: word(5), traceHash: word(6) } as const;
    const fill = (id: bigint) => fillIntent(world, solver, intentId, terms, { ...proof, attestationId: id });
    await expect(fill(attestationId + 1n)).rejects.toThrow(/RequiredAttestationMissing/);
    expect(await emittedBy(() => fill(attestationId))).toEqual([
      ["IntentBook.IntentFilled", { intentId, solver: solver.address, amountIn: 990n, amountOut: 910n }],
      ["IntentBook.IntentFillProof", { intentId, resultHash: word(5), traceHash: word(6), attestationId }],
    ]);
    const status = {
      address: world.contracts.IntentBook,
      abi: intentBookAbi,
      functionName: "getIntentStatus",
      args: [intentId],
    } as const;
    expect(await world.client.readContract(status)).toBe(1);
  });

  it("cancels", async () => {
    const { world } = stage;
    const { agent } = world.actors;
    const intentId = await submitIntent(world, agent, await signIntent(world, agent, await wish()));
    expect(await emittedBy(() => cancelIntent(world, agent, intentId))).toEqual([
      ["IntentBook.IntentCancelled", { intentId }],
    ]);
  });
});

describe("registry steps", () => {
  it("attests and revokes", async () => {
    const { world } = stage;
    const { attestor } = world.actors;
    const statement = { schema: word(7), subject: word(8), dataHash: word(9) };
    let id = 0n;
    const attest = async () => {
      id = await submitAttestation(world, attestor, statement);
    };
    const { schema, subject } = statement;
    expect(await emittedBy(attest)).toEqual([
      ["AttestationRegistry.AttestationSubmitted", { id, attester: attestor.address, schema, subject }],
    ]);
    expect(await emittedBy(() => revokeAttestation(world, attestor, id))).toEqual([
      ["AttestationRegistry.AttestationRevoked", { id }],
    ]);
  });

  it("registers and updates an attestor", async () => {
    const { world } = stage;
    const { attestor } = world.actors;
    const profile = { metadataURI: "ipfs://attestor", schemasHash: word(1) };
    expect(await emittedBy(() => registerAttestor(world, attestor, profile))).toEqual([
      ["AttestorRegistry.AttestorRegistered", { attestorId: 1n, operator: attestor.address, ...profile }],
    ]);
    expect(await emittedBy(() => updateAttestor(world, attestor, 1n, profile, false))).toEqual([
      ["AttestorRegistry.AttestorUpdated", { attestorId: 1n, ...profile, active: false }],
    ]);
  });

  it("registers and updates a solver, and changes its bond", async () => {
    const { world } = stage;
    const { solver } = world.actors;
    const profile = { metadataURI: "ipfs://solver", capabilitiesHash: word(1) };
    const bond = parseEther("1");
    expect(await emittedBy(() => registerSolver(world, solver, profile, bond))).toEqual([
      ["SolverRegistry.SolverRegistered", { solverId: 1n, operator: solver.address, ...profile, bond }],
    ]);
    const add = async () => expect(await addBond(world, solver, 1n, 5n)).toBe(bond + 5n);
    expect(await emittedBy(add)).toEqual([
      ["SolverRegistry.SolverBondChanged", { solverId: 1n, bond: bond + 5n }],
    ]);
    expect(await emittedBy(() => updateSolver(world, solver, 1n, profile, false))).toEqual([
      ["SolverRegistry.SolverUpdated", { solverId: 1n, ...profile, active: false }],
    ]);
    const withdraw = async () => expect(await withdrawBond(world, solver, 1n, bond)).toBe(5n);
    expect(await emittedBy(withdraw)).toEqual([
      ["SolverRegistry.SolverBondChanged", { solverId: 1n, bond: 5n }],
    ]);
  });
});
