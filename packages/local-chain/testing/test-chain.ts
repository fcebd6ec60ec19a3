// Chains for the tests here: the emitter stands on them, and each is stopped when its test is done.
import { onTestFinished } from "vitest";
import { type LocalChain, type LocalChainOptions, startLocalChain } from "../local-chain.ts";
import { EMITTER, EMITTER_CODE } from "./log-emitter.ts";

/** A wait ends when its condition holds; this bound is for machines under load. */
export const PATIENT_POLL = { timeout: 10_000, interval: 5 };

export async function startTestChain(options: Partial<LocalChainOptions> = {}): Promise<LocalChain> {
  const chain = await startLocalChain({ chainId: 31337, code: { [EMITTER]: EMITTER_CODE }, ...options });
  onTestFinished(() => chain.stop());
  return chain;
}
