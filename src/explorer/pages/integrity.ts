// Integrity: where the index is against its chain, the reorgs that it met, its audits, and how to check it yourself.

import { type Html, html } from "../../lib/html.ts";
import { PROGRAM } from "../../lib/program.ts";
import type { integritySchema } from "../../schema/integrity.ts";
import type { TypeOf } from "../../schema/json-schema.ts";
import type { ApiResult } from "../api-reader.ts";
import {
  badge,
  card,
  type Fact,
  facts,
  hash,
  isoTime,
  notice,
  number,
  recordLink,
  seconds,
  status,
  time,
  totals,
  withNoun,
} from "../components.ts";
import { type PageContext, sourceLinks } from "../context.ts";
import type { Item } from "../fields.ts";
import { renderForeignText, shorten, splitWords } from "../format.ts";
import { table } from "../list.ts";
import { definePage, type PageView } from "../page.ts";

type Integrity = TypeOf<typeof integritySchema>;
type Audit = Integrity["audits"]["last"][number];
type Reorg = Integrity["reorgs"]["last"][number];

const countOf = ({ differences }: Pick<Audit, "differences">) =>
  `${differences} difference${differences === "1" ? "" : "s"}`;

/** The summary comes first: whether anything is wrong. */
function verdict({ indexer, rows, audits }: Integrity): Html {
  const wrong = audits.latest.filter(({ differences }) => differences !== "0");
  const [first] = wrong;
  const silence =
    indexer?.is_reporting === false &&
    notice(
      "warn",
      html`The indexer has not reported since ${isoTime(indexer.reported_at)}, so that these pages may be behind the chain. How far is not known; look whether it runs.`,
    );
  const difference =
    first &&
    notice(
      "warn",
      html`The last audit found ${countOf(first)} between the index and the chain: ${renderForeignText(first.first_difference ?? "see its report")}.`,
    );
  if (silence || difference) return html`${silence}${difference}`;
  if (indexer === null)
    return notice("warn", "No indexer has reported yet, so that the head of the chain is not known here.");
  if (indexer.reason !== null) return notice("warn", renderForeignText(indexer.reason));
  if (!rows.is_current)
    return notice(
      "warn",
      "The rows were made by another version, or before a repair of history; the indexer makes them again.",
    );
  if (audits.latest.length === 0) return notice("info", "The index was not compared with the chain yet.");
  return notice("info", "The last comparisons with the chain found no difference.");
}

function indexerState({ phase, is_reporting }: NonNullable<Integrity["indexer"]>): Html {
  if (!is_reporting) return badge("Not reporting", "bad");
  return status(phase, phase === "live" ? "good" : "warn");
}

/** The last report of the indexer may be older than the block that it has written since. */
function newestHead({ chain, indexed }: Integrity) {
  return chain !== null && BigInt(indexed.block_number) > BigInt(chain.block_number) ? indexed : chain;
}

function headFacts(integrity: Integrity, page: PageContext) {
  const { indexed, finalized_block, safe_block, chain, indexer } = integrity;
  const head = newestHead(integrity);
  const items: readonly Fact[] = [
    [
      "Indexed",
      html`${recordLink(page, "block", indexed.block_number, number(indexed.block_number))} ${hash(page, indexed.block_hash)}`,
    ],
    ["Head of the chain", head === null ? null : number(head.block_number)],
    ["Seen by the indexer", isoTime(chain?.seen_at)],
    ["Time of that block", time(head?.block_timestamp)],
    ["Final", number(finalized_block)],
    ["Safe", number(safe_block)],
    ["Indexer", indexer === null ? null : indexerState(indexer)],
    ["Its last report", isoTime(indexer?.reported_at)],
  ];
  return facts(items);
}

const REORG_COLUMNS: readonly Item<Reorg>[] = [
  ["Time", (each) => isoTime(each.at)],
  ["Depth", "depth", "number"],
  ["Back to block", (each, page) => html`${number(each.ancestor_block)} ${hash(page, each.ancestor_hash)}`],
  ["From block", (each, page) => html`${number(each.abandoned_block)} ${hash(page, each.abandoned_hash)}`],
];

function reorgCard({ reorgs }: Integrity, page: PageContext): Html {
  const { last } = reorgs;
  const content =
    last.length === 0
      ? html`<p class="empty">No reorg is recorded.</p>`
      : html`<p class="soft note">The newest first. Each rolled the index back to the last block that both branches share; streams of events sent an undo.</p>${table(REORG_COLUMNS, last, page)}`;
  return card("Reorgs", content);
}

const AUDIT_SOURCES: Readonly<Record<string, string>> = {
  self: "The indexer itself, by samples",
  command: "sextant audit",
};

