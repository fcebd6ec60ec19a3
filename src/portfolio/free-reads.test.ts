// Free reads are shared fairly: a client that takes all it can leaves something to those that come after.
import { describe, expect, it } from "vitest";
import { createFastClock } from "../../tests/support/fast-clock.ts";
import { createFreeReads, FREE_READ_LIMITS } from "./free-reads.ts";

type Outcome = "read" | "RATE_LIMITED" | "OVERLOADED";

function openShares() {
  const clock = createFastClock();
  const reads = createFreeReads(clock);
  const ask = (client: string): Promise<Outcome> =>
    reads.run(client, async () => "read" as const).catch(({ code }) => code);
  /** Asks until it gets nothing more; returns the last outcome. */
  const drain = async (client: string) => {
    for (let count = 0; ; count += 1) {
      const outcome = await ask(client);
      if (outcome !== "read") return { count, outcome };
    }
  };
  return { clock, ask, drain };
}

const clientAt = (index: number) => `10.${index >> 16}.${(index >> 8) & 255}.${index & 255}`;

describe("createFreeReads", () => {
  it("gives one client all that a client may have", async () => {
    const { drain } = openShares();
    expect(await drain("10.0.0.1")).toEqual({
      count: FREE_READ_LIMITS.perClientPerMinute,
      outcome: "RATE_LIMITED",
    });
  });

  it.each([10, 50])("leaves something to a newcomer while %i clients take all they can", async (busy) => {
    const { clock, ask, drain } = openShares();
    for (let second = 0; second < 60; second += 1) {
      for (let index = 0; index < busy; index += 1) await drain(clientAt(index));
      if (second % 5 === 0) expect([second, await ask(`newcomer ${second}`)]).toEqual([second, "read"]);
      await clock.sleep(1_000);
    }
  });

  it("gives all together no more than the nodes can bear", async () => {
    const { ask } = openShares();
    let read = 0;
    for (let index = 0; index < 1_000; index += 1) if ((await ask(clientAt(index))) === "read") read += 1;
    expect(read).toBe(FREE_READ_LIMITS.perMinute);
  });

  it("counts all clients of an IPv6 /48 as one", async () => {
    const { drain, ask } = openShares();
    let read = 0;
    for (let index = 0; index < 100; index += 1)
      read += (await drain(`2001:db8:1:${index.toString(16)}`)).count;
    expect(read).toBeLessThan(FREE_READ_LIMITS.perMinute / 3);
    expect(await ask("10.0.0.1")).toBe("read");
  });
});
