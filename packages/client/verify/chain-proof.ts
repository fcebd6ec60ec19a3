// Checks what a response's proofs say about one chain: the header, the nodes, and each claim against its field.
import type { Hex } from "viem";
import { checkClaim, type Finding } from "./claim.ts";
import { type BlockHeader, formatTime, readHeader } from "./header.ts";
import { findKnownChainId } from "./known-chains.ts";
import { findRejection, Rejection } from "./rejection.ts";
import type { Field, Report, Side, StatedBlock } from "./report.ts";
import {
  type JsonObject,
  memberOf,
  requireClosed,
  requireHex,
  requireList,
  requireMatch,
  requireObject,
} from "./strict-json.ts";
import { TrieNodes } from "./trie.ts";

export type ChainProof = {
  /** The JSON pointer of the entry. */
  readonly path: string;
  readonly chain: string;
  readonly chainId: string;
  readonly side: Side;
  /** Null if the response says why this chain cannot be proven. */
  readonly header: BlockHeader | null;
  /** Keyed by the path of the field. */
  readonly findings: ReadonlyMap<string, Finding>;
  /** Claims that are wrong, by the path that they name. */
  readonly problems: ReadonlyMap<string, string>;
};

const NODES_MAX = 50_000;
const CLAIMS_MAX = 20_000;
/** A branch has 532 bytes, and no leaf has more. */
const NODE = /^0x(?:[0-9a-f]{2}){1,600}$/;
/** Above the largest header: a bloom of 256 bytes, and extra data that some chains fill. */
const HEADER = /^0x(?:[0-9a-f]{2}){1,4096}$/;
const REASON = /^[a-z0-9_]{1,40}$/;
const MEMBERS = ["chain", "chainId", "block", "header", "reason", "nodes", "claims"];

export function checkChainProof(value: unknown, path: string, report: Report): ChainProof {
  const hasSide = report.kind === "diff";
  const entry = requireClosed(value, path, hasSide ? [...MEMBERS, "side"] : MEMBERS);
  const identity = readIdentity(entry, path, report);
  const fields = listFields(identity, report);
  const nodes = requireList(memberOf(entry, "nodes"), `${path}/nodes`, NODES_MAX).map((node, index) =>
    requireHex(node, `${path}/nodes/${index}`, NODE),
  );
  const claims = readClaims(entry, path, fields);
  requireEvery(claims, fields);
  const header = readEntryHeader(entry, path, findBlock(identity, report));
  if (header === null) requireNothing(nodes, claims);
  const trie = new TrieNodes(nodes);
  const findings = new Map<string, Finding>();
  const problems = new Map<string, string>();
  for (const { claim, field } of claims) {
    const problem = findRejection(() => {
      findings.set(field.path, checkClaim(claim, field, { report, header, trie, chainId: identity.chainId }));
    });
    if (problem !== null) problems.set(field.path, problem);
  }
  // After a wrong claim it is not known which nodes it would have used.
  if (problems.size === 0 && trie.unusedCount > 0) {
    throw new Rejection(`${trie.unusedCount} nodes of the tries belong to no claim.`);
  }
  return { path, ...identity, header, findings, problems };
}

type Identity = Pick<ChainProof, "chain" | "chainId" | "side">;

function readIdentity(entry: JsonObject, path: string, report: Report): Identity {
  const chain = memberOf(entry, "chain");
  if (typeof chain !== "string" || !report.chains.includes(chain)) {
    throw new Rejection(`${path}/chain is not a chain of the response.`);
  }
  const chainId = requireMatch(memberOf(entry, "chainId"), `${path}/chainId`, /^eip155:[1-9][0-9]{0,15}$/);
  const known = findKnownChainId(chain);
  if (known !== null && known !== chainId) throw new Rejection(`${path}/chainId is not that of ${chain}.`);
  const side = memberOf(entry, "side") ?? null;
  if (report.kind === "diff" && side !== "from" && side !== "to")
    throw new Rejection(`${path}/side is malformed.`);
  return { chain, chainId, side: side as Side };
}

function listFields({ chain, chainId, side }: Identity, report: Report): ReadonlyMap<string, Field> {
  const fields = report.fields.filter((field) => field.chain === chain && field.side === side);
  if (fields.some((field) => field.chainId !== null && field.chainId !== chainId)) {
    throw new Rejection("The response has another id for the same chain.");
  }
  return new Map(fields.map((field) => [field.path, field]));
}

function findBlock({ chain, side }: Identity, { blocks }: Report): StatedBlock | null {
  const stated = blocks.filter((block) => block.chain === chain && block.side === side);
  if (stated.length > 1) throw new Rejection("The response states two blocks of a chain.");
  return stated[0] ?? null;
}

/** Null if the response says that the header cannot be checked, or that there are no proofs. */
function readEntryHeader(entry: JsonObject, path: string, stated: StatedBlock | null): BlockHeader | null {
  const encoded = memberOf(entry, "header");
  const reason = memberOf(entry, "reason");
  if (encoded === null) {
    requireMatch(reason, `${path}/reason`, REASON);
    if (memberOf(entry, "block") !== null) throw new Rejection(`${path}/block has no header.`);
    return null;
  }
  if (reason !== null) throw new Rejection(`${path}/reason contradicts its header.`);
  if (stated === null) throw new Rejection("The response does not state the block of the chain.");
  const block = requireClosed(memberOf(entry, "block"), `${path}/block`, ["number", "hash", "timestamp"]);
  const number = memberOf(block, "number");
  const hash = memberOf(block, "hash");
  if (number !== stated.number.toString() || (stated.hash ?? hash) !== hash) {
    throw new Rejection(`${path}/block is another one than the response states.`);
  }
  const header = readHeader(requireHex(encoded, `${path}/header`, HEADER));
  if (header.hash !== hash) throw new Rejection("The header has another hash than the block.");
  if (header.number !== stated.number) throw new Rejection("The header has another number than the block.");
  if (formatTime(header.timestamp) !== memberOf(block, "timestamp")) {
    throw new Rejection("The header has another time than the block.");
  }
  return header;
}

type PairedClaim = { readonly claim: JsonObject; readonly field: Field };

function readClaims(
  entry: JsonObject,
  path: string,
  fields: ReadonlyMap<string, Field>,
): readonly PairedClaim[] {
  const seen = new Set<string>();
  return requireList(memberOf(entry, "claims"), `${path}/claims`, CLAIMS_MAX).map((value, index) => {
    const claim = requireObject(value, `${path}/claims/${index}`);
    const pointer = memberOf(claim, "path");
    const field = typeof pointer === "string" ? fields.get(pointer) : undefined;
    if (field === undefined) throw new Rejection(`${path}/claims/${index} is about no value of this chain.`);
    if (seen.has(field.path)) throw new Rejection(`${field.path} is claimed twice.`);
    seen.add(field.path);
    return { claim, field };
  });
}

/** A value without a proof must say why: a claim that is left out would hide that a proof fails. */
function requireEvery(claims: readonly PairedClaim[], fields: ReadonlyMap<string, Field>): void {
  const claimed = new Set(claims.map(({ field }) => field.path));
  const left = [...fields.values()].find(({ path, kind }) => kind !== null && !claimed.has(path));
  if (left !== undefined) throw new Rejection(`${left.path} has neither a claim nor a reason.`);
}

function requireNothing(nodes: readonly Hex[], claims: readonly PairedClaim[]): void {
  const isEmpty = nodes.length === 0 && claims.every(({ claim }) => memberOf(claim, "kind") === "none");
  if (!isEmpty) throw new Rejection("There are proofs without a header to check them by.");
}
