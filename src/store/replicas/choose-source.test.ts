// The choice of a replica, and its lag: never one that lacks what a read needs, and turns among equals.
import fc from "fast-check";
import { expect, it } from "vitest";
import { chooseSource, ServedState, WalPositions } from "./read-source.ts";

const stateOf = (revision: number, number = revision) => ({
  revision: BigInt(revision),
  number: BigInt(number),
  hash: `0x${revision}`,
});

const small = fc.integer({ min: 0, max: 4 });
const candidate = fc.record({
  isInRotation: fc.boolean(),
  state: fc.option(fc.tuple(small, small).map(([revision, number]) => stateOf(revision, number))),
  position: small.map(BigInt),
  inFlight: small,
});
const needs = fc.record({
  floor: fc.option(small.map((revision) => stateOf(revision))),
  atLeast: fc.option(small.map(BigInt)),
  position: fc.option(small.map(BigInt)),
});

it("chooses the least busy of those that have what the read needs", () => {
  fc.assert(
    fc.property(fc.array(candidate, { maxLength: 5 }), needs, fc.nat(), (sources, need, turn) => {
      const fitting = sources.filter(
        ({ isInRotation, state, position }) =>
          isInRotation &&
          state !== null &&
          state.revision >= (need.floor?.revision ?? 0n) &&
          state.number >= (need.atLeast ?? 0n) &&
          position >= (need.position ?? 0n),
      );
      const chosen = chooseSource(sources, need, new Set(), turn);
      expect(chosen === null).toBe(fitting.length === 0);
      if (chosen === null) return;
      expect(fitting).toContain(chosen);
      expect(chosen.inFlight).toBe(Math.min(...fitting.map(({ inFlight }) => inFlight)));
      expect(chooseSource(sources, need, new Set(sources), turn)).toBeNull();
    }),
  );
});

it("takes turns among equals", () => {
  const sources = [0, 1, 2].map(() => ({ isInRotation: true, state: stateOf(1), position: 0n, inFlight: 0 }));
  const any = { floor: null, atLeast: null, position: null };
  const chosen = [0, 1, 2].map((turn) => chooseSource(sources, any, new Set(), turn));
  expect(new Set(chosen).size).toBe(3);
});

it("never steps back by a reader, only by the primary", () => {
  const served = new ServedState();
  for (const revision of [3, 5, 4]) served.observe(stateOf(revision));
  expect(served.newest).toEqual(stateOf(5));
  served.reset(stateOf(2));
  expect(served.newest).toEqual(stateOf(2));
});

it("counts lag from the first position that is missing, and none on an idle primary", () => {
  const positions = new WalPositions();
  positions.add(10n, 1_000);
  positions.add(20n, 2_000);
  positions.add(20n, 3_000);
  expect(positions.lagMs(20n, 9_000)).toBe(0);
  expect(positions.lagMs(19n, 9_000)).toBe(7_000);
  expect(positions.lagMs(9n, 9_000)).toBe(8_000);
  // A fail-over to a server that lacks the end of the log.
  positions.add(15n, 10_000);
  expect(positions.lagMs(15n, 11_000)).toBe(0);
});

it("shows a lag of hours to a minute, however many positions were sampled since", () => {
  const positions = new WalPositions();
  const SECONDS = 20_000;
  for (let second = 0; second <= SECONDS; second += 1) positions.add(BigInt(second), second * 1_000);
  for (const [behind, inexact] of [
    [10, 1],
    [900, 1],
    [5_000, 61],
    [SECONDS, 61],
  ] as const) {
    const lagMs = positions.lagMs(BigInt(SECONDS - behind), SECONDS * 1_000);
    expect(lagMs).toBeLessThanOrEqual(behind * 1_000);
    expect(lagMs).toBeGreaterThanOrEqual((behind - inexact) * 1_000);
  }
});
