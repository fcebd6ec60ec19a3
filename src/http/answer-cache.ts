// Answers kept as bytes until anything changes, and made once for all who ask meanwhile.
import type { Answer } from "./answer.ts";

export type AnswerCache = {
  /** What was answered to this very address since the last change: the quickest way. */
  byAddress(address: string): Answer | undefined;
  /**
   * The answer to a question, however its address was spelled: kept, being made for somebody else, or made now.
   * `address` is remembered as one of its spellings; null where it holds what the question does not.
   */
  answer(question: string, address: string | null, make: () => Promise<Answer>): Promise<Answer>;
  /** Forgets everything: the rows behind the answers have changed. */
  changed(): void;
  /** The same for a change of our own, which says nothing about whether we hear of others'. */
  forget(): void;
  /**
   * Some answer was made at this head, whether it is kept or not. Word of a change takes a moment to arrive, and whoever
   * was told of the new head must not be given something older meanwhile: what was made at another head is forgotten.
   */
  saw(head: string): void;
  /** Forgets everything and keeps nothing until the next change: nobody tells us of changes any more. */
  deaf(): void;
};

// What an answer and its place cost beside their text: mostly its list of headers.
const ENTRY_BYTES = 500;

export function createAnswerCache(options: { bytesMax: number }): AnswerCache {
  let kept = new Map<string, Answer>();
  let bytes = 0;
  /** Questions that are being answered since the last change. */
  let making = new Map<string, Promise<Answer>>();
  let hearing = false;
  let lastHead: string | null = null;

  const forget = () => {
    kept = new Map();
    making = new Map();
    bytes = 0;
  };
  const keep = (key: string, answer: Answer, bodyBytes: number) => {
    if (!hearing || kept.has(key)) return;
    const size = bodyBytes + key.length + ENTRY_BYTES;
    // Between two blocks the oldest answers are as good as any to give up; all of them at once, because an answer has
    // several names and its bytes are only freed with the last.
    if (bytes + size > options.bytesMax) forget();
    if (size > options.bytesMax) return;
    kept.set(key, answer);
    bytes += size;
  };

  /** Its bytes are counted under the question: an answer that is not kept under that is kept under no other name. */
  const nameAlso = (address: string | null, question: string, answer: Answer) => {
    if (address !== null && kept.get(question) === answer) keep(address, answer, 0);
  };

  // Without async functions: each would add its own promises to a question that is asked thousands of times a second.
  function made(question: string, address: string | null, make: () => Promise<Answer>): Promise<Answer> {
    const generation = making;
    const work = make().then(
      (answer) => {
        generation.delete(question);
        if (generation !== making) return answer;
        keep(question, answer, answer.body.length);
        nameAlso(address, question, answer);
        return answer;
      },
      (refusal: unknown) => {
        generation.delete(question);
        throw refusal;
      },
    );
    generation.set(question, work);
    return work;
  }

  async function madeForOthers(
    work: Promise<Answer>,
    question: string,
    address: string | null,
    make: () => Promise<Answer>,
  ): Promise<Answer> {
    const generation = making;
    // What was refused to somebody else is asked again: a refusal tells its own asker more than others may need.
    const answer = await work.catch(() => undefined);
    if (!answer) return await made(question, address, make);
    if (generation === making) nameAlso(address, question, answer);
    return answer;
  }

  return {
    byAddress: (address) => kept.get(address),
    answer(question, address, make) {
      const answer = kept.get(question);
      if (answer) {
        nameAlso(address, question, answer);
        return Promise.resolve(answer);
      }
      // Deaf, we can not know whether something changed between their beginning and ours.
      const others = hearing ? making.get(question) : undefined;
      return others ? madeForOthers(others, question, address, make) : made(question, address, make);
    },
    forget,
    changed() {
      hearing = true;
      forget();
    },
    saw(head) {
      if (head === lastHead) return;
      lastHead = head;
      forget();
    },
    deaf() {
      hearing = false;
      forget();
    },
  };
}
