// A contract that returns fixed data for each of some functions and reverts for every other: plain EVM code.
import { concatHex, type Hex, numberToHex, size, toFunctionSelector } from "viem";

const HEAD: Hex = "0x60003560e01c"; // the selector onto the stack
const REVERT: Hex = "0x60006000fd";
const COMPARE_BYTES = 11;
const RETURN_BYTES = 16;

/** Functions are named as in `decimals()`. */
export function fixedReturnCode(returns: Readonly<Record<string, Hex>>): Hex {
  const entries = Object.entries(returns);
  const bodies = size(HEAD) + entries.length * COMPARE_BYTES + size(REVERT);
  let offset = bodies + entries.length * RETURN_BYTES;
  const compares: Hex[] = [];
  const returning: Hex[] = [];
  for (const [index, [name, data]] of entries.entries()) {
    const target = numberToHex(bodies + index * RETURN_BYTES, { size: 2 });
    compares.push(concatHex(["0x8063", toFunctionSelector(name), "0x1461", target, "0x57"]));
    const [length, from] = [numberToHex(size(data), { size: 2 }), numberToHex(offset, { size: 2 })];
    returning.push(concatHex(["0x5b61", length, "0x61", from, "0x60003961", length, "0x6000f3"]));
    offset += size(data);
  }
  return concatHex([HEAD, ...compares, REVERT, ...returning, ...Object.values(returns)]);
}
