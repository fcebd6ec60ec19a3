// Finds the attestations that an intent requires before it may be filled.
import { type Hex, zeroHash } from "viem";
import type { SimulatedAttestation, SimulatedIntent } from "./simulator-state.ts";

/** The schemas that every index of the protocol knows. */
export const KNOWN_SCHEMAS: readonly Hex[] = ["1", "2", "3", "4"].map(
  (digit): Hex => `0x${digit.repeat(64)}`,
);

export function requiresAttestation({ intent: { execution } }: SimulatedIntent): boolean {
  return (
    execution.requiredAttestationSchema !== zeroHash || execution.requiredAttestationSubject !== zeroHash
  );
}

/** Whether the intent accepts this attestation. */
export function satisfiesIntent(
  { schema, subject }: SimulatedAttestation,
  { intent: { execution } }: SimulatedIntent,
): boolean {
  const { requiredAttestationSchema, requiredAttestationSubject } = execution;
  return (
    (requiredAttestationSchema === zeroHash || requiredAttestationSchema === schema) &&
    (requiredAttestationSubject === zeroHash || requiredAttestationSubject === subject)
  );
}
