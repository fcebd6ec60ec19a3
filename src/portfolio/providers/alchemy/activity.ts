// A wallet's newest transactions from Alchemy: what it sent and what it received merged, one entry per transaction.
import { asAddress, type Hex } from "../../../lib/hex.ts";
import { isJsonObject } from "../../../lib/json.ts";
import { ACTIVITY_MAX } from "../../../schema/portfolio/snapshot.ts";
import { type ChainConfig, isListed, type WalletActivity } from "../../types.ts";
import { parseVendorQuantity, parseVendorTime, VendorError } from "../../vendor-request.ts";
import { findLookalikes, getCounterparty, keepNewest } from "../activity.ts";
import type { AlchemyClient } from "./client.ts";

type AlchemyActivityQuery = {
  readonly wallet: Hex;
  readonly network: string;
  readonly chain: ChainConfig;
  readonly blockNumber: number;
};

// A transaction may have many transfers; a few pages are enough to find ACTIVITY_MAX transactions.
const TRANSFERS_PER_PAGE = 100;
const PAGES_MAX = 3;
// Without collectibles, which are on no list, and without internal transfers: only some chains have them, and
// requesting them elsewhere is an error.
const CATEGORIES = ["external", "erc20"];

type Transfer = Omit<WalletActivity, "transfer"> & {
  readonly blockNumber: number;
  /** The transaction itself, not a token that moved in it: its `from` signed it. */
  readonly external: boolean;
  readonly contract: Hex | null;
  /** Null when the vendor does not say. */
  readonly amount: bigint | null;
};

/** The sender of a transaction of which only token transfers are known is null. */
export async function readAlchemyActivity(
  client: AlchemyClient,
  query: AlchemyActivityQuery,
  signal: AbortSignal,
): Promise<readonly WalletActivity[]> {
  const sides = await Promise.all(
    (["fromAddress", "toAddress"] as const).map((side) => readSide(client, query, side, signal)),
  );
  const transfers = sides.flat().filter((transfer) => isShownActivity(query, transfer));
  const lookalikes = findLookalikes(query.wallet, transfers);
  const byHash = new Map<Hex, Transfer>();
  for (const transfer of transfers) {
    const known = byHash.get(transfer.hash);
    // The external transfer has the transaction's own sender and receiver; other transfers those of a token.
    if (known === undefined || (transfer.external && !known.external)) byHash.set(transfer.hash, transfer);
  }
  const newestFirst = [...byHash.values()]
    .sort((a, b) => b.blockNumber - a.blockNumber)
    .map(({ external: _external, contract, amount, ...activity }) => {
      const counterparty = getCounterparty(query.wallet, activity);
      return {
        ...activity,
        // A call of a contract moves nothing itself.
        transfer: amount === null || amount === 0n ? null : { contract, rawAmount: amount },
        lookalike: counterparty !== null && lookalikes.has(counterparty),
      };
    });
  return keepNewest(query.wallet, newestFirst);
}

/**
 * Transactions that the wallet signed, and amounts of the native coin or of a listed token that moved. These cannot be
 * forged.
 */
function isShownActivity({ wallet, chain }: AlchemyActivityQuery, transfer: Transfer): boolean {
  const { external, from, contract, amount } = transfer;
  if (external && from === wallet) return true;
  if (amount === null || amount === 0n) return false;
  return external || (contract !== null && isListed(chain, { contract }));
}

async function readSide(
  client: AlchemyClient,
  query: AlchemyActivityQuery,
  side: "fromAddress" | "toAddress",
  signal: AbortSignal,
): Promise<readonly Transfer[]> {
  const { wallet, network, blockNumber } = query;
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
    const method = "alchemy_getAssetTransfers";
    const page: TransferPage = await client.callRpc(network, method, [filter], parseTransferPage, signal);
    transfers.push(...page.transfers);
    const own = transfers.filter((transfer) => isShownActivity(query, transfer));
    const distinct = new Set(own.map(({ hash }) => hash)).size;
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
  const { hash, blockNum, from, to, category, metadata, rawContract } = transfer;
  if (typeof hash !== "string" || !/^0x[0-9a-fA-F]{64}$/.test(hash)) throw invalidTransfer();
  if (typeof blockNum !== "string" || !/^0x[0-9a-fA-F]{1,12}$/.test(blockNum)) throw invalidTransfer();
  const external = category === "external";
  const { address, value } = isJsonObject(rawContract) ? rawContract : {};
  const ms = isJsonObject(metadata) ? parseVendorTime(metadata.blockTimestamp) : null;
  return {
    hash: hash.toLowerCase() as Hex,
    sender: external ? asAddress(from) : null,
    from: asAddress(from),
    to: asAddress(to),
    lookalike: false,
    blockNumber: Number(blockNum),
    timestamp: ms === null ? null : Math.floor(ms / 1_000),
    external,
    contract: asAddress(address),
    amount: parseVendorQuantity(value),
  };
}

function invalidTransfer(): VendorError {
  return new VendorError("transient", "The response has a transfer without a valid hash or block.");
}
