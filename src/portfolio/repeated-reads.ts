// Sends what a wallet's last snapshot led to along with the first calls of its next one, which then takes two round trips.
import type { Hex } from "../lib/hex.ts";
import { LruMap } from "../lib/lru-map.ts";
import { copyText, fetchCalls } from "./contract-reads/read-groups.ts";
import { FINAL_AFTER_MS, PROCESS_MS_MAX } from "./log-memory.ts";
import { runWithinBudget } from "./time-budgets.ts";
import type { ChainConfig, ContractRead, EarlyResults, KeyedRead, PinnedChain } from "./types.ts";

/** For each chain: some 70 KB for a wallet with ten tokens, twice as much at most. */
const WALLETS_MAX = 100;
/** Twice what a wallet with ten tokens leads to. A read beyond it is sent when it is needed. */
const READS_MAX = 300;
const CHARS_MAX = 80_000;
/** A block may know a result already, from another wallet; the next block does not. */
const IDLE_MAX = 2;
/** An early read only spares round trips, and must not take longer than they do. */
const EARLY_MS_MAX = 1_000;

type OverrideCall = Parameters<PinnedChain["callWithOverride"]>[0];
type StorageWord = { readonly address: Hex; readonly slot: bigint };

/** A read, and how many snapshots in a row have not needed it. The key again: an equal one may keep a response alive. */
type RememberedRead<T> = { readonly key: string; readonly read: T; readonly idle: number };
type Remembered<T> = ReadonlyMap<string, RememberedRead<T>>;

/** Reads that the last snapshot of a wallet led to, and results of them that never change. */
type LaterReads = {
  readonly sinceMs: number;
  readonly calls: Remembered<ContractRead>;
  readonly overrides: Remembered<OverrideCall>;
  readonly words: Remembered<StorageWord>;
  /** Blocks whose times were needed and may change. */
  readonly blocks: ReadonlySet<number>;
  /** Times of final blocks. */
  readonly times: ReadonlyMap<number, number>;
  readonly senders: ReadonlyMap<Hex, Hex>;
};

const memories = new WeakMap<ChainConfig, LruMap<Hex, LaterReads>>();

function openMemory(chain: ChainConfig): LruMap<Hex, LaterReads> {
  const memory = memories.get(chain) ?? new LruMap<Hex, LaterReads>(WALLETS_MAX);
  memories.set(chain, memory);
  return memory;
}

type RepeatedRead = {
  readonly at: PinnedChain;
  /** Call once all has been read. */
  remember(): void;
};

/**
 * The same chain with early results. Begin to read in the same turn. Of amounts and prices only the
 * request is remembered, never the response: a snapshot is the same with and without it. Nothing is remembered as of a requested block.
 */
export function repeatReads(
  at: PinnedChain,
  wallet: Hex,
  signal: AbortSignal,
  nowMs: () => number = Date.now,
): RepeatedRead {
  if (at.asOf || at.results === undefined) return { at, remember: () => undefined };
  const memory = openMemory(at.chain);
  const known = memory.get(wallet);
  const isUsable = known !== undefined && nowMs() - known.sinceMs < PROCESS_MS_MAX;
  const run = new RepeatedRun(at, isUsable ? known : beginMemory(nowMs()), signal);
  return { at: run.at, remember: () => memory.set(wallet, run.summarize()) };
}

function beginMemory(sinceMs: number): LaterReads {
  const reads = { calls: new Map(), overrides: new Map(), words: new Map() };
  return { sinceMs, ...reads, blocks: new Set(), times: new Map(), senders: new Map() };
}

type Budget = { reads: number; chars: number };

/** The reads of one kind that were remembered, and those that this run has needed. */
class NeededReads<T> {
  readonly before: Remembered<T>;
  readonly #needed = new Map<string, T>();

  constructor(before: Remembered<T>) {
    this.before = before;
  }

  /** Returns whether it was sent early. */
  note(key: string, read: T, isLater: boolean): boolean {
    const known = this.before.get(key);
    if (isLater || known !== undefined) this.#needed.set(known?.key ?? key, read);
    return known !== undefined;
  }

