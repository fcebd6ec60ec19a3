// A request about a message to sign as the service uses it: checked in full before a price is named.
import { createHash } from "node:crypto";
import { toCanonicalJson } from "../../../lib/canonical-json.ts";
import { Fault } from "../../../lib/fault.ts";
import type { SimulationRequest } from "../../../schema/portfolio/simulation.ts";
import { parsePlace } from "../request.ts";
import type { MessageQuery } from "./simulate-message.ts";
import { parseTypedData } from "./typed-data.ts";

/** Throws INPUT_INVALID for a message that is not typed data, and for one next to transactions. */
export function parseMessageRequest(
  request: SimulationRequest,
  served: readonly string[],
): MessageQuery & { readonly digest: string } {
  const { message, transactions } = request;
  if (message === undefined || transactions !== undefined) {
    throw new Fault("INPUT_INVALID", "Send either transactions or a message to sign, not both.");
  }
  const place = parsePlace(request, served);
  const typed = parseTypedData(message);
  const digest = createHash("sha256").update(toCanonicalJson(message)).digest("hex");
  return { ...place, typed, digest };
}

/** All that determines the response; the message by its hash, because a payment names it in a URL. */
export function canonicalMessage({ wallet, slug, block, digest }: ReturnType<typeof parseMessageRequest>) {
  return {
    ...{ wallet, chain: slug },
    ...(block !== undefined && { block: block.toString() }),
    message: digest,
  };
}
