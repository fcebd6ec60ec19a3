// The newest transactions of a wallet: its transfers as sender and as receiver, merged, one entry per transaction.
import type { Hex } from "../../../lib/hex.ts";
import { isJsonObject, type JsonObject } from "../../../lib/json.ts";
import { ACTIVITY_MAX, type WalletActivity } from "../../types.ts";
import { VendorError } from "../../vendor-request.ts";
import type { AlchemyClient } from "./client.ts";

type ActivityQuestion = {
  readonly wallet: Hex;
  readonly network: string;
  readonly blockNumber: number;
};

// One transaction may hold many transfers; a few pages of them are enough to find that many transactions.
const TRANSFERS_PER_PAGE = 100;
const PAGES_MAX = 3;
// Internal transfers are left out: only some chains have them, and asking elsewhere is an error.
const CATEGORIES = ["external", "erc20", "erc721", "erc1155"];

type Transfer = WalletActivity & { readonly blockNumber: number; readonly external: boolean };

export async function readAlchemyActivity(
  client: AlchemyClient,
  question: ActivityQuestion,
  signal: AbortSignal,
): Promise<readonly WalletActivity[]> {
  const sides = await Promise.all([
    readSide(client, question, "fromAddress", signal),
    readSide(client, question, "toAddress", signal),
  ]);
  const byHash = new Map<Hex, Transfer>();
  for (const transfer of sides.flat()) {
    const known = byHash.get(transfer.hash);
    // The transaction itself says who sent it to whom; a transfer inside it only says who moved a token.
    if (known === undefined || (transfer.external && !known.external)) byHash.set(transfer.hash, transfer);
  }
  return [...byHash.values()]
    .sort((a, b) => b.blockNumber - a.blockNumber)
    .slice(0, ACTIVITY_MAX)
    .map(({ external: _, ...activity }) => activity);
}

async function readSide(
  client: AlchemyClient,
  { wallet, network, blockNumber }: ActivityQuestion,
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
      readTransferPage,
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

function readTransferPage(result: unknown): TransferPage {
  if (!isJsonObject(result) || !Array.isArray(result.transfers)) {
    throw new VendorError("unreliable", "The answer has no list of transfers.");
  }
  // The last page is marked by leaving the key out, or by an empty one.
  const next = typeof result.pageKey === "string" && result.pageKey !== "" ? result.pageKey : null;
  return { transfers: result.transfers.map(readTransfer), next };
}

function readTransfer(transfer: unknown): Transfer {
  const { hash, blockNum, from, to, category, metadata } = isJsonObject(transfer)
    ? transfer
    : ({} as JsonObject);
  if (typeof hash !== "string" || !/^0x[0-9a-fA-F]{64}$/.test(hash)) throw unreadable();
  if (typeof blockNum !== "string" || !/^0x[0-9a-fA-F]{1,12}$/.test(blockNum)) throw unreadable();
  return {
    hash: hash.toLowerCase() as Hex,
    from: readAddress(from),
    to: readAddress(to),
    blockNumber: Number(blockNum),
    timestamp: isJsonObject(metadata) ? readTime(metadata.blockTimestamp) : null,
    external: category === "external",
  };
}

function readAddress(value: unknown): Hex | null {
  return typeof value === "string" && /^0x[0-9a-fA-F]{40}$/.test(value) ? (value.toLowerCase() as Hex) : null;
}

function readTime(value: unknown): number | null {
  const ms = typeof value === "string" ? Date.parse(value) : Number.NaN;
  return Number.isNaN(ms) ? null : Math.floor(ms / 1_000);
}

function unreadable(): VendorError {
  return new VendorError("unreliable", "The answer has a transfer without a readable hash or block.");
}
