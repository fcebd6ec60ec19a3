// Tokens that a chain's payments are made in when nobody says otherwise: the dollar that takes signed transfers there.
import type { Hex } from "../lib/hex.ts";

export type PaymentAsset = {
  readonly asset: Hex;
  /** Name and version of the token's EIP-712 domain, which differ even between deployments of the same token. */
  readonly name: string;
  readonly version: string;
  readonly decimals: number;
};

const USDC: Readonly<Record<string, PaymentAsset>> = {
  "eip155:8453": {
    asset: "0x833589fcd6edb6e08f4c7c32d4f71b54bda02913",
    name: "USD Coin",
    version: "2",
    decimals: 6,
  },
  "eip155:84532": {
    asset: "0x036cbd53842c5426634e7929541ec2318f3dcf7e",
    name: "USDC",
    version: "2",
    decimals: 6,
  },
};

export function findKnownAsset(network: string): PaymentAsset | null {
  return USDC[network] ?? null;
}
