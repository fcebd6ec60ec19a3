// Exit codes and closing sentences by kind of failure, and their table in the documentation.
import { readFileSync } from "node:fs";
import { SextantError } from "@sextant/client/errors";
import { expect, it } from "vitest";
import { FAULTS, Fault } from "../lib/fault.ts";
import { describeFailure, EXIT_CODES } from "./exit-codes.ts";

const PAYMENT = `0x${"07".repeat(32)}`;

it("lists the exit codes in docs/client.md as in --help", () => {
  const [, section = ""] = readFileSync("docs/client.md", "utf8").split("\n## Command line\n");
  const rows = section.split("\n").filter((line) => /^\| \d+ \|/.test(line));
  expect(rows).toEqual(Object.entries(EXIT_CODES).map(([code, meaning]) => `| ${code} | ${meaning} |`));
});

it("lists every exit code that a fault ends with", () => {
  const exits = new Set(Object.values(FAULTS).map(({ exit }) => String(exit)));
  expect([...exits].filter((exit) => !Object.hasOwn(EXIT_CODES, exit))).toEqual([]);
});

it.each<[number, SextantError]>([
  [2, new SextantError("NOT_FOUND", "None.")],
  [3, new SextantError("TERMS_REJECTED", "None.")],
  [3, new SextantError("LIMIT_EXCEEDED", "None.")],
  [4, new SextantError("PAYMENT_REQUIRED", "None.", { payment: PAYMENT, retry: "sign-again" })],
  [4, new SextantError("PROVIDER_FAILED", "None.", { payment: PAYMENT })],
  [4, new SextantError("SIGNING_FAILED", "None.")],
  [5, new SextantError("UNREACHABLE", "None.", { payment: PAYMENT, charged: "unknown" })],
  [5, new SextantError("ABORTED", "None.", { payment: PAYMENT, charged: "unknown" })],
  [5, new SextantError("PAYMENT_CONFLICT", "None.", { payment: PAYMENT, charged: "unknown" })],
  [6, new SextantError("JOURNAL_UNAVAILABLE", "None.", { payment: PAYMENT, charged: "once" })],
  [65, new SextantError("INPUT_INVALID", "None.")],
  [69, new SextantError("UNREACHABLE", "None.")],
  [69, new SextantError("BLOCK_NOT_INDEXED", "None.")],
  [70, new SextantError("RESPONSE_INVALID", "None.")],
  [70, new SextantError("REDIRECTED", "None.")],
  [78, new SextantError("JOURNAL_INVALID", "None.")],
  [130, new SextantError("ABORTED", "None.")],
])("exits with %d for %o", (exit, error) => {
  expect(describeFailure(error, false).exit).toBe(exit);
});

it("says what was charged, and what to do, only if a payment was signed", () => {
  const last = (details: ConstructorParameters<typeof SextantError>[2]) =>
    describeFailure(new SextantError("UNREACHABLE", "Gone.", details), false).sentences;
  expect(last({})).toEqual(["Gone."]);
  expect(last({ payment: PAYMENT, charged: "no" })[1]).toMatch(/^Nothing was charged\. Run the same command/);
  expect(last({ payment: PAYMENT, charged: "no", retry: "never" })[1]).toBe("Nothing was charged.");
  expect(last({ payment: PAYMENT, charged: "once" })[1]).toMatch(
    /^The payment was charged once\. Run the same/,
  );
  expect(last({ payment: PAYMENT, charged: "unknown" })[1]).toMatch(/`payments recover`.* at most once\.$/);
  expect(last({ payment: PAYMENT, charged: "unknown", retry: "never" })[1]).toMatch(
    /counts as spent.* shows it\.$/,
  );
  expect(last({ payment: PAYMENT, charged: "unknown", retry: "sign-again" })[1]).toMatch(/a new payment\.$/);
});

it("names settings instead of options of the client", () => {
  const error = new SextantError("TERMS_REJECTED", "Above guard.perPayment 1; see guard.payees.");
  expect(describeFailure(error, false).sentences).toEqual([
    "Above SEXTANT_GUARD_PER_PAYMENT 1; see SEXTANT_GUARD_PAYEES.",
  ]);
});

it("shows nothing of an error that is not ours", () => {
  expect(describeFailure(new Error("secret"), false)).toEqual({
    sentences: ["Something went wrong on our side.", "run it again with --debug to see the cause."],
    exit: 70,
  });
  expect(describeFailure(new Fault("CONFIG_INVALID", "a\nb"), true)).toEqual({
    sentences: ["a", "b"],
    exit: 78,
  });
});
