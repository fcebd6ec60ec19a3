// The parts of docs/protocol.md that follow from the code: what every event says, and which tables it changes.
import { existsSync, readFileSync } from "node:fs";
import { domains } from "../../src/protocol/domains.ts";
import type { Domain } from "../../src/schema/domain.ts";

export const PROTOCOL_DOCUMENT = "docs/protocol.md";

const INTERFACES = "contracts/src/interfaces";
// Declared by ERC-5267, not by an interface of ours.
const INHERITED: Readonly<Record<string, string>> = {
  EIP712DomainChanged: "The signing domain changed; declared by ERC-5267 and never emitted.",
};

/** The document with its generated part replaced. */
export function renderProtocolDocument(text: string): string {
  return replacePart(text, "events", renderEvents());
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
