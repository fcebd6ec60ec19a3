// What facilitators of tests may pay for gas on the local chain.
import { local } from "../../../src/chain/chains/local.ts";
import type { GasLimits } from "../../../src/payments/facilitator/local.ts";

export const LOCAL_GAS: GasLimits = { ...local.gas, revertedGasMax: 2_000_000n, ofPayment: null };
