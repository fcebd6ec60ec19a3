// `sextant local`: runs everything on this machine, with local chains and simulated traffic.
import { readConfig } from "../../config/read-config.ts";
import { parseUint } from "../../lib/decimal.ts";
import { localSettings, runLocal } from "../../local/run.ts";
import { type RunCommand, readStringOption } from "../command.ts";

export const localCommand: RunCommand = async ({ environment, options, log, stop, print }) => {
  const config = readConfig(environment, localSettings);
  await runLocal(config, {
    seed: Number(parseUint(options.seed ?? "1", "--seed", 2n ** 32n - 1n)),
    traffic: options["no-traffic"] !== true,
    keepFolder: readStringOption(options, "data"),
    // The status view replaces the info log, unless a level is set.
    log: environment.SEXTANT_LOG_LEVEL ? log : log.child({}, { level: "warn" }),
    stop,
    print,
  });
  return 0;
};
