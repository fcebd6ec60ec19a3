// Cache of serialized responses: valid until the data changes, single flight per request, least recently used out first.
import { type Linked, UseOrder } from "../lib/lru-map.ts";
import type { SerializedResponse } from "./response.ts";

type CacheKey = {
  /** The route pattern, as declared. */
  readonly route: string;
  /** The same text for every spelling of the request's URL. */
  readonly canonicalKey: string;
  /** Becomes an alias of the entry; null if the URL has keys that the canonical key ignores. */
  readonly url: string | null;
};

/** A state of the index: of two, the one with the higher revision is newer. */
type IndexedState = { readonly revision: bigint; readonly hash: string };

type CreateResponse = () => Promise<SerializedResponse>;

/** Everything created for a route since it was last invalidated. */
type RouteLifetime = { ended: boolean; readonly entries: Set<Entry> };

interface Entry extends Linked<Entry> {
  readonly key: string;
  readonly response: SerializedResponse;
  readonly lifetime: RouteLifetime;
  /** Aliases, oldest first. */
  readonly urls: string[];
  /** The bytes of the entry and its aliases that count towards the limit. */
  bytes: number;
}

type InFlight = { readonly work: Promise<SerializedResponse>; readonly lifetime: RouteLifetime };

// Overhead of an entry or an alias alongside its text: mostly the list of headers.
const ENTRY_BYTES = 500;
// Otherwise one popular response with endless spellings of its URL would evict everything else.
const URLS_PER_ENTRY_MAX = 8;

export class ResponseCache {
  readonly #bytesMax: number;
  /** Entries by canonical key. */
  #entries = new Map<string, Entry>();
  #byUrl = new Map<string, Entry>();
  #lifetimes = new Map<string, RouteLifetime>();
  #inFlight = new Map<string, InFlight>();
  /** Increases whenever everything is dropped, so that work started before is neither stored nor shared. */
  #generation = 0;
  #order = new UseOrder<Entry>();
  #bytes = 0;
  #enabled = false;
  #state: IndexedState | null = null;

  constructor(options: { readonly bytesMax: number }) {
    this.#bytesMax = options.bytesMax;
  }

  /** Bytes of all entries, keys and aliases included. */
  get bytes(): number {
    return this.#bytes;
  }

  /** The response to exactly this URL: the fastest lookup. */
  getByUrl(url: string): SerializedResponse | undefined {
    const entry = this.#byUrl.get(url);
    if (entry === undefined) return undefined;
    this.#order.touch(entry);
    return entry.response;
  }

  /**
   * The response to a request: cached, in flight for another client, or created now. Not an async function: its promises
   * would be felt on a path that runs thousands of times a second.
   */
  getOrCreate(key: CacheKey, create: CreateResponse): Promise<SerializedResponse> {
    const entry = this.#entries.get(key.canonicalKey);
    if (entry) {
      this.#order.touch(entry);
      this.#addUrl(entry, key.url);
      return Promise.resolve(entry.response);
    }
    // While disabled, the data may have changed since the work in flight started.
    const inFlight = this.#enabled ? this.#inFlight.get(key.canonicalKey) : undefined;
    return inFlight && !inFlight.lifetime.ended
      ? this.#joinInFlight(inFlight, key, create)
      : this.#startRequest(key, create);
  }

  /** Drops the responses of these routes, for a change that affects no others. */
  invalidateRoutes(routes: readonly string[]): void {
    for (const route of routes) {
      const lifetime = this.#lifetimes.get(route);
      if (!lifetime) continue;
      lifetime.ended = true;
      this.#lifetimes.delete(route);
      for (const entry of lifetime.entries) this.#remove(entry);
    }
  }

  /** Drops everything, because the data has changed, and enables the cache. */
  invalidateAll(): void {
    this.#enabled = true;
    this.#clear();
  }

  /**
   * A server shows this state of the index, cached or not. The notification of a change takes a moment to arrive: until
   * then a client that has seen the new state must not get a response from before it, so those are dropped. A server that
   * is behind changes nothing, and its responses are not stored.
   */
  observeState({ revision, hash }: IndexedState): void {
    const known = this.#state;
    if (
      known !== null &&
      (revision < known.revision || (revision === known.revision && hash === known.hash))
    ) {
      return;
    }
    this.#state = { revision, hash };
    this.#clear();
  }

