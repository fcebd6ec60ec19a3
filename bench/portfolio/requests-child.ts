// Takes one snapshot with nothing remembered, and reports every node request of it.
import { createRpc } from "../../src/chain/rpc/client.ts";
import { Secret } from "../../src/lib/secret.ts";
import { benchLog } from "../harness/bench-database.ts";
import { sendToParent } from "../harness/progress.ts";
import { recordExchanges } from "./exchange-plan.ts";
import type { ReadyNode } from "./nodes-child.ts";
import { createPaidReads } from "./paid-reads.ts";
import { type AskedRead, observeReads, type TableRow, tabulateRequests } from "./request-table.ts";

export type RequestsTask = { readonly node: ReadyNode; readonly tokens: number };
export type RequestsReport = { readonly rows: readonly TableRow[] };

const { node, tokens } = JSON.parse(process.argv[2] ?? "") as RequestsTask;
const rpc = createRpc({
  urls: [new Secret(node.url)],
  chainId: node.chainId,
  log: benchLog,
  onCall: null,
});
const asked: AskedRead[] = [];
const nodes = [{ ...node, rpc }];
// The first run fills the cache of the node: its real chain is slow, and round trips would seem to overlap.
await createPaidReads({ nodes, tokens }).snapshot();
const { snapshot } = createPaidReads({ nodes, tokens, observe: (chain) => observeReads(chain, asked) });
const exchanges = await recordExchanges([node.url], snapshot);
rpc.close();
const report: RequestsReport = { rows: tabulateRequests(exchanges, asked) };
sendToParent(report);
