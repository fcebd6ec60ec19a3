// Runtime code of a contract that returns fixed words for the functions it is given, and reverts for all others.
import { type Hex, numberToHex, toFunctionSelector } from "viem";

const WORD_BYTES = 32;
/** Of the test of one selector: DUP1, PUSH4, EQ, PUSH2, JUMPI. */
const BRANCH_BYTES = 11;
/** PUSH0, CALLDATALOAD, PUSH1 224, SHR. */
const LOAD_SELECTOR = "5f3560e01c";
/** PUSH0, PUSH0, REVERT. */
const REVERT = "5f5ffd";

/** Function signatures, such as `asset()`, with the words that each returns. */
export function answeringCode(answers: Readonly<Record<string, readonly bigint[]>>): Hex {
  const entries = Object.entries(answers);
  let position = (LOAD_SELECTOR.length + REVERT.length) / 2 + entries.length * BRANCH_BYTES;
  const parts = entries.map(([signature, words]) => {
    const body = returnWords(words);
    const branch = `8063${toFunctionSelector(signature).slice(2)}1461${hexBytes(position, 2)}57`;
    position += body.length / 2;
    return { branch, body };
  });
  const branches = parts.map(({ branch }) => branch).join("");
  return `0x${LOAD_SELECTOR}${branches}${REVERT}${parts.map(({ body }) => body).join("")}`;
}

/** JUMPDEST, then PUSH32, PUSH2, MSTORE for each word, and RETURN. */
function returnWords(words: readonly bigint[]): string {
  const stores = words.map(
    (word, index) =>
      `7f${numberToHex(word, { size: WORD_BYTES }).slice(2)}61${hexBytes(index * WORD_BYTES, 2)}52`,
  );
  return `5b${stores.join("")}61${hexBytes(words.length * WORD_BYTES, 2)}5ff3`;
}

function hexBytes(value: number, size: number): string {
  return numberToHex(value, { size }).slice(2);
}
