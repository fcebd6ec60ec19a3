// Proves the fields of one chain at one block: reads header, proofs and layouts from a node, and believes none of it unchecked.
import { wholeHeaderCall } from "../../chain/headers.ts";
import { encodeCheckedHeader } from "../../chain/proofs/header.ts";
import { codeCall, proofCall } from "../../chain/proofs/proof-calls.ts";
import { ProvenState } from "../../chain/proofs/proven-state.ts";
import { readQuantity } from "../../chain/rpc/hex-values.ts";
import type { Rpc, RpcCall, RpcResult } from "../../chain/rpc/types.ts";
import { toCaip2Network } from "../../lib/caip2.ts";
import { splitIntoChunks } from "../../lib/chunks.ts";
import type { Hex } from "../../lib/hex.ts";
import type { ProofChain } from "../../schema/portfolio/proofs.ts";
import { PERMIT2 } from "../exposure/revocations.ts";
import { type ClaimContext, proveField, unprovenField } from "./claim-field.ts";
import { executeLayouts } from "./execute-layouts.ts";
import { findLayouts } from "./find-layouts.ts";
import type { ProvenChain } from "./fit-proofs.ts";
import type { LayoutMemory } from "./layout-memory.ts";
import { permit2Slot } from "./layouts.ts";
import {
  dropStaleLayout,
  findTeacher,
  groupMappings,
  keysOf,
  nameOf,
  rememberLayout,
  slotsOf,
  type TokenMapping,
} from "./mappings.ts";
import type { ProvableChain, ProvableField } from "./provable-fields.ts";

/** The fields of a chain, of a wallet, at a known block. */
export type ChainProofQuery = Omit<ProvableChain, "block"> & {
  readonly chainId: number;
  readonly wallet: Hex;
  readonly block: NonNullable<ProvableChain["block"]>;
};

/** Why nothing of a chain could be proven. */
export type ChainFailure = "no_proofs" | "node_refused" | "header" | "block" | "late";

// A contract has a proof of its own, of about five kilobytes on a large chain.
const CONTRACTS_MAX = 100;
// Fields in all, and slots in one call: some nodes reject calls with more.
const FIELDS_MAX = 600;
const SLOTS_PER_CALL = 64;

type Slots = Map<Hex, Set<Hex>>;

/** The proofs by one node; a failure if another node may do better. */
export async function proveChainOnNode(
  node: Rpc,
  query: ChainProofQuery,
  memory: LayoutMemory,
  signal: AbortSignal,
): Promise<ProvenChain | ChainFailure | "unsupported"> {
  const { chainId, wallet, block } = query;
  const { within, surplus } = limitFields(query.fields);
  const mappings = groupMappings(within, { chainId, wallet, memory });
  const opened = await openState(node, { ...query, fields: within }, mappings, signal);
  if (typeof opened === "string") return opened;
  const { state, walletCode, header } = opened;
  for (const mapping of mappings) dropStaleLayout(mapping, memory, state);
  const open = mappings.filter((mapping) => mapping.layout === null && findTeacher(mapping) !== undefined);
  // The other side of a difference shows where a token keeps a balance of zero.
  const empty = mappings.filter(
    (mapping) => mapping.layout === null && mapping.of === "allowance" && findTeacher(mapping) === undefined,
  );
  await Promise.all([
    searchLayouts(node, open, block.number, signal),
    executeEmpty(node, empty, block.number, signal),
  ]);
  state.addNodes(await readProofs(node, collectSlots([...open, ...empty]), block.number, signal));
  for (const mapping of open) rememberLayout(mapping, memory, state);
  const byName = new Map(mappings.flatMap((each) => each.fields.map((field) => [nameOf(field), each])));
  const context: ClaimContext = { wallet, state, walletCode, mappings: byName };
  const tooMany = new Set(surplus);
  const claims = query.fields.map((field) =>
    tooMany.has(field) ? unprovenField(field, "too_many") : proveField(context, field),
  );
  return { ...identify(query), ...header, reason: null, state, claims };
}

/** A chain of which nothing is proven. */
export function describeUnproven(
  query: Omit<ChainProofQuery, "block" | "wallet">,
  reason: ChainFailure,
): ProvenChain {
  const claims = query.fields.map((field) => unprovenField(field, reason));
  return { ...identify(query), block: null, header: null, reason, state: null, claims };
}

function identify({ slug, chainId, side }: Pick<ChainProofQuery, "slug" | "chainId" | "side">) {
  return { chain: slug, chainId: toCaip2Network(chainId), ...(side && { side }) };
}

/** The first fields: responses list first what is worth most. */
function limitFields(fields: readonly ProvableField[]) {
  const contracts = new Set<Hex>();
  const surplus: ProvableField[] = [];
  const within: ProvableField[] = [];
  for (const field of fields) {
    // Reads nothing.
    if (field.kind === "unprovable") continue;
    const contract = contractOf(field);
    const isOverLimit =
      within.length >= FIELDS_MAX ||
      (contract !== null && !contracts.has(contract) && contracts.size >= CONTRACTS_MAX);
    if (isOverLimit) surplus.push(field);
    else within.push(field);
    if (contract !== null && !isOverLimit) contracts.add(contract);
  }
  return { within, surplus };
}

