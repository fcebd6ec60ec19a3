// A facilitator that somebody else runs, or another process of ours.
import { HTTPFacilitatorClient } from "@x402/core/server";
import type { Facilitator } from "./facilitator.ts";

/** It is given up on before the gate gives up on the settlement, so that the gate hears why. */
export function createRemoteFacilitator(options: {
  readonly url: string;
  readonly timeoutMs: number;
}): Facilitator {
  return new HTTPFacilitatorClient(options);
}
