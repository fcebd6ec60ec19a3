// The error class, and that its page describes every code.
import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { CLIENT_CODES, SextantError } from "./errors.ts";

it("has a row in docs/client.md for each code of the client", () => {
  const page = readFileSync(new URL("../../docs/client.md", import.meta.url), "utf8");
  const rows = [...page.matchAll(/^\| `([A-Z_]+)` \|/gm)].map((match) => match[1]);
  expect(rows).toEqual(Object.keys(CLIENT_CODES));
});

it("says by its code whether the same request can succeed later, unless a payment says more", () => {
  expect(new SextantError("RATE_LIMITED", "Later.").retry).toBe("same-signature");
  expect(new SextantError("NOT_FOUND", "No.").retry).toBe("never");
  const cause = new SextantError("INTERNAL", "Broken.", { status: 500, retryAfterMs: 7, requestId: "r" });
  expect(cause.forPayment("0x1", "unknown", "same-signature")).toMatchObject({
    ...{ code: "INTERNAL", message: "Broken.", status: 500, retryAfterMs: 7, requestId: "r", payment: "0x1" },
    ...{ charged: "unknown", retry: "same-signature", cause },
  });
});
