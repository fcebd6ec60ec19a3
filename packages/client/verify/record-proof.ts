// Checks the proofs of one record of the index: each member against the storage of its contract, or against an event.
import type { Hex } from "viem";
import { hexToBytes, keccak256 } from "viem/utils";
import type { BlockHeader } from "./header.ts";
import type { SentRequest } from "./http-signature.ts";
import { isKnownContract, type KnownContract } from "./known-contracts.ts";
import { IMMUTABLE_BYTES, KNOWN_CODES, RECORD_LAYOUTS, type RecordLayout } from "./record-layouts.ts";
import { checkRecordLogs, type RecordLog } from "./record-logs.ts";
import { listMembers } from "./record-members.ts";
import { keyOf, RecordReader } from "./record-storage.ts";
import { findRejection, Rejection } from "./rejection.ts";
import { readAccount } from "./state.ts";
import { readStatedHeader } from "./stated-header.ts";
import {
  ADDRESS,
  BYTES,
  isObject,
  type JsonObject,
  memberOf,
  requireClosed,
  requireCount,
  requireHex,
  requireList,
  requireMatch,
  requireObject,
  WORD,
} from "./strict-json.ts";
import { TrieNodes } from "./trie.ts";
import type { Condition, ProvenRecord } from "./verification.ts";

/** The findings on a member of the record. */
export type RecordFinding = {
  readonly path: string;
  readonly value: string;
  /** `none`: the claim proves nothing and says why. */
  readonly result: "storage" | "log" | "none" | "wrong";
  /** Besides the block. */
  readonly conditions: readonly Condition[];
  /** The log that shows it. */
  readonly log: RecordLog | null;
  readonly reason: string;
};

export type RecordProof = {
  readonly record: ProvenRecord;
  readonly chainId: string;
  /** Null if the response says why nothing is proven. */
  readonly header: BlockHeader | null;
  readonly logs: readonly RecordLog[];
  readonly findings: readonly RecordFinding[];
};

const MEMBERS = [
  "version",
  "record",
  "chainId",
  "contract",
  "block",
  "header",
  "reason",
  "nodes",
  "claims",
  "logs",
];
const NODES_MAX = 5_000;
const CLAIMS_MAX = 200;
const NODE = /^0x(?:[0-9a-f]{2}){1,600}$/;
const REASON = /^[a-z0-9_]{1,40}$/;

/** Whether the body is a record of the index with proofs. */
export function isProvenRecord(body: JsonObject): boolean {
  const proofs = memberOf(body, "proofs");
  return isObject(proofs) && Object.hasOwn(proofs, "record");
}

/** Throws a Rejection for proofs that are malformed as a whole. */
export function checkRecordProof(
  body: JsonObject,
  request: SentRequest | null,
  known: readonly KnownContract[],
): RecordProof {
  const proofs = requireClosed(memberOf(body, "proofs"), "/proofs", MEMBERS);
  if (memberOf(proofs, "version") !== 1) {
    throw new Rejection("The proofs have a version that this program does not know.");
  }
  const kind = memberOf(proofs, "record");
  const layout = RECORD_LAYOUTS.get(kind);
  if (layout === undefined) throw new Rejection("The record is of a kind that this program does not know.");
  const chainId = requireMatch(memberOf(proofs, "chainId"), "/proofs/chainId", /^eip155:[1-9][0-9]{0,15}$/);
  const id = memberOf(body, layout.id);
  const key = keyOf(id, layout);
  const record = { kind: String(kind), id: String(id) };
  const claims = readClaims(proofs, listMembers(body, layout));
  const header = readBlock(proofs, "/proofs");
  compareRecordRequest(request, { body, layout, header });
  const trie = new TrieNodes(readNodes(proofs));
  if (header === null) {
    requireNothing(proofs, claims);
    return { record, chainId, header, logs: [], findings: claims.map(describeNone) };
  }
  const contract = readContract(proofs, { layout, chainId, known, trie, header });
  const logs = checkRecordLogs(requireList(memberOf(proofs, "logs"), "/proofs/logs", LOGS_MAX), {
    ...{ layout, key, contract: contract.address, head: header },
  });
  const context = { body, layout, key, header, trie, contract, logs };
  const findings = claims.map((claim) => checkClaim(claim, context));
  requireExistence(findings, layout);
  // After a wrong claim it is not known which nodes it would have used.
  if (findings.every(({ result }) => result !== "wrong")) {
    if (trie.unusedCount > 0)
      throw new Rejection(`${trie.unusedCount} nodes of the tries belong to no claim.`);
    const unused = logs.filter((log) => findings.every((finding) => finding.log !== log));
    if (unused.length > 0) throw new Rejection("An event belongs to no claim.");
  }
  return { record, chainId, header, logs, findings };
}

/** The members of a record that does not exist are zero in storage, and would be proven. */
function requireExistence(findings: readonly RecordFinding[], { id }: RecordLayout): void {
  const isShown = findings.some(({ path, result }) => path === `/${id}` && result !== "none");
  if (!isShown && findings.some(({ result }) => result === "storage")) {
    throw new Rejection("The storage does not show that the record exists.");
  }
}

