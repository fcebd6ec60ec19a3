// The rows that an event has changed, as people read them: each field before and after.
import { type Html, html } from "../lib/html.ts";
import { badge, notice } from "./components.ts";
import type { PageContext } from "./context.ts";
import { fieldValue } from "./fields.ts";
import { splitWords } from "./format.ts";

type Row = Readonly<Record<string, unknown>>;

/** As GET /events has it with include=rows. */
export type ShownRowChange = {
  readonly table: string;
  readonly key: Row;
  readonly before: Row | null;
  readonly after: Row;
};

// The same for every row of an event: the page shows them once.
const OWN_PLACE = new Set(["block_number", "tx_hash", "log_index"]);

/** Every row of an event. Null is a block that is too large to be folded for readers. */
export function rowChanges(changes: readonly ShownRowChange[] | null, page: PageContext, tokens: Row): Html {
  if (changes === null)
    return notice(
      "info",
      "The block is too large to show the rows of its events; the API reads any of them.",
    );
  if (changes.length === 0) return html`<p class="soft note">It has changed no row.</p>`;
  return html`<div class="row-changes">${changes.map((each) => rowChange(each, page, tokens))}</div>`;
}

function rowChange({ table, key, before, after }: ShownRowChange, page: PageContext, tokens: Row): Html {
  const names = Object.keys(after).filter((name) =>
    before === null ? !(name in key) && !OWN_PLACE.has(name) : before[name] !== after[name],
  );
  const label = Object.keys(key).map(
    (name) =>
      html` <span class="soft">${splitWords(name).toLowerCase()}</span> ${fieldValue(page, key, name)}`,
  );
  const head =
    before === null
      ? html`<tr><th scope="col">Field</th><th scope="col">New</th></tr>`
      : html`<tr><th scope="col">Field</th><th scope="col">Before</th><th scope="col">After</th></tr>`;
  const rows = names.map(
    (name) =>
      html`<tr><th scope="row">${splitWords(name)}</th>${before !== null && html`<td class="old"><del>${fieldValue(page, { ...tokens, ...before }, name)}</del></td>`}<td class="new"><ins>${fieldValue(page, { ...tokens, ...after }, name)}</ins></td></tr>`,
  );
  return html`<div class="row-change"><h4>${splitWords(table)}${label} ${before === null ? badge("created", "good") : badge("changed", "accent")}</h4>${names.length === 0 ? html`<p class="soft note">Every field stays as it is.</p>` : html`<div class="scroll"><table class="diff"><thead>${head}</thead><tbody>${rows}</tbody></table></div>`}</div>`;
}
