// EVM chains by the names that CAIP-2 gives them, such as eip155:8453.

export type Network = `eip155:${number}`;

export function networkOf(chainId: number): Network {
  return `eip155:${chainId}`;
}

export function chainIdOf(network: string): number {
  return Number(network.slice(network.indexOf(":") + 1));
}
