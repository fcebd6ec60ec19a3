// Fills a database with the rows that the API is measured over, as a process of its own: also one of another version.
import { type BenchDatabaseTarget, openBenchDatabase } from "../harness/bench-database.ts";
import { sendToParent } from "../harness/progress.ts";
import { generateRows } from "./api-rows.ts";
import type { TableSizes } from "./row-generators.ts";

export type FillTask = BenchDatabaseTarget & { readonly sizes: TableSizes };

const { sizes, ...place } = JSON.parse(process.argv[2] ?? "") as FillTask;
const database = await openBenchDatabase(place);
await generateRows(database, sizes);
await database.close();
sendToParent({ filled: true });
