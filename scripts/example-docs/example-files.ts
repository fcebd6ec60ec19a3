// The client example and the types it imports, for a local run; and the document that shows the client.
import { readFileSync } from "node:fs";
import { namedAccounts } from "@sextant/local-chain/accounts";
import { renderSnapshotTypes } from "../../src/portfolio/http/documents.ts";
import { renderClientExample, renderInstallLine } from "../../src/web/client-example.ts";

/** Where and how a local run sells; `tests/local/local-run.chaos.test.ts` compares. */
export const LOCAL_TERMS = {
  network: "eip155:31337",
  asset: "0x2279b7a0a67db372996a5fab50d91eaa73d2ebe6",
  amount: "10000",
};
const LOCAL_URL = "http://127.0.0.1:3002";

const PAGE = "docs/portfolio.md";

/** Texts by path. */
export function renderExampleFiles(): Readonly<Record<string, string>> {
  const client = renderLocalClient(LOCAL_URL);
  const install = `\`\`\`sh\n${renderInstallLine()}\n\`\`\``;
  const section = `${install}\n\n\`\`\`ts\n${client}\`\`\``;
  return {
    "examples/buy-snapshot.ts": client,
    "examples/portfolio-snapshot.d.ts": renderSnapshotTypes(),
    [PAGE]: renewSection(readFileSync(PAGE, "utf8"), section),
  };
}

/** The client for a local run at a URL. */
export function renderLocalClient(serviceUrl: string): string {
  const url = `${serviceUrl}/portfolio?address=${namedAccounts().payer.address}&chains=base`;
  return renderClientExample({ ...LOCAL_TERMS, url });
}

function renewSection(page: string, content: string): string {
  const [start, end] = ["<!-- generated: client, by npm run docs:examples -->", "<!-- end: client -->"];
  const [from, to] = [page.indexOf(start), page.indexOf(end)];
  if (from < 0 || to < from) throw new Error(`${PAGE} lacks ${start} … ${end}`);
  return `${page.slice(0, from + start.length)}\n\n${content}\n\n${page.slice(to)}`;
}
