// Failures as nodes and vendors really word them, and the kind each must be put into.
import { describe, expect, it } from "vitest";
import { classifyRpcError } from "./classify-error.ts";
import type { RangeHint, RpcFailureKind } from "./errors.ts";

type Row = readonly [
  who: string,
  kind: RpcFailureKind,
  code: number | null,
  message: string,
  more?: { status?: number; data?: unknown; method?: string; range?: Partial<RangeHint> },
];

const ROWS: readonly Row[] = [
  // Log queries that are too wide or too heavy.
  [
    "Alchemy size",
    "range-too-large",
    -32602,
    "Log response size exceeded. You can make eth_getLogs requests with up to a 2K block range and no limit on the response size, or you can request any block range with a cap of 10K logs in the response. Based on your parameters and the response size limit, this block range should work: [0xc5dc00, 0xc614a7]",
    { range: { fromBlock: 0xc5dc00, toBlock: 0xc614a7 } },
  ],
  [
    "Alchemy free",
    "range-too-large",
    -32600,
    "Under the Free tier plan, you can make eth_getLogs requests with up to a 10 block range. Based on your parameters, this block range should work: [0x1180fca, 0x1180fd3]. Upgrade to PAYG for expanded block range.",
    { status: 400, range: { fromBlock: 0x1180fca, toBlock: 0x1180fd3, blocksMax: 10 } },
  ],
  [
    "Alchemy slow",
    "range-too-large",
    -32000,
    "Query timeout exceeded. Consider reducing your block range. Based on your parameters and the response size limit, this block range should work: [0x5223c98, 0x5223e80]",
    { status: 400, range: { toBlock: 0x5223e80 } },
  ],
  ["Alchemy old", "range-too-large", -32602, "Log response size exceeded. Please reduce query block range."],
  [
    "Infura results",
    "range-too-large",
    -32005,
    "query returned more than 10000 results. Try with this block range [0x131D2E7, 0x1320D8B].",
    {
      data: { from: "0x131D2E7", limit: 10000, to: "0x1320D8B" },
      range: { fromBlock: 0x131d2e7, toBlock: 0x1320d8b, blocksMax: null },
    },
  ],
  [
    "Infura range",
    "range-too-large",
    -32602,
    "range 1000000 exceeds limit of 10000",
    { range: { blocksMax: 10_000 } },
  ],
  [
    "QuickNode",
    "range-too-large",
    -32614,
    "eth_getLogs is limited to a 10,000 range",
    { status: 413, range: { blocksMax: 10_000 } },
  ],
  [
    "QuickNode free",
    "range-too-large",
    -32602,
    "eth_getLogs and eth_newFilter are limited to a 10,000 blocks range",
    { range: { blocksMax: 10_000 } },
  ],
  ["Ankr", "range-too-large", -32600, "block range is too wide"],
  ["Ankr new", "range-too-large", -32062, "Block range is too large"],
  [
    "Chainstack",
    "range-too-large",
    -32002,
    "Block range limit exceeded. See more details at https://docs.chainstack.com/docs/limits#evm-range-limits",
  ],
  [
    "publicnode",
    "range-too-large",
    -32701,
    "exceed maximum block range: 50000",
    { range: { blocksMax: 50_000 } },
  ],
  [
    "dRPC",
    "range-too-large",
    35,
    "ranges over 10000 blocks are not supported on freetier",
    { range: { blocksMax: 10_000 } },
  ],
  [
    "reth results",
    "range-too-large",
    -32602,
    "query exceeds max results 20000, retry with the range 3600741-3620740",
    { range: { fromBlock: 3_600_741, toBlock: 3_620_740 } },
  ],
  [
    "reth range",
    "range-too-large",
    -32602,
    "query exceeds max block range 100000",
    { range: { blocksMax: 100_000 } },
  ],
  ["erigon", "range-too-large", -32000, "query block range exceeds server limit, narrow your filter"],
  ["nethermind", "range-too-large", -32005, "Too many logs requested. Max logs per response is 20000."],
  [
    "Cloudflare",
    "range-too-large",
    -32047,
    "Invalid eth_getLogs request. 'fromBlock'-'toBlock' range too large. Max range: 800",
    { range: { blocksMax: 800 } },
  ],
  [
    "Base public",
    "range-too-large",
    -32614,
    "eth_getLogs is limited to a 10,000 range",
    { range: { blocksMax: 10_000 } },
  ],
  ["Base response", "range-too-large", -32020, "backend response too large"],
  [
    "Optimism public",
    "range-too-large",
    -32000,
    "block range greater than 10000 max",
    { range: { blocksMax: 10_000 } },
  ],
  [
    "Tenderly",
    "range-too-large",
    -32602,
    "invalid params",
    {
      data: { error_id: "x", payload: "range 9009594 is bigger than range limit 2000" },
      range: { blocksMax: 2_000 },
    },
  ],
  ["Arbitrum", "range-too-large", -32000, "logs matched by query exceeds limit of 10000"],
  [
    "Avalanche",
    "range-too-large",
    -32000,
    "requested too many blocks from 0 to 5000000, maximum is set to 2048",
    { range: { blocksMax: 2_048 } },
  ],
  [
    "BlockPI",
    "range-too-large",
    -32602,
    "eth_getLogs block range too large, range: 10001, max: 1024",
    { range: { blocksMax: 1_024 } },
  ],
  [
    "1RPC",
    "range-too-large",
    -32602,
    "eth_getLogs is limited to 0 - 10000 blocks range",
    { range: { blocksMax: 10_000 } },
  ],
  [
    "Coinbase",
    "range-too-large",
    -32602,
    "please limit the query to at most 1000 blocks",
    { range: { blocksMax: 1_000 } },
  ],
  [
    "Thirdweb",
    "range-too-large",
    -32602,
    "Maximum allowed number of requested blocks is 10000",
    { range: { blocksMax: 10_000 } },
  ],
  // Waiting helps.
  [
    "Alchemy units",
    "rate-limited",
    429,
    "Your app has exceeded its compute units per second capacity. If you have retries enabled, you can safely ignore this message.",
    { status: 429 },
  ],
  [
    "Infura daily",
    "rate-limited",
    -32005,
    "daily request count exceeded, request rate limited",
    { status: 429 },
  ],
  [
    "Infura project",
    "rate-limited",
    -32005,
    "project ID request rate exceeded",
    { data: { rate: { backoff_seconds: 30 } } },
  ],
  [
    "QuickNode rate",
    "rate-limited",
    -32007,
    "50/second request limit reached - reduce calls per second or upgrade your account at quicknode.com",
  ],
  ["Base rate", "rate-limited", -32016, "over rate limit"],
  ["publicnode rate", "rate-limited", -32005, "limit exceeded"],
  ["dRPC rate", "rate-limited", 15, "Too many requests, try again in 2 seconds"],
  ["Cloudflare edge", "rate-limited", null, "error code: 1015", { status: 429 }],
  ["bare 429", "rate-limited", null, "", { status: 429 }],
  // The node is not well.
  ["Base backend", "transient", -32011, "no backend is currently healthy to serve traffic", { status: 503 }],
  ["Infura gateway", "transient", null, "", { status: 502 }],
  ["geth deadline", "timeout", -32000, "context deadline exceeded"],
  ["geth call", "timeout", -32000, "execution aborted (timeout = 5s)", { method: "eth_call" }],
  ["dRPC upstream", "transient", -32000, "no available upstreams to process a request"],
  ["Cloudflare 524", "timeout", null, "", { status: 524 }],
  ["geth internal", "internal", -32603, "Internal error"],
  ["unworded", "internal", -32000, "something odd"],
  // The node does not have it.
  ["geth header", "missing", -32000, "header not found"],
  ["geth by hash", "missing", -32000, "unknown block"],
  ["geth spec", "missing", -39001, "Unknown block"],
  ["geth head", "missing", -32602, "block range extends beyond current head block"],
  ["geth state", "missing", -32000, "missing trie node 0x1f2e (path ) state 0x1f2e is not available"],
  ["besu", "missing", -32000, "Block not found"],
  [
    "parity filter",
    "missing",
    -32000,
    "One of the blocks specified in filter (fromBlock, toBlock or blockHash) cannot be found",
  ],
  ["erigon block", "missing", -32000, "block not found: 123"],
  ["Avalanche head", "missing", -32000, "requested to block 12 after last accepted block 11"],
  ["EDR hash", "missing", -32602, "blockHash cannot be found"],
  [
    "EDR state",
    "missing",
    -32000,
    "Received invalid block tag 153. Latest block number is 0",
    { method: "eth_call" },
  ],
  ["pruned", "missing", 4444, "pruned history unavailable"],
  ["reth state", "missing", -32603, "State at block #11052984 is pruned"],
  ["geth trace", "missing", -32000, "required historical state unavailable (reexec=128)"],
  ["nethermind state", "missing", -32002, "No state available for block 0x1f2e"],
  [
    "OpenEthereum state",
    "missing",
    -32000,
    "This request is not supported because your node is running with state pruning. Run with --pruning=archive.",
  ],
  // The contract said no.
  [
    "geth revert",
    "reverted",
    3,
    "execution reverted: rate limit exceeded",
    { method: "eth_call", data: "0x08c379a0" },
  ],
  [
    "parity revert",
    "reverted",
    -32015,
    "VM execution error.",
    { method: "eth_call", data: "Reverted 0x08c379a0" },
  ],
  [
    "hardhat revert",
    "reverted",
    -32603,
    "VM Exception while processing transaction: reverted with custom error 'Nope()'",
    { method: "eth_call", data: { data: "0x1234" } },
  ],
  ["out of gas", "reverted", -32000, "out of gas", { method: "eth_call" }],
  // Not here, or not like this.
  [
    "geth method",
    "unsupported",
    -32601,
    "the method eth_foo does not exist/is not available",
    { method: "eth_foo" },
  ],
  [
    "Alchemy method",
    "unsupported",
    -32600,
    "Unsupported method: debug_traceCall. See available methods",
    { method: "debug_traceCall", status: 400 },
  ],
  ["Alchemy key", "refused", -32600, "Must be authenticated!", { status: 401 }],
  ["Infura key", "refused", null, "invalid project id", { status: 401 }],
  ["forbidden", "refused", null, "", { status: 403 }],
  ["wrong path", "refused", null, "", { status: 404 }],
  ["redirect", "refused", null, "", { status: 301 }],
  [
    "geth param",
    "invalid-request",
    -32602,
    "invalid argument 0: hex string has length 38, want 40 for common.Address",
    { method: "eth_call" },
  ],
  ["geth topics", "invalid-request", -32000, "exceed max topics"],
  [
    "publicnode address",
    "invalid-request",
    -32701,
    "Please specify an address in your request or, to remove restrictions, order a dedicated full node here",
  ],
  ["bare 400", "invalid-request", null, "", { status: 400 }],
];

