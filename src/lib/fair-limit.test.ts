// A limit shared out by key: no key takes all slots, keys take turns, and a caller that would wait too long is rejected.
import { describe, expect, it } from "vitest";
import { createFairLimit } from "./concurrency-limit.ts";

function harness(options: Partial<Parameters<typeof createFairLimit>[0]> = {}) {
  const limit = createFairLimit({
    runningMax: 2,
    runningPerKeyMax: 1,
    waitingMax: 6,
    waitingPerKeyMax: 3,
    ...options,
  });
  const started: string[] = [];
  const finish = new Map<string, () => void>();
  const run = (key: string, name: string) =>
    limit.run(key, () => {
      started.push(name);
      return new Promise<string>((resolve) => finish.set(name, () => resolve(name)));
    });
  return { run, started, end: (name: string) => finish.get(name)?.() };
}

const settled = () => new Promise((resolve) => setImmediate(resolve));

describe("a fair limit", () => {
  it("never gives all slots to one key", async () => {
    const { run, started, end } = harness();
    const all = [run("a", "a1"), run("a", "a2"), run("b", "b1")];
    expect(started).toEqual(["a1", "b1"]);
    end("b1");
    await settled();
    expect(started).toEqual(["a1", "b1"]);
    end("a1");
    await settled();
    expect(started).toEqual(["a1", "b1", "a2"]);
    end("a2");
    expect(await Promise.all(all)).toEqual(["a1", "a2", "b1"]);
  });

  it("lets keys take turns, whichever came with more", async () => {
    const { run, started, end } = harness({ runningMax: 1 });
    const all = [run("a", "a1"), run("a", "a2"), run("a", "a3"), run("b", "b1"), run("c", "c1")];
    for (let n = 0; n < all.length; n += 1) {
      end(started.at(-1) ?? "");
      await settled();
    }
    expect(started).toEqual(["a1", "a2", "b1", "c1", "a3"]);
    await Promise.all(all);
  });

  it("turns away what waits beyond a key's share, or beyond the total", async () => {
    const { run } = harness();
    const name = (n: number) => `task ${n}`;
    for (let n = 0; n < 4; n += 1) void run("a", name(n));
    await expect(run("a", "more")).rejects.toMatchObject({ code: "OVERLOADED" });
    for (let n = 4; n < 8; n += 1) void run("b", name(n));
    await expect(run("c", "late")).rejects.toMatchObject({ code: "OVERLOADED" });
  });

  it("frees the slot of a task that fails", async () => {
    const { run, started } = harness({ runningMax: 1 });
    const limit = createFairLimit({ runningMax: 1, runningPerKeyMax: 1, waitingMax: 1, waitingPerKeyMax: 1 });
    await expect(limit.run("a", () => Promise.reject(new Error("no")))).rejects.toThrow("no");
    expect(await limit.run("a", async () => "yes")).toBe("yes");
    void run("a", "a1");
    expect(started).toEqual(["a1"]);
  });
});
