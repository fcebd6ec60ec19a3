// A history as a node stores it: blocks, logs and transactions as the JSON text of its responses.
import type { Hex } from "../../src/lib/hex.ts";
import { createBloomBuilder, EMPTY_BLOOM } from "./bloom.ts";
import { logPositionOf } from "./derived-values.ts";
import {
  generateHistory,
  type HistoryBlock,
  type HistoryChain,
  type HistoryOptions,
  historyChain,
} from "./history.ts";
import { createSegments, type Segments } from "./segments.ts";

export type ServedHistory = {
  readonly chain: HistoryChain;
  readonly events: number;
  readonly head: number;
  readonly bytes: number;
  /** The newest final block, for a node that is asked for it. */
  readFinalized(): number;
  /** Parts of a JSON object; null for a block that is not there. */
  block(number: number): Buffer[] | null;
  /** Parts of a JSON list without its brackets: the logs of the deployment's contracts, or those of anybody else. */
  logs(emitters: "contracts" | "others", fromBlock: number, toBlock: number): Buffer[];
  transaction(hash: string): Buffer[] | null;
};

// Further fields of a real header: they have to be sent and parsed all the same.
const HEADER_REST = [
  ...["sha3Uncles", "stateRoot", "receiptsRoot", "transactionsRoot", "mixHash", "withdrawalsRoot"].map(
    (name) => `"${name}":"0x${"5e".repeat(32)}"`,
  ),
  `"miner":"0x4200000000000000000000000000000000000011","difficulty":"0x0","extraData":"0x","nonce":"0x0000000000000000"`,
  `"gasLimit":"0x3938700","gasUsed":"0x1c9c380","baseFeePerGas":"0x3b9aca00","size":"0x2710","uncles":[],"withdrawals":[]`,
].join(",");

const quantity = (value: number): string => `"0x${value.toString(16)}"`;

/** The blocks from `start` up to, but not including, `end`, as text. */
export type HistoryPart = Record<"blocks" | "ownLogs" | "otherLogs" | "transactions", Segments> & {
  /** For each block since the first one: which piece of `transactions` is the block's first. */
  readonly firstTransactions: readonly number[];
  readonly events: number;
  readonly start: number;
  readonly end: number;
};

type PartOptions = {
  readonly start: number;
  /** Ends with the first whole block that reaches so many events. */
  readonly eventsMax: number;
  /** Called after each block that has events. */
  readonly progress: (events: number) => void;
};

/** Writes the next blocks of a history as text; null at its end. */
export function writeHistoryPart(
  chain: HistoryChain,
  history: Iterator<HistoryBlock, void, void>,
  { start, eventsMax, progress }: PartOptions,
): HistoryPart | null {
  const own = new Set<string>(Object.values(chain.deployment.contracts));
  const bloomOf = createBloomBuilder();
  const [blocks, ownLogs, otherLogs, transactions] = [
    createSegments(),
    createSegments(),
    createSegments(),
    createSegments(),
  ];
  const firstTransactions: number[] = [];
  let events = 0;
  let number = start;

  const addBlock = (bloom: Hex, hashes: readonly Hex[], logs: { own: string[]; others: string[] }): void => {
    blocks.append(blockText(chain, number, bloom, hashes));
    // A comma before all but the first makes any run of blocks a list once its first character is gone.
    ownLogs.append(logs.own.map((text) => `,${text}`).join(""));
    otherLogs.append(logs.others.map((text) => `,${text}`).join(""));
    number += 1;
  };

  while (events < eventsMax) {
    const next = history.next();
    if (next.done) break;
    const block = next.value;
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
  if (events === 0) return null;
  firstTransactions.push(transactions.count);
  return { blocks, ownLogs, otherLogs, transactions, firstTransactions, events, start, end: number };
}

/** Calls `progress` now and then while it is made. */
export function serveHistory(options: HistoryOptions, progress: (events: number) => void): ServedHistory {
  const chain = historyChain(options.seed);
  const { startBlock } = chain.deployment;
  const eventsMax = Number.POSITIVE_INFINITY;
  const part = writeHistoryPart(chain, generateHistory(options), { start: startBlock, eventsMax, progress });
  if (part === null) throw new Error("the history has no events");
  const head = part.end - 1;
  const { blocks, ownLogs, otherLogs, transactions, events } = part;
  const bytes = blocks.bytes + ownLogs.bytes + otherLogs.bytes + transactions.bytes;
  return { chain, events, head, bytes, readFinalized: () => head, ...serveParts(chain, () => [part]) };
}

/** The reads of a node in parts that follow one another. */
export function serveParts(
  chain: HistoryChain,
  partsOf: () => readonly HistoryPart[],
): Pick<ServedHistory, "block" | "logs" | "transaction"> {
  const partAt = (block: number) => partsOf().find(({ start, end }) => block >= start && block < end);
  return {
    block(wanted) {
      const part = partAt(wanted);
      if (part) return part.blocks.run(wanted - part.start, wanted - part.start + 1);
      if (wanted >= chain.deployment.startBlock || wanted < 0) return null;
      return [Buffer.from(blockText(chain, wanted, EMPTY_BLOOM, []))];
    },
    logs(emitters, fromBlock, toBlock) {
      const [first, ...rest] = partsOf().flatMap(({ start, end, ownLogs, otherLogs }) =>
        (emitters === "contracts" ? ownLogs : otherLogs).run(
          Math.max(0, fromBlock - start),
          Math.max(0, Math.min(toBlock + 1, end) - start),
        ),
      );
      return first ? [first.subarray(1), ...rest] : [];
    },
    transaction(hash) {
      const { block, index } = logPositionOf(hash);
      const part = partAt(block);
      const first = part?.firstTransactions[block - part.start];
      if (!part || first === undefined) return null;
      if (first + index >= (part.firstTransactions[block - part.start + 1] ?? 0)) return null;
      return part.transactions.run(first + index, first + index + 1);
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
