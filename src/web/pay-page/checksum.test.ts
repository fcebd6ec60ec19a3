// The checksum that the page computes is the one of viem, which a browser does not have here.
import { getAddress, keccak256, toBytes } from "viem";
import { expect, it } from "vitest";
import { describeWrongChecksum } from "../../lib/checksum.ts";
import { findChecksumProblem, hashShortText } from "./checksum.ts";

it("hashes as Keccak-256 does, at every length of one block", () => {
  for (let length = 0; length <= 135; length += 15) {
    const text = "0123456789abcde".repeat(9).slice(0, length);
    expect(`0x${hashShortText(text)}`).toBe(keccak256(toBytes(text)));
  }
});

it("finds the same wrong checksums as the service", () => {
  for (let seed = 1; seed <= 40; seed += 1) {
    const right = getAddress(`0x${keccak256(toBytes(String(seed))).slice(-40)}`);
    const wrong =
      right.slice(0, -2) +
      right
        .slice(-2)
        .toUpperCase()
        .replace(/./g, (digit) => (digit === "A" ? "b" : "A"));
    for (const text of [
      right,
      wrong,
      right.toLowerCase(),
      `0x${right.slice(2).toUpperCase()}`,
      ` ${right} `,
    ]) {
      expect(findChecksumProblem(text) !== "", text).toBe(describeWrongChecksum(text.trim()) !== null);
    }
  }
  expect(findChecksumProblem("0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAee")).toMatch(/lower case\.$/);
  for (const other of ["", "alice.eth", "0x5aAe", "0X5AAEB6053f3e94c9b9a09f33669435e7ef1beaed"]) {
    expect(findChecksumProblem(other)).toBe("");
  }
});
