// What an event leaves out is the same whether it is read from a call or from the state.
import { encodeFunctionData, encodeFunctionResult, parseAbi } from "viem";
import { describe, expect, it } from "vitest";
import { details } from "./details.ts";
import type { EventRecord } from "./event.ts";

const abi = parseAbi([
  "function name(string chosen, uint256 amount) returns (uint256)",
  "function named(uint256 id) view returns (string chosen, uint256 amount)",
]);

const naming = details({
  abi,
  call: "name",
  fromCall: ([chosen, amount]) => ({ chosen, amount }),
  view: "named",
  viewArgs: ({ id }: { id: bigint }) => [id] as const,
  fromView: ([chosen, amount]) => ({ chosen, amount }),
});

const call = encodeFunctionData({ abi, functionName: "name", args: ["Ada", 7n] });

describe("details", () => {
  it("are read from the call that caused the event", () => {
    expect(naming.fromCall(call)).toEqual({ chosen: "Ada", amount: 7n });
  });

  it("are not read from another call", () => {
    expect(naming.fromCall("0x")).toBeNull();
    expect(naming.fromCall("0xdeadbeef")).toBeNull();
    expect(naming.fromCall(`0x00${call.slice(2)}`)).toBeNull();
  });

  it("are read from what the contract answers about the event", () => {
    const event = { args: { id: 3n } } as unknown as EventRecord<never>;
    expect(naming.stateCall(event)).toBe(encodeFunctionData({ abi, functionName: "named", args: [3n] }));
    const output = encodeFunctionResult({ abi, functionName: "named", result: ["Ada", 7n] });
    expect(naming.fromState(output)).toEqual(naming.fromCall(call));
  });

  it("can not be declared over a function that is not there", () => {
    const declared = {
      abi,
      call: "missing",
      fromCall: () => null,
      view: "named",
      viewArgs: () => [1n] as const,
    };
    expect(() => details({ ...declared, fromView: () => null } as never)).toThrow(
      "missing is not a function",
    );
  });
});
