// `npm run pay` from its arguments to its output: a snapshot and its receipt, or one sentence and an exit code.
import { toFault } from "../../src/lib/fault.ts";
import { payForSnapshot } from "./buy-snapshot.ts";
import { formatSnapshot } from "./format-snapshot.ts";
import { PAY_USAGE, readPayArguments } from "./pay-arguments.ts";
import { findPayer } from "./payer.ts";

type PayCommandInput = {
  readonly argv: readonly string[];
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Written by a local run, with its addresses. */
  readonly localFile: string;
};

export async function runPayCommand({ argv, environment, localFile }: PayCommandInput) {
  try {
    const options = readPayArguments(argv);
    if (options === null) return { out: PAY_USAGE, err: "", code: 0 };
    const payer = findPayer({ environment, localFile, url: options.url });
    return { out: formatSnapshot(await payForSnapshot(options, payer)), err: "", code: 0 };
  } catch (thrown) {
    const fault = toFault(thrown);
    return { out: "", err: `pay: ${fault.message}\n`, code: fault.exit };
  }
}
