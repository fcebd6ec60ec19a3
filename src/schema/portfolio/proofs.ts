// The proofs of a response: headers, trie nodes and claims by which a reader checks its amounts without trust in the service.
import { closedObject, listOf, nullable, type TypeOf, titledRecord, wordOf } from "../json-schema.ts";
import {
  addressText,
  amountText,
  bytesText,
  caip2,
  chainSlug,
  hashText,
  text,
  textOrNull,
  timeText,
  uintText,
} from "./values.ts";

const proofLayout = {
  ...titledRecord("ProofLayout", {
    rule: {
      ...wordOf(["solidity", "vyper", "solady"]),
      description: "How the slot of a key is computed in a mapping.",
    },
    position: {
      ...text,
      description: "The slot of the mapping itself, in hex; the base of a namespace for ERC-7201.",
      examples: ["0x9"],
    },
    bits: {
      ...text,
      description: "The bits of the word that are the value; the others are flags or other fields.",
      examples: ["0-255"],
    },
  }),
  description:
    "Where the contract keeps the value. Our statement about its code, which only showed the right value at this block.",
};

const proofClaim = titledRecord(
  "ProofClaim",
  {
    path: {
      ...text,
      description:
        "The field of this response, as a JSON pointer. For a side without figures the side itself: zero.",
      examples: ["/tokens/0/rawBalance"],
    },
    kind: {
      ...wordOf(["native", "erc20", "allowance", "permit2", "owner", "code", "nonce", "none"]),
      description: "`none`: not proven, for `reason`.",
    },
  },
  {
    account: { ...addressText, description: "The account whose trie shows it." },
    layout: proofLayout,
    slot: { ...hashText, description: "The key of the word in the account's storage." },
    code: {
      ...nullable(bytesText),
      description: "The code of the account, to be hashed; null if it has none.",
    },
    reason: {
      ...text,
      description:
        "`no_layout`: the slot was not found. `ambiguous_layout`: several slots have the value. `rebasing`: the token keeps another amount for the holder than it reports. `mismatch`: the state has another value. `node_refused`: no proof of the node leads to the state root. `unknown`: the response does not know it either. `nft`, `other_permission`: permissions that this version does not prove. `too_many`: beyond the limits of a response. Otherwise the reason of the chain.",
      examples: ["no_layout"],
    },
  },
);

const proofChain = titledRecord(
  "ProofChain",
  {
    chain: chainSlug,
    chainId: caip2,
    block: nullable(closedObject({ number: uintText, hash: hashText, timestamp: timeText })),
    header: {
      ...nullable(bytesText),
      description: "The block's header in RLP: its keccak256 is the block's hash. Null if nothing is proven.",
    },
    reason: {
      ...textOrNull,
      description:
        "Why nothing of the chain is proven; otherwise null. `no_proofs`: no node offers eth_getProof. `node_refused`: its proofs do not lead to the state root. `header`: the hash of this chain's blocks is not that of these fields. `block`: the block was not found. `late`: the time was over.",
    },
    nodes: listOf(bytesText, {
      description: "Nodes of the tries of accounts and storage in RLP, each once, to be found by keccak256.",
    }),
    claims: listOf(proofClaim),
  },
  { side: { ...wordOf(["from", "to"]), description: "The side of a difference." } },
);

/** In every response that was asked for with `proof=1`. */
export const responseProofs = {
  ...titledRecord("Proofs", {
    version: { const: 1 },
    chains: listOf(proofChain, {
      description: "One for each chain that was read; in a difference, for each side.",
    }),
    coverage: titledRecord("ProofCoverage", {
      provenUsd: {
        ...amountText,
        description: "The value of the amounts that are proven; debt counts as positive.",
      },
      totalUsd: { ...amountText, description: "The value of all amounts with a price, spam left out." },
      share: { ...nullable(amountText), description: "Their ratio, rounded down; null without a value." },
    }),
  }),
  description: "Only with `proof=1`: Merkle proofs of the amounts, against the hash of each chain's block.",
};

export type ResponseProofs = TypeOf<typeof responseProofs>;
export type ProofChain = TypeOf<typeof proofChain>;
export type ProofClaim = TypeOf<typeof proofClaim>;
