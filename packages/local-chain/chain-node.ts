// Routes each JSON-RPC method: through the write queue, to our own implementation, or straight to EDR.
import { BlockHistory } from "./blocks/block-history.ts";
import { BlockProducer, MINE_BLOCKS_MAX } from "./blocks/block-producer.ts";
import { resolveFinalTags } from "./blocks/finality.ts";
import { BLOCK_TIME_MS_MAX, BLOCK_TIME_MS_MIN, IntervalMiner } from "./blocks/interval-miner.ts";
import { type Reorg, type ReorgOptions, reorganizeChain } from "./blocks/reorg.ts";
import type { EdrProvider } from "./edr-provider.ts";
import { JSON_RPC_CODES, JsonRpcError, requireInteger } from "./rpc/json-rpc-error.ts";
import type { NotificationSink, Subscriptions } from "./rpc/subscriptions.ts";
import { WriteQueue } from "./write-queue.ts";

type Params = readonly unknown[];
type Route = (params: Params) => Promise<string>;

export type ChainNodeOptions = { readonly finalityDepth: number; readonly reorgDepthMax: number };

export class ChainNode {
  readonly #edr: EdrProvider;
  readonly #history: BlockHistory;
  readonly #producer: BlockProducer;
  readonly #subscriptions: Subscriptions;
  readonly #finalityDepth: number;
  readonly #queue = new WriteQueue();
  readonly #interval = new IntervalMiner(() => this.#mineOnSchedule());
  readonly #routes: ReadonlyMap<string, Route>;
  #reorgs = 0;
  #stopped = false;

  private constructor(
    edr: EdrProvider,
    history: BlockHistory,
    subscriptions: Subscriptions,
    finalityDepth: number,
  ) {
    this.#edr = edr;
    this.#history = history;
    this.#producer = new BlockProducer(edr, history);
    this.#subscriptions = subscriptions;
    this.#finalityDepth = finalityDepth;
    this.#routes = this.#declareRoutes();
  }

  static async open(
    edr: EdrProvider,
    subscriptions: Subscriptions,
    options: ChainNodeOptions,
  ): Promise<ChainNode> {
    const history = await BlockHistory.open(edr, options.reorgDepthMax);
    return new ChainNode(edr, history, subscriptions, options.finalityDepth);
  }

  /** Resolves with the result's JSON text; throws a JsonRpcError. Connections that carry notifications give a sink. */
  async handleRequest(method: string, params: Params, sink?: NotificationSink): Promise<string> {
    this.#requireRunning();
    if (method === "eth_subscribe" || method === "eth_unsubscribe")
      return this.#subscribe(method, params, sink);
    const route = this.#routes.get(method);
    if (route) return route(params);
    return this.#queue.read(() =>
      this.#edr.request(method, resolveFinalTags(params, this.#history.head, this.#finalityDepth)),
    );
  }

  async mine(count: number): Promise<void> {
    requireInteger("Blocks to mine", count, 0, MINE_BLOCKS_MAX);
    this.#requireRunning();
    await this.#queue.write(() => this.#producer.mine(count));
  }

  async reorg(depth: number, options: ReorgOptions): Promise<Reorg> {
    requireInteger("Reorg depth", depth, 1, this.#history.depthMax);
    requireInteger("Reorg blocks", options.blocks ?? depth, 0, MINE_BLOCKS_MAX);
    this.#requireRunning();
    return this.#queue.rewrite(() => {
      const parent = this.#history.head - BigInt(depth);
      if (!this.#history.hasSnapshot(parent)) {
        throw new RangeError(
          `Cannot reorg ${depth} blocks at head ${this.#history.head}: no snapshot of block ${parent}`,
        );
      }
      this.#reorgs += 1;
      return reorganizeChain(
        {
          edr: this.#edr,
          history: this.#history,
          producer: this.#producer,
          subscriptions: this.#subscriptions,
        },
        depth,
        this.#reorgs,
        options,
      );
    });
  }

  /** Mines on a timer; 0 stops it. */
  setBlockTime(blockTimeMs: number): void {
    if (blockTimeMs === 0) {
      this.#interval.stop();
      return;
    }
    requireInteger("Block time in milliseconds", blockTimeMs, BLOCK_TIME_MS_MIN, BLOCK_TIME_MS_MAX);
    this.#interval.start(blockTimeMs);
  }

  async disconnect(sink: NotificationSink): Promise<void> {
    await this.#queue.write(() => this.#subscriptions.closeAll(sink));
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    this.#interval.stop();
    await this.#queue.idle();
  }

  #declareRoutes(): ReadonlyMap<string, Route> {
    const write = (task: (method: string, params: Params) => Promise<string>, ...methods: string[]) =>
      methods.map((method): [string, Route] => [
        method,
        (params) => this.#queue.write(() => task(method, params)),
      ]);
    return new Map<string, Route>([
      ...write(
        (method, params) => this.#producer.send(method, params),
        "eth_sendRawTransaction",
        "eth_sendTransaction",
      ),
      ...write(
        (method, params) => this.#producer.forward(method, params),
        "evm_mine",
        "hardhat_intervalMine",
      ),
      ...write((_, params) => this.#producer.hardhatMine(params), "hardhat_mine"),
      ...write(
        (method, params) => this.#editState(method, params),
        "hardhat_setBalance",
        "hardhat_setCode",
        "hardhat_setNonce",
        "hardhat_setStorageAt",
      ),
      ...write((method, params) => this.#edr.request(method, params), "evm_snapshot", "evm_setAutomine"),
      ["evm_revert", (params) => this.#queue.rewrite(() => this.#revert(params))],
      ["evm_setIntervalMining", (params) => this.#setIntervalMining(params)],
    ]);
  }

  /** An edit is part of no block: without a new snapshot the next reorg to this height would undo it. */
  async #editState(method: string, params: Params): Promise<string> {
    const result = await this.#edr.request(method, params);
    await this.#history.snapshotHead();
    return result;
  }

  async #revert(params: Params): Promise<string> {
    const result = await this.#edr.request("evm_revert", params);
    const [snapshot] = params;
    if (result !== "true" || typeof snapshot !== "string") return result;
    await this.#history.discardFrom(snapshot);
    if (!this.#history.hasSnapshot(this.#history.head)) await this.#history.snapshotHead();
    return result;
  }

  async #setIntervalMining([blockTimeMs]: Params): Promise<string> {
    if (typeof blockTimeMs !== "number") {
      throw new JsonRpcError(
        JSON_RPC_CODES.invalidParams,
        "evm_setIntervalMining takes a number of milliseconds, 0 to stop",
      );
    }
    this.setBlockTime(blockTimeMs);
    return "true";
  }

  async #subscribe(method: string, params: Params, sink: NotificationSink | undefined): Promise<string> {
    if (!sink)
      throw new JsonRpcError(JSON_RPC_CODES.methodNotSupported, `${method} needs a WebSocket connection`);
    return this.#queue.write(async () =>
      JSON.stringify(
        method === "eth_subscribe"
          ? await this.#subscriptions.open(sink, params)
          : await this.#subscriptions.close(sink, params[0]),
      ),
    );
  }

  async #mineOnSchedule(): Promise<void> {
    await this.#queue.write(async () => {
      if (!this.#stopped) await this.#producer.mine(1);
    });
  }

  #requireRunning(): void {
    if (this.#stopped) throw new JsonRpcError(JSON_RPC_CODES.server, "The local chain is stopped");
  }
}
