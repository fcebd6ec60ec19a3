// `npm run demo`: an agent, a solver and a merchant use a local run, on chain and over its API, without a sleep.
import { readFileSync } from "node:fs";
import type { LocalDeployment } from "@sextant/contracts/deploy/deployment";
import { createHttpRpcRequest } from "@sextant/contracts/deploy/rpc-request";
import { openWorld } from "@sextant/simulator/world";
import { findRunFolder } from "../src/cli/run-folder.ts";
import { runFile } from "../src/local/run-files.ts";
import { openDemoSession } from "./demo/demo-session.ts";
import { replayDemo } from "./demo/replay-demo.ts";

// Written by `npm start`, and gone when it ends.
const LOCAL_FILE = runFile(findRunFolder(process.env, process.env.SEXTANT_DATA ?? ".sextant"), "local");

type LocalState = {
  readonly api: string;
  readonly chains: readonly { readonly name: string; readonly rpcUrl: string }[];
  /** Without the tokens of the local chain, which the demo does not move. */
  readonly deployment: LocalDeployment;
};

function readLocalState(): LocalState {
  try {
    return JSON.parse(readFileSync(LOCAL_FILE, "utf8")) as LocalState;
  } catch (cause) {
    throw new Error(`There is no local run: start one with \`npm start\` in another terminal.`, { cause });
  }
}

const { api, chains, deployment } = readLocalState();
const rpcUrl = chains.find(({ name }) => name === "local")?.rpcUrl;
if (rpcUrl === undefined) throw new Error(`${LOCAL_FILE} names no local chain`);
const world = await openWorld({ request: createHttpRpcRequest(rpcUrl), deployment });
await replayDemo({
  world,
  session: openDemoSession(api),
  report: (line) => process.stdout.write(`${line}\n`),
});
