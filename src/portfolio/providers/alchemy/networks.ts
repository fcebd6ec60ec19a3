// The chains that Alchemy serves, by chain id, with Alchemy's name for each.

export type AlchemyNetwork = { readonly chainId: number; readonly name: string };

const NETWORKS: readonly AlchemyNetwork[] = [
  { chainId: 1, name: "eth-mainnet" },
  { chainId: 10, name: "opt-mainnet" },
  { chainId: 137, name: "polygon-mainnet" },
  { chainId: 8453, name: "base-mainnet" },
  { chainId: 42161, name: "arb-mainnet" },
];

export const ALCHEMY_NETWORKS: ReadonlyMap<number, AlchemyNetwork> = new Map(
  NETWORKS.map((network) => [network.chainId, network]),
);
