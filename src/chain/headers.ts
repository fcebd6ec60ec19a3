// Block headers, read by number, tag or hash, and checked to be the requested block.
import type { Hex } from "../lib/hex.ts";
import type { JsonObject } from "../lib/json.ts";
import type { BlockHeader } from "../schema/chain-log.ts";
import { malformedResponse, missingResult } from "./rpc/errors.ts";
import {
  readBigQuantity,
  readBloom,
  readHash,
  readObject,
  readQuantity,
  toQuantity,
} from "./rpc/hex-values.ts";
import { type Rpc, type RpcCall, type RpcCallOptions, unwrapResults } from "./rpc/types.ts";

type BlockTag = "latest" | "safe" | "finalized" | "earliest";

// The last second that a date of JavaScript has. PostgreSQL has later ones.
const SECONDS_MAX = 8_640_000_000_000;

/** In seconds; a date of JavaScript can be made of it. */
export function readBlockTime(value: unknown): number {
  const seconds = readQuantity(value, "the block timestamp");
  if (seconds > SECONDS_MAX) throw malformedResponse(`the block timestamp ${seconds} is beyond any date`);
  return seconds;
}

function parseHeader(block: JsonObject): BlockHeader {
  return {
    number: readQuantity(block.number, "the block number"),
    hash: readHash(block.hash, "the block hash"),
    parentHash: readHash(block.parentHash, "the parent hash"),
    timestamp: readBlockTime(block.timestamp),
    logsBloom: readBloom(block.logsBloom, "the logs bloom"),
  };
}

/** Reads one block, which must be the requested one, and what `parse` takes of it. */
function blockCall<T>(at: BlockTag | number | Hex, parse: (block: JsonObject) => T): RpcCall<T> {
  const isHash = typeof at === "string" && at.startsWith("0x");
  return {
    method: isHash ? "eth_getBlockByHash" : "eth_getBlockByNumber",
    params: [typeof at === "number" ? toQuantity(at) : at, false],
    parse: (result) => {
      if (result === null) throw missingResult(`block ${at} not found`);
      const block = readObject(result, "the block");
      const found = isHash
        ? readHash(block.hash, "the block hash")
        : readQuantity(block.number, "the block number");
      if ((isHash || typeof at === "number") && found !== at) {
        throw malformedResponse(`requested block ${at}, got block ${found}`);
      }
      return parse(block);
    },
  };
}

/** The call that reads one header; for callers that put it into a batch of their own. */
export const headerCall = (at: BlockTag | number): RpcCall<BlockHeader> => blockCall(at, parseHeader);

/** All fields of a block as the node sends them, for a caller that computes its hash. */
export const wholeHeaderCall = (at: number | Hex): RpcCall<JsonObject> => blockCall(at, (block) => block);

/** The header under a number; missing when a reorg has put another block there than the one with this hash. */
export function canonicalHeaderCall(number: number, hash: Hex): RpcCall<BlockHeader> {
  const call = headerCall(number);
  return {
    ...call,
    parse: (result) => {
      const header = call.parse(result);
      if (header.hash !== hash) throw missingResult(`block ${hash} is not part of the chain`);
      return header;
    },
  };
}

/** The base fee of a block, which the index does not need; null before EIP-1559. */
export function baseFeeCall(hash: Hex): RpcCall<bigint | null> {
  return blockCall(hash, ({ baseFeePerGas }) =>
    baseFeePerGas === undefined ? null : readBigQuantity(baseFeePerGas, "the base fee"),
  );
}

/** Throws BLOCK_MISSING, which may be retried, when no node has the block. */
export async function readHeader(
  rpc: Rpc,
  at: BlockTag | number,
  options: RpcCallOptions = {},
): Promise<BlockHeader> {
  return rpc.request(headerCall(at), options);
}

export async function readHeaderByHash(
  rpc: Rpc,
  hash: Hex,
  options: RpcCallOptions = {},
): Promise<BlockHeader> {
  return rpc.request(blockCall(hash, parseHeader), options);
}

/**
 * Headers in the order of the numbers, from one provider. Neighbours must be linked by hash: a wrong hash, or a
 * reorg between two responses, shows as a broken link, and the whole group is read again.
 */
export async function readHeaders(
  rpc: Rpc,
  numbers: readonly number[],
  options: RpcCallOptions = {},
): Promise<BlockHeader[]> {
  if (numbers.length === 0) return [];
  return rpc.pinned(async (node) => {
    const headers = unwrapResults(await node.batch(numbers.map(headerCall), options));
    assertLinked(headers);
    return headers;
  }, options);
}

function assertLinked(headers: readonly BlockHeader[]): void {
  const byNumber = new Map(headers.map((header) => [header.number, header]));
  for (const header of headers) {
    const parent = byNumber.get(header.number - 1);
    if (parent && parent.hash !== header.parentHash) {
      throw malformedResponse(`block ${header.number} does not name block ${parent.number} as its parent`);
    }
    if (byNumber.get(header.number)?.hash !== header.hash) {
      throw malformedResponse(`block ${header.number} was reported with two hashes`);
    }
  }
}