  summarize(budget: Budget, copy: (key: string, read: T) => T): Remembered<T> {
    const kept = new Map<string, RememberedRead<T>>();
    const takeBudget = (key: string) => {
      budget.reads -= 1;
      budget.chars -= key.length;
      return budget.reads >= 0 && budget.chars >= 0;
    };
    for (const [key, read] of this.#needed) {
      if (!takeBudget(key)) continue;
      const known = this.before.get(key)?.read;
      const own = known === undefined ? copyText(key) : key;
      kept.set(own, { key: own, read: known ?? copy(own, read), idle: 0 });
    }
    for (const [key, { read, idle }] of this.before) {
      if (!this.#needed.has(key) && idle < IDLE_MAX && takeBudget(key)) {
        kept.set(key, { key, read, idle: idle + 1 });
      }
    }
    return kept;
  }
}

/** One read of a wallet, which notes what it leads to. A result that does not come early is read when it is needed. */
class RepeatedRun {
  readonly at: PinnedChain;
  readonly #inner: PinnedChain;
  readonly #before: LaterReads;
  readonly #calls: NeededReads<ContractRead>;
  readonly #overrides: NeededReads<OverrideCall>;
  readonly #words: NeededReads<StorageWord>;
  readonly #times = new Map<number, number>();
  readonly #senders = new Map<Hex, Hex>();
  readonly #early: EarlyReads;
  /** Reads of the first turn need no results of others. */
  #isLater = false;

  constructor(at: PinnedChain, before: LaterReads, signal: AbortSignal) {
    this.#inner = at;
    this.#before = before;
    this.#calls = new NeededReads(before.calls);
    this.#overrides = new NeededReads(before.overrides);
    this.#words = new NeededReads(before.words);
    this.#early = readEarly(at, before, signal);
    this.at = {
      ...at,
      early: this.#findCalls,
      callWithOverride: this.#callWithOverride,
      storage: this.#readStorage,
      timestamps: this.#readTimes,
      senders: this.#findSenders,
    };
    setImmediate(() => {
      this.#isLater = true;
    });
  }

