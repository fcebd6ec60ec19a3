// A call is found in whatever it was wrapped, and never accepted for an event that it does not fit.
import { agentRegistryAbi } from "@sextant/contracts/generated/agent-registry";
import { multicall3Abi } from "@sextant/contracts/generated/multicall3";
import { policyAccountAbi } from "@sextant/contracts/generated/policy-account";
import fc from "fast-check";
import { concatHex, encodeFunctionData, encodePacked, parseAbi, size, toHex, zeroHash } from "viem";
import { entryPoint06Abi, entryPoint07Abi, entryPoint08Abi, entryPoint09Abi } from "viem/account-abstraction";
import { describe, expect, it } from "vitest";
import { repeatAddressByte, repeatHashByte } from "../../../tests/support/index/memory-index.ts";
import type { Hex } from "../../lib/hex.ts";
import type { EmittedEvent } from "../../schema/chain-log.ts";
import { agentsDomain } from "../domains/registries.ts";
import { findForwardedCalls, matchCallsToEvents } from "./forwarded-calls.ts";

const reader = agentsDomain.events.AgentRegistered?.details;
if (!reader) throw new Error("registrations have details");
const { selector } = reader;
const TARGET = repeatAddressByte("c1");
const SENDER = repeatAddressByte("ac");

type Profile = { readonly uri: string; readonly pubkey: Hex; readonly capabilities: Hex };
const callOf = ({ uri, pubkey, capabilities }: Profile): Hex =>
  encodeFunctionData({
    abi: agentRegistryAbi,
    functionName: "registerAgent",
    args: [uri, pubkey, capabilities],
  });
const eventOf = ({ uri }: Profile) =>
  ({ args: { agentId: 1n, owner: SENDER, metadataURI: uri } }) as unknown as EmittedEvent<never>;

const manyAbi = parseAbi([
  "function multicall(bytes[] data)",
  "function multicall(uint256 deadline, bytes[] data)",
  "function executeBatch((address target, uint256 value, bytes data)[] calls)",
  "function execTransaction(address to, uint256 value, bytes data, uint8 operation, uint256 safeTxGas, uint256 baseGas, uint256 gasPrice, address gasToken, address refundReceiver, bytes signatures)",
  "function multiSend(bytes transactions)",
]);

type Wrap = (inner: readonly Hex[]) => Hex;
const packedOperation = (callData: Hex) => ({
  sender: SENDER,
  nonce: 1n,
  initCode: "0x" as Hex,
  callData,
  accountGasLimits: zeroHash,
  preVerificationGas: 0n,
  gasFees: zeroHash,
  paymasterAndData: "0x" as Hex,
  signature: "0x1234" as Hex,
});
const plainOperation = (callData: Hex) => ({
  sender: SENDER,
  nonce: 1n,
  initCode: "0x" as Hex,
  callData,
  callGasLimit: 0n,
  verificationGasLimit: 0n,
  preVerificationGas: 0n,
  maxFeePerGas: 0n,
  maxPriorityFeePerGas: 0n,
  paymasterAndData: "0x" as Hex,
  signature: "0x1234" as Hex,
});
const bundle = (abi: typeof entryPoint07Abi): Wrap => {
  return (inner) =>
    encodeFunctionData({ abi, functionName: "handleOps", args: [inner.map(packedOperation), SENDER] });
};

