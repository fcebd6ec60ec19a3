// Runs load cells in a child process and finds their results by name.
import { formatMicroseconds, formatPerSecond } from "../harness/measurement.ts";
import type { StartChild } from "../harness/with-children.ts";
import type { LoadCellsReport, LoadCellsTask, LoadedCell } from "./load-cells-child.ts";

export type FindCell = (name: string) => LoadedCell;

export async function loadCells(start: StartChild, task: LoadCellsTask): Promise<FindCell> {
  const child = start("load", "growth/load-cells-child.ts", task);
  const { cells } = await child.next<LoadCellsReport>();
  await child.stop();
  return (name) => {
    const found = cells.find((cell) => cell.name === name);
    if (!found) throw new Error(`${name} was not measured`);
    return found;
  };
}

export const rateOfCell = ({ requests, ms }: LoadedCell): number => formatPerSecond(requests, ms);

const WIDTH = 10;
const cellsOf = (timesMs: readonly number[]) =>
  timesMs.map((ms) => formatMicroseconds(ms, 0).padStart(WIDTH)).join("");

export const cpuCell = (...cells: readonly LoadedCell[]): string =>
  cellsOf(cells.map(({ cpuMs, requests }) => cpuMs / requests));

export const waitCell = ({ medianMs, p99Ms }: LoadedCell): string => cellsOf([medianMs, p99Ms]);
