// The client example for a local run.
import { namedAccounts } from "@sextant/local-chain/accounts";
import { renderClientExample } from "../../src/web/client-example.ts";

/** The offer of a local run; `tests/local/local-run.chaos.test.ts` compares. */
export const LOCAL_TERMS = {
  network: "eip155:31337",
  asset: "0x2279b7a0a67db372996a5fab50d91eaa73d2ebe6",
  amount: "10000",
};
const LOCAL_URL = "http://127.0.0.1:3002";

/** The types that a service has next to its example, and those that this repository generates for its own client. */
export const SERVED_TYPES = '"./portfolio-snapshot.d.ts"';
export const CLIENT_TYPES = '"../packages/client/sextant.ts"';

/** Texts by path. */
export function renderExampleFiles(): Readonly<Record<string, string>> {
  return {
    "examples/buy-snapshot.ts": renderLocalClient(),
  };
}

/** The client for a local run, at another URL if the environment has one, with the types of our own client. */
function renderLocalClient(): string {
  const path = `/portfolio?address=${namedAccounts().payer.address}&chains=base`;
  return renderClientExample({ ...LOCAL_TERMS, url: LOCAL_URL + path })
    .replace(
      JSON.stringify(LOCAL_URL + path),
      () => `\`\${env.SEXTANT_PORTFOLIO_URL ?? ${JSON.stringify(LOCAL_URL)}}${path}\``,
    )
    .replace(SERVED_TYPES, CLIENT_TYPES);
}