/** Wrappers of many calls; the order of the calls is the order they are made in. */
const MANY: Readonly<Record<string, Wrap>> = {
  "entry point 0.6": (inner) =>
    encodeFunctionData({
      abi: entryPoint06Abi,
      functionName: "handleOps",
      args: [inner.map(plainOperation), SENDER],
    }),
  "entry point 0.7": bundle(entryPoint07Abi),
  "entry point 0.8": bundle(entryPoint08Abi as unknown as typeof entryPoint07Abi),
  "entry point 0.9": bundle(entryPoint09Abi as unknown as typeof entryPoint07Abi),
  aggregate: (inner) =>
    encodeFunctionData({
      abi: multicall3Abi,
      functionName: "aggregate",
      args: [inner.map((callData) => ({ target: TARGET, callData }))],
    }),
  aggregate3Value: (inner) =>
    encodeFunctionData({
      abi: multicall3Abi,
      functionName: "aggregate3Value",
      args: [inner.map((callData) => ({ target: TARGET, allowFailure: true, value: 0n, callData }))],
    }),
  multicall: (inner) =>
    encodeFunctionData({ abi: manyAbi, functionName: "multicall", args: [9n, [...inner]] }),
  executeBatch: (inner) =>
    encodeFunctionData({
      abi: manyAbi,
      functionName: "executeBatch",
      args: [inner.map((data) => ({ target: TARGET, value: 0n, data }))],
    }),
  multiSend: (inner) => {
    const packed = inner.map((data) =>
      encodePacked(
        ["uint8", "address", "uint256", "uint256", "bytes"],
        [0, TARGET, 0n, BigInt(size(data)), data],
      ),
    );
    return encodeFunctionData({ abi: manyAbi, functionName: "multiSend", args: [concatHex(packed)] });
  },
};

/** Wrappers of one call. */
const ONE: Readonly<Record<string, (inner: Hex) => Hex>> = {
  execute: (data) =>
    encodeFunctionData({ abi: policyAccountAbi, functionName: "execute", args: [TARGET, 0n, data] }),
  executeWithSessionKey: (data) =>
    encodeFunctionData({
      abi: policyAccountAbi,
      functionName: "executeWithSessionKey",
      args: [TARGET, 0n, data, 1n, 2n, toHex("a signature")],
    }),
  execTransaction: (data) =>
    encodeFunctionData({
      abi: manyAbi,
      functionName: "execTransaction",
      args: [TARGET, 0n, data, 0, 0n, 0n, 0n, SENDER, SENDER, "0x"],
    }),
};

const bytes = (max: number) => fc.uint8Array({ maxLength: max }).map((value) => toHex(value));
const hash = fc.uint8Array({ minLength: 32, maxLength: 32 }).map((value) => toHex(value));
const profiles = fc.record({ uri: fc.string({ maxLength: 60 }), pubkey: bytes(80), capabilities: hash });
const one = fc.constantFrom(...Object.values(ONE));
const many = fc.constantFrom(...Object.values(MANY));
const nested = (inner: Hex, wrappers: readonly ((call: Hex) => Hex)[]) =>
  wrappers.reduce((call, wrap) => wrap(call), inner);

describe("a forwarded call", () => {
  it.each([...Object.keys(MANY), ...Object.keys(ONE)])("finds a forwarded call in %s", (name) => {
    const call = callOf({ uri: "ipfs://a", pubkey: "0x04", capabilities: repeatHashByte("ca") });
    const input = MANY[name]?.([call]) ?? ONE[name]?.(call) ?? "0x";
    expect(findForwardedCalls(input, selector)).toEqual([call]);
  });

  it("finds forwarded calls in any nesting, in order, between other calls", () => {
    const wrapped = fc.record({
      profile: profiles,
      wrappers: fc.array(one, { maxLength: 3 }),
      noise: bytes(40),
    });
    fc.assert(
      fc.property(
        fc.array(wrapped, { minLength: 1, maxLength: 5 }),
        many,
        fc.array(one, { maxLength: 2 }),
        (each, all, outer) => {
          const inner = each.flatMap(({ profile, wrappers, noise }) => [
            noise,
            nested(callOf(profile), wrappers),
          ]);
          const input = nested(all(inner), outer);
          const calls = each.map(({ profile }) => callOf(profile));
          expect(findForwardedCalls(input, selector)).toEqual(calls);
          const events = each.map(({ profile }) => eventOf(profile));
          const matched = matchCallsToEvents(events, findForwardedCalls(input, selector), reader.callMatches);
          expect(events.map((event) => matched.get(event))).toEqual(calls);
        },
      ),
      { numRuns: 200 },
    );
  });

  it("never accepts a forwarded call for an event that says something else", () => {
    fc.assert(
      fc.property(fc.array(profiles, { maxLength: 6 }), profiles, many, (forged, real, wrap) => {
        const input = wrap(forged.map(callOf));
        const event = eventOf(real);
        const matched = matchCallsToEvents(
          [event],
          findForwardedCalls(input, selector),
          reader.callMatches,
        ).get(event);
        const fitting = new Set(forged.filter(({ uri }) => uri === real.uri).map(callOf));
        expect(matched).toBe(fitting.size === 1 ? [...fitting][0] : undefined);
      }),
      { numRuns: 200 },
    );
  });

  it("accepts no call in arbitrary bytes, and nothing in them stops the search", () => {
    const noise = fc.array(
      fc.oneof(bytes(70), fc.constant(selector), fc.constant(toHex(200n, { size: 32 }))),
    );
    fc.assert(
      fc.property(noise, (parts) => {
        const input = concatHex(["0xb61d27f6", ...parts]);
        for (const call of findForwardedCalls(input, selector)) {
          expect(call.startsWith(selector) && input.includes(call.slice(2))).toBe(true);
          expect(
            reader.callMatches(call, eventOf({ uri: "ipfs://a", pubkey: "0x", capabilities: "0x" })),
          ).toBe(false);
        }
      }),
      { numRuns: 300 },
    );
  });
});

