// Answers kept as bytes until anything changes, and made once for all who ask meanwhile.
import type { SerializedResponse } from "../response.ts";

export type ResponseCache = {
  /** What was answered to this very address since the last change: the quickest way. */
  getByUrl(address: string): SerializedResponse | undefined;
  /** The response to a request, however its address was spelled: cached, being made for another client, or made now. */
  getOrCreate(asked: CacheKey, make: () => Promise<SerializedResponse>): Promise<SerializedResponse>;
  /** Drops the responses of these routes, for a change that affects no others. */
  invalidateRoutes(routes: readonly string[]): void;
  /** Forgets everything: the rows behind the answers have changed. */
  invalidateAll(): void;
  /**
   * Some answer was made at this head, whether it is kept or not. Word of a change takes a moment to arrive, and whoever
   * was told of the new head must not be given something older meanwhile: what was made at another head is forgotten.
   */
  observeHead(head: string): void;
  /** Forgets everything and keeps nothing until the next change: nobody tells us of changes any more. */
  disable(): void;
};

export type CacheKey = {
  /** The route, as declared. */
  readonly route: string;
  /** What is asked of it: the same text for every spelling of its address. */
  readonly canonicalKey: string;
  /** Remembered as one of its spellings; null where it holds what the question does not. */
  readonly url: string | null;
};

/** Shared by all that is made for a route since the route was last dropped. */
type Life = { over: boolean };
type Kept = { readonly answer: SerializedResponse; readonly life: Life; readonly size: number };
type Making = { readonly work: Promise<SerializedResponse>; readonly life: Life };

// What an answer and its place cost beside their text: mostly its list of headers.
const ENTRY_BYTES = 500;

export function createResponseCache(options: { bytesMax: number }): ResponseCache {
  let kept = new Map<string, Kept>();
  let bytes = 0;
  /** Questions that are being answered since the last change. */
  let making = new Map<string, Making>();
  let lives = new Map<string, Life>();
  let hearing = false;
  let lastHead: string | null = null;

  const forget = () => {
    kept = new Map();
    making = new Map();
    lives = new Map();
    bytes = 0;
  };
  const lifeOf = (route: string): Life => {
    const life = lives.get(route) ?? { over: false };
    lives.set(route, life);
    return life;
  };
  const find = (key: string): SerializedResponse | undefined => {
    const found = kept.get(key);
    return found === undefined || found.life.over ? undefined : found.answer;
  };
  const keep = (key: string, answer: SerializedResponse, life: Life, bodyBytes: number) => {
    if (!hearing || life.over || find(key) !== undefined) return;
    const size = bodyBytes + key.length + ENTRY_BYTES;
    bytes -= kept.get(key)?.size ?? 0;
    kept.delete(key);
    // Between two blocks the oldest answers are as good as any to give up; all of them at once, because an answer has
    // several names and its bytes are only freed with the last.
    if (bytes + size > options.bytesMax) forget();
    if (size > options.bytesMax) return;
    kept.set(key, { answer, life, size });
    bytes += size;
  };

  /** Its bytes are counted under the question: an answer that is not kept under that is kept under no other name. */
  const nameAlso = (address: string | null, question: string, answer: SerializedResponse) => {
    const found = kept.get(question);
    if (address !== null && found?.answer === answer) keep(address, answer, found.life, 0);
  };

  // Without async functions: each would add its own promises to a question that is asked thousands of times a second.
  function made(
    { route, canonicalKey: question, url: address }: CacheKey,
    make: () => Promise<SerializedResponse>,
  ): Promise<SerializedResponse> {
    const generation = making;
    const life = lifeOf(route);
    const done = () => {
      if (generation.get(question)?.work === work) generation.delete(question);
    };
    const work: Promise<SerializedResponse> = make().then(
      (answer) => {
        done();
        if (generation !== making) return answer;
        keep(question, answer, life, answer.body.length);
        nameAlso(address, question, answer);
        return answer;
      },
      (refusal: unknown) => {
        done();
        throw refusal;
      },
    );
    generation.set(question, { work, life });
    return work;
  }

  async function madeForOthers(
    { work, life }: Making,
    asked: CacheKey,
    make: () => Promise<SerializedResponse>,
  ): Promise<SerializedResponse> {
    const generation = making;
    // What was refused to somebody else is asked again: a refusal tells its own asker more than others may need.
    const answer = await work.catch(() => undefined);
    if (!answer) return await made(asked, make);
    if (generation === making && !life.over) nameAlso(asked.url, asked.canonicalKey, answer);
    return answer;
  }

  return {
    getByUrl: find,
    getOrCreate(asked, make) {
      const answer = find(asked.canonicalKey);
      if (answer) {
        nameAlso(asked.url, asked.canonicalKey, answer);
        return Promise.resolve(answer);
      }
      // Deaf, we can not know whether something changed between their beginning and ours.
      const others = hearing ? making.get(asked.canonicalKey) : undefined;
      return others && !others.life.over ? madeForOthers(others, asked, make) : made(asked, make);
    },
    invalidateRoutes(routes) {
      for (const route of routes) {
        const life = lives.get(route);
        if (life) life.over = true;
        lives.delete(route);
      }
    },
    invalidateAll() {
      hearing = true;
      forget();
    },
    observeHead(head) {
      if (head === lastHead) return;
      lastHead = head;
      forget();
    },
    disable() {
      hearing = false;
      forget();
    },
  };
}
