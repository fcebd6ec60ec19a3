// The gas limits of the facilitators of tests on the local chain.
import { localChain } from "../../../src/chain/chains/chains.ts";
import type { FacilitatorGasLimits } from "../../../src/payments/facilitator/local.ts";

export const LOCAL_GAS: FacilitatorGasLimits = {
  ...localChain.gas,
  revertedGasMax: 2_000_000n,
  paymentPercent: null,
};
