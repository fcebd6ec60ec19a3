// The signature of an intent's owner: its EIP-712 types, struct hash and digest.
import { type Address, type Hex, hashTypedData, keccak256, stringToHex } from "viem";
import { fastKeccak256 } from "./fast-keccak.ts";

export const intentTypes = {
  Intent: [
    { name: "owner", type: "address" },
    { name: "intentType", type: "uint8" },
    { name: "constraints", type: "Constraints" },
    { name: "execution", type: "ExecutionRequirements" },
    { name: "inputToken", type: "address" },
    { name: "outputToken", type: "address" },
    { name: "nonce", type: "uint256" },
  ],
  Constraints: [
    { name: "amountInMax", type: "uint256" },
    { name: "amountOutMin", type: "uint256" },
    { name: "deadline", type: "uint256" },
    { name: "slippageBps", type: "uint16" },
  ],
  ExecutionRequirements: [
    { name: "target", type: "address" },
    { name: "dataHash", type: "bytes32" },
    { name: "requiredAttestationSubject", type: "bytes32" },
    { name: "requiredAttestationSchema", type: "bytes32" },
    { name: "metadataURIHash", type: "bytes32" },
  ],
} as const;

export type Intent = {
  readonly owner: Address;
  readonly intentType: number;
  readonly constraints: {
    readonly amountInMax: bigint;
    readonly amountOutMin: bigint;
    readonly deadline: bigint;
    readonly slippageBps: number;
  };
  readonly execution: {
    readonly target: Address;
    readonly dataHash: Hex;
    readonly requiredAttestationSubject: Hex;
    readonly requiredAttestationSchema: Hex;
    readonly metadataURIHash: Hex;
  };
  readonly inputToken: Address;
  readonly outputToken: Address;
  readonly nonce: bigint;
};

export type IntentDomain = {
  readonly name: "AgentIntentBook";
  readonly version: "1";
  readonly chainId: bigint;
  readonly verifyingContract: Address;
};

export function intentDomain(chainId: bigint, intentBook: Address): IntentDomain {
  return { name: "AgentIntentBook", version: "1", chainId, verifyingContract: intentBook };
}

const typeText = (name: keyof typeof intentTypes): string =>
  `${name}(${intentTypes[name].map((field) => `${field.type} ${field.name}`).join(",")})`;
const typeHash = (...names: (keyof typeof intentTypes)[]): string =>
  keccak256(stringToHex(names.map(typeText).join(""))).slice(2);

const intentTypeHash = typeHash("Intent", "Constraints", "ExecutionRequirements");
const constraintsTypeHash = typeHash("Constraints");
const executionTypeHash = typeHash("ExecutionRequirements");

// Word by word, because an indexer does it for every intent: the general way hashes the types each time, and
// takes many times as long.
export function intentStructHash(intent: Intent): Hex {
  const { constraints, execution } = intent;
  return hashWords(
    intentTypeHash,
    wordOf(intent.owner),
    wordOf(intent.intentType),
    hashWords(
      constraintsTypeHash,
      wordOf(constraints.amountInMax),
      wordOf(constraints.amountOutMin),
      wordOf(constraints.deadline),
      wordOf(constraints.slippageBps),
    ).slice(2),
    hashWords(
      executionTypeHash,
      wordOf(execution.target),
      wordOf(execution.dataHash),
      wordOf(execution.requiredAttestationSubject),
      wordOf(execution.requiredAttestationSchema),
      wordOf(execution.metadataURIHash),
    ).slice(2),
    wordOf(intent.inputToken),
    wordOf(intent.outputToken),
    wordOf(intent.nonce),
  );
}

function hashWords(...words: string[]): Hex {
  return fastKeccak256(words.join(""));
}

function wordOf(value: Hex | bigint | number): string {
  const digits = typeof value === "string" ? value.slice(2) : value.toString(16);
  if (digits.length > 64 || digits.startsWith("-")) throw new Error(`${value} does not fit a word`);
  return digits.padStart(64, "0");
}

export function intentDigest(intent: Intent, domain: IntentDomain): Hex {
  return hashTypedData({ domain, types: intentTypes, primaryType: "Intent", message: intent });
}
