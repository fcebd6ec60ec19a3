// Joined requests over a node with faults: one request a turn, and no reader pays for the failure of another.
import { HOSTILE_CODE, numberedAddress } from "@sextant/contracts/test/hostile-token-code";
import { beforeAll, describe, expect, it } from "vitest";
import { createTestRpc } from "../../tests/support/nodes/test-rpc.ts";
import { startPortfolioStage } from "../../tests/support/portfolio/portfolio-stage.ts";
import { rawCall } from "../chain/rpc/types.ts";
import { joinRequests, RequestJoiner } from "./joined-requests.ts";

const REVERTING = numberedAddress(0xa2);
const stage = await startPortfolioStage({ [REVERTING]: HOSTILE_CODE.reverting });
const { signal } = new AbortController();
const { wallet } = stage;
const balance = rawCall("eth_getBalance", [wallet, "latest"]);
const code = rawCall("eth_getCode", [wallet, "latest"]);
const revert = rawCall("eth_call", [{ to: REVERTING, data: "0x" }, "latest"]);

type FaultPlan = Parameters<typeof stage.node>[0];

async function open(plan?: FaultPlan) {
  const node = await stage.node(plan);
  const { rpc } = createTestRpc([node.url]);
  return { node, rpc, joined: joinRequests(rpc, signal) };
}

// The first call of a chain can take as long as a joined request may.
beforeAll(() => stage.chain.request("eth_call", [{ to: wallet, data: "0x" }, "latest"]));

describe("joined requests", () => {
  it("sends what is asked in one turn as one request, with each result for its reader", async () => {
    const { node, joined } = await open();
    const [one, other, both] = await Promise.all([
      joined.request(balance),
      joined.request(code),
      joined.batch([code, balance]),
    ]);
    expect(node.requests).toHaveLength(1);
    expect(other).toBe("0x");
    expect(both).toEqual([{ ok: other }, { ok: one }]);
  });

  it("lets only the reader fail whose call fails", async () => {
    const { node, joined } = await open();
    const results = await Promise.allSettled([joined.request(revert), joined.request(code)]);
    expect(results.map(({ status }) => status)).toEqual(["rejected", "fulfilled"]);
    expect(node.requests).toHaveLength(1);
  });

  it("sends the calls of each reader alone if the node fails for all of them together", async () => {
    const { joined } = await open((calls) =>
      calls.length > 1 && calls.some(({ method }) => method === "eth_getCode")
        ? { kind: "status", status: 500 }
        : null,
    );
    const [one, other] = await Promise.all([joined.request(balance), joined.request(code)]);
    expect(one).toMatch(/^0x/);
    expect(other).toBe("0x");
  });

  it("sends the calls of each reader alone if the node does not respond to all of them together, and joins no more", async () => {
    const { node, joined, rpc } = await open((calls) => (calls.length > 1 ? { kind: "hang" } : null));
    for (let turn = 0; turn < 2; turn += 1) {
      const [one, other] = await Promise.all([joined.request(balance), joined.request(code)]);
      expect([one, other]).toEqual([expect.stringMatching(/^0x/), "0x"]);
    }
    expect(rpc.providers().map(({ inFlight }) => inFlight)).toEqual([0]);
    expect(node.requests.map((calls) => calls.length)).toEqual([2, 1, 1, 1, 1]);
  });

  it("does not count the wait behind other requests as time of the node", async () => {
    const MS_MAX = 300;
    const node = await stage.node((calls) => (calls.length === 1 ? { kind: "hang" } : null));
    const { rpc } = createTestRpc([node.url], { limits: { inFlightMax: 1 } });
    const other = new AbortController();
    const busy = expect(rpc.request(code, { signal: other.signal })).rejects.toThrow("over");
    const joiner = new RequestJoiner(rpc, signal, MS_MAX);
    const read = (call: typeof code) =>
      joiner.read<unknown>({ calls: [call], interpret: ([one]) => one, readAlone: async () => "alone" });
    const results = Promise.all([read(balance), read(code)]);
    setTimeout(() => other.abort(new Error("over")), MS_MAX + 100);
    await busy;
    expect(await results).toEqual([{ ok: expect.stringMatching(/^0x/) }, { ok: "0x" }]);
    expect(node.requests.map((calls) => calls.length)).toEqual([1, 2]);
  });

  // As geth does: its limits on a batch are the error of one member, and the others are left out or fail too.
  it.each([
    ["batch too large", -32_600],
    ["response too large", -32_003],
  ])("sends the calls of each reader alone if one of them gets the error %s", async (message, code) => {
    const { joined } = await open((calls) =>
      calls.length > 1 ? { kind: "member-error", code, message } : null,
    );
    const call = rawCall("eth_call", [{ to: wallet, data: "0x" }, "latest"]);
    const results = await Promise.all([joined.batch([call]), joined.batch([balance])]);
    expect(results).toEqual([[{ ok: "0x" }], [{ ok: expect.stringMatching(/^0x/) }]]);
  });

  it("lets any number of readers wait for one signal without a warning", async () => {
    const { joined } = await open();
    const ended = new AbortController();
    const warnings: Error[] = [];
    const onWarning = (warning: Error) => warnings.push(warning);
    process.on("warning", onWarning);
    await Promise.all(Array.from({ length: 20 }, () => joined.request(code, { signal: ended.signal })));
    process.off("warning", onWarning);
    expect(warnings).toEqual([]);
  });

  it("ends the wait of a reader whose time is over, and not that of the others", async () => {
    const { joined } = await open();
    const ended = new AbortController();
    const [late, other] = [
      joined.request(balance, { signal: ended.signal }),
      joined.request(code, { signal }),
    ];
    ended.abort(new Error("late"));
    await expect(late).rejects.toThrow("late");
    expect(await other).toBe("0x");
  });
});
