// Finds the Uniswap v4 NFTs that a wallet owns: the manager does not list them, so their ids come from its Transfer logs.
import { Fault } from "../../../lib/fault.ts";
import type { PinnedChain } from "../../types.ts";
import type { PositionRead } from "../position-read.ts";
import { managerCalls, type UniswapV4Market } from "./contracts.ts";

// Logs of one contract and one receiver are few: many nodes search all blocks at once, others allow some thousand.
const REQUESTS_MAX = 16;
const SHRINK_BY = 8;
const GROW_BY = 2;
/** Positions have five seconds in all. */
const TIME_MS_MAX = 3_000;
/** A block time is an average. */
const AGE_MARGIN_PERCENT = 110;
/** Ids that are checked for their owner; anyone may have sent any number of NFTs. */
const IDS_MAX = 1_000;

/** Newest first, with a warning if some were not found. */
export async function findOwnedNfts(run: PositionRead, market: UniswapV4Market): Promise<readonly bigint[]> {
  const { wallet, chain } = run;
  const { manager } = market;
  const count = await run.ask(managerCalls.balanceOf(manager, [wallet]));
  if (count === null) {
    run.incompleteContracts.add(manager);
    run.warn(`The number of Uniswap v4 positions on ${chain} could not be read; they are missing.`);
    return [];
  }
  if (count === 0n) return [];
  const search = new NftSearch(run, market);
  // The transfers that are known anyway may show all of them.
  const { transfers } = await run.withTokens();
  const received = transfers.filter(({ contract, to }) => contract === manager && to === wallet);
  await search.check(received.flatMap(({ tokenId }) => tokenId ?? []));
  if (search.owned.length < count) await search.readLogs(count);
  const ids = [...search.owned].sort((a, b) => (a < b ? 1 : -1));
  const missing = count - BigInt(ids.length);
  if (missing > 0n) {
    const searched =
      search.fromBlock === null
        ? "the manager's transfers could not be read"
        : `its transfers were searched since block ${search.fromBlock}`;
    run.incompleteContracts.add(manager);
    run.warn(
      `${missing} of ${count} Uniswap v4 positions on ${chain} were not found and are missing: the manager does not list them, and ${searched}.`,
    );
  }
  return ids;
}

/** Reads the manager's logs backwards from the pinned block until all NFTs are found or the budget is used up. */
class NftSearch {
  readonly #run: PositionRead;
  readonly #market: UniswapV4Market;
  readonly #checked = new Set<bigint>();
  readonly owned: bigint[] = [];
  /** The oldest searched block; null before the first. */
  fromBlock: number | null = null;

  constructor(run: PositionRead, market: UniswapV4Market) {
    this.#run = run;
    this.#market = market;
  }

  /** Adds those that the wallet owns now: it may have given others away since. */
  async check(ids: readonly bigint[]): Promise<void> {
    const fresh = [...new Set(ids)].filter((id) => !this.#checked.has(id));
    const checked = fresh.slice(0, Math.max(0, IDS_MAX - this.#checked.size));
    for (const id of checked) this.#checked.add(id);
    const owners = await this.#run.askEach(checked, (id) => managerCalls.ownerOf(this.#market.manager, [id]));
    this.owned.push(...owners.flatMap(([id, owner]) => (owner === this.#run.wallet ? [id] : [])));
  }

  async readLogs(count: bigint): Promise<void> {
    const oldest = estimateFirstBlock(this.#run.at, this.#market);
    const deadline = AbortSignal.any([this.#run.signal, AbortSignal.timeout(TIME_MS_MAX)]);
    let toBlock = this.#run.at.block.number;
    let blocks = toBlock - oldest + 1;
    let rejectedBlocks = Number.POSITIVE_INFINITY;
    for (let requests = 0; requests < REQUESTS_MAX && toBlock >= oldest; requests += 1) {
      const fromBlock = Math.max(oldest, toBlock - blocks + 1);
      const received = await this.#readReceived(fromBlock, toBlock, deadline);
      if (received === "failed") return;
      if (received === "too large") {
        if (blocks === 1) return;
        rejectedBlocks = blocks;
        blocks = Math.ceil(blocks / SHRINK_BY);
        continue;
      }
      await this.check(received);
      this.fromBlock = fromBlock;
      if (this.owned.length >= count) return;
      toBlock = fromBlock - 1;
      if (blocks * GROW_BY < rejectedBlocks) blocks *= GROW_BY;
    }
  }

  /** Newest first. A failure ends the search: what was found until then is shown, and a warning says how far it came. */
  async #readReceived(
    fromBlock: number,
    toBlock: number,
    deadline: AbortSignal,
  ): Promise<readonly bigint[] | "too large" | "failed"> {
    const { at, wallet } = this.#run;
    const filter = { wallet, side: "to", fromBlock, toBlock, contract: this.#market.manager } as const;
    try {
      const logs = await at.transfers(filter, deadline);
      return logs.flatMap(({ tokenId }) => tokenId ?? []).reverse();
    } catch (error) {
      if (this.#run.signal.aborted) throw error;
      return error instanceof Fault && error.code === "LOGS_TOO_LARGE" ? "too large" : "failed";
    }
  }
}

function estimateFirstBlock({ block, chain }: PinnedChain, { deployedAt }: UniswapV4Market): number {
  const ageMs = (block.timestamp - deployedAt) * 1_000;
  return Math.max(0, block.number - Math.ceil((ageMs / chain.blockTimeMs / 100) * AGE_MARGIN_PERCENT));
}
