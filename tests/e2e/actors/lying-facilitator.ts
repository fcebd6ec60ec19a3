// The facilitator reports transfers that never happened, and denies some that did.
import { FACILITATOR_LIES } from "../services/lying-facilitator.ts";
import { intermittentFault } from "./intermittent-fault.ts";

const SHARE = 0.5;

export const lyingFacilitator = intermittentFault({
  name: "lying facilitator",
  lasts: ({ pace }) => pace.moneyTrouble,
  causes: FACILITATOR_LIES.map((lie) => `lies: ${lie}`),
  begin({ facilitator }) {
    facilitator.lie(SHARE);
    return () => facilitator.lie(0);
  },
});
