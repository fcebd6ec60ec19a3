// Nodes get into trouble and out of it again, never all at once for long.
import { drawInterval } from "../soak-profile.ts";
import { sleepUntilStopped } from "../wait.ts";
import type { E2eActor } from "./intermittent-fault.ts";

const SHARES = [0.1, 0.25, 0.5];

export const nodeFaults: E2eActor = async (river, stop) => {
  const { pace, random: randomOf } = river;
  const nodes = river.nodes.troubled;
  const random = randomOf("node trouble");
  while (!stop.aborted) {
    const node = nodes[Math.floor(random() * nodes.length)];
    node?.trouble(SHARES[Math.floor(random() * SHARES.length)] ?? 0);
    await sleepUntilStopped(drawInterval(pace.nodeTrouble, random), stop);
    node?.trouble(0);
    await sleepUntilStopped(drawInterval(pace.nodeTrouble, random) / 2, stop);
  }
  for (const node of nodes) node.trouble(0);
};
