// The part of docs/protocol.md that follows from the code: the events of every contract, and the tables that they change.
import { domains } from "../../src/protocol/domains.ts";

export const PROTOCOL_DOCUMENT = "docs/protocol.md";

const [START, END] = ["<!-- generated: events -->", "<!-- end: events -->"];

/** The document with its generated part replaced. */
export function renderProtocolDocument(text: string): string {
  const [from, to] = [text.indexOf(START), text.indexOf(END)];
  if (from < 0 || to < from) throw new Error(`${PROTOCOL_DOCUMENT} lacks ${START} … ${END}`);
  return `${text.slice(0, from)}${START}\n\n${renderEvents()}\n\n${text.slice(to)}`;
}

function renderEvents(): string {
  const rows = domains.map(
    ({ contract, events, tables }) =>
      `| \`${contract}\` | ${listNames(Object.keys(events))} | ${listNames(tables.map(({ name }) => name))} |`,
  );
  return ["| contract | events | tables |", "|---|---|---|", ...rows].join("\n");
}

function listNames(names: readonly string[]): string {
  return names.map((name) => `\`${name}\``).join(", ");
}
