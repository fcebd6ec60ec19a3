// Which attestations an intent asks for before it may be filled.
import { type Hex, zeroHash } from "viem";
import type { Attestation, OpenIntent } from "./simulator-state.ts";

/** The schemas that every index of the protocol knows. */
export const SCHEMAS: readonly Hex[] = ["1", "2", "3", "4"].map((digit): Hex => `0x${digit.repeat(64)}`);

export function requiresAttestation({ intent: { execution } }: OpenIntent): boolean {
  return (
    execution.requiredAttestationSchema !== zeroHash || execution.requiredAttestationSubject !== zeroHash
  );
}

/** Whether this attestation is what the intent asks for. */
export function satisfies({ schema, subject }: Attestation, { intent: { execution } }: OpenIntent): boolean {
  const { requiredAttestationSchema, requiredAttestationSubject } = execution;
  return (
    (requiredAttestationSchema === zeroHash || requiredAttestationSchema === schema) &&
    (requiredAttestationSubject === zeroHash || requiredAttestationSubject === subject)
  );
}
