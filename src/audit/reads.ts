// What an audit reads at its block: contract calls from the node, events from the stored logs.
import { callContracts } from "../chain/contract-calls.ts";
import { RpcError, type RpcFailureKind } from "../chain/rpc/errors.ts";
import type { Rpc } from "../chain/rpc/types.ts";
import { Fault } from "../lib/fault.ts";
import type { Hex } from "../lib/hex.ts";
import { createLogDecoder, type DecodedEvent, type LogDecoder } from "../protocol/decode/logs.ts";
import type { Deployment } from "../protocol/deployment.ts";
import type { ChainLog } from "../schema/chain-log.ts";
import { readLogsAt } from "../store/index/raw-logs.ts";
import type { Session } from "../store/postgres/session.ts";
import type { AuditedBlock } from "./block.ts";
import type { AuditCall, AuditReads } from "./tables/compare-rows.ts";

export type AuditReadOptions = {
  readonly rpc: Rpc;
  readonly session: Pick<Session, "query">;
  readonly deployment: Deployment;
  readonly block: AuditedBlock;
  readonly signal: AbortSignal;
};

// What a contract can do to a node by running for ever, or by answering more than fits.
const STRANGER_FAILURES: ReadonlySet<RpcFailureKind> = new Set([
  "timeout",
  "internal",
  "malformed",
  "invalid-request",
  "response-too-large",
]);

// An account reads one word of its storage, perhaps behind a proxy: a few thousand gas.
const STRANGER_GAS_MAX = 200_000;

export function createAuditReads({ rpc, session, deployment, block, signal }: AuditReadOptions): AuditReads {
  const contracts: Readonly<Record<string, Hex>> = deployment.contracts;
  const decoder = createLogDecoder(deployment);

  const ask = async (calls: readonly AuditCall[]): Promise<(Hex | null)[]> => {
    const at = { blockHash: block.hash };
    const located = calls.map(({ to, data, untrusted: stranger }) => ({
      to,
      data,
      block: at,
      ...(stranger && { gasMax: STRANGER_GAS_MAX }),
    }));
    const results = await callContracts(rpc, located, { signal }).catch((error) => {
      throw withoutState(error, block.number);
    });
    return results.map((result) => ("ok" in result ? result.ok : null));
  };

  /** One hostile contract must spoil neither the audit nor the answers of others. */
  const askStranger = async (call: AuditCall): Promise<Hex | null> => {
    try {
      const [answer = null] = await ask([call]);
      return answer;
    } catch (error) {
      if (error instanceof RpcError && STRANGER_FAILURES.has(error.kind)) return null;
      throw error;
    }
  };

  return {
    timestamp: BigInt(block.timestamp),
    addressOf(contract) {
      const address = contracts[contract];
      if (!address) throw new Error(`the deployment has no ${contract}`);
      return address;
    },
    async callViews(calls) {
      if (calls.length === 0) return [];
      try {
        return await ask(calls);
      } catch (error) {
        if (!(error instanceof RpcError) || !calls.some(({ untrusted: stranger }) => stranger)) throw error;
      }
      const answers: (Hex | null)[] = [];
      for (const call of calls) answers.push(await askStranger(call));
      return answers;
    },
    async readEvents(rows) {
      const places = rows.map((row) => ({
        block: row.block_number as bigint,
        logIndex: row.log_index as number,
      }));
      const logs = await readLogsAt(session, places);
      return logs.map((log) => log && decodeStored(decoder, log));
    },
  };
}

/** A stored log that is damaged is no event: the row that names it is told of. */
function decodeStored(decoder: LogDecoder, log: ChainLog): DecodedEvent | null {
  try {
    return decoder.decode(log, BigInt(log.blockTimestamp));
  } catch {
    return null;
  }
}

/** A node that keeps only recent state says so in many ways; ours is one sentence. */
function withoutState(error: unknown, block: number): unknown {
  if (!(error instanceof RpcError) || (error.kind !== "missing" && error.kind !== "unsupported"))
    return error;
  return new Fault(
    "BLOCK_MISSING",
    `The node at ${error.host} does not have the state of block ${block} any more; an old block can only be audited with an archive node in RPC_URL.`,
    { cause: error },
  );
}
