// Every read of the indexed tables that the API offers.
import type { Read } from "../schema/read.ts";
import { agentReads } from "./reads/agents.ts";
import { intentReads } from "./reads/intents.ts";

export const reads: readonly Read[] = [...agentReads, ...intentReads];
