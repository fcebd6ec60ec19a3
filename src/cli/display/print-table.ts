// Prints a table as wide as the terminal, and names what it hides.
import type { ClientContext } from "../command.ts";
import { formatHead, formatRow, layOutTable, listHidden, type TableColumn } from "./table.ts";

export async function printTable(
  columns: readonly TableColumn[],
  rows: readonly (readonly string[])[],
  { display, options, print }: ClientContext,
): Promise<void> {
  const layout = layOutTable(columns, rows, options.wide === true ? null : display.columns);
  const lines = rows.map((row) => formatRow(layout, row));
  await print([formatHead(layout, display), ...lines, ""].join("\n"));
  const hidden = listHidden(columns, layout);
  if (hidden.length > 0)
    display.note(display.style("dim", `hidden: ${hidden.join(", ")}; see --wide or --json`));
}
