// x-min-block and min_block: a client that knows of a block reads what the index says once it has that block.
import { parseUint } from "../../lib/decimal.ts";
import { type Parameter, uintParameter } from "../../schema/parameter.ts";
import { BLOCK_MAX, type MinBlock } from "../../schema/reads/read.ts";
import type { BlockWaiters } from "../block-waiters.ts";
import type { RouteRequest } from "../internal-requests.ts";

export const MIN_BLOCK_HEADER = "x-min-block";
const MIN_BLOCK_KEY = "min_block";

const kind = uintParameter(BLOCK_MAX);

/** As every operation describes them that reads the index. */
export const minBlockParameters: readonly Parameter[] = [
  {
    name: MIN_BLOCK_KEY,
    in: "query",
    required: false,
    kind,
    description:
      "Wait until this block is indexed, such as the block of your transaction's receipt; after a few seconds 503.",
  },
  {
    name: MIN_BLOCK_HEADER,
    in: "header",
    required: false,
    kind,
    description: "The same as min_block. Of both, the larger number counts.",
  },
];

/** The larger of both; null without either. Throws a Fault if one is not a block number. */
export function readMinBlock(
  headers: Readonly<Record<string, string | readonly string[] | undefined>>,
  query: ReadonlyMap<string, string>,
): MinBlock {
  const header = headers[MIN_BLOCK_HEADER];
  const key = query.get(MIN_BLOCK_KEY);
  if (header === undefined && key === undefined) return null;
  const given = [
    ...(header === undefined ? [] : [parseUint([header].flat().join(", "), MIN_BLOCK_HEADER, BLOCK_MAX)]),
    ...(key === undefined ? [] : [parseUint(key, MIN_BLOCK_KEY, BLOCK_MAX)]),
  ];
  return given.reduce((larger, each) => (each > larger ? each : larger));
}

/** Runs `attempt` once the index has the block, unless the client leaves before. */
export async function withMinBlock<T>(
  waiters: BlockWaiters,
  { request, minBlock }: { readonly request: RouteRequest; readonly minBlock: MinBlock },
  attempt: () => Promise<T>,
): Promise<T> {
  const left = new AbortController();
  const leave = () => left.abort();
  // Listens on the connection: a request itself counts as closed once its body is read. Requests may be pipelined, so
  // that one connection has as many listeners as its client may have waiters.
  const { socket } = request.raw;
  socket.setMaxListeners(0);
  socket.once("close", leave);
  if (socket.destroyed) leave();
  try {
    return await waiters.run({ minBlock, client: request.client, signal: left.signal }, attempt);
  } finally {
    socket.removeListener("close", leave);
  }
}
