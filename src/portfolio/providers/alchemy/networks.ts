// The chains Alchemy serves, by chain id: its own name for each, and what stands there for the native coin.
import type { Hex } from "../../../kit/hex.ts";

export type AlchemyNetwork = {
  readonly name: string;
  /** Contracts that only repeat the native balance. */
  readonly nativeAliases: readonly Hex[];
};

// What vendors write instead of leaving the address out.
const PLACEHOLDERS: readonly Hex[] = [
  "0xeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeee",
  "0x0000000000000000000000000000000000000000",
];

const network = (name: string, ...aliases: readonly Hex[]): AlchemyNetwork => ({
  name,
  nativeAliases: [...PLACEHOLDERS, ...aliases],
});

export const ALCHEMY_NETWORKS: ReadonlyMap<number, AlchemyNetwork> = new Map([
  [1, network("eth-mainnet")],
  [10, network("opt-mainnet", "0xdeaddeaddeaddeaddeaddeaddeaddeaddead0000")],
  [137, network("polygon-mainnet", "0x0000000000000000000000000000000000001010")],
  [8453, network("base-mainnet")],
  [42161, network("arb-mainnet")],
]);
