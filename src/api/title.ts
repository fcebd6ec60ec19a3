// How the indexing API introduces itself.

import { readVersion } from "../config/version.ts";
import type { ApiInfo } from "../http/openapi/document.ts";

export function describeIndexingApi(): ApiInfo {
  return {
    title: "Sextant indexing API",
    version: readVersion(),
    description:
      'Agents, intents, bids, policies, solvers, attestations and commerce of the protocol, indexed from its chain, and the documents they refer to. Addresses and hex are lower-case; numbers are strings unless a type says integer; every error is {"error": "one sentence"} with its code in the header x-error-code. Every indexed answer can be asked for as of an earlier block.',
  };
}