describe("the failure of a node", () => {
  it.each(ROWS.map((row) => ({ row, who: row[0], kind: row[1] })))(
    "classifies the failure of $who as $kind",
    ({ row }) => {
      const [, kind, code, message, more = {}] = row;
      const { status = 200, data, method = "eth_getLogs", range } = more;
      const found = classifyRpcError({ method, status, code, message, data });
      expect(found.kind).toBe(kind);
      if (range) expect(found.range).toMatchObject(range);
    },
  );

  it("finds the revert data wherever the node puts it", () => {
    const revert = (data: unknown) =>
      classifyRpcError({ method: "eth_call", status: 200, code: 3, message: "execution reverted", data })
        .revertData;
    expect(revert("0xABCD")).toBe("0xabcd");
    expect(revert("Reverted 0xabcd")).toBe("0xabcd");
    expect(revert({ data: "0xabcd", message: "x" })).toBe("0xabcd");
    expect(revert("0xabc")).toBeNull();
    expect(revert(undefined)).toBeNull();
  });

  it("reads the pause that a node requests in its text or data", () => {
    const pause = (message: string, data?: unknown) =>
      classifyRpcError({ method: "eth_call", status: 429, code: null, message, data }).retryAfterMs;
    expect(pause("Too many requests, try again in 2 seconds")).toBe(2_000);
    expect(pause("rate limit, retry in 250ms")).toBe(250);
    expect(pause("slow down", { rate: { backoff_seconds: 1.5 } })).toBe(1_500);
    expect(pause("slow down")).toBeNull();
  });

  it("does not take a number of results for a number of blocks", () => {
    const message = "query returned more than 10000 results";
    expect(
      classifyRpcError({ method: "eth_getLogs", status: 200, code: -32005, message, data: null }).range,
    ).toBeNull();
  });

  it("classifies a megabyte of hostile words quickly", () => {
    const message = "exceeds max block range limit ".repeat(40_000);
    const startMs = performance.now();
    classifyRpcError({ method: "eth_getLogs", status: 200, code: null, message, data: null });
    expect(performance.now() - startMs).toBeLessThan(250);
  });
});

it.each(["eth_chainId", "eth_blockNumber", "eth_getBalance"])(
  "lets %s be tried again where a node calls its result of one word too large",
  (method) => {
    const message = "query returned more than 10000 results";
    const classify = (of: string) =>
      classifyRpcError({ method: of, status: 200, code: -32005, message, data: null }).kind;
    expect([classify(method), classify("eth_getLogs")]).toEqual(["internal", "range-too-large"]);
  },
);
