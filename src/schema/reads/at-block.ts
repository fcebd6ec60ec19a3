// A block to read at, with the time at which states that depend on time are judged: `327`, or `327@1794477600`.
import { parseUint } from "../../lib/decimal.ts";
import { Fault } from "../../lib/fault.ts";
import type { ParameterKind } from "../parameter.ts";
import { type AtBlock, BLOCK_MAX } from "./read.ts";

// The last second that a Date has.
const SECONDS_MAX = 8_640_000_000_000n;

export function parseAtBlock(text: string, name: string): AtBlock {
  const [block, time, ...others] = text.split("@");
  if (others.length > 0) {
    throw new Fault("INPUT_INVALID", `${name} must be a block number, or one with a time: 327@1794477600.`);
  }
  return {
    block: parseUint(block, name, BLOCK_MAX),
    time: time === undefined ? null : parseUint(time, `the time of ${name}`, SECONDS_MAX),
  };
}

export function formatAtBlock({ block, time }: AtBlock): string {
  return time === null ? String(block) : `${block}@${time}`;
}

/** The text itself, in the form that has one spelling for each block and time. */
export const atBlockKind: ParameterKind<string> = {
  json: { type: "string", pattern: "^(0|[1-9][0-9]*)(@[0-9]+)?$" },
  parse: (text, name) => formatAtBlock(parseAtBlock(text, name)),
};