describe("matching calls to events", () => {
  const profile = (capabilities: string) => ({
    uri: "ipfs://a",
    pubkey: "0x04" as Hex,
    capabilities: repeatHashByte(capabilities),
  });
  const events = (count: number) => Array.from({ length: count }, () => eventOf(profile("ca")));
  const match = (count: number, ...capabilities: string[]) => {
    const input = MANY.aggregate?.(capabilities.map((each) => callOf(profile(each)))) ?? "0x";
    return matchCallsToEvents(events(count), findForwardedCalls(input, selector), reader.callMatches).size;
  };

  it("matches no call if two different calls fit the event", () => expect(match(1, "ca", "cb")).toBe(0));
  it("matches no call if more events than calls are alike", () => expect(match(2, "ca")).toBe(0));
  it("matches a call that is there twice, or as often as its event", () => {
    expect(match(1, "ca", "ca")).toBe(1);
    expect(match(2, "ca", "cb")).toBe(2);
  });

  it("finds no call if the input is longer, or has more calls, than is searched", () => {
    const call = callOf(profile("ca"));
    const padded = concatHex([ONE.execute?.(call) ?? "0x", `0x${"00".repeat(1024 * 1024)}`]);
    expect(findForwardedCalls(padded, selector)).toEqual([]);
    const input = MANY.aggregate?.(Array.from({ length: 1_001 }, () => call)) ?? "0x";
    expect(findForwardedCalls(input, selector)).toEqual([]);
  });

  it("matches no calls that overlap so much that they would read too many bytes", () => {
    const words = 3_930;
    // Each call claims the rest of the input, so that all of them together are a thousand times as long.
    const heads = Array.from({ length: 1_000 }, (_, at) => {
      const left = words * 32 - at * 36 - 32;
      return concatHex([toHex(left, { size: 32 }), selector]);
    });
    const head = concatHex(heads);
    const input = concatHex([head, `0x${"00".repeat(words * 32 - size(head))}`]);
    const calls = findForwardedCalls(input, selector);
    expect(calls).toHaveLength(1_000);
    let bytesRead = 0;
    const fits = (call: Hex) => {
      bytesRead += size(call);
      return false;
    };
    expect(matchCallsToEvents(events(65), calls, fits).size).toBe(0);
    expect(matchCallsToEvents(events(1_000), calls, fits).size).toBe(0);
    expect(bytesRead).toBeLessThanOrEqual(4 * 1024 * 1024);
  });

  it("matches no calls if there are too many to compare with every event", () => {
    let compared = 0;
    const fits = () => {
      compared += 1;
      return false;
    };
    expect(matchCallsToEvents(events(60), new Array<Hex>(1_000).fill(selector), fits).size).toBe(0);
    expect(compared).toBeLessThanOrEqual(16_384);
  });

  it("matches a large bundle of registrations that shows another call besides", () => {
    const registered = Array.from({ length: 65 }, (_, at) => ({ ...profile("ca"), uri: `ipfs://${at}` }));
    const input = MANY.aggregate?.([...registered, profile("cb")].map(callOf)) ?? "0x";
    const emitted = registered.map(eventOf);
    expect(matchCallsToEvents(emitted, findForwardedCalls(input, selector), reader.callMatches).size).toBe(
      65,
    );
  });
});
