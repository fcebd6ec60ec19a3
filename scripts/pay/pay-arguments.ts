// Command-line arguments of `npm run pay`.
import { parseArgs } from "node:util";
import { type Decimal, parseDecimal } from "../../src/lib/decimal.ts";
import { Fault } from "../../src/lib/fault.ts";
import { parseAddress } from "../../src/lib/hex.ts";

export type PayArguments = {
  readonly address: string;
  /** Slugs separated by commas; null leaves the choice to the service. */
  readonly chains: string | null;
  /** Where the service is; null is the local one. */
  readonly url: string | null;
  readonly maxUsd: Decimal;
};

// Five times what a snapshot costs by default: enough for a dearer service, little enough to lose.
const MAX_USD = "0.05";

export const PAY_USAGE = `Usage: npm run pay -- 0x… [--chains base,ethereum] [--url URL] [--max-usd ${MAX_USD}]

Pays for a snapshot of the wallet and prints it. The payer is the local one while \`npm start\` runs, otherwise the
account of PAYER_PRIVATE_KEY. Nothing above --max-usd is ever signed, and a signature is never made twice.
`;

/** Null for --help. */
export function readPayArguments(argv: readonly string[]): PayArguments | null {
  const { values, positionals } = parsed(argv);
  if (values.help) return null;
  const [address, ...others] = positionals;
  if (address === undefined || others.length > 0) throw usage("Name exactly one wallet");
  const maxUsd = parseDecimal(values["max-usd"] ?? MAX_USD, "--max-usd");
  if (maxUsd.units <= 0n) throw usage("--max-usd must be above zero");
  return {
    address: parseAddress(address, "The wallet"),
    chains: values.chains ?? null,
    url: values.url === undefined ? null : serviceUrl(values.url),
    maxUsd,
  };
}

function parsed(argv: readonly string[]) {
  try {
    return parseArgs({
      args: [...argv],
      allowPositionals: true,
      options: {
        chains: { type: "string" },
        url: { type: "string" },
        "max-usd": { type: "string" },
        help: { type: "boolean", short: "h" },
      },
    });
  } catch (cause) {
    const [sentence = "The options are not valid"] =
      cause instanceof Error ? cause.message.split(/\. |\n/) : [];
    throw usage(sentence, cause);
  }
}

function serviceUrl(text: string): string {
  if (!URL.canParse(text) || !/^https?:$/.test(new URL(text).protocol)) {
    throw usage("--url must be the http or https address of a portfolio service");
  }
  return new URL(text).origin;
}

function usage(sentence: string, cause?: unknown): Fault {
  return new Fault("USAGE_INVALID", `${sentence}; see npm run pay -- --help.`, { cause });
}
