// A node in front of a chain that is in trouble from time to time: it fails, lies or falls behind, as told.
import { startFaultyNode } from "../support/faulty-node.ts";
import type { Injection } from "../support/injections.ts";

export type TroubledNode = {
  readonly url: string;
  /** Which share of the questions is answered badly from now on. */
  trouble(share: number): void;
  stop(): Promise<void>;
};

export type NodeCharacter = "flaky" | "liar";

export type TroubledNodeOptions = {
  readonly upstream: string;
  readonly character: NodeCharacter;
  readonly random: () => number;
  /** Whether it may also say nothing at all. */
  readonly silent: boolean;
  readonly onInjection: () => void;
};

const FLAKY: readonly Injection[] = [
  { kind: "status", status: 429, retryAfter: "0" },
  { kind: "status", status: 500 },
  { kind: "page" },
  { kind: "truncated" },
  { kind: "reset" },
  { kind: "cut-connection" },
  { kind: "left-out" },
  { kind: "wrong-id" },
];

const LIAR: readonly Injection[] = [
  ...FLAKY,
  { kind: "reversed" },
  { kind: "null-result" },
  { kind: "garbage" },
  { kind: "empty-logs" },
  { kind: "wrong-hash" },
  { kind: "other-block" },
  { kind: "lagging", head: 60 },
  { kind: "error", code: -32_000, message: "header not found" },
  { kind: "error", code: -32_005, message: "query returned more than 10000 results" },
];

// Whoever asks waits twenty seconds for nothing; more of it would only make the rest of the run idle.
const SILENT_SHARE = 0.01;

export async function startTroubledNode(options: TroubledNodeOptions): Promise<TroubledNode> {
  const { upstream, character, random, silent, onInjection } = options;
  const faults = character === "liar" ? LIAR : FLAKY;
  let share = 0;
  const node = await startFaultyNode({
    upstream,
    plan: () => {
      if (random() >= share) return null;
      onInjection();
      if (silent && random() < SILENT_SHARE) return { kind: "hang" };
      return faults[Math.floor(random() * faults.length)] ?? null;
    },
    // One bad machine among good ones: asked again, another answers.
    liesPerQuestion: 1,
  });
  return {
    url: node.url,
    trouble: (next) => {
      share = next;
    },
    stop: node.stop,
  };
}
