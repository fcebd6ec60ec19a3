// A proxy in front of a chain's node that fails, lies or falls behind from time to time.
import { startFaultyNode } from "../../support/nodes/faulty-node.ts";
import { FLAKY_FAULTS, LIAR_FAULTS, type NodeFaultInjection } from "../../support/nodes/node-faults.ts";

export type FlakyNode = {
  readonly url: string;
  /** Share of the requests that get a bad response from now on. */
  setFaultShare(share: number): void;
  stop(): Promise<void>;
};

export type FlakyNodeFaults = "flaky" | "liar";

type FlakyNodeOptions = {
  readonly upstream: string;
  readonly character: FlakyNodeFaults;
  readonly random: () => number;
  /** Whether it may also say nothing at all. */
  readonly silent: boolean;
  readonly onInjection: () => void;
};

// Each costs its caller a twenty-second timeout; more would leave the rest of the run idle.
const SILENT_SHARE = 0.01;

// Only for a node alongside an honest one: alone, it could not be found out.
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
    // One bad machine among good ones: a retry reaches another.
    liesPerCall: 1,
  });
  return {
    url: node.url,
    setFaultShare: (next) => {
      share = next;
    },
    stop: node.stop,
  };
}
