// Answers kept as bytes until anything changes: a request that was answered before costs a look-up.

export type Answer = {
  readonly status: number;
  readonly body: Buffer;
  readonly etag: string;
  /** All that belong to the answer, the validator included. */
  readonly headers: Readonly<Record<string, string>>;
};

export type AnswerCache = {
  get(key: string): Answer | undefined;
  /** Keeps an answer unless something changed since `generation` was read. */
  set(key: string, answer: Answer, generation: number): void;
  readonly generation: number;
  /** Forgets everything: the rows behind the answers have changed. */
  changed(): void;
  /** The same for a change of our own, which says nothing about whether we hear of others'. */
  forget(): void;
  /** Forgets everything and keeps nothing until the next change: nobody tells us of changes any more. */
  deaf(): void;
};

export function createAnswerCache(options: { bytesMax: number }): AnswerCache {
  let entries = new Map<string, Answer>();
  let bytes = 0;
  let generation = 0;
  let hearing = false;
  const forget = () => {
    generation += 1;
    entries = new Map();
    bytes = 0;
  };
  return {
    get: (key) => entries.get(key),
    get generation() {
      return generation;
    },
    set(key, answer, taken) {
      if (!hearing || taken !== generation || entries.has(key)) return;
      const size = answer.body.length + key.length;
      // Between two blocks the oldest answers are as good as any to give up.
      while (bytes + size > options.bytesMax) {
        const oldest = entries.entries().next().value;
        if (!oldest) return;
        entries.delete(oldest[0]);
        bytes -= oldest[1].body.length + oldest[0].length;
      }
      entries.set(key, answer);
      bytes += size;
    },
    forget,
    changed() {
      hearing = true;
      forget();
    },
    deaf() {
      hearing = false;
      forget();
    },
  };
}
