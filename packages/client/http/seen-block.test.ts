// The block that a client asks for: the highest it has seen, until the service says that it does not come to it.
import { expect, it } from "vitest";
import { SextantError } from "../errors.ts";
import { SeenBlock } from "./seen-block.ts";

const shown = (block: string) => new Headers({ "x-indexed-block": block });

it("is the highest of those seen, or the caller's own", () => {
  const seen = new SeenBlock();
  expect(seen.raise(undefined)).toBeUndefined();
  for (const block of ["7", "9", "8", "", "-1", "1e9", "9".repeat(20)]) seen.observe(shown(block));
  expect([seen.raise(undefined), seen.raise(5), seen.raise(12n)]).toEqual([9n, 9n, 12n]);
});

it("is forgotten when the service does not come to it, and by no other failure", () => {
  const seen = new SeenBlock();
  seen.observe(shown("9"));
  seen.onFailure(new SextantError("NOT_FOUND", "There is no such record."));
  expect(seen.raise(undefined)).toBe(9n);
  seen.onFailure(new SextantError("BLOCK_NOT_INDEXED", "The index is at block 3."));
  expect(seen.raise(undefined)).toBeUndefined();
});
