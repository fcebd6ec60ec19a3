// `--save`: the file has the response with its signature, receipt and keys, so that it can be checked without the service.
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { PaidExchange } from "@sextant/client/payments/exchange";
import type { Verification } from "@sextant/client/verify/verify";
import { afterAll, beforeAll, expect, it } from "vitest";
import { exampleSnapshot } from "../../src/schema/portfolio/examples.ts";
import { TEST_ORIGIN } from "../support/payments/paid-stage.ts";
import { createTestKeys, isSignedFor } from "../support/signing/test-keys.ts";
import { openPaidRun } from "./paid-run.ts";

const WALLET = exampleSnapshot.address;
let stage: Awaited<ReturnType<typeof openPaidRun>>;
beforeAll(async () => {
  stage = await openPaidRun({ offer: { signingKeys: createTestKeys() } });
});
afterAll(() => stage?.close());

it("saves what was shown, signed for its URL, with the receipt of the payment", async () => {
  const payer = await stage.openPayer();
  const file = join(payer.folder, "snapshot.json");
  const { code, out } = await payer.run(["wallet", WALLET, "--json", "--save", file]);
  expect(code).toBe(0);
  const { request, response, keys, ...saved } = JSON.parse(readFileSync(file, "utf8")) as PaidExchange & {
    readonly keys: unknown;
  };
  expect(saved).toEqual({ format: "sextant-answer", version: 1, savedAt: expect.stringMatching(/^20.*Z$/) });
  expect(JSON.parse(response.body)).toEqual(JSON.parse(out));
  const received = new Response(response.body, { status: 200, headers: response.headers });
  received.headers.set("cache-control", "no-transform");
  const { pathname, search } = new URL(request.url);
  expect(await isSignedFor(received, { url: TEST_ORIGIN + pathname + search, keys })).toBe(true);
  const receipt = JSON.parse(Buffer.from(response.headers["payment-response"] ?? "", "base64").toString());
  expect(Object.keys(receipt.extensions)).toEqual(["offer-receipt", "sextant-answer"]);
  expect(await payer.transactions()).toEqual([receipt.transaction]);
});

it("saves what `sextant verify` finds signed by a key of the service, and wrong once it is changed", async () => {
  const payer = await stage.openPayer();
  const file = join(payer.folder, "checked.json");
  await payer.run(["wallet", WALLET, "--json", "--save", file]);
  const text = readFileSync(file, "utf8");
  const listed = join(payer.folder, "keys.json");
  writeFileSync(listed, JSON.stringify((JSON.parse(text) as { keys: unknown }).keys));
  const { code, out } = await payer.run(["verify", file, "--key", listed, "--json"]);
  const statuses = (JSON.parse(out) as Verification).rows
    .slice(0, 2)
    .map(({ path, status }) => [path, status]);
  expect(statuses).toEqual([
    ["signature", "signed"],
    ["receipt", "signed"],
  ]);
  expect(code).toBe(0);
  writeFileSync(file, text.replace("1250.25", "9250.25"));
  expect((await payer.run(["verify", file, "--key", listed])).code).toBe(1);
});

it("pays nothing if the file cannot be written", async () => {
  const payer = await stage.openPayer();
  const file = join(payer.folder, "missing", "snapshot.json");
  const { code, err } = await payer.run(["wallet", WALLET, "--save", file]);
  expect([code, existsSync(file)]).toEqual([64, false]);
  expect(err).toContain("cannot be written");
  expect(await payer.transactions()).toEqual([]);
});
