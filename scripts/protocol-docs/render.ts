// The parts of docs/protocol.md that follow from the code: what every event says, and how the tables refer to each other.
import { existsSync, readFileSync } from "node:fs";
import { domains, tables } from "../../src/protocol/domains.ts";
import type { Domain } from "../../src/schema/domain.ts";
import type { Table } from "../../src/schema/table.ts";

export const PROTOCOL_DOCUMENT = "docs/protocol.md";

const INTERFACES = "contracts/src/interfaces";
// Declared by ERC-5267, not by an interface of ours.
const INHERITED: Readonly<Record<string, string>> = {
  EIP712DomainChanged: "The signing domain changed; declared by ERC-5267 and never emitted.",
};

/** The document with its generated parts replaced. */
export function renderProtocolDocument(text: string): string {
  return replacePart(replacePart(text, "events", renderEvents()), "entities", renderEntities());
}

function replacePart(text: string, name: string, part: string): string {
  const [start, end] = [`<!-- generated: ${name} -->`, `<!-- end: ${name} -->`];
  const [from, to] = [text.indexOf(start), text.indexOf(end)];
  if (from < 0 || to < from) throw new Error(`${PROTOCOL_DOCUMENT} has no part "${name}"`);
  return `${text.slice(0, from)}${start}\n\n${part}\n\n${text.slice(to)}`;
}

function renderEvents(): string {
  const rows = domains.map((domain) => {
    const notices = readNotices(domain.contract);
    const events = Object.keys(domain.events).map((name) => {
      const notice = notices.get(name) ?? INHERITED[name];
      if (!notice) throw new Error(`${INTERFACES}: ${domain.contract}.${name} has no @notice`);
      return `\`${name}\`: ${notice}`;
    });
    return `| \`${domain.contract}\` | ${events.join("<br>")} | ${listTables(domain)} |`;
  });
  return ["| contract | events | tables |", "|---|---|---|", ...rows].join("\n");
}

function listTables({ tables: own }: Domain): string {
  return own.map(({ name }) => `\`${name}\``).join(", ");
}

/** The NatSpec notice of every event that the interface of a contract declares. */
function readNotices(contract: string): ReadonlyMap<string, string> {
  const file = `${INTERFACES}/I${contract}.sol`;
  const source = existsSync(file) ? file : `contracts/src/${contract}.sol`;
  const declarations = readFileSync(source, "utf8").matchAll(/((?:^ *\/\/\/.*\n)+) *event (\w+)\(/gm);
  return new Map(
    [...declarations].map(([, comment = "", name = ""]) => {
      const lines = comment.split("\n").map((line) => line.replace(/^ *\/\/\/ ?/, ""));
      const end = lines.findIndex((line, index) => index > 0 && line.startsWith("@"));
      const notice = lines.slice(0, end < 0 ? undefined : end).join(" ");
      return [name, notice.replace("@notice", "").trim()];
    }),
  );
}

/** Only how tables refer to each other: the table of events lists all of them. */
function renderEntities(): string {
  const owners = tables.flatMap((table) => {
    const [key, ...more] = table.key;
    return key !== undefined && more.length === 0 && table.hasProvenance ? [{ key, table }] : [];
  });
  // A table that shares its key with others (fills, fill_proofs) extends the first one that declares it.
  const ownerOf = new Map<string, Table>();
  for (const { key, table } of owners) if (!ownerOf.has(key)) ownerOf.set(key, table);
  const relations = tables.flatMap((table) =>
    Object.keys(table.columns)
      .filter((column) => ownerOf.has(column) && ownerOf.get(column) !== table)
      .map((column) => {
        const isOnly = table.key.length === 1 && table.key[0] === column;
        return `  ${ownerOf.get(column)?.name} ||--o${isOnly ? "|" : "{"} ${table.name} : ${column}`;
      }),
  );
  return ["```mermaid", "erDiagram", ...relations, "```"].join("\n");
}
