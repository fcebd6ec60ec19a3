// One of the protocol chain's nodes falls some blocks behind the chain and catches up again.
import { intermittentFault } from "./intermittent-fault.ts";

// One block is what happens every day; more than a dozen is a node that should be replaced.
const BLOCKS_MAX = 16;

export const laggingNode = intermittentFault({
  name: "lagging node",
  lasts: ({ pace }) => pace.nodeTrouble,
  begin({ nodes: { lagging } }, random) {
    const node = lagging[Math.floor(random() * lagging.length)];
    node?.behind(1 + Math.floor(random() ** 2 * BLOCKS_MAX));
    return () => node?.behind(0);
  },
});
