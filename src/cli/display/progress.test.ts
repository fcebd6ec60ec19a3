// The progress line of a terminal: rate and time left, redrawn seldom enough to be read, and never mixed with other output.
import { afterEach, describe, expect, it, vi } from "vitest";
import { ERASE_LINE, ProgressLine, startStatusLine, WorkMeter } from "./progress.ts";

let now = 0;
const clock = { nowMs: () => now };

function openTerminal(columns = 60) {
  const written: string[] = [];
  const stream = { columns, write: (text: string) => written.push(text) };
  return { written, stream, line: new ProgressLine(stream, clock) };
}

afterEach(() => {
  now = 0;
  vi.useRealTimers();
});

describe("a meter", () => {
  const blocks = (done: number, total: number) => ({ done, total, unit: "blocks" });

  it("estimates rate and time left from the last half minute", () => {
    const meter = new WorkMeter(clock);
    expect(meter.describe(blocks(1_000, 100_000))).toBe("1,000 of 100,000 blocks (1.0 %)");
    for (let second = 1; second <= 10; second += 1) {
      now = second * 1_000;
      meter.describe(blocks(1_000 + second * 100, 100_000));
    }
    expect(meter.describe(blocks(2_000, 100_000))).toBe(
      "2,000 of 100,000 blocks (2.0 %), 100/s, 16 min left",
    );
    // Ten times faster: after half a minute only that counts.
    for (let second = 1; second <= 32; second += 1) {
      now += 1_000;
      meter.describe(blocks(2_000 + second * 1_000, 100_000));
    }
    expect(meter.describe(blocks(34_000, 100_000))).toBe(
      "34,000 of 100,000 blocks (34.0 %), 1,000/s, 1 min left",
    );
  });

  it("shows no rate while nothing moves, and begins again after a step back", () => {
    const meter = new WorkMeter(clock);
    for (const done of [50, 50, 40]) {
      now += 1_000;
      expect(meter.describe(blocks(done, 100))).toBe(`${done} of 100 blocks (${done}.0 %)`);
    }
    now += 10_000;
    expect(meter.describe(blocks(45, 100))).toBe("45 of 100 blocks (45.0 %), 0.5/s, 2 min left");
  });

  it.each([
    [30, "30 s"],
    [5_400, "1 h 30 min"],
    [600_000, "7 days"],
  ])("writes %d seconds as %s", (seconds, text) => {
    const meter = new WorkMeter(clock);
    meter.describe(blocks(0, 0));
    now = 1_000;
    expect(meter.describe(blocks(1, seconds + 1))).toMatch(new RegExp(`, ${text} left$`));
  });
});

describe("the progress line", () => {
  it("is redrawn at most four times a second, and once more when the work is done", () => {
    const { written, line } = openTerminal();
    for (let done = 1; done <= 100; done += 1) {
      line.track("Copying", { done, total: 100, unit: "rows" });
      now += 10;
    }
    expect(written).toHaveLength(5);
    expect(written.at(-1)).toBe(`${ERASE_LINE}Copying: 100 of 100 rows (100.0 %), 100/s, 0 s left`);
  });

  it("stays below lines that are written meanwhile, and leaves nothing behind", () => {
    const { written, stream, line } = openTerminal();
    line.writeAbove(() => stream.write("first\n"));
    line.show("working");
    line.writeAbove(() => stream.write("second\n"));
    line.show("");
    expect(written.join("")).toBe(`first\n${ERASE_LINE}working${ERASE_LINE}second\nworking${ERASE_LINE}`);
  });

  it("is cut to the terminal's width, since a line that wraps cannot be erased", () => {
    const { written, line } = openTerminal(20);
    line.show("a deployment with a long name");
    expect(written).toEqual([`${ERASE_LINE}a deployment with …`]);
  });

  it("shows a status every second on a terminal, and prints it every 15 seconds elsewhere", async () => {
    vi.useFakeTimers();
    const { written, line: progress } = openTerminal();
    let printed = "";
    const print = (text: string) => {
      printed += text;
    };
    let step = 0;
    const stops = [
      startStatusLine({ progress, print }, () => `step ${++step}`),
      startStatusLine({ print }, () => "calm"),
    ];
    await vi.advanceTimersByTimeAsync(2_000);
    expect([written.join(""), printed]).toEqual([`${ERASE_LINE}step 1${ERASE_LINE}step 2`, ""]);
    await vi.advanceTimersByTimeAsync(13_000);
    expect(printed).toBe("calm\n");
    for (const stop of stops) stop();
    await vi.advanceTimersByTimeAsync(60_000);
    expect([written.at(-1), printed]).toEqual([ERASE_LINE, "calm\n"]);
  });
});
