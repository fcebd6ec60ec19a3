// Thousands of forged responses against the verifier: each is rejected. Honest ones, with other amounts each, are accepted.
import fc from "fast-check";
import { keccak256 } from "viem";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { seededRandom } from "../../../tests/support/seeded-random.ts";
import { runsOf } from "../../../tests/support/test-depth.ts";
import { type Chance, FORGERIES, type Forged } from "../testing/forgeries.ts";
import {
  type ProofStage,
  type StageLayout,
  slotOf,
  startProofStage,
  TOKENS,
} from "../testing/proof-stage.ts";
import { verify } from "./verify.ts";

type Kind = "snapshot" | "exposure" | "diff";
type Pair = { readonly honest: Forged; readonly earlier: Forged; readonly text: string };

let stage: ProofStage;
const pairs = new Map<Kind, Pair>();
beforeAll(async () => {
  stage = await startProofStage();
  for (const kind of ["snapshot", "exposure", "diff"] as const) {
    const earlier = (await stage[kind]()) as Forged;
    // All amounts differ between the two blocks, so that a proof of the other block shows another amount.
    await stage.hold(TOKENS.map(({ amount }) => amount + 1_000_000n));
    await stage.chain.mine(1);
    const honest = (await stage[kind]()) as Forged;
    pairs.set(kind, { honest, earlier, text: JSON.stringify(honest) });
    await stage.hold(TOKENS.map(({ amount }) => amount));
  }
});
afterAll(() => stage.chain.stop());

/** The hashes of the blocks of both: the reader knows them, so that a proof is all that a forger lacks. */
const hashesOf = (...reports: readonly Forged[]) =>
  reports.flatMap(({ proofs }) => proofs.chains.map(({ block }) => block.hash ?? ""));

function createChance(seed: number): Chance {
  const next = seededRandom(seed);
  const number = (below: number) => Math.floor(next() * below);
  return { number, pick: (list) => list[number(list.length)] as never };
}

describe("a forged response", () => {
  it.each(FORGERIES.map((forgery) => [forgery.name, forgery] as const))(
    "a response is rejected that %s",
    async (_, { forge }) => {
      const kinds = fc.constantFrom<Kind[]>("snapshot", "exposure", "diff");
      const forged = fc.asyncProperty(kinds, fc.nat(), async (kind, seed) => {
        const { honest, earlier, text } = pairs.get(kind) as Pair;
        const report = structuredClone(honest);
        const changed = forge(report, createChance(seed), structuredClone(earlier)) ?? JSON.stringify(report);
        expect(changed).not.toBe(text);
        const result = await verify(changed, { blockHashes: hashesOf(honest, earlier) });
        expect(result.ok, JSON.stringify(result.rows)).toBe(false);
      });
      await fc.assert(forged, { numRuns: runsOf(Math.ceil(10_000 / FORGERIES.length)) });
    },
  );
});

describe("a forged response, to a reader with honest nodes", () => {
  const nodes = () => [stage.chain.rpcUrl, stage.chain.rpcUrl.replace("127.0.0.1", "localhost")];
  const numbers = fc.integer({ min: 0x10, max: 0x12f });
  const layouts = fc.record({
    rule: fc.constantFrom("solidity", "vyper", "solady"),
    number: numbers,
    bits: fc.constantFrom("0-255", "0-254", "0-159", "0-127", "0-95", "0-63", "0-15", "0-3"),
  });

  it("is rejected when it shows an empty slot of the service's choice for a token", async () => {
    // The tokens with mappings at small positions; the third is kept by the rule of Solady itself.
    const forged = fc.asyncProperty(fc.constantFrom(1, 2, 4), layouts, async (at, { rule, number, bits }) => {
      const layout: StageLayout = {
        rule,
        bits,
        position: rule === "solady" ? "0x0" : `0x${number.toString(16)}`,
      };
      const mask = 2n ** BigInt(Number(bits.slice(2)) + 1) - 1n;
      // The true amount is what the hash of the slot gives: a word from it would seem to be confirmed.
      const amount = BigInt.asUintN(96, BigInt(keccak256(slotOf(layout, [stage.wallet])))) & mask;
      await stage.hold(TOKENS.map((token, index) => (index === at ? amount | 1n : token.amount)));
      const listed = stage.tokens.map((token, index) =>
        index === at ? { ...token, layout, amount: 0n } : token,
      );
      const report = (await stage.snapshot(listed)) as Forged;
      const result = await verify(JSON.stringify(report), { nodes: nodes(), blockHashes: hashesOf(report) });
      expect(result.ok, JSON.stringify(layout)).toBe(false);
      expect(result.rows.find(({ path }) => path === `/tokens/${at}/rawBalance`)?.status).toBe("wrong");
    });
    await fc.assert(forged, { numRuns: runsOf(500) });
  });

  it.each(FORGERIES.map((forgery) => [forgery.name, forgery] as const))(
    "a response is rejected that %s",
    async (_, { forge }) => {
      const kinds = fc.constantFrom<Kind[]>("snapshot", "exposure", "diff");
      const forged = fc.asyncProperty(kinds, fc.nat(), async (kind, seed) => {
        const { honest, earlier } = pairs.get(kind) as Pair;
        const report = structuredClone(honest);
        const changed = forge(report, createChance(seed), structuredClone(earlier)) ?? JSON.stringify(report);
        const result = await verify(changed, { nodes: nodes() });
        expect(result.ok, JSON.stringify(result.rows)).toBe(false);
      });
      await fc.assert(forged, { numRuns: runsOf(30) });
    },
  );
});

describe("an honest response", () => {
  it.each(["snapshot", "exposure", "diff"] as const)(
    "a %s is accepted, whatever amounts it has and in whatever order its nodes are",
    async (kind) => {
      const amounts = fc.array(fc.bigInt({ min: 0n, max: 10n ** 15n }), { minLength: 5, maxLength: 5 });
      await fc.assert(
        fc.asyncProperty(amounts, async (held) => {
          await stage.hold(held);
          await stage.chain.mine(1);
          const report = (await stage[kind]()) as Forged;
          for (const { nodes } of report.proofs.chains) nodes.reverse();
          const result = await verify(JSON.stringify(report), { blockHashes: hashesOf(report) });
          expect(result.rows.filter(({ status }) => status === "wrong")).toEqual([]);
          expect(result.ok).toBe(true);
        }),
        { numRuns: runsOf(334) },
      );
    },
  );
});
