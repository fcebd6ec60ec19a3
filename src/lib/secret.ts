// A value that must never be printed: whatever shows it shows `[secret]`.
import { inspect } from "node:util";

const SHOWN = "[secret]";

/** Holds a secret so that logs, JSON, templates and inspection print `[secret]`; only `reveal` gives it away. */
export class Secret<T> {
  readonly #value: T;

  constructor(value: T) {
    this.#value = value;
  }

  reveal(): T {
    return this.#value;
  }

  toString(): string {
    return SHOWN;
  }

  toJSON(): string {
    return SHOWN;
  }

  [inspect.custom](): string {
    return SHOWN;
  }
}
