// Repeated log lines: one at once, one per interval with a count while they go on, and nothing is lost at the end.
import { setImmediate as nextTurn } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { createLogThrottle } from "./log.ts";

function limited() {
  const sleeping = new Set<() => void>();
  const lines: string[] = [];
  const limit = createLogThrottle({
    sleep: (_ms, signal) =>
      new Promise((resolve, reject) => {
        sleeping.add(resolve);
        signal?.addEventListener("abort", () => reject(signal.reason));
      }),
  });
  return {
    lines,
    close: limit.close,
    report: (key: string) => limit.report(key, (repeated) => void lines.push(`${key} ${repeated}`)),
    async passInterval() {
      for (const resume of sleeping) {
        sleeping.delete(resume);
        resume();
      }
      await nextTurn();
    },
  };
}

describe("repeated log lines", () => {
  it("writes a repeated line once per interval, with how many there were", async () => {
    const { report, lines, passInterval } = limited();
    for (let each = 0; each < 5_000; each += 1) report("a");
    report("b");
    expect(lines).toEqual(["a 0", "b 0"]);
    await passInterval();
    expect(lines).toEqual(["a 0", "b 0", "a 4999"]);
    report("a");
    report("a");
    await passInterval();
    expect(lines.slice(3)).toEqual(["a 2"]);
    await passInterval();
    report("a");
    report("b");
    expect(lines.slice(4)).toEqual(["a 0", "b 0"]);
  });

  it("counts lines together once there are too many kinds", () => {
    const { report, lines } = limited();
    for (let kind = 0; kind < 10_000; kind += 1) report(`kind ${kind}`);
    expect(lines.length).toBeLessThan(110);
  });

  it("writes counted lines at the end, too", () => {
    const { report, lines, close } = limited();
    for (let each = 0; each < 3; each += 1) report("a");
    close();
    expect(lines).toEqual(["a 0", "a 2"]);
    report("a");
    expect(lines).toEqual(["a 0", "a 2", "a 0"]);
  });
});
