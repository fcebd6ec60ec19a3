// A wallet's newest transactions: its sent and received transfers merged, one entry per transaction.
import type { Hex } from "../../../lib/hex.ts";
import { isJsonObject } from "../../../lib/json.ts";
import { ACTIVITY_MAX, type WalletActivity } from "../../types.ts";
import { VendorError } from "../../vendor-request.ts";
import type { AlchemyClient } from "./client.ts";

type AlchemyActivityQuery = {
  readonly wallet: Hex;
  readonly network: string;
  readonly blockNumber: number;
};

// A transaction may have many transfers; a few pages are enough to find ACTIVITY_MAX transactions.
const TRANSFERS_PER_PAGE = 100;
const PAGES_MAX = 3;
// Without internal transfers: only some chains have them, and requesting them elsewhere is an error.
const CATEGORIES = ["external", "erc20", "erc721", "erc1155"];

type Transfer = WalletActivity & { readonly blockNumber: number; readonly external: boolean };

export async function readAlchemyActivity(
  client: AlchemyClient,
  query: AlchemyActivityQuery,
  signal: AbortSignal,
): Promise<readonly WalletActivity[]> {
  const sides = await Promise.all([
    readSide(client, query, "fromAddress", signal),
    readSide(client, query, "toAddress", signal),
  ]);
  const byHash = new Map<Hex, Transfer>();
  for (const transfer of sides.flat()) {
    const known = byHash.get(transfer.hash);
    // The external transfer has the transaction's own sender and receiver; other transfers those of a token.
    if (known === undefined || (transfer.external && !known.external)) byHash.set(transfer.hash, transfer);
  }
  return [...byHash.values()]
    .sort((a, b) => b.blockNumber - a.blockNumber)
    .slice(0, ACTIVITY_MAX)
    .map(({ external: _, ...activity }) => activity);
}

async function readSide(
  client: AlchemyClient,
  { wallet, network, blockNumber }: AlchemyActivityQuery,
  side: "fromAddress" | "toAddress",
  signal: AbortSignal,
): Promise<readonly Transfer[]> {
  const transfers: Transfer[] = [];
  let pageKey: string | null = null;
  for (let pages = 0; pages < PAGES_MAX; pages += 1) {
    const filter = {
      fromBlock: "0x0",
      toBlock: `0x${blockNumber.toString(16)}`,
      [side]: wallet,
      category: CATEGORIES,
      order: "desc",
      withMetadata: true,
      excludeZeroValue: false,
      maxCount: `0x${TRANSFERS_PER_PAGE.toString(16)}`,
      ...(pageKey === null ? {} : { pageKey }),
    };
    const page: TransferPage = await client.callRpc(
      network,
      "alchemy_getAssetTransfers",
      [filter],
      parseTransferPage,
      signal,
    );
    transfers.push(...page.transfers);
    const distinct = new Set(transfers.map(({ hash }) => hash)).size;
    if (page.next === null || page.next === pageKey || distinct >= ACTIVITY_MAX) break;
    pageKey = page.next;
  }
  return transfers;
}

type TransferPage = { readonly transfers: readonly Transfer[]; readonly next: string | null };

function parseTransferPage(result: unknown): TransferPage {
  if (!isJsonObject(result) || !Array.isArray(result.transfers)) {
    throw new VendorError("transient", "The response has no list of transfers.");
  }
  // The last page has no key or an empty one.
  const next = typeof result.pageKey === "string" && result.pageKey !== "" ? result.pageKey : null;
  return { transfers: result.transfers.map(parseTransfer), next };
}

function parseTransfer(transfer: unknown): Transfer {
  if (!isJsonObject(transfer)) throw invalidTransfer();
  const { hash, blockNum, from, to, category, metadata } = transfer;
  if (typeof hash !== "string" || !/^0x[0-9a-fA-F]{64}$/.test(hash)) throw invalidTransfer();
  if (typeof blockNum !== "string" || !/^0x[0-9a-fA-F]{1,12}$/.test(blockNum)) throw invalidTransfer();
  return {
    hash: hash.toLowerCase() as Hex,
    from: parseAddressOrNull(from),
    to: parseAddressOrNull(to),
    blockNumber: Number(blockNum),
    timestamp: isJsonObject(metadata) ? parseTime(metadata.blockTimestamp) : null,
    external: category === "external",
  };
}

function parseAddressOrNull(value: unknown): Hex | null {
  return typeof value === "string" && /^0x[0-9a-fA-F]{40}$/.test(value) ? (value.toLowerCase() as Hex) : null;
}

function parseTime(value: unknown): number | null {
  const ms = typeof value === "string" ? Date.parse(value) : Number.NaN;
  return Number.isNaN(ms) ? null : Math.floor(ms / 1_000);
}

function invalidTransfer(): VendorError {
  return new VendorError("transient", "The response has a transfer without a valid hash or block.");
}
