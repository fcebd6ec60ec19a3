// An error as it may be logged: the library quotes the arguments of a call, and a signature among them is money.
import { BaseError } from "viem";

/** The same names, short messages and codes down to the first cause, and nothing else of what was called. */
export function redactCallArguments(error: unknown): Error {
  if (!(error instanceof Error)) return new Error("a failure without an error");
  const { cause } = error;
  const message = error instanceof BaseError ? error.shortMessage : error.message;
  const told = new Error(message, cause instanceof Error ? { cause: redactCallArguments(cause) } : {});
  told.name = error.name;
  const { code } = error as { code?: unknown };
  return typeof code === "number" || typeof code === "string" ? Object.assign(told, { code }) : told;
}
