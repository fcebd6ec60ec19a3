// Sky's savings token by chain id, on chains where it is no vault.
import type { Hex } from "../../../lib/hex.ts";
import type { RatedToken } from "../rate-reader.ts";

const GET_CONVERSION_RATE = "function getConversionRate() view returns (uint256)";

function bridgedSavings(token: Hex, asset: Hex, oracle: Hex): RatedToken {
  return {
    token,
    name: "Sky sUSDS",
    kind: "vault",
    asset,
    // In rays: the rate at the block's time, from the savings rate that Ethereum sends.
    rate: { contract: oracle, signature: GET_CONVERSION_RATE, args: [], scale: 27 },
  };
}

/**
 * sUSDS, USDS and SSR_AUTH_ORACLE of sparkdotfi/spark-address-registry (2026-08-19). On Ethereum sUSDS is an ERC-4626
 * vault, which that reader knows.
 */
export const SKY_TOKENS: ReadonlyMap<number, readonly RatedToken[]> = new Map([
  [
    8453,
    [
      bridgedSavings(
        "0x5875eee11cf8398102fdad704c9e96607675467a",
        "0x820c137fa70c8691f0e44dc420a5e53c168921dc",
        "0x65d946e533748a998b1f0e430803e39a6388f7a1",
      ),
    ],
  ],
  [
    42161,
    [
      bridgedSavings(
        "0xddb46999f8891663a8f2828d25298f70416d7610",
        "0x6491c05a82219b8d1479057361ff1654749b876b",
        "0xee2816c1e1eed14d444552654ed3027abc033a36",
      ),
    ],
  ],
  [
    10,
    [
      bridgedSavings(
        "0xb5b2dc7fd34c249f4be7fb1fcea07950784229e0",
        "0x4f13a96ec5c4cf34e442b46bbd98a0791f20edc3",
        "0x6e53585449142a5e6d5fc918ae6bea341dc81c68",
      ),
    ],
  ],
]);