  readonly #findCalls = (calls: readonly KeyedRead[]): EarlyResults | Promise<EarlyResults> => {
    let isEarly = false;
    for (const { key, call } of calls) isEarly = this.#calls.note(key, call, this.#isLater) || isEarly;
    return isEarly ? this.#early.calls : NO_RESULTS;
  };

  readonly #callWithOverride: PinnedChain["callWithOverride"] = async (call, signal) => {
    const key = keyOfOverride(call);
    this.#overrides.note(key, call, this.#isLater);
    const early = await this.#early.overrides.get(key);
    const isRepeated = !this.#isLater && this.#before.calls.size > 0;
    return early ?? this.#inner.callWithOverride({ ...call, isRepeated }, signal);
  };

  readonly #readStorage: PinnedChain["storage"] = async (address, slot, signal) => {
    const key = `${address} ${slot}`;
    this.#words.note(key, { address, slot }, this.#isLater);
    return (await this.#early.words.get(key)) ?? this.#inner.storage(address, slot, signal);
  };

  readonly #readTimes: PinnedChain["timestamps"] = async (blocks, signal) => {
    const isEarly = blocks.some((block) => this.#before.blocks.has(block));
    const early = isEarly ? await this.#early.times : NO_TIMES;
    const find = (block: number) => this.#before.times.get(block) ?? early.get(block);
    const open = blocks.filter((block) => find(block) === undefined);
    const read = open.length > 0 ? await this.#inner.timestamps(open, signal) : NO_TIMES;
    return selectInto(this.#times, blocks, (block) => find(block) ?? read.get(block));
  };

  readonly #findSenders: PinnedChain["senders"] = async (hashes, signal) => {
    const known = this.#before.senders;
    const open = hashes.filter((hash) => !known.has(hash));
    const read = open.length > 0 ? await this.#inner.senders(open, signal) : NO_SENDERS;
    return selectInto(this.#senders, hashes, (hash) => known.get(hash) ?? read.get(hash));
  };

  summarize(): LaterReads {
    const { block, chain } = this.#inner;
    const lastFinal = block.number - Math.ceil(FINAL_AFTER_MS / chain.blockTimeMs);
    const budget = { reads: READS_MAX, chars: CHARS_MAX };
    const times = [...this.#times];
    return {
      sinceMs: this.#before.sinceMs,
      words: this.#words.summarize(budget, (_, word) => word),
      overrides: this.#overrides.summarize(budget, copyOverride),
      calls: this.#calls.summarize(budget, copyCall),
      blocks: new Set(times.flatMap(([number]) => (number > lastFinal ? number : []))),
      times: new Map(times.filter(([number]) => number <= lastFinal)),
      senders: new Map([...this.#senders].map(([hash, sender]) => [copyText(hash), copyText(sender)])),
    };
  }
}

const NO_RESULTS: EarlyResults = new Map();
const NO_TIMES: ReadonlyMap<number, number> = new Map();
const NO_SENDERS: ReadonlyMap<Hex, Hex> = new Map();

/** Selects the keys that have a value, and notes them in `all`. */
function selectInto<K, V>(all: Map<K, V>, keys: readonly K[], find: (key: K) => V | undefined) {
  const selected = new Map<K, V>();
  for (const key of keys) {
    const value = find(key);
    if (value === undefined) continue;
    selected.set(key, value);
    all.set(key, value);
  }
  return selected;
}

/** None of them rejects; null or a missing entry stands for a failure. */
type EarlyReads = {
  readonly calls: Promise<EarlyResults>;
  readonly overrides: ReadonlyMap<string, Promise<Hex | null>>;
  readonly words: ReadonlyMap<string, Promise<bigint | null>>;
  readonly times: Promise<ReadonlyMap<number, number>>;
};

function readEarly(at: PinnedChain, before: LaterReads, signal: AbortSignal): EarlyReads {
  const attempt = async <T>(work: (stop: AbortSignal) => Promise<T>, otherwise: T): Promise<T> => {
    try {
      const outcome = await runWithinBudget(work, EARLY_MS_MAX, signal);
      return "value" in outcome ? outcome.value : otherwise;
    } catch {
      // The snapshot has ended, and its caller knows why.
      return otherwise;
    }
  };
  const attemptEach = <T, Result>(
    reads: Remembered<T>,
    work: (read: T, stop: AbortSignal) => Promise<Result | null>,
  ) =>
    new Map([...reads].map(([key, { read }]) => [key, attempt((stop) => work(read, stop), null)] as const));
  const calls = [...before.calls].filter(([key]) => at.results?.find(key) === undefined);
  return {
    calls:
      calls.length === 0
        ? Promise.resolve(NO_RESULTS)
        : attempt((stop) => readCalls(at, calls, stop), NO_RESULTS),
    overrides: attemptEach(before.overrides, (call, stop) => at.callWithOverride(call, stop)),
    words: attemptEach(before.words, ({ address, slot }, stop) => at.storage(address, slot, stop)),
    times:
      before.blocks.size === 0
        ? Promise.resolve(NO_TIMES)
        : attempt((stop) => at.timestamps([...before.blocks], stop), NO_TIMES),
  };
}

async function readCalls(
  at: PinnedChain,
  calls: readonly (readonly [key: string, RememberedRead<ContractRead>])[],
  signal: AbortSignal,
): Promise<EarlyResults> {
  const results = await fetchCalls(
    at,
    calls.map(([, { read }]) => read),
    signal,
  );
  const found = new Map<string, Hex | null>();
  for (const [index, [key, { read }]] of calls.entries()) {
    const result = results[index] ?? null;
    // A call without gas of its own may have failed for what other calls in its multicall use up.
    if (result !== null || read.gasMax !== undefined) found.set(key, result);
  }
  return found;
}

/** Code that is placed is our own: a handful of contracts. */
const codeNumbers = new Map<Hex, number>();

function keyOfOverride({ code, data, gasMax, isSmall = false }: OverrideCall): string {
  const number = codeNumbers.get(code) ?? codeNumbers.size;
  codeNumbers.set(code, number);
  return `${number} ${gasMax ?? ""} ${isSmall} ${data}`;
}

/** Parts of the key, which a copy would double. */
function copyOverride(key: string, call: OverrideCall): OverrideCall {
  return { ...call, data: key.slice(key.lastIndexOf(" ") + 1) as Hex };
}

function copyCall(key: string, call: ContractRead): ContractRead {
  const [toEnd, dataStart] = [call.to.length, call.to.length + 1];
  const to = key.slice(0, toEnd) as Hex;
  const data = key.slice(dataStart, dataStart + call.data.length) as Hex;
  return { ...call, to, data };
}
