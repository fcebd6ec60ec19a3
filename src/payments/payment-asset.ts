// The chain and token that payments are made in, as configured.

import type { Config } from "../config/read-config.ts";
import type { paymentSettings } from "../config/settings.ts";
import { type Caip2Network, chainIdOfNetwork } from "../lib/caip2.ts";
import { Fault } from "../lib/fault.ts";
import type { Hex } from "../lib/hex.ts";
import { findKnownAsset, type PaymentAsset } from "./known-assets.ts";

export type PaymentAssetConfig = Omit<PaymentAsset, "decimals"> & {
  readonly network: Caip2Network;
  readonly chainId: number;
  /** Null for a token that only its own contract knows the decimals of. */
  readonly decimals: number | null;
};

export function resolvePaymentAsset(config: Config<typeof paymentSettings>): PaymentAssetConfig {
  const { paymentNetwork, paymentAsset, paymentAssetName: name, paymentAssetVersion: version } = config;
  const network = paymentNetwork as Caip2Network;
  const chainId = chainIdOfNetwork(network);
  const known = findKnownAsset(network);
  const asset = paymentAsset === null ? null : (paymentAsset.toLowerCase() as Hex);
  if (asset === null || asset === known?.asset) {
    if (known) return { ...known, network, chainId };
    throw new Fault("CONFIG_INVALID", `PAYMENT_ASSET must name the token that is paid with on ${network}.`);
  }
  // A wrong name or version makes every signature invalid, so there is nothing to guess.
  if (name === null || version === null) {
    throw new Fault(
      "CONFIG_INVALID",
      "PAYMENT_ASSET needs PAYMENT_ASSET_NAME and PAYMENT_ASSET_VERSION: the name and version of its EIP-712 domain.",
    );
  }
  return { asset, name, version, decimals: null, network, chainId };
}
