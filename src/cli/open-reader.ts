// Opens the client for commands that only read the index, without a key or a journal and what they load.
import { createSextant, type Sextant } from "@sextant/client/sextant";
import { clientSettings } from "../config/client-settings.ts";
import { type Environment, readConfig } from "../config/read-config.ts";
import { databaseSettings } from "../config/service-settings.ts";
import { Fault } from "../lib/fault.ts";
import { readRun } from "../local/run-files.ts";
import { describeMissingRun, findRunFolder } from "./run-folder.ts";

export const SET_API = "or set SEXTANT_API_URL to an indexing API";

const settings = { apiUrl: clientSettings.apiUrl, dataFolder: databaseSettings.dataFolder };

/** Without `fetch` requests are sent by the global one, which suits streams that stay open. */
export function openReader(
  environment: Environment,
  options: { readonly fetch?: typeof fetch } = {},
): Sextant {
  const config = readConfig(environment, settings);
  const api = config.apiUrl ?? readRun(findRunFolder(environment, config.dataFolder))?.api ?? null;
  if (api === null) throw new Fault("CONFIG_INVALID", describeMissingRun(environment, SET_API));
  return createSextant({ api, ...options });
}
