// Something that must be true once the river is calm again.
import type { River } from "../system.ts";

export type Check = {
  readonly name: string;
  /** Resolves with what was compared, in a few words; throws or observes what is wrong. */
  run(river: River): Promise<string>;
};
