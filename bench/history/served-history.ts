// A history as a node stores it: blocks, logs and transactions as the JSON text of its responses.
import type { Hex } from "../../src/lib/hex.ts";
import { createBloomBuilder, EMPTY_BLOOM } from "./bloom.ts";
import { logPositionOf } from "./derived-values.ts";
import { generateHistory, type HistoryChain, type HistoryOptions, historyChain } from "./history.ts";
import { createSegments, type Segments } from "./segments.ts";

export type ServedHistory = {
  readonly chain: HistoryChain;
  readonly events: number;
  readonly head: number;
  readonly bytes: number;
  /** Parts of a JSON object; null for a block that is not there. */
  block(number: number): Buffer[] | null;
  /** Parts of a JSON list without its brackets: the logs of the deployment's contracts, or those of anybody else. */
  logs(emitters: "contracts" | "others", fromBlock: number, toBlock: number): Buffer[];
  transaction(hash: string): Buffer[] | null;
};

// What a real header carries beside the fields that matter here: it has to be sent and parsed all the same.
const HEADER_REST = [
  ...["sha3Uncles", "stateRoot", "receiptsRoot", "transactionsRoot", "mixHash", "withdrawalsRoot"].map(
    (name) => `"${name}":"0x${"5e".repeat(32)}"`,
  ),
  `"miner":"0x4200000000000000000000000000000000000011","difficulty":"0x0","extraData":"0x","nonce":"0x0000000000000000"`,
  `"gasLimit":"0x3938700","gasUsed":"0x1c9c380","baseFeePerGas":"0x3b9aca00","size":"0x2710","uncles":[],"withdrawals":[]`,
].join(",");

const quantity = (value: number): string => `"0x${value.toString(16)}"`;

type WrittenHistory = Record<"blocks" | "ownLogs" | "otherLogs" | "transactions", Segments> & {
  /** By block since the first one: which piece of `transactions` is the block's first. */
  readonly firstTransactions: readonly number[];
  readonly events: number;
  /** The number after the last block's. */
  readonly end: number;
};

/** Writes every block of a history as text; calls `progress` after each that has events. */
function writeHistory(
  chain: HistoryChain,
  options: HistoryOptions,
  progress: (events: number) => void,
): WrittenHistory {
  const { startBlock, contracts } = chain.deployment;
  const own = new Set<string>(Object.values(contracts));
  const bloomOf = createBloomBuilder();
  const [blocks, ownLogs, otherLogs, transactions] = [
    createSegments(),
    createSegments(),
    createSegments(),
    createSegments(),
  ];
  const firstTransactions: number[] = [];
  let events = 0;
  let number = startBlock;

  const addBlock = (bloom: Hex, hashes: readonly Hex[], logs: { own: string[]; others: string[] }): void => {
    blocks.append(blockText(chain, number, bloom, hashes));
    // A comma before all but the first makes any run of blocks a list once its first character is gone.
    ownLogs.append(logs.own.map((text) => `,${text}`).join(""));
    otherLogs.append(logs.others.map((text) => `,${text}`).join(""));
    number += 1;
  };

  for (const block of generateHistory(options)) {
    while (number < block.number) {
      firstTransactions.push(transactions.count);
      addBlock(EMPTY_BLOOM, [], { own: [], others: [] });
    }
    firstTransactions.push(transactions.count);
    const logs: { own: string[]; others: string[] } = { own: [], others: [] };
    let logIndex = 0;
    for (const [index, { hash, call, logs: emitted }] of block.transactions.entries()) {
      const place = `"transactionHash":"${hash}","transactionIndex":${quantity(index)},${placeText(chain, number)}`;
      transactions.append(transactionText(hash, call, place));
      for (const { address, topics, data } of emitted) {
        const text = `{"address":"${address}","topics":["${topics.join('","')}"],"data":"${data}",${place},"logIndex":${quantity(logIndex)},"blockTimestamp":${quantity(chain.timestampOf(number))},"removed":false}`;
        (own.has(address) ? logs.own : logs.others).push(text);
        logIndex += 1;
      }
    }
    events += logIndex;
    addBlock(
      bloomOf(block.transactions.flatMap((each) => each.logs)),
      block.transactions.map(({ hash }) => hash),
      logs,
    );
    progress(events);
  }
  firstTransactions.push(transactions.count);
  return { blocks, ownLogs, otherLogs, transactions, firstTransactions, events, end: number };
}

/** Calls `progress` now and then while it is made. */
export function serveHistory(options: HistoryOptions, progress: (events: number) => void): ServedHistory {
  const chain = historyChain(options.seed);
  const { startBlock } = chain.deployment;
  const { end, events, firstTransactions, ...written } = writeHistory(chain, options, progress);
  const { blocks, ownLogs, otherLogs, transactions } = written;
  const at = (block: number) => Math.max(0, block - startBlock);
  return {
    chain,
    events,
    head: end - 1,
    bytes: blocks.bytes + ownLogs.bytes + otherLogs.bytes + transactions.bytes,
    block(wanted) {
      if (wanted >= end || wanted < 0) return null;
      if (wanted >= startBlock) return blocks.run(at(wanted), at(wanted) + 1);
      return [Buffer.from(blockText(chain, wanted, EMPTY_BLOOM, []))];
    },
    logs(emitters, fromBlock, toBlock) {
      const [first, ...rest] = (emitters === "contracts" ? ownLogs : otherLogs).run(
        at(fromBlock),
        at(Math.min(toBlock, end - 1) + 1),
      );
      return first ? [first.subarray(1), ...rest] : [];
    },
    transaction(hash) {
      const { block, index } = logPositionOf(hash);
      const first = firstTransactions[block - startBlock];
      if (first === undefined || first + index >= (firstTransactions[block - startBlock + 1] ?? 0))
        return null;
      return transactions.run(first + index, first + index + 1);
    },
  };
}

function placeText(chain: HistoryChain, number: number): string {
  return `"blockHash":"${chain.hashOf(number)}","blockNumber":${quantity(number)}`;
}

function blockText(chain: HistoryChain, number: number, bloom: Hex, hashes: readonly Hex[]): string {
  const parent = number === 0 ? `0x${"00".repeat(32)}` : chain.hashOf(number - 1);
  const list = hashes.map((hash) => `"${hash}"`).join(",");
  return `{"number":${quantity(number)},"hash":"${chain.hashOf(number)}","parentHash":"${parent}","timestamp":${quantity(chain.timestampOf(number))},"logsBloom":"${bloom}",${HEADER_REST},"transactions":[${list}]}`;
}

// A bundle goes through an unrelated contract, whose address and calldata do not matter.
const BUNDLER = { from: `0x${"b0".repeat(20)}`, to: `0x${"b1".repeat(20)}`, input: "0x" };

function transactionText(
  hash: Hex,
  call: { from: string; to: string; input: string } | null,
  place: string,
): string {
  const { from, to, input } = call ?? BUNDLER;
  return `{"hash":"${hash}","from":"${from}","to":"${to}","input":"${input}","value":"0x0","nonce":"0x1","gas":"0x7a120","gasPrice":"0x3b9aca00","type":"0x2","chainId":"0x7a69","v":"0x0","r":"0x1","s":"0x1",${place}}`;
}
