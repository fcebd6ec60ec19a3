// Contracts that are not policy accounts, but log as if they were: each does something else when it is called.

import { policyAccountAbi } from "@sextant/contracts/generated/policy-account";
import { concat, type Hex, numberToHex, padHex, size } from "viem";
import { createEventCodec } from "../../../src/lib/abi/codec.ts";

/** The reaction of a pretender to every call. */
export const FAKE_ACCOUNT_BEHAVIOURS = {
  /** revert(0, 0) */
  reverts: "0x60006000fd",
  /** return(0, 0) */
  "says nothing": "0x60006000f3",
  /** Two words of ones: neither an uint48 nor a boolean. */
  "talks nonsense": "0x6000196000526000196020526040 6000f3",
  /** (1, true), which is well formed and not what it logged. */
  lies: "0x6001600052600160205260406000f3",
  /** Runs until the gas is gone. */
  "never ends": "0x5b600056",
} as const;

const updated = policyAccountAbi.find((item) => item.type === "event" && item.name === "SessionKeyUpdated");
if (updated?.type !== "event") throw new Error("the account has no such event");
const { topic0 } = createEventCodec(updated);

/** Creation code that logs SessionKeyUpdated(key, expiresAt, active) and leaves the given code behind. */
export function fakeAccountCode(
  behaviour: keyof typeof FAKE_ACCOUNT_BEHAVIOURS,
  key: Hex,
  expiresAt: number,
): Hex {
  const runtime = FAKE_ACCOUNT_BEHAVIOURS[behaviour].replaceAll(" ", "") as Hex;
  const push32 = (value: Hex): Hex => concat(["0x7f", padHex(value, { size: 32 })]);
  const push1 = (value: number): Hex => concat(["0x60", numberToHex(value, { size: 1 })]);
  const store = (value: Hex, at: number): Hex => concat([push32(value), push1(at), "0x52"]);
  const length = size(runtime);
  return concat([
    store(numberToHex(expiresAt), 0),
    store("0x01", 32),
    push32(key),
    push32(topic0),
    push1(64),
    push1(0),
    "0xa2",
    store(runtime, 0),
    push1(length),
    push1(32 - length),
    "0xf3",
  ]);
}
