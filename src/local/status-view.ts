// Banner and status line of a local run.
import type { WorkMeter } from "../cli/display/progress.ts";
import { describeIndexPosition, type IndexerReport } from "../indexer/status.ts";
import { assertDefined } from "../lib/assert-defined.ts";
import { formatAmount } from "../lib/decimal.ts";
import { PROGRAM } from "../lib/program.ts";
import type { Database } from "../store/postgres/database.ts";
import type { LocalRun } from "./state-file.ts";

type LocalCounters = { readonly events: string; readonly openIntents: string };

/** Counts in the database: a local run has few rows. */
export async function readLocalCounters(database: Database): Promise<LocalCounters> {
  const { rows } = await database.query<LocalCounters>(
    `select (select count(*) from logs)::text as events,
      (select count(*) from intents where valid_to is null and status = 'OPEN'
        and deadline > (select block_timestamp from checkpoint))::text as "openIntents"`,
  );
  return assertDefined(rows[0], "the row of counts");
}

export function formatLocalBanner({
  urls,
  simulation,
  markets,
  offer,
  file,
}: LocalRun & { file: string }): string {
  const { contracts, chainId } = simulation.deployment;
  const { api, portfolio } = urls;
  const payer = simulation.accounts.payer.address;
  const chain = (name: string, rpcUrl: string, id: number) =>
    `    ${name.padEnd(18)} ${rpcUrl}   chain id ${id}`;
  return [
    "",
    "  Sextant is running locally. It uses no real money and no network.",
    "",
    `  Explorer           ${api}/explorer`,
    `  Indexing API       ${api}/docs`,
    `  Portfolio service  ${portfolio}/   $${formatAmount(offer.amount, offer.decimals)} in local USDC per snapshot${offer.channels ? ", by transfer or channel" : ""}`,
    `  Facilitator        ${urls.facilitator}/docs`,
    "",
    "  Pay for tables of what a wallet holds, who can take it and what changed",
    `    ${PROGRAM} wallet ${payer}`,
    `    ${PROGRAM} exposure ${payer}`,
    `    ${PROGRAM} diff ${payer} --from 7d`,
    "    The wallet has a loan close to liquidation, unlimited allowances,",
    "    one in Permit2, and an operator.",
    "",
    "  Watch events as they happen",
    `    ${PROGRAM} watch`,
    `    curl -N ${api}/events -H 'accept: text/event-stream'`,
    "",
    "  Open in a browser",
    `    ${api}/explorer/intents`,
    `    ${api}/explorer/analytics`,
    `    ${portfolio}/portfolio?address=${payer}`,
    `    ${portfolio}/exposure?address=${payer}`,
    "    A wallet pays on the last two pages: import the payer's key from the file",
    "    below; the page adds the chain.",
    "",
    "  Run in a terminal",
    `    curl -s '${api}/agents/1?include=provenance'`,
    `    curl -s ${api}/preflight -H 'content-type: application/json' -d '{"account":"${contracts.IntentBook}","target":"${contracts.IntentBook}","value":"1","data":"0x"}'`,
    `    curl -s ${api}/catalogs -H 'content-type: application/json' -d '{"catalog_json":"{\\"name\\":\\"mine\\"}"}'`,
    `    curl -i '${portfolio}/portfolio?address=${payer}'`,
    "",
    "  Chains",
    chain("protocol", simulation.rpcUrl, chainId),
    ...markets.map(({ slug, rpcUrl, chainId: id }) => chain(`${slug} (local)`, rpcUrl, id)),
    "",
    `  URLs, addresses and keys for scripts: ${file}`,
    "  Press Ctrl-C to stop and delete everything.",
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
  readonly meter: WorkMeter;
}): string {
  const [position, ...details] = describeIndexPosition(now.report, now.meter);
  const parts = [
    position,
    `${now.events} events indexed`,
    `${now.openIntents} open intents`,
    `${now.paid} ${now.paid === 1 ? "payment" : "payments"} settled`,
    `${now.steps} simulator steps`,
    ...details,
  ];
  return `  ${parts.join(" · ")}`;
}
