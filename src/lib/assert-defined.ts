// A value that the program's own logic guarantees, which the type checker cannot know.

/** Returns `value`; throws when it is missing, which is a programming error. `what` names it: "the last block". */
export function assertDefined<T>(value: T | null | undefined, what: string): T {
  if (value === null || value === undefined) throw new Error(`${what} is missing`);
  return value;
}
