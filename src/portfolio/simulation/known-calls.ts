// Calls and logs whose meaning we know: what a wallet asks of tokens and Permit2, and what they say that they did.
import { hashEvent } from "../../lib/abi/codec.ts";
import { topicToAddress } from "../../lib/abi/words.ts";
import type { Hex } from "../../lib/hex.ts";
import { sanitizeText } from "../tokens/erc20.ts";
import type { WalletCall } from "./request.ts";

export const DEPOSIT = hashEvent("Deposit(address,uint256)");
export const WITHDRAWAL = hashEvent("Withdrawal(address,uint256)");
export const APPROVAL = hashEvent("Approval(address,address,uint256)");
export const APPROVAL_FOR_ALL = hashEvent("ApprovalForAll(address,address,bool)");
export const PERMIT2_APPROVAL = hashEvent("Approval(address,address,address,uint160,uint48)");
export const PERMIT2_PERMIT = hashEvent("Permit(address,address,address,uint160,uint48,uint48)");
export const TRANSFERS_OF_ITEMS: readonly Hex[] = [
  hashEvent("TransferSingle(address,address,address,uint256,uint256)"),
  hashEvent("TransferBatch(address,address,address,uint256[],uint256[])"),
];

/** The arguments of a call whose places a reader needs, by their position. */
type KnownFunction = {
  readonly name: string;
  /** Who may take the token afterwards. */
  readonly spender?: number;
  /** Who may move every item of the collection afterwards. */
  readonly operator?: number;
  /** The token and the spender of an allowance in Permit2. */
  readonly permit2?: readonly [token: number, spender: number];
  /** Who gets the token: the transaction is a payment, and nothing has to come in. */
  readonly receiver?: number;
};

const FUNCTIONS: Readonly<Record<string, KnownFunction>> = {
  "0xa9059cbb": { name: "transfer", receiver: 0 },
  "0x23b872dd": { name: "transferFrom", receiver: 1 },
  "0x42842e0e": { name: "safeTransferFrom", receiver: 1 },
  "0xb88d4fde": { name: "safeTransferFrom", receiver: 1 },
  "0x095ea7b3": { name: "approve", spender: 0 },
  "0x39509351": { name: "increaseAllowance", spender: 0 },
  "0xa457c2d7": { name: "decreaseAllowance", spender: 0 },
  "0xa22cb465": { name: "setApprovalForAll", operator: 0 },
  "0x87517c45": { name: "approve", permit2: [0, 1] },
  "0xd0e30db0": { name: "deposit" },
  "0x2e1a7d4d": { name: "withdraw" },
};

const SELECTOR_LENGTH = 10;
const WORD_DIGITS = 64;

/** Null for a function that we do not know. */
export function findFunction({ data }: Pick<WalletCall, "data">): KnownFunction | null {
  return FUNCTIONS[data.slice(0, SELECTOR_LENGTH)] ?? null;
}

/** The address at a position of the arguments; null for data that is too short, or a word that is not an address. */
export function readArgument({ data }: Pick<WalletCall, "data">, position: number | undefined): Hex | null {
  if (position === undefined) return null;
  const start = SELECTOR_LENGTH + WORD_DIGITS * position;
  const word = data.slice(start, start + WORD_DIGITS);
  // Solidity ignores nothing in front of an address: dirty bytes make the call fail.
  return word.length === WORD_DIGITS ? topicToAddress(`0x${word}`) : null;
}

/** The word at a position of the arguments that start at a digit; null for data that is too short. */
export function readWord(data: Hex, start: number, position: number): bigint | null {
  const from = start + WORD_DIGITS * position;
  const word = data.slice(from, from + WORD_DIGITS);
  return word.length === WORD_DIGITS ? BigInt(`0x${word}`) : null;
}

// An address with so many leading zeros is a number.
const SMALL = /^0x0{24}/;
const WORDS_MAX = 512;

/** Whatever in the call data may be an address: words of 20 bytes, behind the selector. */
export function listAddresses({ data }: Pick<WalletCall, "data">): readonly Hex[] {
  const count = Math.min(Math.floor((data.length - SELECTOR_LENGTH) / WORD_DIGITS), WORDS_MAX);
  return Array.from({ length: Math.max(count, 0) }, (_, index) => readArgument({ data }, index)).filter(
    (each): each is Hex => each !== null && !SMALL.test(each),
  );
}

// Paths of swaps pack tokens without padding.
const PACKED_BYTES_MAX = 8_192;

/** Tokens of a list that stand anywhere in the call data. */
export function listTokensWithin(
  { data }: Pick<WalletCall, "data">,
  tokens: ReadonlyMap<Hex, unknown>,
): readonly Hex[] {
  const end = Math.min(data.length, 2 + 2 * PACKED_BYTES_MAX) - 40;
  const found = new Set<Hex>();
  for (let start = SELECTOR_LENGTH; start <= end; start += 2) {
    const address: Hex = `0x${data.slice(start, start + 40)}`;
    if (tokens.has(address)) found.add(address);
  }
  return [...found];
}

// Error(string) and Panic(uint256).
const ERROR = "0x08c379a0";
const PANIC = "0x4e487b71";
const REASON_LENGTH_MAX = 200;

/** Decodes the reason of a revert; null if nothing can be read. The text is the contract's own. */
export function decodeRevert(data: Hex): string | null {
  if (data.startsWith(PANIC) && data.length >= SELECTOR_LENGTH + WORD_DIGITS) {
    return `Panic 0x${data.slice(SELECTOR_LENGTH + WORD_DIGITS - 2, SELECTOR_LENGTH + WORD_DIGITS)}`;
  }
  if (!data.startsWith(ERROR)) return null;
  const length = Number.parseInt(
    data.slice(SELECTOR_LENGTH + WORD_DIGITS, SELECTOR_LENGTH + 2 * WORD_DIGITS),
    16,
  );
  const start = SELECTOR_LENGTH + 2 * WORD_DIGITS;
  if (!Number.isSafeInteger(length)) return null;
  const digits = data.slice(start, start + 2 * Math.min(length, 4 * REASON_LENGTH_MAX));
  return sanitizeText(Buffer.from(digits, "hex").toString("utf8"), REASON_LENGTH_MAX);
}
