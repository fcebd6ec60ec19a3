// What a reader throws when a node's answer can not be true: the client turns it into that provider's failure.

/** `malformed`: the answer is wrong; `missing`: the node does not have what was asked for. Both are asked again. */
export class BadAnswer extends Error {
  readonly kind: "malformed" | "missing";

  constructor(kind: "malformed" | "missing", message: string) {
    super(message);
    this.name = "BadAnswer";
    this.kind = kind;
  }
}

export function malformed(message: string): BadAnswer {
  return new BadAnswer("malformed", message);
}

export function missing(message: string): BadAnswer {
  return new BadAnswer("missing", message);
}
