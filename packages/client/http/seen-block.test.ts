// The block that a client asks for: the highest it has seen, until the service says that it does not come to it.
import { expect, it } from "vitest";
import { SextantError } from "../errors.ts";
import { SeenBlock } from "./seen-block.ts";
import type { HttpResponse, Transport } from "./transport.ts";

/** A call whose response has these headers. */
async function call(seen: SeenBlock, headers: Record<string, string>, status = 200) {
  const response: HttpResponse = { status, headers: new Headers(headers), text: "" };
  const transport: Transport = { send: async () => response, open: async () => response };
  const observed = seen.observeCall(transport);
  expect(await observed.transport.send({ method: "GET", url: "http://api" })).toBe(response);
  return observed;
}

const show = (seen: SeenBlock, block: string, status?: number) =>
  call(seen, { "x-indexed-block": block }, status);

it("asks for the highest block seen, or for a higher one of the caller", async () => {
  const seen = new SeenBlock();
  expect(seen.raise(undefined)).toBeUndefined();
  for (const block of ["7", "9", "8", "", "-1", "1e9"]) await show(seen, block);
  expect([seen.raise(undefined), seen.raise(5), seen.raise(12n)]).toEqual([9n, 9n, 12n]);
});

it("never asks for a block that the service would not take", async () => {
  const seen = new SeenBlock();
  for (const digits of [18, 19, 20]) await show(seen, "9".repeat(digits));
  expect(seen.raise(undefined)).toBe(10n ** 18n - 1n);
});

it("also sees the block of a 404 response", async () => {
  const seen = new SeenBlock();
  await show(seen, "9", 404);
  expect(seen.raise(undefined)).toBe(9n);
});

it("goes back to the service's block when a block does not come, and by no other failure", async () => {
  const seen = new SeenBlock();
  (await show(seen, "9")).onFailure(new SextantError("NOT_FOUND", "There is no such record."));
  expect(seen.raise(undefined)).toBe(9n);
  const behind = new SextantError("BLOCK_NOT_INDEXED", "The index is at block 3.");
  (await call(seen, { "x-block-number": "3" }, 503)).onFailure(behind);
  expect(seen.raise(undefined)).toBe(3n);
  // An index that begins again has no block to name.
  (await call(seen, {}, 503)).onFailure(behind);
  expect(seen.raise(undefined)).toBeUndefined();
});

it("keeps the seen block when only the caller's later one does not come", async () => {
  const seen = new SeenBlock();
  await show(seen, "500");
  const behind = new SextantError("BLOCK_NOT_INDEXED", "The index is at block 501.");
  (await call(seen, { "x-block-number": "501" }, 503)).onFailure(behind);
  expect(seen.raise(undefined)).toBe(500n);
});
