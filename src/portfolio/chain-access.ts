// A chain as the portfolio wants it, over the JSON-RPC client: everything is read at one block, named by its hash.

import { contractCall } from "../chain/contract-calls.ts";
import { canonicalHeaderCall, headerCall, readHeader } from "../chain/headers.ts";
import { type TokenTransfer, transfersCall } from "../chain/logs/transfers.ts";
import { readBigQuantity } from "../chain/rpc/hex-values.ts";
import { type Rpc, unwrapResults } from "../chain/rpc/types.ts";
import { createOverrideCaller } from "../chain/state-override.ts";
import { Fault } from "../lib/fault.ts";
import type { ChainConfig, PinnedBlock, PinnedChain, PortfolioChain, WalletTransferQuery } from "./types.ts";

// Enough for any single read of an honest protocol; a reader that needs more says so.
const READ_GAS_MAX = 10_000_000;

// Transfers are wanted soon or not at all: their caller can do without.
const TRANSFER_ATTEMPTS_MAX = 3;

export function createChainAccess(rpc: Rpc, chain: ChainConfig): PortfolioChain {
  const lending = createOverrideCaller(rpc);
  return {
    chain,
    async pin(signal) {
      const { number, hash, timestamp } = await readHeader(rpc, "latest", { signal });
      const block = { number, hash, timestamp };
      return {
        ...readsAt(rpc, chain, block),
        callWithOverride: (call, abort) => lending.callWithOverride(block, call, abort),
      };
    },
  };
}

function readsAt(rpc: Rpc, chain: ChainConfig, block: PinnedBlock): Omit<PinnedChain, "callWithOverride"> {
  const at = { blockHash: block.hash };
  return {
    chain,
    block,
    async read(calls, signal) {
      if (calls.length === 0) return [];
      const asked = calls.map(({ to, data, gasMax = READ_GAS_MAX }) =>
        contractCall({ to, data, gasMax, block: at }),
      );
      const answers = await rpc.batch(asked, { signal });
      return answers.map((answer) => {
        if ("ok" in answer) return answer.ok;
        // An answer that alone is over our size limit is the contract's doing: it costs nobody but the contract.
        if (answer.error.kind === "reverted" || answer.error.kind === "response-too-large") return null;
        throw answer.error;
      });
    },
    nativeBalance: (wallet, signal) =>
      rpc.request(
        {
          method: "eth_getBalance",
          params: [wallet, at],
          parse: (balance) => readBigQuantity(balance, "the balance"),
        },
        { signal },
      ),
    async transfers(question, signal) {
      requireWithin(block, question.toBlock);
      const found = await rpc.pinned((node) => readTransfers(node, block, question, signal), {
        signal,
        attemptsMax: TRANSFER_ATTEMPTS_MAX,
      });
      return found.map(({ log, from, to, isErc721 }) => ({
        contract: log.address,
        from,
        to,
        transactionHash: log.transactionHash,
        blockNumber: log.blockNumber,
        blockTimestamp: log.blockTimestamp,
        logIndex: log.logIndex,
        isErc721,
      }));
    },
    async timestamps(blocks, signal) {
      for (const number of blocks) requireWithin(block, number);
      const distinct = [...new Set(blocks)];
      const headers = unwrapResults(await rpc.batch(distinct.map(headerCall), { signal }));
      const byNumber = new Map(headers.map(({ number, timestamp }) => [number, timestamp]));
      return blocks.map((number) => byNumber.get(number) as number);
    },
  };
}

async function readTransfers(
  node: Rpc,
  block: PinnedBlock,
  question: WalletTransferQuery,
  signal: AbortSignal,
): Promise<readonly TokenTransfer[]> {
  // The header in the same batch shows that the node has the range: one that lags would answer with less.
  const [transfers, header] = await node.batch(
    [transfersCall(question), canonicalHeaderCall(block.number, block.hash)],
    { signal },
  );
  // A slow range and a slow node look the same; a smaller question is right for both.
  if ("error" in transfers && transfers.error.kind === "timeout") {
    throw new Fault("LOGS_TOO_LARGE", transfers.error.message, { cause: transfers.error });
  }
  const [found] = unwrapResults([transfers, header]);
  return found;
}

function requireWithin(block: PinnedBlock, number: number): void {
  if (number <= block.number) return;
  throw new Fault("INTERNAL", `Block ${number} lies above the pinned block ${block.number}.`);
}
