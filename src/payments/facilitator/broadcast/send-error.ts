// What a node's answer to a transaction means: nodes say the same thing in their own words.
import { BaseError, LimitExceededRpcError, RpcRequestError } from "viem";
import { NoResponseError } from "./viem-client.ts";

export type SendErrorKind =
  /** The node has it already. */
  | "known"
  /** The account nonce is used, or too far ahead. */
  | "nonce"
  | "underpriced"
  /** No answer: it may have been taken. */
  | "unheard"
  /** Not taken, for any other reason. */
  | "rejected";

const WORDS: readonly (readonly [RegExp, SendErrorKind])[] = [
  [/already known|known transaction|already imported|already exists/i, "known"],
  [/underpriced|fee too low|replacement/i, "underpriced"],
  [/nonce/i, "nonce"],
];

export function classifySendError(error: unknown): SendErrorKind {
  const said = error instanceof BaseError ? `${error.message} ${error.details}` : String(error);
  const word = WORDS.find(([pattern]) => pattern.test(said));
  if (word) return word[1];
  return isNoResponse(error) ? "unheard" : "rejected";
}

/** Whether a failure is silence and not the other side's word: nothing can be concluded from it. */
export function isNoResponse(error: unknown): boolean {
  if (!(error instanceof BaseError)) return error instanceof NoResponseError;
  return (
    error.walk((each) => each instanceof NoResponseError || each instanceof LimitExceededRpcError) !== null
  );
}

// Code 3 is a revert by definition; many nodes have other codes for it, and words.
const REVERTED = 3;
const EXECUTION_FAILED =
  /revert|out of gas|gas required exceeds|invalid opcode|invalid jump|stack (?:over|under)flow/i;

/** Whether the contracts refused: the only failure of a read that says something about the payment. */
export function isContractRevert(error: unknown): boolean {
  if (!(error instanceof BaseError)) return false;
  const refuses = (each: unknown) =>
    each instanceof RpcRequestError &&
    (each.code === REVERTED || each.data !== undefined || EXECUTION_FAILED.test(each.details));
  return error.walk(refuses) !== null;
}
