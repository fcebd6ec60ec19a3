// Headers of live chains: the prover and the verifier, which share no code, both come to the hash that the chain has.
import { readFileSync } from "node:fs";
import { readHeader } from "@sextant/client/verify/header";
import { describe, expect, it } from "vitest";
import type { Hex } from "../../lib/hex.ts";
import type { JsonObject } from "../../lib/json.ts";
import { encodeCheckedHeader } from "./header.ts";

type LiveHeader = {
  readonly chain: string;
  readonly fork: string;
  readonly block: JsonObject & Readonly<Record<"hash" | "stateRoot" | "receiptsRoot" | "number", Hex>>;
};

const FILE = new URL("../../../tests/fixtures/headers/live-headers.json", import.meta.url);
const { headers } = JSON.parse(readFileSync(FILE, "utf8")) as { headers: readonly LiveHeader[] };

describe.each(headers)("a header of $chain, $fork", ({ block }) => {
  const { hash, stateRoot, receiptsRoot, number } = block;

  it("leads to the hash of its block, as the verifier computes it", () => {
    const encoded = encodeCheckedHeader(block, hash);
    expect(encoded).toMatchObject({ stateRoot, receiptsRoot });
    expect(readHeader(encoded?.rlp ?? "0x")).toMatchObject({
      hash,
      stateRoot,
      receiptsRoot,
      number: BigInt(number),
    });
  });

  it.each(["stateRoot", "receiptsRoot", "parentHash", "mixHash"])(
    "is not checkable with another %s",
    (name) => {
      expect(encodeCheckedHeader({ ...block, [name]: `0x${"5e".repeat(32)}` }, hash)).toBeNull();
    },
  );
});

it("covers the forks of Ethereum since London, and the rules of its rollups", () => {
  const covered = headers.map(({ chain, fork }) => `${chain} ${fork}`);
  for (const fork of ["London", "Paris", "Shanghai", "Cancun", "Prague"])
    expect(covered).toContain(`ethereum ${fork}`);
  expect(covered).toEqual(expect.arrayContaining(["optimism Jovian", "arbitrum Nitro"]));
});
