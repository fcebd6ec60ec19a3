// Nodes fail for a while and recover, never all at once for long.
import { drawInterval } from "../soak-profile.ts";
import { sleepUntilStopped } from "../wait.ts";
import type { E2eActor } from "./intermittent-fault.ts";

const SHARES = [0.1, 0.25, 0.5];

export const nodeFaults: E2eActor = async (system, stop) => {
  const { pace, random: randomOf } = system;
  const nodes = system.nodes.faulty;
  const random = randomOf("node faults");
  while (!stop.aborted) {
    const node = nodes[Math.floor(random() * nodes.length)];
    node?.setFaultShare(SHARES[Math.floor(random() * SHARES.length)] ?? 0);
    await sleepUntilStopped(drawInterval(pace.nodeTrouble, random), stop);
    node?.setFaultShare(0);
    await sleepUntilStopped(drawInterval(pace.nodeTrouble, random) / 2, stop);
  }
  for (const node of nodes) node.setFaultShare(0);
};