function contractOf(field: Exclude<ProvableField, { readonly kind: "unprovable" }>): Hex | null {
  if (field.kind === "native" || field.kind === "code" || field.kind === "nonce") return null;
  return field.kind === "permit2" ? PERMIT2 : field.token;
}

type OpenedState = {
  readonly state: ProvenState;
  readonly walletCode: Hex | null;
  readonly header: Pick<ProofChain, "block" | "header">;
};

/** Header, the wallet's own account and the words whose slots are known, in one batch. */
async function openState(
  node: Rpc,
  { wallet, block, fields }: ChainProofQuery,
  mappings: readonly TokenMapping[],
  signal: AbortSignal,
): Promise<OpenedState | ChainFailure | "unsupported"> {
  const { number, hash } = block;
  const slots = collectSlots(mappings);
  for (const field of fields) {
    if (field.kind === "permit2") addSlots(slots, PERMIT2, [permit2Slot({ ...field, owner: wallet })]);
  }
  const first = [wholeHeaderCall(hash), proofCall(wallet, [], number), codeCall(wallet, number)] as const;
  const [header, own, code, ...proofs] = await node.batch([...first, ...listProofCalls(slots, number)], {
    signal,
  });
  if ("error" in own && own.error.kind === "unsupported") return "unsupported";
  if ("error" in header) return "block";
  if ("error" in own) return "no_proofs";
  const checked = encodeCheckedHeader(header.ok, hash);
  if (checked === null) return "header";
  if (readQuantity(header.ok.number, "the block number") !== number) return "block";
  const state = new ProvenState(checked.stateRoot);
  state.addNodes([...own.ok, ...proofs.flatMap(nodesOf)]);
  if (state.accountOf(wallet) === null) return "node_refused";
  const timestamp = new Date(readQuantity(header.ok.timestamp, "the block time") * 1_000).toISOString();
  return {
    state,
    walletCode: "ok" in code ? code.ok : null,
    header: { block: { number: number.toString(), hash, timestamp }, header: checked.rlp },
  };
}

/** Finds the layouts by amounts above zero. A layout that cannot be read stays unknown. */
async function searchLayouts(
  node: Rpc,
  mappings: readonly TokenMapping[],
  number: number,
  signal: AbortSignal,
): Promise<void> {
  const taught = mappings.flatMap((mapping) => {
    const teacher = findTeacher(mapping);
    return teacher === undefined ? [] : [{ mapping, teacher }];
  });
  const amounts = taught.map(({ mapping: { token, wallet }, teacher }) => ({
    token,
    keys: keysOf(wallet, teacher),
    value: teacher.value,
  }));
  const found = await findLayouts(node, amounts, number, signal);
  for (const [index, { mapping }] of taught.entries()) mapping.layout = found[index] ?? null;
}

/** Finds layouts of allowances that are all zero. */
async function executeEmpty(
  node: Rpc,
  mappings: readonly TokenMapping[],
  number: number,
  signal: AbortSignal,
): Promise<void> {
  const searches = mappings.flatMap((mapping) => {
    const [field] = mapping.fields;
    if (field?.kind !== "allowance") return [];
    const keys = { of: "allowance" as const, owner: mapping.wallet, spender: field.spender };
    return [{ token: mapping.token, keys, mapping }];
  });
  const found = await executeLayouts(node, searches, number, signal);
  for (const [index, { mapping }] of searches.entries()) mapping.layout = found[index] ?? null;
}

function collectSlots(mappings: readonly TokenMapping[]): Slots {
  const slots: Slots = new Map();
  for (const mapping of mappings) addSlots(slots, mapping.token, slotsOf(mapping));
  return slots;
}

function addSlots(slots: Slots, contract: Hex, added: readonly Hex[]): void {
  if (added.length > 0) slots.set(contract, new Set([...(slots.get(contract) ?? []), ...added]));
}

function listProofCalls(slots: Slots, number: number): readonly RpcCall<readonly Hex[]>[] {
  return [...slots].flatMap(([contract, own]) =>
    splitIntoChunks([...own], SLOTS_PER_CALL).map((part) => proofCall(contract, part, number)),
  );
}

async function readProofs(
  node: Rpc,
  slots: Slots,
  number: number,
  signal: AbortSignal,
): Promise<readonly Hex[]> {
  const calls = listProofCalls(slots, number);
  return calls.length === 0 ? [] : (await node.batch(calls, { signal })).flatMap(nodesOf);
}

/** A contract whose proof failed has no nodes, and then no claims. */
function nodesOf(result: RpcResult<readonly Hex[]>): readonly Hex[] {
  return "ok" in result ? result.ok : [];
}
