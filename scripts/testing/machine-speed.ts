// How fast this machine is at the moment, so that budgets of processor seconds mean the same everywhere.
import { createHash } from "node:crypto";

// Measured on the machine of the budgets, otherwise idle.
const REFERENCE_MS = 155;
const ROUNDS = 40_000;
const SAMPLES = 3;

/** 2 on a machine that takes twice the processor time for the same work, at least 1. */
export function measureSlowness(): number {
  const samples = Array.from({ length: SAMPLES }, measureSample).sort((one, other) => one - other);
  return Math.max(1, (samples[Math.floor(SAMPLES / 2)] ?? REFERENCE_MS) / REFERENCE_MS);
}

/** Objects, strings and hashes: what tests spend their time on. */
function measureSample(): number {
  const before = process.cpuUsage();
  let text = "sextant";
  for (let round = 0; round < ROUNDS; round++) {
    const { digest } = JSON.parse(JSON.stringify({ round, digest: text })) as { digest: string };
    text = createHash("sha256").update(digest).digest("hex");
  }
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}