  /** Drops everything, because the primary has lost its last states: an older one is the truth. */
  forgetState(): void {
    this.#state = null;
    this.#clear();
  }

  /** Drops everything and stores nothing until the next `invalidateAll`: change notifications do not arrive. */
  disable(): void {
    this.#enabled = false;
    this.#clear();
  }

  #clear(): void {
    this.#entries = new Map();
    this.#byUrl = new Map();
    this.#lifetimes = new Map();
    this.#inFlight = new Map();
    this.#generation += 1;
    this.#order = new UseOrder();
    this.#bytes = 0;
  }

  #startRequest({ route, canonicalKey, url }: CacheKey, create: CreateResponse): Promise<SerializedResponse> {
    const generation = this.#generation;
    const lifetime = this.#lifetimeOf(route);
    const finish = () => {
      if (this.#inFlight.get(canonicalKey)?.work === work) this.#inFlight.delete(canonicalKey);
    };
    const work: Promise<SerializedResponse> = create().then(
      (response) => {
        finish();
        if (!this.#enabled || generation !== this.#generation || lifetime.ended) return response;
        if (this.#isOutdated(response)) return response;
        const entry = this.#entries.get(canonicalKey) ?? this.#store(canonicalKey, response, lifetime);
        if (entry?.response === response) this.#addUrl(entry, url);
        return response;
      },
      (error: unknown) => {
        finish();
        throw error;
      },
    );
    this.#inFlight.set(canonicalKey, { work, lifetime });
    return work;
  }

  #isOutdated({ indexedRevision }: SerializedResponse): boolean {
    return indexedRevision !== null && this.#state !== null && indexedRevision < this.#state.revision;
  }

  async #joinInFlight(
    { work, lifetime }: InFlight,
    key: CacheKey,
    create: CreateResponse,
  ): Promise<SerializedResponse> {
    const generation = this.#generation;
    // An error belongs to the request that caused it; this one tries for itself.
    const response = await work.catch(() => undefined);
    if (!response) return await this.#startRequest(key, create);
    const entry = this.#entries.get(key.canonicalKey);
    const isCurrent = generation === this.#generation && !lifetime.ended;
    if (isCurrent && entry?.response === response) this.#addUrl(entry, key.url);
    return response;
  }

  #lifetimeOf(route: string): RouteLifetime {
    const known = this.#lifetimes.get(route);
    if (known) return known;
    const lifetime = { ended: false, entries: new Set<Entry>() };
    this.#lifetimes.set(route, lifetime);
    return lifetime;
  }

  #store(key: string, response: SerializedResponse, lifetime: RouteLifetime): Entry | null {
    const bytes = response.body.length + key.length + ENTRY_BYTES;
    if (bytes > this.#bytesMax) return null;
    this.#evictUntilFree(bytes);
    const entry: Entry = { key, response, lifetime, urls: [], bytes, older: null, newer: null };
    this.#entries.set(key, entry);
    lifetime.entries.add(entry);
    this.#bytes += bytes;
    this.#order.append(entry);
    return entry;
  }

  /** The entry must be the newest, so that making space for its alias evicts it last. */
  #addUrl(entry: Entry, url: string | null): void {
    if (url === null || this.#byUrl.has(url)) return;
    if (entry.urls.length >= URLS_PER_ENTRY_MAX) this.#removeUrl(entry, entry.urls.shift() ?? "");
    const bytes = url.length + ENTRY_BYTES;
    if (entry.bytes + bytes > this.#bytesMax) return;
    this.#order.touch(entry);
    this.#evictUntilFree(bytes);
    entry.urls.push(url);
    entry.bytes += bytes;
    this.#bytes += bytes;
    this.#byUrl.set(url, entry);
  }

  #removeUrl(entry: Entry, url: string): void {
    const bytes = url.length + ENTRY_BYTES;
    entry.bytes -= bytes;
    this.#bytes -= bytes;
    this.#byUrl.delete(url);
  }

  #evictUntilFree(bytes: number): void {
    while (this.#order.oldest && this.#bytes + bytes > this.#bytesMax) this.#remove(this.#order.oldest);
  }

  #remove(entry: Entry): void {
    this.#entries.delete(entry.key);
    entry.lifetime.entries.delete(entry);
    for (const url of entry.urls) this.#byUrl.delete(url);
    this.#bytes -= entry.bytes;
    this.#order.remove(entry);
  }
}
