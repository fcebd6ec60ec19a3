// Classifies what a node returns for a transaction: each implementation has its own messages.
import { BaseError, LimitExceededRpcError, RpcRequestError } from "viem";
import { NoResponseError } from "./viem-client.ts";

export type SendErrorKind =
  /** The node has it already. */
  | "known"
  /** The account nonce is used, or too far ahead. */
  | "nonce"
  | "underpriced"
  /** It may have been accepted. */
  | "no-response"
  /** Not accepted, for any other reason. */
  | "rejected";

const ERROR_PATTERNS: readonly (readonly [RegExp, SendErrorKind])[] = [
  [/already known|known transaction|already imported|already exists/i, "known"],
  [/underpriced|fee too low|replacement/i, "underpriced"],
  [/nonce/i, "nonce"],
];

export function classifySendError(error: unknown): SendErrorKind {
  const message = error instanceof BaseError ? `${error.message} ${error.details}` : String(error);
  const match = ERROR_PATTERNS.find(([pattern]) => pattern.test(message));
  if (match) return match[1];
  return isNoResponse(error) ? "no-response" : "rejected";
}

/** Whether the node gave no response: nothing can be concluded from it. */
function isNoResponse(error: unknown): boolean {
  if (!(error instanceof BaseError)) return error instanceof NoResponseError;
  return (
    error.walk((each) => each instanceof NoResponseError || each instanceof LimitExceededRpcError) !== null
  );
}

// Code 3 is a revert by definition; many nodes use other codes, and messages.
const REVERTED = 3;
const EXECUTION_FAILED =
  /revert|out of gas|gas required exceeds|invalid opcode|invalid jump|stack (?:over|under)flow/i;

/** Whether a contract reverted: the only failure of a read that says something about the payment. */
export function isContractRevert(error: unknown): boolean {
  if (!(error instanceof BaseError)) return false;
  const isRevert = (each: unknown) =>
    each instanceof RpcRequestError &&
    (each.code === REVERTED || each.data !== undefined || EXECUTION_FAILED.test(each.details));
  return error.walk(isRevert) !== null;
}
