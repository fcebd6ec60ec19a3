// Versions of rows that contradict each other: a key's versions must follow one another without gap or overlap.
import { formatKey, type Table } from "../../schema/table.ts";
import type { Session } from "../postgres/session.ts";

export type InconsistentVersion = {
  readonly key: string;
  readonly version: string;
  readonly expected: string;
};

export type InconsistentVersions = { readonly count: number; readonly first: readonly InconsistentVersion[] };

type FaultRow = Record<string, string | null> & { valid_from: string; fault: string; total: string };

/** Looks at every version in a table, whatever block is audited; counts all faults and tells of the first. */
export async function findInconsistentVersions(
  session: Pick<Session, "query">,
  table: Table,
  options: { readonly indexed: number; readonly finalized: number; readonly limit: number },
): Promise<InconsistentVersions> {
  const { rows } = await session.query<FaultRow>({
    text: faultsSql(table),
    values: [options.indexed, options.finalized, options.limit],
  });
  const first = rows.map((row) => ({
    key: formatKey(table.key, row),
    version: `blocks ${row.valid_from} to ${row.valid_to ?? "now"}`,
    expected: row.fault,
  }));
  return { count: Number(rows[0]?.total ?? 0), first };
}

function faultsSql(table: Table): string {
  const key = table.key.join(", ");
  const rules: readonly (readonly [condition: string, fault: string])[] = [
    ["valid_from > $1", "'nothing that begins after the indexed block'"],
    ["valid_to > $1", "'nothing that ends after the indexed block'"],
    ["valid_to <= valid_from", "'an end after its beginning'"],
    ["valid_to is null and next is not null", "'an end at block ' || next || ', where another begins'"],
    // A row is never taken back, so its last version never ends.
    ["valid_to is not null and next is null", "'another that follows it'"],
    ["valid_to < next", "'no gap until block ' || next"],
    ["valid_to > next", "'no overlap with the one from block ' || next"],
    ...(table.hasProvenance
      ? ([
          ["block_number > valid_from", "'a beginning no earlier than its event'"],
          ["earlier = 0 and block_number <> valid_from", "'a beginning at the block of its event'"],
        ] as const)
      : []),
  ];
  // Where only the recent past is kept, older versions may be gone or still there.
  const kept = table.history === "recent" ? "valid_to is null or valid_to > $2" : "$2::bigint is not null";
  return `
    select *, count(*) over () as total from (
      select *, case ${rules.map(([condition, fault]) => `when ${condition} then ${fault}`).join(" ")} end as fault
      from (
        select ${key}, valid_from, valid_to, ${table.hasProvenance ? "block_number," : ""}
          lead(valid_from) over versions as next, row_number() over versions - 1 as earlier
        from ${table.name} where ${kept} window versions as (partition by ${key} order by valid_from)
      ) versions
    ) judged where fault is not null order by ${key}, valid_from limit $3`;
}
