// What a reader throws when a node's answer can not be true: the client turns it into that provider's failure.

/** `malformed`: the answer is wrong; `missing`: the node does not have what was asked for. Both are asked again. */
export class InvalidResponseError extends Error {
  readonly kind: "malformed" | "missing";

  constructor(kind: "malformed" | "missing", message: string) {
    super(message);
    this.name = "BadAnswer";
    this.kind = kind;
  }
}

export function malformedResponse(message: string): InvalidResponseError {
  return new InvalidResponseError("malformed", message);
}

export function missingResult(message: string): InvalidResponseError {
  return new InvalidResponseError("missing", message);
}
