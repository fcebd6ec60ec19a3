// How the indexing API introduces itself.
import { readFileSync } from "node:fs";
import type { ApiTitle } from "../http/openapi.ts";

export function indexingApiTitle(): ApiTitle {
  const manifest = readFileSync(new URL("../../package.json", import.meta.url), "utf8");
  const { version } = JSON.parse(manifest) as { version: string };
  return {
    title: "Sextant indexing API",
    version,
    description:
      'Agents, intents, bids, policies, solvers, attestations and commerce of the protocol, indexed from its chain, and the documents they refer to. Addresses and hex are lower-case; numbers are strings unless a type says integer; every error is {"error": "one sentence"} with its code in the header x-error-code. Every indexed answer can be asked for as of an earlier block.',
  };
}
