// GoldRush as a second source of balances and prices: one request per chain, never a source of the snapshot itself.
import { findChainById } from "../../chain/chains/chains.ts";
import type { Decimal } from "../../lib/decimal.ts";
import { asAddress, type Hex } from "../../lib/hex.ts";
import { isJsonObject, type JsonObject, parseExactDecimal } from "../../lib/json.ts";
import { createRemoteEndpoint } from "../../lib/remote-endpoint.ts";
import { Secret } from "../../lib/secret.ts";
import { parseVendorTime, sendVendorRequest, VendorError } from "../vendor-request.ts";
import type { CrossCheckSource, SecondHolding, SecondOpinion } from "./cross-check.ts";

type GoldRushOptions = {
  readonly key: Secret<string>;
  readonly baseUrl?: string;
  readonly timeoutMs?: number;
};

const BASE_URL = "https://api.covalenthq.com";
const TIMEOUT_MS = 8_000;
// Enough for a wallet to which others have sent thousands of tokens; each takes about a kilobyte.
const RESPONSE_BYTES_MAX = 8 * 1024 * 1024;
// 2^256 has 78 digits.
const BALANCE_PATTERN = /^\d{1,78}$/;

export function createGoldRush(options: GoldRushOptions): CrossCheckSource {
  const { key, baseUrl = BASE_URL, timeoutMs = TIMEOUT_MS } = options;
  const endpoint = createRemoteEndpoint(new Secret(baseUrl), { secrets: [key] });
  return {
    name: "goldrush",
    async read({ at: { chain }, wallet }, signal) {
      const name = findChainById(chain.chainId)?.vendorNames?.goldRush;
      if (name === undefined) throw new VendorError("permanent", `GoldRush does not serve ${chain.name}.`);
      const path = `/v1/${name}/address/${wallet}/balances_v2/?quote-currency=USD&nft=false`;
      const headers = { authorization: `Bearer ${key.reveal()}` };
      const limits = { timeoutMs, responseBytesMax: RESPONSE_BYTES_MAX };
      const payload = await sendVendorRequest({ endpoint, path, headers, ...limits }, signal);
      return parseResponse(payload, { wallet, chainId: chain.chainId });
    },
  };
}

function parseResponse(
  payload: unknown,
  { wallet, chainId }: { readonly wallet: Hex; readonly chainId: number },
): SecondOpinion {
  const data = isJsonObject(payload) && payload.error !== true ? payload.data : undefined;
  if (!isJsonObject(data) || !Array.isArray(data.items)) throw invalidResponse("has no balances");
  const { address, chain_id, updated_at, items } = data;
  // A response for another wallet would be reported as hundreds of differences.
  if (typeof address !== "string" || address.toLowerCase() !== wallet || chain_id !== String(chainId)) {
    throw invalidResponse("is about another wallet or chain");
  }
  const updatedMs = parseVendorTime(updated_at);
  return {
    holdings: items.filter(isFungible).map(parseItem),
    updatedAt: updatedMs === null ? null : new Date(updatedMs).toISOString(),
  };
}

function isFungible(item: unknown): boolean {
  if (!isJsonObject(item)) return true;
  const standards = Array.isArray(item.supports_erc) ? item.supports_erc : [];
  return item.type !== "nft" && !standards.includes("erc721") && !standards.includes("erc1155");
}

function parseItem(item: unknown): SecondHolding {
  if (!isJsonObject(item)) throw invalidResponse("has an entry that is not an object");
  const contract = asAddress(item.contract_address);
  if (contract === null) throw invalidResponse("has an entry without an address");
  const { balance } = item;
  if (typeof balance !== "string" || !BALANCE_PATTERN.test(balance)) {
    throw invalidResponse("has an entry without a balance");
  }
  return {
    contract: item.native_token === true ? null : contract,
    rawBalance: BigInt(balance),
    priceUsd: parsePrice(item),
    isSpam: item.is_spam === true,
  };
}

/** Zero stands for a price that the vendor does not know. */
function parsePrice({ quote_rate }: JsonObject): Decimal | null {
  const price = parseExactDecimal(quote_rate);
  return price === null || price.units <= 0n ? null : price;
}

function invalidResponse(what: string): VendorError {
  return new VendorError("permanent", `The response ${what}.`);
}
