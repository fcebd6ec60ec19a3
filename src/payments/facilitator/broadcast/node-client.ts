// The library's client over our own connection to the nodes.
import { createPublicClient, defineChain, type PublicClient } from "viem";
import type { Secret } from "../../../lib/secret.ts";
import { createViemTransport } from "./viem-client.ts";

const REQUEST_MS = 8_000;

export function createViemClient(
  chainId: number,
  urls: readonly Secret<string>[],
  options: { readonly pollMs: number; readonly onUnheard?: (error: unknown) => void },
): PublicClient {
  const { pollMs, onUnheard } = options;
  return createPublicClient({
    chain: defineChain({
      id: chainId,
      name: `chain ${chainId}`,
      nativeCurrency: { name: "Ether", symbol: "ETH", decimals: 18 },
      rpcUrls: { default: { http: [] } },
    }),
    transport: createViemTransport(urls, {
      timeoutMs: REQUEST_MS,
      ...(onUnheard ? { onNoResponse: onUnheard } : {}),
    }),
    pollingInterval: pollMs,
    cacheTime: 0,
  });
}
