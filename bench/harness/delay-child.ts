// The way to a distant database as a process of its own: a relay that holds everything back for a while.
import { openDelayedConnection } from "../../tests/support/database/delayed-connection.ts";
import { sendToParent } from "./progress.ts";

export type RelayTask = { readonly port: number; readonly roundTripMs: number };
export type RelayReady = { readonly port: number };

const { port, roundTripMs } = JSON.parse(process.argv[2] ?? "") as RelayTask;
const relay = await openDelayedConnection(port, roundTripMs);
const ready: RelayReady = { port: relay.port };
sendToParent(ready);
process.stdin.on("end", () => void relay.close());
process.stdin.resume();
