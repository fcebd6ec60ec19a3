// A local EVM chain as a library: starts in well under a second, serves JSON-RPC, and supports reorgs.
import { channel } from "node:diagnostics_channel";
import { isIPv6 } from "node:net";
import type { Address, Hex } from "viem";
import { type LocalAccounts, namedAccounts, prefundedAccounts } from "./accounts.ts";
import type { Reorg, ReorgOptions } from "./blocks/reorg.ts";
import { ChainNode } from "./chain-node.ts";
import { openEdrProvider } from "./edr-provider.ts";
import { requireInteger } from "./rpc/json-rpc-error.ts";
import { type JsonRpcServerConfig, startJsonRpcServer } from "./rpc/json-rpc-server.ts";
import { Subscriptions } from "./rpc/subscriptions.ts";

/** One epoch of Ethereum: deep enough for realistic reorgs above it, quick to mine past. */
const FINALITY_DEPTH = 32;

/** Twice the finality depth, so that a test can also show what happens beyond finality. */
const REORG_DEPTH_MAX = 64;

/** Tells subscribers how long a chain or a database took to start; tests count it apart from their own work. */
const startUps = channel("sextant:start-up");

export type LocalChainOptions = {
  readonly chainId: number;
  /** Mines on this interval, 0 for only on request; without it each transaction is mined at once. */
  readonly blockTimeMs?: number;
  /** 0, the default, lets the system choose. */
  readonly port?: number;
  /** 127.0.0.1 by default. The keys are public: listen elsewhere only inside a container or a private network. */
  readonly hostname?: string;
  /** Seconds since 1970 of block 0, from where chain time runs on; now by default. */
  readonly genesisTimestamp?: bigint;
  /** "finalized" and "safe" are the block this far below the head, 32 by default. */
  readonly finalityDepth?: number;
  /** How deep a reorg may go, 64 by default; 0 takes no snapshots at all. */
  readonly reorgDepthMax?: number;
  /** Runtime bytecode in the genesis block, which no reorg can remove. */
  readonly code?: Readonly<Record<Address, Hex>>;
  /** Rejects requests, such as those of pages of the web; without it all pass. */
  readonly findForeignCaller?: JsonRpcServerConfig["findForeignCaller"];
};

export type LocalChain = {
  readonly chainId: number;
  readonly rpcUrl: string;
  readonly wsUrl: string;
  readonly accounts: LocalAccounts;
  /** In process, without a socket; throws a JsonRpcError. Subscriptions need wsUrl. */
  request(method: string, params?: readonly unknown[]): Promise<unknown>;
  /** Places code at an address as of the head; a reorg below that height undoes it. */
  setCode(address: Address, runtimeBytecode: Hex): Promise<void>;
  /** Mines blocks now, whatever the mining mode; the first takes the pending transactions. */
  mine(blocks?: number): Promise<void>;
  /**
   * Replaces the last `depth` blocks by others. Requests wait meanwhile and see either branch, never a state in between.
   * Transactions pending before stay pending; snapshots taken by clients above the fork are gone.
   */
  reorg(depth: number, options?: ReorgOptions): Promise<Reorg>;
  setNextBlockTimestamp(seconds: bigint): Promise<void>;
  increaseTime(seconds: bigint): Promise<void>;
  /** Ends sockets, timers and requests; may be called repeatedly. */
  stop(): Promise<void>;
};

export async function startLocalChain(options: LocalChainOptions): Promise<LocalChain> {
  const startedMs = performance.now();
  const { chainId, hostname = "127.0.0.1", blockTimeMs = 0 } = options;
  requireInteger("chainId", chainId, 1, Number.MAX_SAFE_INTEGER);
  requireInteger("port", options.port ?? 0, 0, 65_535);
  requireInteger("finalityDepth", options.finalityDepth ?? FINALITY_DEPTH, 0, 1_000_000);
  requireInteger("reorgDepthMax", options.reorgDepthMax ?? REORG_DEPTH_MAX, 0, 10_000);

  const edr = await openEdrProvider({
    chainId,
    instant: options.blockTimeMs === undefined,
    genesisTimestamp: options.genesisTimestamp ?? BigInt(Math.floor(Date.now() / 1000)),
    accounts: prefundedAccounts(),
    code: options.code ?? {},
    onEvent: (event) => subscriptions.deliver(event),
  });
  const subscriptions = new Subscriptions(edr);
  const node = await ChainNode.open(edr, subscriptions, {
    finalityDepth: options.finalityDepth ?? FINALITY_DEPTH,
    reorgDepthMax: options.reorgDepthMax ?? REORG_DEPTH_MAX,
  });
  node.setBlockTime(blockTimeMs);
  const server = await startJsonRpcServer({
    hostname,
    port: options.port ?? 0,
    greeting: `Local EVM chain ${chainId}: POST JSON-RPC here, or connect by WebSocket.`,
    handle: (method, params, sink) => node.handleRequest(method, params, sink),
    onDisconnect: (sink) => node.disconnect(sink),
    ...(options.findForeignCaller ? { findForeignCaller: options.findForeignCaller } : {}),
  }).catch(async (error: unknown) => {
    await node.stop();
    throw error;
  });

  const request = async (method: string, params: readonly unknown[] = []): Promise<unknown> =>
    JSON.parse(await node.handleRequest(method, params));
  let stopping: Promise<void> | undefined;
  const authority = `${reachableHost(hostname)}:${server.port}`;
  startUps.publish({ seconds: (performance.now() - startedMs) / 1000 });
  return {
    chainId,
    rpcUrl: `http://${authority}`,
    wsUrl: `ws://${authority}`,
    accounts: namedAccounts(),
    request,
    setCode: async (address, runtimeBytecode) =>
      void (await request("hardhat_setCode", [address, runtimeBytecode])),
    mine: (blocks = 1) => node.mine(blocks),
    reorg: (depth, reorgOptions = {}) => node.reorg(depth, reorgOptions),
    setNextBlockTimestamp: async (seconds) =>
      void (await request("evm_setNextBlockTimestamp", [toQuantity(seconds)])),
    increaseTime: async (seconds) => void (await request("evm_increaseTime", [toQuantity(seconds)])),
    stop: () => {
      stopping ??= Promise.all([node.stop(), server.close()]).then(() => undefined);
      return stopping;
    },
  };
}

/** An address to connect to, if the listening address means "all interfaces". */
function reachableHost(hostname: string): string {
  if (hostname === "0.0.0.0") return "127.0.0.1";
  if (hostname === "::") return "[::1]";
  return isIPv6(hostname) ? `[${hostname}]` : hostname;
}

function toQuantity(value: bigint): Hex {
  if (value < 0n) throw new RangeError(`Chain time does not run backwards: ${value}`);
  return `0x${value.toString(16)}`;
}
