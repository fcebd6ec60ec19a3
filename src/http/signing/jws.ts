// Statements in compact JWS form, signed by the key of a time in the name of the origin's did:web.
import { toCanonicalJson } from "../../lib/canonical-json.ts";
import type { JsonObject } from "../../lib/json.ts";
import { didOf, type SigningKeys } from "./signing-keys.ts";

type StatementOptions = {
  readonly origin: string;
  /** When the statement was made: the same time and the same payload give the same text again. */
  readonly seconds: number;
  readonly type?: string;
};

/** `describe` gets the second in which the signature counts, which is never before the key's period. */
export function issueStatement(
  keys: SigningKeys,
  { origin, seconds, type }: StatementOptions,
  describe: (seconds: number) => JsonObject,
): string {
  const signer = keys.at(seconds);
  const header = { alg: "EdDSA", kid: `${didOf(origin)}#${signer.id}`, ...(type && { typ: type }) };
  const input = `${encode(JSON.stringify(header))}.${encode(toCanonicalJson(describe(signer.seconds)))}`;
  return `${input}.${signer.sign(input).toString("base64url")}`;
}

function encode(text: string): string {
  return Buffer.from(text).toString("base64url");
}
