// Reads the deployment that NETWORK names: a shipped one, or a file of the operator.
import { readdir, readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { Fault } from "../lib/fault.ts";
import { type Deployment, parseDeployment } from "./deployment.ts";

const SHIPPED = fileURLToPath(new URL("../../deployments/", import.meta.url));

export async function readDeployment(network: string): Promise<Deployment> {
  const isPath = network.includes("/") || network.endsWith(".json");
  const file = isPath ? network : `${SHIPPED}${network}.json`;
  let text: string;
  try {
    text = await readFile(file, "utf8");
  } catch (cause) {
    const known = (await readdir(SHIPPED)).map((name) => name.replace(/\.json$/, "")).join(", ");
    const message = `NETWORK must be one of ${known}, or the path of a deployment file; "${network}" cannot be read.`;
    throw new Fault("CONFIG_INVALID", message, { cause });
  }
  try {
    return parseDeployment(JSON.parse(text), network);
  } catch (cause) {
    if (cause instanceof Fault) throw cause;
    throw new Fault("CONFIG_INVALID", `The deployment ${network} is invalid: it is not JSON.`, {
      cause,
    });
  }
}
