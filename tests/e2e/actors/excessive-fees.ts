// One of the protocol chain's nodes names absurd fees, never both at once.
import { spells } from "./intermittent-fault.ts";

export const absurdFees = spells({
  name: "absurd fees",
  lasts: ({ pace }) => pace.moneyTrouble,
  begin({ nodes: { fees } }, random) {
    const node = fees[Math.floor(random() * fees.length)];
    node?.name(true);
    return () => node?.name(false);
  },
});
