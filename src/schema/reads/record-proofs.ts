// The proofs of one record of the index: header, trie nodes and claims that show what the contract stores at the block.
import { closedObject, listOf, nullable, type TypeOf, titledRecord, wordOf } from "../json-schema.ts";
import {
  addressText,
  bytesText,
  caip2,
  count,
  hashText,
  text,
  textOrNull,
  timeText,
  uintText,
} from "../portfolio/values.ts";

const RECORD_KINDS = [
  "intent",
  "agent",
  "attestation",
  "solver",
  "attestor",
  "merchant",
  "service",
  "facilitator",
  "quote",
  "receipt",
  "dispute",
] as const;

export type RecordKind = (typeof RECORD_KINDS)[number];

const block = closedObject({ number: uintText, hash: hashText, timestamp: timeText });

const claim = titledRecord(
  "RecordClaim",
  {
    path: { ...text, description: "The field of this response, as a JSON pointer.", examples: ["/owner"] },
    kind: {
      ...wordOf(["storage", "log", "mismatch", "none"]),
      description:
        "`storage`: a word of the contract's storage shows it. `log`: an event of a block shows it. `mismatch`: the storage holds another value, so that the index is wrong. `none`: not proven, for `reason`.",
    },
  },
  {
    slot: { ...hashText, description: "The key of the first word in the contract's storage." },
    log: { ...count, description: "The position of the event in `logs`." },
    proven: { ...text, description: "What the storage holds, if it is not what the record says." },
    reason: {
      ...text,
      description:
        "`event`: known from events only. `derived`: computed from several records. `off_chain`: what a client has stored here. `time`: judged at another time than that of the block. `too_long`: more words than a response proves. `text`: stored bytes that are not plain UTF-8. `no_layout`: the contract has other code, and keeps the record elsewhere. `no_log`: the block's receipts do not show the event. `node_refused`: no proof of the node leads to the state root. Otherwise the reason of the whole.",
      examples: ["event"],
    },
  },
);

const log = titledRecord("RecordLog", {
  event: { ...text, description: "The name of the event.", examples: ["IntentFilled"] },
  block,
  header: bytesText,
  nodes: listOf(bytesText, { description: "Nodes of the block's trie of receipts in RLP." }),
  transaction: { ...count, description: "The position of the transaction in the block." },
  log: { ...count, description: "The position of the event in the receipt of its transaction." },
});

export const recordProofs = {
  ...titledRecord("RecordProofs", {
    version: { const: 1 },
    record: wordOf(RECORD_KINDS),
    chainId: caip2,
    contract: closedObject({
      name: text,
      address: addressText,
      code: {
        ...nullable(bytesText),
        description:
          "The code, if its hash alone does not identify it: it has values of the deployment in it.",
      },
    }),
    block: nullable(block),
    header: {
      ...nullable(bytesText),
      description: "The block's header in RLP: its keccak256 is the block's hash. Null if nothing is proven.",
    },
    reason: {
      ...textOrNull,
      description:
        "Why nothing is proven; otherwise null. `no_node`: the service has no node. `no_proofs`: no node offers eth_getProof for the block. `node_refused`: its proofs do not lead to the state root. `header`: the hash of this chain's blocks is not that of these fields. `block`: no node has the block. `late`: the time was over.",
    },
    nodes: listOf(bytesText, {
      description: "Nodes of the tries of accounts and storage in RLP, each once, to be found by keccak256.",
    }),
    claims: listOf(claim),
    logs: listOf(log),
  }),
  description:
    "Only with `proof=1`: Merkle proofs of the fields against the hash of the block, and of the events that made them.",
};

export type RecordProofs = TypeOf<typeof recordProofs>;
export type RecordClaim = TypeOf<typeof claim>;
export type RecordLog = TypeOf<typeof log>;
