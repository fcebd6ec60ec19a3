// `proof=1` on a record of the index: proves it by the deployment's nodes, within limits, and reports a record that is wrong.
import { createRpc } from "../../chain/rpc/client.ts";
import { RpcError } from "../../chain/rpc/errors.ts";
import type { CallObserver, Rpc } from "../../chain/rpc/types.ts";
import { splitRpcUrls } from "../../config/indexing-settings.ts";
import type { ProvableRecord, ProveRecord } from "../../http/routes/record-proofs.ts";
import { assertDefined } from "../../lib/assert-defined.ts";
import { toCaip2Network } from "../../lib/caip2.ts";
import { createFairLimit } from "../../lib/concurrency-limit.ts";
import { Deadline } from "../../lib/deadline.ts";
import type { Hex } from "../../lib/hex.ts";
import type { Log } from "../../lib/log.ts";
import type { Secret } from "../../lib/secret.ts";
import type { Deployment } from "../../protocol/deployment.ts";
import type { RecordProofs } from "../../schema/reads/record-proofs.ts";
import {
  listPaths,
  type ProofFailure,
  type ProvenRecord,
  proveOnNode,
  type RecordQuery,
} from "./prove-record.ts";
import { withoutProof } from "./prove-storage.ts";
import { ProvenReceipts } from "./proven-receipts.ts";
import { RECORDS } from "./record-fields.ts";

export type RecordProverOptions = {
  readonly deployment: Pick<Deployment, "chainId" | "contracts">;
  /** Nodes of the deployment's chain. */
  readonly urls: readonly Secret<string>[];
  /** Observes the calls to these nodes, for metrics. */
  readonly onCall: CallObserver | null;
};

// All calls of a record to all nodes: a reader waits for the response.
const PROOF_MS_MAX = 6_000;
// A node takes tens of milliseconds for a proof, the receipts of a full block some hundred of ours: a few at a time leave
// the indexer its share of the node, and other readers theirs of the process.
const RUNNING = { runningMax: 3, runningPerKeyMax: 1, waitingMax: 64, waitingPerKeyMax: 8 };
const NODES_TRIED_MAX = 3;
/** The client waits: a node that does not respond is left for the next. */
const NODE_LIMITS = { unreachableMsMax: 1_000, requestTimeoutMs: PROOF_MS_MAX };

export function openRecordProver(
  { deployment, urls, onCall }: RecordProverOptions,
  log: Log,
): { readonly prove: ProveRecord; close(): void } {
  const { chainId } = deployment;
  const { http } = splitRpcUrls(urls);
  const rpc = http.length === 0 ? null : createRpc({ urls: http, chainId, log, onCall, limits: NODE_LIMITS });
  const limit = createFairLimit(RUNNING);
  const receipts = new ProvenReceipts();
  return {
    prove: async (request) => {
      const query = describeQuery(request, deployment);
      const proven =
        rpc === null ? "no_node" : await limit.run(request.client, () => proveWithin(rpc, query, receipts));
      reportMismatch(query, proven, log);
      return describeProofs(query, proven);
    },
    close: () => rpc?.close(),
  };
}

function describeQuery(
  { operationId, record, block, head, origin }: ProvableRecord,
  { chainId, contracts }: RecordProverOptions["deployment"],
): RecordQuery {
  const declaration = assertDefined(RECORDS[operationId], "a record that can be proven");
  return {
    ...{ declaration, record, chainId, contract: contracts[declaration.contract] },
    origin: { ...origin, block: Number(origin.block) },
    block: Number(block),
    head: { number: Number(head.number), hash: head.hash as Hex },
  };
}

async function proveWithin(
  rpc: Rpc,
  query: RecordQuery,
  receipts: ProvenReceipts,
): Promise<ProvenRecord | ProofFailure> {
  const deadline = new Deadline(PROOF_MS_MAX);
  let failure: ProofFailure = "no_proofs";
  try {
    for (const [only] of rpc.providers().slice(0, NODES_TRIED_MAX).entries()) {
      const { signal } = deadline;
      const proven = await rpc
        .pinned((node) => proveOnNode(node, query, receipts, signal), { only, attemptsMax: 1, signal })
        .catch((error: unknown) => {
          if (deadline.isLate) return "late" as const;
          if (error instanceof RpcError) return "no_proofs" as const;
          throw error;
        });
      if (typeof proven !== "string" || proven === "late") return proven;
      failure = proven;
    }
    return failure;
  } finally {
    deadline.end();
  }
}

/** The node has the block of the index, and its proofs lead to the state of that block: only the record can be wrong. */
function reportMismatch(
  { declaration: { record: kind, id, contract }, record, block }: RecordQuery,
  proven: ProvenRecord | ProofFailure,
  log: Log,
): void {
  if (typeof proven === "string") return;
  const fields = proven.claims.flatMap(({ kind: each, path }) => (each === "mismatch" ? [path] : []));
  if (fields.length === 0) return;
  log.error(
    { component: "api", event: "record_proof_mismatch", kind, id: record[id], contract, block, fields },
    "The contract stores something else than the index has",
  );
}

function describeProofs(
  { declaration, record, contract: address, chainId }: RecordQuery,
  proven: ProvenRecord | ProofFailure,
): RecordProofs {
  const isProven = typeof proven !== "string";
  const unproven = isProven
    ? []
    : listPaths(record).map((path) => withoutProof(path, declaration.others[path.slice(1)] ?? proven).claim);
  return {
    version: 1,
    record: declaration.record,
    chainId: toCaip2Network(chainId),
    contract: { name: declaration.contract, address, code: isProven ? proven.code : null },
    block: isProven ? proven.block : null,
    header: isProven ? proven.header : null,
    reason: isProven ? null : proven,
    nodes: isProven ? proven.nodes : [],
    claims: isProven ? proven.claims : unproven,
    logs: isProven ? proven.logs : [],
  };
}
