// The measurements of an index at one size, as they are stored between two runs.
import type { GrowthReport } from "./grow-index.ts";
import type { MeasuredRead } from "./measure-reads.ts";
import type { TableBytes, VacuumedTable } from "./measure-tables.ts";
import type { RebuildReport } from "./rebuild-child.ts";

/** An index at one size. */
export type MeasuredIndex = {
  readonly events: number;
  readonly tables: readonly TableBytes[];
  readonly vacuumed: readonly VacuumedTable[];
  readonly rollback: { readonly blocks: number; readonly ms: number } | null;
  readonly reads: readonly MeasuredRead[];
  /** Null if it was left out. */
  readonly rebuild: RebuildReport | null;
  /** Processes that wanted a processor while it was measured. */
  readonly load: number;
};

export type GrowthStage = {
  readonly until: number;
  readonly filled: GrowthReport;
  readonly measured: MeasuredIndex | null;
};
