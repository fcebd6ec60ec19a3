// The error table and its documentation agree.
import type { RepositoryRule } from "../repository.ts";

const TABLE = "src/lib/fault.ts";
const PAGE = "docs/faults.md";

export const documentedErrors: RepositoryRule = (repository) => {
  if (!repository.has(TABLE)) return [];
  const codes = [...repository.text(TABLE).matchAll(/^ {2}([A-Z][A-Z_]+): \{/gm)].map(
    (match) => match[1] ?? "",
  );
  const page = repository.has(PAGE) ? repository.text(PAGE) : "";
  const rows = [...page.matchAll(/^- `([A-Z_]+)` \(/gm)].map((match) => match[1] ?? "");
  return [
    ...codes
      .filter((code) => !rows.includes(code))
      .map((code) => ({ file: TABLE, line: 1, message: `${code} is not described in ${PAGE}` })),
    ...rows
      .filter((row) => !codes.includes(row))
      .map((row) => ({ file: PAGE, line: 1, message: `${row} is no longer a fault` })),
  ];
};
