// One of the protocol chain's nodes names absurd fees, never both at once.
import { intermittentFault } from "./intermittent-fault.ts";

export const excessiveFees = intermittentFault({
  name: "absurd fees",
  lasts: ({ pace }) => pace.moneyTrouble,
  begin({ nodes: { fees } }, random) {
    const node = fees[Math.floor(random() * fees.length)];
    node?.name(true);
    return () => node?.name(false);
  },
});
