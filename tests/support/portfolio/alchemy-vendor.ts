// The provider `alchemy` against a local server that returns recorded pages, or what the test provides.
import { readFileSync } from "node:fs";
import { onTestFinished } from "vitest";
import type { Clock } from "../../../src/lib/clock.ts";
import type { Hex } from "../../../src/lib/hex.ts";
import { Secret } from "../../../src/lib/secret.ts";
import type { AlchemyOptions } from "../../../src/portfolio/providers/alchemy/client.ts";
import { createAlchemyProvider } from "../../../src/portfolio/providers/alchemy/provider.ts";
import type { PinnedChain } from "../../../src/portfolio/types.ts";
import { openFailingChain } from "../chain/recorded-chain.ts";
import { startVendorServer, type VendorRequest, type VendorResponse } from "../http/vendor-server.ts";
import { makeChainConfig } from "./portfolio-parts.ts";

export const ALCHEMY_KEY = "k3y/with+odd=chars";
export const ALCHEMY_WALLET = "0xd8da6bf26964af9d7eed9e03e53415d37aa96045";
export const NO_TRANSFERS = '{"jsonrpc":"2.0","id":1,"result":{"transfers":[]}}';

const FIXTURES = new URL("../../fixtures/alchemy/", import.meta.url);
const fixture = (name: string) => readFileSync(new URL(`${name}.json`, FIXTURES), "utf8");

export type AlchemyResponses = {
  readonly tokens?: (body: Record<string, unknown>, count: number) => VendorResponse;
  readonly transfers?: (filter: Record<string, unknown>) => VendorResponse;
};

/** The server stops with the test. */
export async function openAlchemyVendor(
  vendor: AlchemyResponses = {},
  options: Partial<AlchemyOptions> = {},
) {
  let tokenRequests = 0;
  const slept: number[] = [];
  const clock: Clock = { nowMs: () => 0, sleep: async (ms) => void slept.push(ms) };
  const server = await startVendorServer(({ path, body }: VendorRequest): VendorResponse => {
    const parsed = JSON.parse(body) as Record<string, unknown>;
    if (path.startsWith("/data/")) {
      tokenRequests += 1;
      return vendor.tokens?.(parsed, tokenRequests) ?? recordedTokens(parsed);
    }
    const [filter] = parsed.params as [Record<string, unknown>];
    return vendor.transfers?.(filter) ?? recordedTransfers(filter);
  });
  onTestFinished(() => server.stop());
  const urls = { dataUrl: server.url, rpcUrl: `${server.url}/{network}` };
  const provider = createAlchemyProvider({
    key: new Secret(ALCHEMY_KEY),
    onCall: null,
    ...urls,
    clock,
    ...options,
  });
  const read = (at = alchemyChain()) =>
    provider.read({ at, wallet: ALCHEMY_WALLET }, new AbortController().signal);
  return { server, slept, read, provider };
}

export function recordedTokens({ pageKey }: Record<string, unknown>): VendorResponse {
  return { text: fixture(pageKey === undefined ? "tokens-page-1" : "tokens-page-2") };
}

function recordedTransfers(filter: Record<string, unknown>): VendorResponse {
  return { text: fixture("fromAddress" in filter ? "transfers-from" : "transfers-to") };
}

/** Alchemy replaces the node, so the node may be down. */
export function alchemyChain(chainId = 8453): PinnedChain {
  const block = { number: 38_143_727, hash: `0x${"ab".repeat(32)}` as Hex, timestamp: 1_763_164_801 };
  return openFailingChain({ chain: makeChainConfig("base", chainId), block, calls: [] });
}
