// Intents: all of them, newest first, with every filter of the API.
import type { ApiRecord } from "../api-call.ts";
import { addressLink, amount, block, recordLink, status, time } from "../components.ts";
import type { List } from "../list.ts";
import { defineListPage } from "../list-page.ts";

export const intentList: List = {
  route: "/intents",
  key: "intents",
  csv: "/intents.csv",
  columns: [
    { label: "Intent", cell: (each, page) => recordLink(page, "intent", String(each.intent_id)) },
    { label: "State", cell: (each) => status(String(each.status)) },
    {
      label: "Gives at most",
      kind: "number",
      cell: (each, page) => amount(page, each.amount_in_max, each.input_token),
    },
    {
      label: "Wants at least",
      kind: "number",
      cell: (each, page) => amount(page, each.amount_out_min, each.output_token),
    },
    { label: "Owner", cell: (each, page) => addressLink(page, each.owner) },
    { label: "Deadline", cell: (each) => time(each.deadline) },
    { label: "Block", kind: "number", cell: (each, page) => block(page, each.block_number) },
  ],
  empty: "There is no such intent at this block.",
};

/** The first one of a list of the API, for tests. */
export async function findFirst(
  get: (url: string) => Promise<unknown>,
  url: string,
  key: string,
): Promise<ApiRecord> {
  const body = (await get(url)) as Readonly<Record<string, readonly ApiRecord[]>>;
  const [first] = body[key] ?? [];
  if (!first) throw new Error(`there is nothing under ${url}`);
  return first;
}

export const intentsPage = defineListPage(intentList, {
  title: "Intents",
  lead: "What owners want done. Solvers compete for each with bids; the owner selects one, and its solver fills the intent.",
  order: "Newest first",
  example: { status: "filled" },
});
