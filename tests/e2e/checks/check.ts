// Something that must be true once the river is calm again.
import type { E2eSystem } from "../system.ts";

export type E2eCheck = {
  readonly name: string;
  /** Resolves with what was compared, in a few words; throws or observes what is wrong. */
  run(river: E2eSystem): Promise<string>;
};
