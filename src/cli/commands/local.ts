// `sextant local`: runs everything on this machine, with local chains and simulated traffic.
import { readConfig } from "../../config/read-config.ts";
import { allSettings } from "../../config/settings.ts";
import { parseUint } from "../../lib/decimal.ts";
import { parseAddress } from "../../lib/hex.ts";
import { type RunCommand, readRepeatedOption, readStringOption } from "../command.ts";
import { assertNoRun, findStateFolder } from "../run-folder.ts";

export const localCommand: RunCommand = async ({ environment, options, log, stop, print, progress }) => {
  const config = readConfig(environment, allSettings);
  const seed = Number(parseUint(options.seed ?? "1", "--seed", 2n ** 32n - 1n));
  const payees = readRepeatedOption(options, "payee").map((address) => parseAddress(address, "--payee"));
  await assertNoRun(environment, config);
  // Loaded here: all services take seconds, and a run that is there already can be named at once.
  const { runLocal } = await import("../../local/run.ts");
  await runLocal(config, {
    seed,
    traffic: options["no-traffic"] !== true,
    keepFolder: readStringOption(options, "data"),
    stateFolder: findStateFolder(environment),
    payees,
    // The status view replaces the info log, unless a level is set.
    log: environment.SEXTANT_LOG_LEVEL ? log : log.child({}, { level: "warn" }),
    stop,
    print,
    progress,
  });
  return 0;
};
