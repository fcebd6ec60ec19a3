// The command from its words to what it prints: a snapshot and its receipt, or one sentence and an exit code.
import { toFault } from "../../src/lib/fault.ts";
import { payForSnapshot } from "./buy-snapshot.ts";
import { formatSnapshot } from "./format-snapshot.ts";
import { PAY_USAGE, readPayArguments } from "./pay-arguments.ts";
import { findPayer } from "./payer.ts";

export type PayCommandInput = {
  readonly argv: readonly string[];
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Where a local run tells about itself. */
  readonly localFile: string;
};

export async function runPayCommand({ argv, environment, localFile }: PayCommandInput) {
  try {
    const asked = readPayArguments(argv);
    if (asked === null) return { out: PAY_USAGE, err: "", code: 0 };
    const payer = findPayer({ environment, localFile, url: asked.url });
    return { out: formatSnapshot(await payForSnapshot(asked, payer)), err: "", code: 0 };
  } catch (thrown) {
    const fault = toFault(thrown);
    return { out: "", err: `pay: ${fault.message}\n`, code: fault.exit };
  }
}
