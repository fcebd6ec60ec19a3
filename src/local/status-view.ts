// What a person sees who starts Sextant locally: where to look, what to try, and that it lives.

import type { IndexerReport } from "../indexer/status.ts";
import { describeIndexPosition } from "../indexer/status-line.ts";
import { formatAmount } from "../lib/decimal.ts";
import type { Database } from "../store/postgres/database.ts";
import type { LocalRun } from "./state-file.ts";

// What a local run has brought about so far, counted in the database: few rows, asked for once a second.

export type LocalCounters = { readonly events: string; readonly openIntents: string };

export async function readLocalCounters(database: Database): Promise<LocalCounters> {
  const { rows } = await database.query<LocalCounters>(
    `select (select count(*) from logs)::text as events,
      (select count(*) from intents where valid_to is null and status = 'OPEN'
        and deadline > (select block_timestamp from checkpoint))::text as "openIntents"`,
  );
  const [tally] = rows;
  if (!tally) throw new Error("a select of counts has a row");
  return tally;
}

export function formatLocalBanner({
  urls,
  simulation: economy,
  markets,
  offer,
  file,
}: LocalRun & { file: string }): string {
  const { contracts, chainId } = economy.deployment;
  const { api, portfolio } = urls;
  const payer = economy.accounts.payer.address;
  const chain = (name: string, rpcUrl: string, id: number) =>
    `    ${name.padEnd(18)} ${rpcUrl}   chain id ${id}`;
  return [
    "",
    "  Sextant is running on this machine. Nothing here is real money, and nothing leaves it.",
    "",
    `  Indexing API       ${api}/docs`,
    `  Portfolio service  ${portfolio}/   one snapshot costs $${formatAmount(offer.amount, offer.decimals)} of local USDC`,
    `  Facilitator        ${urls.facilitator}/docs`,
    "",
    "  Pay for a snapshot and see it as a table",
    `    npm run pay -- ${payer}`,
    "",
    "  Click",
    `    ${api}/intents?status=open`,
    `    ${api}/merchants/1/reputation`,
    `    ${api}/analytics/commerce`,
    `    ${portfolio}/portfolio?address=${payer}`,
    "",
    "  Copy",
    `    curl -s '${api}/agents/1?include=provenance'`,
    `    curl -s ${api}/preflight -H 'content-type: application/json' -d '{"account":"${contracts.IntentBook}","target":"${contracts.IntentBook}","value":"1","data":"0x"}'`,
    `    curl -s ${api}/catalogs -H 'content-type: application/json' -d '{"catalog_json":"{\\"name\\":\\"mine\\"}"}'`,
    `    curl -i '${portfolio}/portfolio?address=${payer}'`,
    "",
    "  Chains",
    chain("the protocol", economy.rpcUrl, chainId),
    ...markets.map(({ slug, rpcUrl, chainId: id }) => chain(`${slug} (local)`, rpcUrl, id)),
    "",
    `  Addresses, keys and URLs for scripts: ${file}`,
    "  Ctrl-C stops it and leaves nothing behind.",
    "",
    "",
  ].join("\n");
}

export function formatLocalStatus(now: {
  readonly events: string;
  readonly openIntents: string;
  readonly steps: number;
  readonly paid: number;
  readonly report: IndexerReport;
}): string {
  const [position, ...unusual] = describeIndexPosition(now.report);
  const parts = [
    position,
    `${now.events} events indexed`,
    `${now.openIntents} intents open`,
    `${now.paid} ${now.paid === 1 ? "payment" : "payments"} settled`,
    `${now.steps} steps played`,
    ...unusual,
  ];
  return `  ${parts.join(" · ")}`;
}