const resultOf = ({ differences, first_difference }: Audit) =>
  differences === "0"
    ? badge("no difference", "good")
    : html`${badge(countOf({ differences }), "bad")} ${first_difference !== null && html`<span class="under">${renderForeignText(first_difference)}</span>`}`;

const AUDIT_COLUMNS: readonly Item<Audit>[] = [
  ["Time", ({ at }) => isoTime(at)],
  ["By", ({ source }) => AUDIT_SOURCES[source] ?? source],
  ["Compared", ({ kind }) => splitWords(kind)],
  ["Checked", "checked", "number"],
  ["In all", "checked_total", "number"],
  ["As of block", ({ block_number }) => number(block_number), "number"],
  ["Result", resultOf],
];

function auditCard({ audits, finalized_block }: Integrity, page: PageContext): Html {
  const { latest, last } = audits;
  const chosen = page.base === "" ? "" : ` --deployment ${page.base.replace(/^\/d\//, "")}`;
  const command = `${PROGRAM} audit${chosen} --block ${finalized_block}`;
  const shown =
    latest.length === 0
      ? html`<p class="empty">No comparison is recorded yet.</p>`
      : table(AUDIT_COLUMNS, latest, page);
  const more =
    last.length > latest.length &&
    html`<details class="arguments"><summary>The last ${last.length} comparisons</summary>${table(AUDIT_COLUMNS, last, page)}</details>`;
  return card(
    "Audits",
    html`<p class="soft note">The indexer compares samples of blocks and rows with its nodes all the time; the command compares every row with the contracts at one block.</p>${shown}${more}
<h3>Repeat it</h3><p class="soft note">Where an index of this deployment runs, with its settings and a node that you trust in RPC_URL. Next to a local run or <code>serve</code> it needs none of them, or only the SEXTANT_DATA of the run. It prints every difference, and exits with 0 if it finds no difference.</p><pre class="command" tabindex="0"><code data-copy="${command}">${command}</code></pre>`,
  );
}

function originCard({ version, deployment, rows }: Integrity, page: PageContext): Html {
  const contracts = Object.entries(deployment.contracts).map(
    ([name, address]): Fact => [
      name,
      html`<code class="id" data-copy="${address}" title="${address}">${shorten(address)}</code>`,
    ],
  );
  return card(
    "What the rows come from",
    html`${facts([
      ["Version", version],
      ["Network", html`${page.site.chain.network} <span class="soft">(${deployment.chain_id})</span>`],
      ["First block", number(deployment.start_block)],
      [
        "Fingerprint of the deployment",
        html`<code data-copy="${deployment.fingerprint}">${deployment.fingerprint}</code>`,
      ],
      ["Version of the folds", html`<code data-copy="${rows.fold_version}">${rows.fold_version}</code>`],
      [
        "Hash of the declaration",
        rows.declaration_hash === null
          ? null
          : html`<code class="id" title="${rows.declaration_hash}" data-copy="${rows.declaration_hash}">${rows.declaration_hash.slice(0, 12)}…</code> ${rows.is_current ? badge("as declared", "good") : badge("to be made again", "warn")}`,
      ],
    ])}<details class="arguments"><summary>${contracts.length} contracts</summary>${facts(contracts)}</details>`,
    { id: "origin" },
  );
}

function render({ body, call }: ApiResult<Integrity>, page: PageContext): PageView {
  const behind = BigInt(body.indexed.block_number) - BigInt(body.finalized_block);
  return {
    title: "Integrity",
    lead: "Whether you can trust what these pages show: how far the index is, what the chain took back, and what comparisons found. Always of now.",
    main: html`${verdict(body)}${totals([
      {
        label: "Blocks behind the chain",
        value: number(body.lag.blocks),
        note: body.lag.seconds !== null && html`${seconds(body.lag.seconds)} of chain time`,
      },
      { label: "Blocks not final yet", value: number(behind.toString()) },
      {
        label: "Reorgs",
        value: number(body.reorgs.count),
        note: body.reorgs.deepest !== null && html`deepest: ${withNoun(body.reorgs.deepest, "block")}`,
      },
      {
        label: "Blocks that one node alone confirmed",
        value: number(body.audits.unconfirmed_blocks),
      },
    ])}
${card("Index and chain", html`${headFacts(body, page)}${sourceLinks(page, call)}`)}
${auditCard(body, page)}${reorgCard(body, page)}${originCard(body, page)}`,
  };
}

export const integrityPage = definePage({
  path: "/integrity",
  nav: "Integrity",
  isUncached: true,
  findExample: async () => ({}),
  load: (api) => api.get<Integrity>("/integrity"),
  render,
});