/** No record has more: its own, its fill and the proof of that. */
const LOGS_MAX = 3;

type Claim = { readonly path: string; readonly value: unknown; readonly claim: JsonObject };

/** One for each member, so that none is left out silently. */
function readClaims(proofs: JsonObject, members: ReadonlyMap<string, unknown>): readonly Claim[] {
  const seen = new Set<string>();
  const claims = requireList(memberOf(proofs, "claims"), "/proofs/claims", CLAIMS_MAX).map((value, index) => {
    const claim = requireObject(value, `/proofs/claims/${index}`);
    const pointer = memberOf(claim, "path");
    const path = typeof pointer === "string" && pointer.startsWith("/") ? pointer.slice(1) : "";
    if (!members.has(path)) throw new Rejection(`/proofs/claims/${index} is about no member of the record.`);
    if (seen.has(path)) throw new Rejection(`/${path} is claimed twice.`);
    seen.add(path);
    return { path, value: members.get(path), claim };
  });
  const left = [...members.keys()].find((path) => !seen.has(path));
  if (left !== undefined) throw new Rejection(`/${left} has neither a claim nor a reason.`);
  return claims;
}

function readNodes(proofs: JsonObject): readonly Hex[] {
  return requireList(memberOf(proofs, "nodes"), "/proofs/nodes", NODES_MAX).map((node, index) =>
    requireHex(node, `/proofs/nodes/${index}`, NODE),
  );
}

/** Null if the response says why nothing is proven. */
function readBlock(proofs: JsonObject, path: string): BlockHeader | null {
  if (memberOf(proofs, "header") === null) {
    requireMatch(memberOf(proofs, "reason"), `${path}/reason`, REASON);
    if (memberOf(proofs, "block") !== null) throw new Rejection(`${path}/block has no header.`);
    return null;
  }
  if (memberOf(proofs, "reason") !== null) throw new Rejection(`${path}/reason contradicts its header.`);
  return readStatedHeader(proofs, path);
}

function requireNothing(proofs: JsonObject, claims: readonly Claim[]): void {
  const isEmpty =
    readNodes(proofs).length === 0 &&
    requireList(memberOf(proofs, "logs"), "/proofs/logs", LOGS_MAX).length === 0 &&
    claims.every(({ claim }) => memberOf(claim, "kind") === "none");
  if (!isEmpty) throw new Rejection("There are proofs without a header to check them by.");
}

type ProvenContract = {
  readonly address: Hex;
  readonly name: string;
  readonly storageRoot: Hex;
  readonly conditions: readonly Condition[];
};

function readContract(
  proofs: JsonObject,
  {
    layout,
    chainId,
    known,
    trie,
    header,
  }: {
    readonly layout: RecordLayout;
    readonly chainId: string;
    readonly known: readonly KnownContract[];
    readonly trie: TrieNodes;
    readonly header: BlockHeader;
  },
): ProvenContract {
  const stated = requireClosed(memberOf(proofs, "contract"), "/proofs/contract", ["name", "address", "code"]);
  const name = memberOf(stated, "name");
  if (name !== layout.contract) throw new Rejection("The record belongs to another contract.");
  const address = requireHex(memberOf(stated, "address"), "/proofs/contract/address", ADDRESS);
  const isKnown = isKnownContract(known, { chainId, name: layout.contract, address });
  const given = memberOf(stated, "code");
  const code = given === null ? null : requireHex(given, "/proofs/contract/code", BYTES);
  const { storageRoot, codeHash } = readAccount(trie, header.stateRoot, address);
  if (code !== null && keccak256(code) !== codeHash) throw new Rejection("The contract has other code.");
  const hasLayout =
    code === null ? isKnownHash(layout.contract, codeHash) : isKnownCode(layout.contract, code);
  const conditions: Condition[] = [
    ...(isKnown ? [] : (["contract"] as const)),
    ...(hasLayout ? [] : (["layout"] as const)),
  ];
  return { address, name: layout.contract, storageRoot, conditions };
}

function isKnownHash(contract: string, codeHash: Hex): boolean {
  const known = KNOWN_CODES.get(contract);
  return known?.immutables.length === 0 && known.hash === codeHash;
}

function isKnownCode(contract: string, code: Hex): boolean {
  const known = KNOWN_CODES.get(contract);
  if (known === undefined) return false;
  const bytes = hexToBytes(code);
  for (const start of known.immutables) bytes.fill(0, start, start + IMMUTABLE_BYTES);
  return keccak256(bytes) === known.hash;
}

type Context = {
  readonly body: JsonObject;
  readonly layout: RecordLayout;
  readonly key: Hex;
  readonly header: BlockHeader;
  readonly trie: TrieNodes;
  readonly contract: ProvenContract;
  readonly logs: readonly RecordLog[];
};

