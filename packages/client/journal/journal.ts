// The interface of a journal, and the journal that lives in memory.
import { PaymentBook } from "./payment-book.ts";
import type { JournalRecord } from "./records.ts";

/** Inside `exclusive`. A durable record is on disk when the promise resolves. */
export type Append = (record: JournalRecord, options: { readonly durable: boolean }) => Promise<void>;

export interface Journal {
  /** All payments so far, those of other processes included. A payment that was just signed may not be on disk yet. */
  read(): Promise<PaymentBook>;
  /**
   * Runs one function at a time among all users of the journal, so that no two decide on the same budget. Every signature
   * in the book that it gets is on disk.
   */
  exclusive<T>(act: (book: PaymentBook, append: Append) => Promise<T>): Promise<T>;
}

/** Runs functions one after another, in the order of the calls. */
export function createQueue(): <T>(act: () => Promise<T>) => Promise<T> {
  let last: Promise<unknown> = Promise.resolve();
  return (act) => {
    const next = last.then(act);
    // The next one runs whatever became of this one, whose caller gets the error.
    last = next.catch(() => undefined);
    return next;
  };
}

/**
 * Lives as long as the page or process: for browsers and tests. It forgets what was signed when the process ends.
 *
 * @example
 * ```ts
 * const sextant = createSextant({ api, portfolio, payer, guard, journal: createMemoryJournal() });
 * ```
 */
export function createMemoryJournal(): Journal {
  const book = new PaymentBook();
  const enqueue = createQueue();
  return {
    read: async () => book,
    exclusive: (act) => enqueue(() => act(book, async (record) => book.apply(record))),
  };
}
