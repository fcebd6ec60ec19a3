// The indexing API with the explorer as a process of its own: once as it is, once without a cache.
import { startTestApi } from "../../tests/support/http/test-api.ts";
import { type BenchDatabaseTarget, openBenchDatabase } from "../harness/bench-database.ts";
import { sendToParent } from "../harness/progress.ts";

export type ExplorerReady = { readonly url: string; readonly coldUrl: string };

const place = JSON.parse(process.argv[2] ?? "") as BenchDatabaseTarget;
const database = await openBenchDatabase(place);
// Pages are of all routes: with writes and webhooks, as a deployment has them.
const usual = await startTestApi(database);
const forgetful = await startTestApi(database, { cacheBytesMax: 0 });
const ready: ExplorerReady = { url: usual.url, coldUrl: forgetful.url };
sendToParent(ready);

// The parent holds our standard input open for as long as it wants us, and however it ends, it lets go of it.
process.stdin.on("end", async () => {
  await usual.close();
  await forgetful.close();
  await database.close();
});
process.stdin.resume();
