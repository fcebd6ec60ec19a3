// Many calls as one, by hand and by the general codec, on what a snapshot sends: `npx vitest bench --run src/chain/aggregate3`.
// The fastest runs on two busy cores, in µs, by hand and codec: encode 200 calls 110 and 393, decode their results 139 and 286.
import { multicall3Abi } from "@sextant/contracts/generated/multicall3";
import { bench, describe } from "vitest";
import { createFunctionCodec } from "../lib/abi/codec.ts";
import type { Hex } from "../lib/hex.ts";
import { decodeAggregate3, encodeAggregate3 } from "./aggregate3.ts";

// The balances of one wallet in 200 tokens, of which it holds each tenth.
const COUNT = 200;
const HELD_EACH = 10;

const codec = createFunctionCodec(multicall3Abi, "aggregate3");
const addressOf = (index: number): Hex => `0x${(2n ** 150n + BigInt(index)).toString(16).padStart(40, "0")}`;
const data: Hex = `0x70a08231${addressOf(7).slice(2).padStart(64, "0")}`;
const calls = Array.from({ length: COUNT }, (_, index) => ({ to: addressOf(index), data }));
const returned = codec.encodeResult(
  calls.map((_, index) => ({
    success: true,
    returnData: `0x${(index % HELD_EACH === 0 ? "12" : "00").repeat(32)}`,
  })),
);
// As from a response: in one piece, and a text of its own.
const response = Buffer.from(returned).toString("latin1") as Hex;

describe("encode 200 calls", () => {
  bench("by hand", () => void encodeAggregate3(calls));
  bench(
    "codec",
    () =>
      void codec.encodeCall([calls.map(({ to }) => ({ target: to, allowFailure: true, callData: data }))]),
  );
});

describe("decode 200 results", () => {
  bench("by hand", () => void decodeAggregate3(response, COUNT));
  bench("codec", () => {
    codec.decodeResult(response).map(({ success, returnData }) => (success ? returnData : null));
  });
});
