// Agents, solvers and attestors as they register and change, and what attestors vouch for.
import { agentRegistryAbi } from "@sextant/contracts/generated/agent-registry";
import { attestationRegistryAbi } from "@sextant/contracts/generated/attestation-registry";
import { attestorRegistryAbi } from "@sextant/contracts/generated/attestor-registry";
import { solverRegistryAbi } from "@sextant/contracts/generated/solver-registry";
import { createFunctionCodec } from "../../../src/lib/abi/codec.ts";
import { eventEncoder } from "../abi-encoder.ts";
import type { HistoryAction } from "../history-state.ts";

const agentLog = eventEncoder(agentRegistryAbi);
const attestationLog = eventEncoder(attestationRegistryAbi);
const attestorLog = eventEncoder(attestorRegistryAbi);
const solverLog = eventEncoder(solverRegistryAbi);

const registerAgentCall = createFunctionCodec(agentRegistryAbi, "registerAgent");
const submitAttestationCall = createFunctionCodec(attestationRegistryAbi, "submitAttestation");
// Most attestations are made under the schemas that are well known.
const SCHEMAS = 12;

const registerAgent: HistoryAction = (world) => {
  const { contracts, entropy } = world;
  const n = world.next("agent");
  const owner = world.agentOwner(n);
  const uri = `https://agents.example/${n}/card.json`;
  world.agents.add(BigInt(n));
  const args = [
    uri,
    `${entropy.hash("pubkey", n)}${entropy.hash("pubkey end", n).slice(2)}`,
    world.anyHash(),
  ] as const;
  return {
    logs: [
      agentLog(contracts.AgentRegistry, "AgentRegistered", { agentId: BigInt(n), owner, metadataURI: uri }),
    ],
    call: {
      from: owner,
      to: contracts.AgentRegistry,
      input: registerAgentCall.encodeCall(args),
    },
  };
};

const updateAgent: HistoryAction = (world) => {
  const agentId = world.agents.pick();
  if (agentId === null) return null;
  const args = {
    agentId,
    metadataURI: `https://agents.example/${agentId}/card-${world.next("revision")}.json`,
    capabilitiesHash: world.anyHash(),
  };
  return { logs: [agentLog(world.contracts.AgentRegistry, "AgentUpdated", args)], call: null };
};

const revokeAgent: HistoryAction = (world) => {
  const agentId = world.agents.take();
  if (agentId === null) return null;
  return { logs: [agentLog(world.contracts.AgentRegistry, "AgentRevoked", { agentId })], call: null };
};

const submitAttestation: HistoryAction = (world) => {
  const { contracts, dice, entropy } = world;
  if (world.count("attestor") === 0) return null;
  const id = BigInt(world.next("attestation"));
  const attester = world.attester(1 + dice.skewed(world.count("attestor")));
  const schema = entropy.hash("schema", dice.skewed(SCHEMAS));
  const subject = entropy.hash("subject", dice.skewed(Math.max(1, world.count("agent"))));
  world.attestations.add(id);
  return {
    logs: [
      attestationLog(contracts.AttestationRegistry, "AttestationSubmitted", {
        id,
        attester,
        schema,
        subject,
      }),
    ],
    call: {
      from: attester,
      to: contracts.AttestationRegistry,
      input: submitAttestationCall.encodeCall([schema, subject, world.anyHash()]),
    },
  };
};

const revokeAttestation: HistoryAction = (world) => {
  const id = world.attestations.take();
  if (id === null) return null;
  return {
    logs: [attestationLog(world.contracts.AttestationRegistry, "AttestationRevoked", { id })],
    call: null,
  };
};

const registerSolver: HistoryAction = (world) => {
  const n = world.next("solver");
  const args = {
    solverId: BigInt(n),
    operator: world.solver(n),
    metadataURI: `https://solvers.example/${n}.json`,
    capabilitiesHash: world.anyHash(),
    bond: world.amount(),
  };
  return { logs: [solverLog(world.contracts.SolverRegistry, "SolverRegistered", args)], call: null };
};

const updateSolver: HistoryAction = (world) => {
  if (world.count("solver") === 0) return null;
  const solverId = 1 + world.dice.skewed(world.count("solver"));
  const args = {
    solverId: BigInt(solverId),
    metadataURI: `https://solvers.example/${solverId}-${world.next("revision")}.json`,
    capabilitiesHash: world.anyHash(),
    active: world.dice.chance(0.9),
  };
  return { logs: [solverLog(world.contracts.SolverRegistry, "SolverUpdated", args)], call: null };
};

const addBond: HistoryAction = (world) => {
  if (world.count("solver") === 0) return null;
  // A bond only grows, and this number does.
  const bond = BigInt(world.next("bond")) * 2_000_000_000n;
  const solverId = BigInt(1 + world.dice.skewed(world.count("solver")));
  return {
    logs: [solverLog(world.contracts.SolverRegistry, "SolverBondChanged", { solverId, bond })],
    call: null,
  };
};

const registerAttestor: HistoryAction = (world) => {
  const n = world.next("attestor");
  const args = {
    attestorId: BigInt(n),
    operator: world.attester(n),
    metadataURI: `https://attestors.example/${n}.json`,
    schemasHash: world.anyHash(),
  };
  return { logs: [attestorLog(world.contracts.AttestorRegistry, "AttestorRegistered", args)], call: null };
};

const updateAttestor: HistoryAction = (world) => {
  if (world.count("attestor") === 0) return null;
  const attestorId = 1 + world.dice.skewed(world.count("attestor"));
  const args = {
    attestorId: BigInt(attestorId),
    metadataURI: `https://attestors.example/${attestorId}-${world.next("revision")}.json`,
    schemasHash: world.anyHash(),
    active: world.dice.chance(0.9),
  };
  return { logs: [attestorLog(world.contracts.AttestorRegistry, "AttestorUpdated", args)], call: null };
};

export const agentHistoryActions = {
  registerAgent,
  updateAgent,
  revokeAgent,
  submitAttestation,
  revokeAttestation,
  registerSolver,
  updateSolver,
  addBond,
  registerAttestor,
  updateAttestor,
};
