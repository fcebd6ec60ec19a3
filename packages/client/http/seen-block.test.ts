// The block that a client asks for: the highest it has seen, until the service says that it does not come to it.
import { expect, it } from "vitest";
import { SextantError } from "../errors.ts";
import { SeenBlock } from "./seen-block.ts";
import type { HttpResponse, Transport } from "./transport.ts";

/** A response at the block arrives. */
async function show(seen: SeenBlock, block: string, status = 200): Promise<void> {
  const headers = new Headers({ "x-indexed-block": block });
  const response: HttpResponse = { status, headers, text: "", url: "http://api" };
  const transport: Transport = { send: async () => response, open: async () => new ReadableStream() };
  const { send } = seen.observing(transport);
  expect(await send({ method: "GET", url: "http://api" })).toBe(response);
}

it("is the highest of those seen, or the caller's own", async () => {
  const seen = new SeenBlock();
  expect(seen.raise(undefined)).toBeUndefined();
  for (const block of ["7", "9", "8", "", "-1", "1e9", "9".repeat(20)]) await show(seen, block);
  expect([seen.raise(undefined), seen.raise(5), seen.raise(12n)]).toEqual([9n, 9n, 12n]);
});

it("is also seen in the response that there is no such record", async () => {
  const seen = new SeenBlock();
  await show(seen, "9", 404);
  expect(seen.raise(undefined)).toBe(9n);
});

it("is forgotten when the service does not come to it, and by no other failure", async () => {
  const seen = new SeenBlock();
  await show(seen, "9");
  seen.onFailure(new SextantError("NOT_FOUND", "There is no such record."));
  expect(seen.raise(undefined)).toBe(9n);
  seen.onFailure(new SextantError("BLOCK_NOT_INDEXED", "The index is at block 3."));
  expect(seen.raise(undefined)).toBeUndefined();
});
