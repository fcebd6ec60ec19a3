// Reads of an audit at its block: contract calls from the node, events from the stored logs.
import { callContracts } from "../chain/contract-calls.ts";
import { RpcError, type RpcFailureKind } from "../chain/rpc/errors.ts";
import type { Rpc } from "../chain/rpc/types.ts";
import { Fault } from "../lib/fault.ts";
import type { Hex } from "../lib/hex.ts";
import { createLogDecoder, type DecodedEvent, type LogDecoder } from "../protocol/decode-logs.ts";
import type { Deployment } from "../protocol/deployment.ts";
import type { BlockSummary, ChainLog } from "../schema/chain-log.ts";
import type { Row } from "../schema/table.ts";
import { readLogsAt } from "../store/index/raw-logs.ts";
import type { Session } from "../store/postgres/session.ts";

type AuditReadOptions = {
  readonly rpc: Rpc;
  readonly session: Pick<Session, "query">;
  readonly deployment: Deployment;
  readonly block: BlockSummary;
  readonly signal: AbortSignal;
};

/** `untrusted`: anyone may have deployed the contract, so it may do anything. */
export type AuditCall = { readonly to: Hex; readonly data: Hex; readonly untrusted: boolean };

export type AuditReads = ReturnType<typeof createAuditReads>;

// Failures that a contract can cause by never ending, or by returning too much.
const UNTRUSTED_FAILURES: ReadonlySet<RpcFailureKind> = new Set([
  "timeout",
  "internal",
  "malformed",
  "invalid-request",
  "response-too-large",
]);

// An account reads one word of its storage, perhaps behind a proxy: a few thousand gas.
const UNTRUSTED_GAS_MAX = 200_000;

export function createAuditReads({ rpc, session, deployment, block, signal }: AuditReadOptions) {
  const contracts: Readonly<Record<string, Hex>> = deployment.contracts;
  const decoder = createLogDecoder(deployment);

  const callAtBlock = async (calls: readonly AuditCall[]): Promise<(Hex | null)[]> => {
    const at = { blockHash: block.hash };
    const located = calls.map(({ to, data, untrusted }) => ({
      to,
      data,
      block: at,
      ...(untrusted && { gasMax: UNTRUSTED_GAS_MAX }),
    }));
    const results = await callContracts(rpc, located, { signal }).catch((error) => {
      throw withoutState(error, block.number);
    });
    return results.map((result) => ("ok" in result ? result.ok : null));
  };

  /** A hostile contract must break neither the audit nor the results of other contracts. */
  const callUntrusted = async (call: AuditCall): Promise<Hex | null> => {
    try {
      const [result = null] = await callAtBlock([call]);
      return result;
    } catch (error) {
      if (error instanceof RpcError && UNTRUSTED_FAILURES.has(error.kind)) return null;
      throw error;
    }
  };

  return {
    /** Unix seconds of the audited block. */
    timestamp: BigInt(block.timestamp),
    addressOf(contract: string): Hex {
      const address = contracts[contract];
      if (!address) throw new Error(`the deployment has no ${contract}`);
      return address;
    },
    /** In the order of the calls; null for a revert, and for an untrusted contract that returned nothing at all. */
    async callViews(calls: readonly AuditCall[]): Promise<readonly (Hex | null)[]> {
      if (calls.length === 0) return [];
      try {
        return await callAtBlock(calls);
      } catch (error) {
        if (!(error instanceof RpcError) || !calls.some(({ untrusted }) => untrusted)) throw error;
      }
      const results: (Hex | null)[] = [];
      for (const call of calls) results.push(await callUntrusted(call));
      return results;
    },
    /** In the order of the rows; null if the position in a row has no event of the protocol. */
    async readEvents(rows: readonly Row[]): Promise<readonly (DecodedEvent | null)[]> {
      const positions = rows.map((row) => ({
        block: row.block_number as bigint,
        logIndex: row.log_index as number,
      }));
      const logs = await readLogsAt(session, positions);
      return logs.map((log) => log && decodeStored(decoder, log));
    },
  };
}

/** A damaged stored log is not an event: the audit then reports the row that refers to it. */
function decodeStored(decoder: LogDecoder, log: ChainLog): DecodedEvent | null {
  try {
    return decoder.decode(log, BigInt(log.blockTimestamp));
  } catch {
    return null;
  }
}

/** Nodes report pruned state in many ways; this makes it one error. */
function withoutState(error: unknown, block: number): unknown {
  if (!(error instanceof RpcError) || (error.kind !== "missing" && error.kind !== "unsupported"))
    return error;
  return new Fault(
    "BLOCK_MISSING",
    `The node at ${error.host} no longer has the state of block ${block}; an old block can only be audited with an archive node in RPC_URL.`,
    { cause: error },
  );
}
