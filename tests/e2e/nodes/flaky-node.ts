// A node in front of a chain that is in trouble from time to time: it fails, lies or falls behind, as told.
import { startFaultyNode } from "../../support/nodes/faulty-node.ts";
import { FLAKY_FAULTS, LIAR_FAULTS, type NodeFaultInjection } from "../../support/nodes/node-faults.ts";

export type FlakyNode = {
  readonly url: string;
  /** Which share of the questions is answered badly from now on. */
  trouble(share: number): void;
  stop(): Promise<void>;
};

export type FlakyNodeFaults = "flaky" | "liar";

export type FlakyNodeOptions = {
  readonly upstream: string;
  readonly character: FlakyNodeFaults;
  readonly random: () => number;
  /** Whether it may also say nothing at all. */
  readonly silent: boolean;
  readonly onInjection: () => void;
};

// Whoever asks waits twenty seconds for nothing; more of it would only make the rest of the run idle.
const SILENT_SHARE = 0.01;

// Only for a node beside an honest one: alone, it could not be found out.
const LIAR_BESIDE_OTHERS: readonly NodeFaultInjection[] = [...LIAR_FAULTS, { kind: "omit-middle" }];

export async function startFlakyNode(options: FlakyNodeOptions): Promise<FlakyNode> {
  const { upstream, character, random, silent, onInjection } = options;
  const faults = character === "liar" ? LIAR_BESIDE_OTHERS : FLAKY_FAULTS;
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
    liesPerCall: 1,
  });
  return {
    url: node.url,
    trouble: (next) => {
      share = next;
    },
    stop: node.stop,
  };
}
