// The details of an event are the same whether they come from the call or from the state.
import { encodeEventTopics, encodeFunctionData, encodeFunctionResult, parseAbi } from "viem";
import { describe, expect, it } from "vitest";
import type { Hex } from "../lib/hex.ts";
import type { EmittedEvent } from "./chain-log.ts";
import { defineDetails } from "./event-details.ts";

const abi = parseAbi([
  "event Renamed(uint256 indexed id, string chosen)",
  "function name(string chosen, uint256 amount) returns (uint256)",
  "function named(uint256 id) view returns (string chosen, uint256 amount)",
]);

const naming = defineDetails({
  abi,
  call: "name",
  fromCall: ([chosen, amount]) => ({ chosen, amount }),
  callMatches: ([chosen], event: { id: bigint; chosen: string }) => chosen === event.chosen,
  view: "named",
  viewArgs: ({ id }) => [id] as const,
  fromView: ([chosen, amount]) => ({ chosen, amount }),
  viewMatches: ([chosen], event) => chosen === event.chosen,
  asEmitted: ([chosen]) => [chosen, 0n] as const,
  mutable: { fields: ["amount"], eventName: "Renamed", key: "id" },
});
const event = { args: { id: 3n, chosen: "Ada" } } as unknown as EmittedEvent<never>;
const outputOf = (chosen: string, amount: bigint) =>
  encodeFunctionResult({ abi, functionName: "named", result: [chosen, amount] });

const call = encodeFunctionData({ abi, functionName: "name", args: ["Ada", 7n] });

describe("details", () => {
  it("decodes details from the call that caused the event", () => {
    expect(naming.decodeCall(call)).toEqual({ chosen: "Ada", amount: 7n });
  });

  it("decodes no details from another call", () => {
    expect(naming.decodeCall("0x")).toBeNull();
    expect(naming.decodeCall("0xdeadbeef")).toBeNull();
    expect(naming.decodeCall(`0x00${call.slice(2)}`)).toBeNull();
  });

  it("decodes details from the record that the contract returns", () => {
    expect(naming.encodeStateCall(event)).toBe(
      encodeFunctionData({ abi, functionName: "named", args: [3n] }),
    );
    expect(naming.decodeState(outputOf("Ada", 7n))).toEqual(naming.decodeCall(call));
  });

  it("matches details with the event if the call agrees with it", () => {
    const other = encodeFunctionData({ abi, functionName: "name", args: ["Bob", 7n] });
    expect(
      [call, other, call.slice(0, 10), "0x"].map((each) => naming.callMatches(each as Hex, event)),
    ).toEqual([true, false, false, false]);
  });

  it("decodes the same details from every later block, because the record is normalized", () => {
    expect(naming.normalizeRecord(outputOf("Ada", 7n), event)).toBe(outputOf("Ada", 0n));
    expect(naming.normalizeRecord(outputOf("Ada", 8n), event)).toBe(outputOf("Ada", 0n));
  });

  it("rejects another record, and the empty result of a node without the state", () => {
    expect(naming.normalizeRecord(outputOf("Bob", 7n), event)).toBeNull();
    expect(naming.normalizeRecord("0x", event)).toBeNull();
  });

  it("names the event that reports a change, for this record only", () => {
    const topics = encodeEventTopics({ abi, eventName: "Renamed", args: { id: 3n } });
    expect(naming.mutable?.encodeTopics(event)).toEqual(topics);
  });

  it("compares details with a record in all fields, or in those that never change", () => {
    const agree = (amount: bigint, scope: "all" | "lasting", chosen = "Ada") =>
      naming.mutable?.agrees(call, outputOf(chosen, amount), scope);
    expect([agree(7n, "all"), agree(8n, "all"), agree(8n, "lasting"), agree(7n, "lasting", "Bob")]).toEqual([
      true,
      false,
      true,
      false,
    ]);
  });

  it("rejects a declaration with a function that does not exist", () => {
    const declared = {
      abi,
      call: "missing",
      fromCall: () => null,
      view: "named",
      viewArgs: () => [1n] as const,
    };
    expect(() => defineDetails({ ...declared, fromView: () => null } as never)).toThrow(
      "missing is not a function",
    );
  });
});
