// Verdicts follow from reasons: the worst decides, and only a simulation without any is allowed.
import { Ajv2020 } from "ajv/dist/2020.js";
import { expect, it } from "vitest";
import { simulationRequestSchema, simulationSchema } from "../../schema/portfolio/simulation.ts";
import { createReason, decideVerdict } from "./verdict.ts";

const ajv = new Ajv2020({ strict: false, validateFormats: false });

it("allows only what has no reason against it", () => {
  expect(decideVerdict([])).toEqual({ verdict: "allow", reasons: [] });
  for (const code of simulationSchema.properties.reasons.items.properties.code.enum as readonly []) {
    expect(decideVerdict([createReason(code)]).verdict).not.toBe("allow");
  }
});

it("lists blocking reasons first, and each once", () => {
  const caution = createReason("unknown-code", { transaction: 0 });
  const block = createReason("reverts", { transaction: 1 });
  expect(decideVerdict([caution, block, { ...caution }])).toEqual({
    verdict: "block",
    reasons: [block, caution],
  });
});

it("describes requests of transactions and of messages", () => {
  const isValid = ajv.compile(simulationRequestSchema);
  const wallet = `0x${"1".repeat(40)}`;
  const request = { wallet, chain: "base", transactions: [{ to: wallet, value: "0x1", data: "0xa9" }] };
  expect(isValid(request), ajv.errorsText(isValid.errors)).toBe(true);
  expect(isValid({ ...request, transactions: [] })).toBe(false);
  expect(isValid({ ...request, transactions: [{ to: wallet, data: "0xa" }] })).toBe(false);
});
