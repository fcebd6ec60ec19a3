// The profile of a snapshot: processor time by kind of work, and the table of its node requests.
import { describe, expect, it } from "vitest";
import { type CpuProfile, shareCpuTime } from "../../bench/portfolio/cpu-shares.ts";
import type { RecordedExchange } from "../../bench/portfolio/exchange-plan.ts";
import { reportBill, reportRequests, tabulateRequests } from "../../bench/portfolio/request-table.ts";

const frame = (id: number, functionName: string, url: string, children: readonly number[] = []) => ({
  ...{ id, children },
  callFrame: { functionName, url },
});

const PROFILE: CpuProfile = {
  nodes: [
    frame(1, "(root)", "", [2, 3, 5]),
    frame(2, "(idle)", ""),
    frame(3, "valueChain", "file:///src/portfolio/valuation/value-chain.ts", [4]),
    frame(4, "helper", "file:///src/lib/anything.ts"),
    frame(5, "(garbage collector)", ""),
  ],
  samples: [4, 3, 2, 4, 5],
  timeDeltas: [1_000, 2_000, 4_000, 8_000, 16_000],
};

describe("shares of processor time", () => {
  it("counts code without a kind of its own with its caller, and leaves out idle time", () => {
    expect(shareCpuTime(PROFILE, 100)).toEqual([
      { kind: "garbage collection", ms: 16 },
      { kind: "valuation", ms: 11 },
    ]);
  });

  it("counts the end of the profile only, as long as the window is", () => {
    expect(shareCpuTime(PROFILE, 20)).toEqual([
      { kind: "garbage collection", ms: 16 },
      { kind: "valuation", ms: 8 },
    ]);
  });
});

const exchange = (method: string, data: string, startedMs: number): RecordedExchange => ({
  ...{ url: "a", startedMs, endedMs: startedMs + 10, responseBytes: 7 },
  body: JSON.stringify({ method, params: [{ to: "0xaa", data }] }),
});

describe("the table of requests", () => {
  const rows = tabulateRequests(
    [
      exchange("eth_getBlockByNumber", "0x", 0),
      exchange("eth_call", "0x01", 20),
      exchange("eth_getBalance", "0x02", 21),
      exchange("eth_getLogs", "0x03", 22),
      exchange("eth_call", "0x04", 40),
    ],
    [
      { parts: ["eth_call", "aa", "0x01"], asker: "positions/one (read)" },
      { parts: ["eth_call", "aa", "0x04"], asker: "prices/two (read)" },
      { parts: ["eth_getBalance"], asker: "provider (read)" },
    ],
  );

  it("names who asked, and counts the requests of the same round trip that could carry a request", () => {
    expect(rows.map(({ roundTrip, askers, joinable }) => [roundTrip, askers, joinable])).toEqual([
      [1, [], 0],
      [2, ["positions/one (read)"], 1],
      [2, ["provider (read)"], 1],
      [2, [], 0],
      [3, ["prices/two (read)"], 0],
    ]);
  });

  it("shows bytes in both directions", () => {
    expect(reportRequests(rows)[1]).toEqual({
      what: "  2: eth_call",
      value: "60 B",
      note: "7 B back | 1 others could carry it | positions/one (read)",
    });
  });

  it("bills each call of a batch, and shares a public node out by requests", () => {
    const body = JSON.stringify([{ method: "eth_call" }, { method: "eth_call" }, { method: "eth_getLogs" }]);
    const batch = { ...exchange("eth_call", "0x", 60), body };
    const [bill, sharing] = reportBill(tabulateRequests([exchange("eth_call", "0x01", 20), batch], []));
    expect(bill).toMatchObject({ value: "4", note: "compute units: 4 at 1, 40 at 10, 104 at 26 a call" });
    expect(sharing?.value).toBe("12.5");
  });
});
