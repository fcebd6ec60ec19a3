// Time budgets: they add up within the time of a chain, and late work ends whether it heeds its signal or not.
import { describe, expect, it } from "vitest";
import { BUDGET_MS, CHAIN_MS_MAX, runAllWithinBudget, runWithinBudget } from "./time-budgets.ts";

const signal = new AbortController().signal;

describe("the budgets", () => {
  it("the budgets leave a chain a second when every part is late", () => {
    const all = Object.values(BUDGET_MS).reduce((sum, ms) => sum + ms, 0);
    expect(all).toBeLessThanOrEqual(CHAIN_MS_MAX - 1_000);
  });
});

describe("work within a budget", () => {
  it("work within a budget returns its value, or that it failed", async () => {
    expect(await runWithinBudget(async () => 7, 1_000, signal)).toEqual({ value: 7 });
    const failing = () => Promise.reject(new Error("down"));
    expect(await runWithinBudget(failing, 1_000, signal)).toEqual({ failure: "failed" });
    const throwing = (): Promise<never> => {
      throw new Error("at once");
    };
    expect(await runWithinBudget(throwing, 1_000, signal)).toEqual({ failure: "failed" });
  });

  it("work is late at the end of its budget, heeding its signal or not", async () => {
    const heeding = (stop: AbortSignal) =>
      new Promise<never>((_, reject) => stop.addEventListener("abort", () => reject(stop.reason)));
    expect(await runWithinBudget(heeding, 10, signal)).toEqual({ failure: "late" });
    expect(await runWithinBudget(() => new Promise<never>(() => {}), 0.5, signal)).toEqual({
      failure: "late",
    });
  });

  it("work that begins before its turn has its whole budget from then on", async () => {
    const wait = () => new Promise((resolve) => setTimeout(resolve, 20));
    const turn = wait();
    const early = async () => {
      await turn;
      return "in time";
    };
    expect(await runWithinBudget(early, 5, signal, turn)).toEqual({ value: "in time" });
    const hanging = () => new Promise<never>(() => {});
    const reached = Promise.reject(new Error("the turn itself failed"));
    expect(await runWithinBudget(hanging, 5, signal, reached)).toEqual({ failure: "late" });
  });

  it("rejects with the reason of the caller's signal, even when it has a value", async () => {
    const caller = new AbortController();
    const work = async () => caller.abort(new Error("gone"));
    await expect(runWithinBudget(work, 1_000, caller.signal)).rejects.toThrow("gone");
  });

  it("returns the outcome of each work, and stops what is left once all others have ended", async () => {
    const stopped: unknown[] = [];
    const failing = (stop: AbortSignal) => {
      stop.addEventListener("abort", () => stopped.push(stop.reason));
      return Promise.reject(new Error("down"));
    };
    const hanging = () => new Promise<never>(() => {});
    const works = [async () => 7, failing, hanging];
    expect(await runAllWithinBudget(works, 10, signal)).toEqual([
      { value: 7 },
      { failure: "failed" },
      { failure: "late" },
    ]);
    expect(stopped).toHaveLength(1);
    expect(await runAllWithinBudget([], 10, signal)).toEqual([]);
  });
});
