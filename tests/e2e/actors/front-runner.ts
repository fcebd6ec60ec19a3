// A third party carries out payments before the facilitator's transaction is mined, which then reverts.
import { intermittentFault } from "./intermittent-fault.ts";

const SHARE = 0.5;

export const frontRunner = intermittentFault({
  name: "front-runner",
  lasts: ({ pace }) => pace.moneyTrouble,
  causes: ["payments front-run"],
  begin({ nodes: { frontRunner } }) {
    frontRunner.run(SHARE);
    return () => frontRunner.run(0);
  },
});