function checkClaim(claim: Claim, context: Context): RecordFinding {
  let finding = describeNone(claim);
  const problem = findRejection(() => {
    const kind = memberOf(claim.claim, "kind");
    if (kind === "storage") finding = checkStorage(claim, context);
    else if (kind === "log") finding = checkLog(claim, context);
    else if (kind === "mismatch") rejectMismatch(claim);
    else if (kind !== "none") throw new Rejection("The claim is of an unknown kind.");
    else requireReason(claim);
  });
  return problem === null ? finding : { ...finding, result: "wrong", reason: problem };
}

function describeNone({ path, value, claim }: Claim): RecordFinding {
  const reason = memberOf(claim, "reason");
  const why = typeof reason === "string" && REASON.test(reason) ? reason.replaceAll("_", " ") : "no reason";
  return {
    ...{ path: `/${path}`, value: showValue(value), result: "none", conditions: [], log: null },
    reason: `not proven: ${why}`,
  };
}

function requireReason({ claim }: Claim): void {
  const { reason } = requireClosed(claim, "The claim", ["path", "kind", "reason"]);
  requireMatch(reason, "The reason of the claim", REASON);
}

/** The service has found out itself that its record is wrong. */
function rejectMismatch({ claim }: Claim): never {
  const closed = requireClosed(claim, "The claim", ["path", "kind", "proven"], ["slot"]);
  const proven = memberOf(closed, "proven");
  throw new Rejection(`The service says that the contract stores ${showValue(proven)}.`);
}

function checkStorage(claim: Claim, { body, layout, key, header, trie, contract }: Context): RecordFinding {
  const { path, value, claim: stated } = claim;
  requireClosed(stated, "The claim", ["path", "kind", "slot"]);
  const slot = requireHex(memberOf(stated, "slot"), "The slot of the claim", WORD);
  const { storageRoot, address, name, conditions } = contract;
  const reader = new RecordReader({ trie, storageRoot, layout, key, timestamp: header.timestamp });
  const expected =
    path === layout.id ? readId(reader, layout, memberOf(body, layout.id)) : layout.fields[path]?.(reader);
  if (expected === undefined) throw new Rejection("The contract does not store this member.");
  if (slot !== reader.firstSlot) throw new Rejection("The contract stores this member in another slot.");
  if (expected !== value) {
    throw new Rejection(`The proof shows ${showValue(expected)}, and the response says ${showValue(value)}.`);
  }
  return {
    ...{ path: `/${path}`, value: showValue(value), result: "storage", conditions, log: null },
    reason: `storage of ${name} ${address}`,
  };
}

/** The id is shown by a member that only a record that exists has. */
function readId(reader: RecordReader, { exists: [slot, type] }: RecordLayout, id: unknown): unknown {
  const value = reader.member(slot, type);
  if (/^(?:0|0x0+)$/.test(String(value))) throw new Rejection("The contract has no record with this id.");
  return id;
}

function checkLog(claim: Claim, { layout, logs, contract }: Context): RecordFinding {
  const { path, value, claim: stated } = claim;
  requireClosed(stated, "The claim", ["path", "kind", "log"]);
  const log = logs[requireCount(memberOf(stated, "log"), "The event of the claim")];
  if (log === undefined) throw new Rejection("The event of the claim is missing.");
  const expected = log.values[path];
  if (expected === undefined) throw new Rejection(`The event ${log.event} does not have this member.`);
  if (expected !== value) {
    throw new Rejection(`The event shows ${showValue(expected)}, and the response says ${showValue(value)}.`);
  }
  const conditions = contract.conditions.filter((condition) => condition !== "layout");
  return {
    ...{ path: `/${path}`, value: showValue(value), result: "log", conditions, log },
    reason: `event ${log.event} of ${layout.contract} ${contract.address} in block ${log.header.number}`,
  };
}

const VALUE_MAX = 200;

function showValue(value: unknown): string {
  const text = typeof value === "string" ? value : (JSON.stringify(value) ?? "nothing");
  return text.length > VALUE_MAX ? `${text.slice(0, VALUE_MAX)}…` : text;
}

/** The record and the block must be those that the reader asked for. */
function compareRecordRequest(
  request: SentRequest | null,
  { body, layout, header }: Pick<Context, "body" | "layout"> & { readonly header: BlockHeader | null },
): void {
  if (request === null || !URL.canParse(request.url)) return;
  const { pathname, searchParams } = new URL(request.url);
  const [id = "", list] = pathname.split("/").reverse();
  const asked = id.toLowerCase();
  const given = memberOf(body, layout.id);
  const isSame = /^[0-9]{1,78}$/.test(asked) ? BigInt(asked).toString() === given : asked === given;
  if (list !== layout.path || !isSame) {
    throw new Rejection("The response is about another record than the request.");
  }
  const blocks = searchParams.getAll("block");
  if (blocks.length > 1) throw new Rejection("The request has block twice.");
  const number = /^0*([0-9]+)(?:@[0-9]+)?$/.exec(blocks[0] ?? "")?.[1];
  if (number !== undefined && header !== null && header.number.toString() !== number) {
    throw new Rejection("The response is about another block than the request.");
  }
}
