// A fault of a node: it sees every request to the chain and may change the request, the response, or both.

export type NodeRequest = (method: string, params: readonly unknown[]) => Promise<unknown>;

/** `next` calls the node behind, which may have faults of its own. Throws a JsonRpcError if a node reports an error. */
export type NodeFault = (method: string, params: readonly unknown[], next: NodeRequest) => Promise<unknown>;

/** One function from a chain and its faults; the first fault sees a request first and its response last. */
export function withFaults(chain: NodeRequest, faults: readonly NodeFault[]): NodeRequest {
  return faults.reduceRight<NodeRequest>(
    (next, fault) => (method, params) => fault(method, params, next),
    (method, params) => chain(method, params),
  );
}
