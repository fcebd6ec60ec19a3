// Serializes writes on one chain; readers wait only while a reorg rewrites history.

export class WriteQueue {
  #lastWrite: Promise<unknown> = Promise.resolve();
  #rewrite: Promise<unknown> | undefined;

  /** Runs alone among writes, in the order of arrival. */
  write<T>(task: () => Promise<T>): Promise<T> {
    const turn = this.#lastWrite.then(task);
    this.#lastWrite = turn.catch(() => undefined);
    return turn;
  }

  /** A write whose half-done state no reader may see. */
  rewrite<T>(task: () => Promise<T>): Promise<T> {
    return this.write(() => {
      const running = task();
      this.#rewrite = running
        .catch(() => undefined)
        .finally(() => {
          this.#rewrite = undefined;
        });
      return running;
    });
  }

  /** Runs at once, unless history is being rewritten. */
  async read<T>(task: () => Promise<T>): Promise<T> {
    while (this.#rewrite) await this.#rewrite;
    return task();
  }

  /** Resolves when every write queued so far has ended, with or without an error. */
  async idle(): Promise<void> {
    await this.#lastWrite;
  }
}
