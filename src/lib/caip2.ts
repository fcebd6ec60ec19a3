// EVM chains by the names that CAIP-2 gives them, such as eip155:8453.

export type Caip2Network = `eip155:${number}`;

export function toCaip2Network(chainId: number): Caip2Network {
  return `eip155:${chainId}`;
}

export function chainIdOfNetwork(network: string): number {
  return Number(network.slice(network.indexOf(":") + 1));
}
