// The end of a difference from a stored snapshot: read by the sources of the present, as the stored one was.
import { describe, expect, it } from "vitest";
import {
  makeChainConfig,
  makeChainData,
  makeHolding,
  makeListedToken,
  makeSnapshot,
  TEST_WALLET,
} from "../../../tests/support/portfolio/portfolio-parts.ts";
import type { SnapshotReader } from "../snapshot.ts";
import { extractFigures } from "./figures.ts";
import { readDiff } from "./read-diff.ts";

const base = makeChainConfig("base", 8453);
const holdings = [makeHolding(makeListedToken(1, "FOUND", 6), 5n)];
const present = makeSnapshot(makeChainData(base, { holdings }));
// As of a block, the vendor that knows the token is left out.
const past = makeSnapshot(makeChainData(base, { holdings: [] }));
const snapshots: SnapshotReader = { read: async ({ blocks }) => (blocks ? past : present) };
const storedSnapshots = { store: async () => null, load: async () => extractFigures(present) };
const ID = "ab".repeat(32);

function read(to: ReadonlyMap<string, number> | null) {
  const services = { snapshots, storedSnapshots, chains: new Map() };
  return readDiff(services, { wallet: TEST_WALLET, slugs: null, from: ID, to }, AbortSignal.timeout(5_000));
}

describe("a difference from a stored snapshot", () => {
  it("to now is empty while nothing changes, whatever the sources know of the past", async () => {
    const { tokens, to, from } = await read(null);
    expect(tokens).toEqual([]);
    expect(to.blocks).toEqual([]);
    expect(from.warnings).toEqual(["The warnings of the stored snapshot are not repeated here."]);
  });

  it("to a block warns that the two sides may have other sources", async () => {
    const { from } = await read(new Map([["base", 7]]));
    expect(from.warnings).toContain(
      "The stored snapshot may have balances and prices of vendors, which know no past block: what only they know seems to be gone.",
    );
  });
});
