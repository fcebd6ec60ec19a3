// Registry actions: attestations, attestors, solvers and their bonds.
import { parseEther, zeroHash } from "viem";
import { KNOWN_SCHEMAS, requiresAttestation, satisfiesIntent } from "../state/required-attestation.ts";
import { revokeAttestation, submitAttestation } from "../transactions/attestations.ts";
import { registerAttestor, updateAttestor } from "../transactions/attestors.ts";
import { actThroughMulticall } from "../transactions/multicall.ts";
import { addBond, registerSolver, updateSolver, withdrawBond } from "../transactions/solvers.ts";
import type { SimulatorAction, Turn } from "../turn.ts";

/** Bonds stay below this, so that no solver runs out of money. */
const BOND_MAX = parseEther("10");

export const registryActions: readonly SimulatorAction[] = [
  {
    name: "attest something",
    weight: 4,
    prepare: (turn) => {
      const { world, state } = turn;
      const attester = turn.take(state.attesters);
      if (attester === undefined) return undefined;
      const statement = newStatement(turn);
      return async () => {
        const id = await submitAttestation(world, attester.wallet, statement);
        attester.given += 1;
        state.attestations.add({ id, attester: attester.wallet, ...statement });
      };
    },
  },
  {
    name: "attest what an intent requires",
    weight: 8,
    prepare: (turn) => {
      const { world, random, state } = turn;
      const open = turn.take(
        state.intents,
        (intent) =>
          requiresAttestation(intent) &&
          ![...state.attestations].some((known) => satisfiesIntent(known, intent)),
      );
      const attester = turn.take(state.attesters);
      if (open === undefined || attester === undefined) return undefined;
      const { requiredAttestationSchema, requiredAttestationSubject } = open.intent.execution;
      const other = newStatement(turn);
      const statement = {
        schema: requiredAttestationSchema === zeroHash ? other.schema : requiredAttestationSchema,
        subject: requiredAttestationSubject === zeroHash ? other.subject : requiredAttestationSubject,
        dataHash: random.bytes32(),
      };
      return async () => {
        const id = await submitAttestation(world, attester.wallet, statement);
        attester.given += 1;
        state.attestations.add({ id, attester: attester.wallet, ...statement });
      };
    },
  },
  {
    name: "attest through another contract",
    weight: 1,
    prepare: (turn) => {
      const { world, random, accounts, state } = turn;
      const attester = actThroughMulticall(world, random.pick(accounts.relayers));
      const statement = newStatement(turn);
      return async () =>
        state.attestations.add({
          id: await submitAttestation(world, attester, statement),
          attester,
          ...statement,
        });
    },
  },
  {
    name: "revoke an attestation",
    weight: 2,
    prepare: (turn) => {
      const attestation = turn.take(turn.state.attestations);
      if (attestation === undefined) return undefined;
      turn.state.attestations.remove(attestation);
      return () => revokeAttestation(turn.world, attestation.attester, attestation.id);
    },
  },
  {
    name: "register an attestor",
    weight: 2,
    prepare: (turn) => {
      const { world, random, state } = turn;
      // All but the first have attested before they register.
      const isFirst = state.attesters.every(({ entry }) => entry === undefined);
      const attester = turn.take(
        state.attesters,
        ({ entry, given }) => entry === undefined && (isFirst || given > 0),
      );
      if (attester === undefined) return undefined;
      const profile = { metadataURI: turn.uri("attestor"), schemasHash: random.bytes32() };
      return async () => {
        const id = await registerAttestor(world, attester.wallet, profile);
        attester.entry = { id, active: true, profile };
      };
    },
  },
  {
    name: "update an attestor",
    weight: 2,
    prepare: (turn) => {
      const { world, random, state } = turn;
      const { wallet, entry } = turn.take(state.attesters, (attester) => attester.entry !== undefined) ?? {};
      if (wallet === undefined || entry === undefined) return undefined;
      if (random.chance(75)) {
        entry.profile = { metadataURI: turn.uri("attestor"), schemasHash: random.bytes32() };
        entry.active = random.chance(80);
      }
      return () => updateAttestor(world, wallet, entry.id, entry.profile, entry.active);
    },
  },
  {
    name: "register a solver",
    weight: 2,
    prepare: (turn) => {
      const { world, random, state } = turn;
      // All but the first have filled before they register.
      const isFirst = state.solvers.every(({ entry }) => entry === undefined);
      const solver = turn.take(
        state.solvers,
        ({ entry, fills }) => entry === undefined && (isFirst || fills > 0),
      );
      if (solver === undefined) return undefined;
      const profile = { metadataURI: turn.uri("solver"), capabilitiesHash: random.bytes32() };
      const bond = random.chance(80) ? random.between(1n, parseEther("1")) : 0n;
      return async () => {
        const id = await registerSolver(world, solver.wallet, profile, bond);
        solver.entry = { id, active: true, bond, profile };
      };
    },
  },
  {
    name: "update a solver",
    weight: 2,
    prepare: (turn) => {
      const { world, random, state } = turn;
      const { wallet, entry } = turn.take(state.solvers, (solver) => solver.entry !== undefined) ?? {};
      if (wallet === undefined || entry === undefined) return undefined;
      if (random.chance(75)) {
        entry.profile = { metadataURI: turn.uri("solver"), capabilitiesHash: random.bytes32() };
        entry.active = random.chance(60);
      }
      return () => updateSolver(world, wallet, entry.id, entry.profile, entry.active);
    },
  },
  {
    name: "add to a bond",
    weight: 2,
    prepare: (turn) => {
      const { world, random, state } = turn;
      const { wallet, entry } =
        turn.take(state.solvers, (solver) => solver.entry !== undefined && solver.entry.bond < BOND_MAX) ??
        {};
      if (wallet === undefined || entry === undefined) return undefined;
      const amount = random.between(0n, parseEther("0.5"));
      return async () => {
        entry.bond = await addBond(world, wallet, entry.id, amount);
      };
    },
  },
  {
    name: "withdraw from a bond",
    weight: 2,
    prepare: (turn) => {
      const { world, random, state } = turn;
      const { wallet, entry } =
        turn.take(state.solvers, ({ entry }) => entry !== undefined && !entry.active && entry.bond > 0n) ??
        {};
      if (wallet === undefined || entry === undefined) return undefined;
      const amount = random.chance(30) ? entry.bond : random.between(1n, entry.bond);
      return async () => {
        entry.bond = await withdrawBond(world, wallet, entry.id, amount);
      };
    },
  },
];

function newStatement({ random }: Turn) {
  return {
    schema: random.chance(80) ? random.pick(KNOWN_SCHEMAS) : random.bytes32(),
    subject: random.bytes32(),
    dataHash: random.bytes32(),
  };
}
