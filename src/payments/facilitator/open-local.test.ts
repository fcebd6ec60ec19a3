// The limit of what a facilitator pays for gas comes from the settings and the chain's own data.
import { describe, expect, it } from "vitest";
import { toCaip2Network } from "../../lib/caip2.ts";
import type { Hex } from "../../lib/hex.ts";
import { createGasLimits, type FacilitatorGasConfig } from "./local.ts";

const place = (chainId: number) => ({
  ...{ chainId, network: toCaip2Network(chainId), asset: `0x${"01".repeat(20)}` as Hex },
  ...{ name: "USD Coin", version: "2", decimals: 6 },
});
const config = (changed: Partial<FacilitatorGasConfig> = {}): FacilitatorGasConfig => ({
  facilitatorGasPriceMax: null,
  facilitatorGasPercentMax: 100,
  facilitatorRevertedGasMax: 2_000_000,
  ...changed,
});

describe("gas limits", () => {
  it("takes the chain's gas limits by default, and a share of the payment with a price feed", () => {
    expect(createGasLimits(config(), place(8453))).toMatchObject({
      feePerGasMax: 500_000_000n,
      priorityFeePerGasMax: 50_000_000n,
      revertedGasMax: 2_000_000n,
      paymentPercent: { percentMax: 100n, decimals: 6, feed: { heartbeatSeconds: 1_200 } },
    });
    expect(createGasLimits(config(), place(84_532)).paymentPercent).toBeNull();
  });

  it("takes gas limits that are set, the tip never above the whole", () => {
    const low = createGasLimits(config({ facilitatorGasPriceMax: "0.01" }), place(8453));
    expect(low).toMatchObject({ feePerGasMax: 10_000_000n, priorityFeePerGasMax: 10_000_000n });
    const high = createGasLimits(config({ facilitatorGasPriceMax: "3" }), place(8453));
    expect(high).toMatchObject({ feePerGasMax: 3_000_000_000n, priorityFeePerGasMax: 50_000_000n });
  });

  it("requires a gas limit on a chain without a known cap", () => {
    expect(() => createGasLimits(config(), place(424_242))).toThrow("FACILITATOR_GAS_PRICE_MAX must set");
    const { feePerGasMax } = createGasLimits(config({ facilitatorGasPriceMax: "2" }), place(424_242));
    expect(feePerGasMax).toBe(2_000_000_000n);
  });
});
