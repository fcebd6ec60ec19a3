// Chooses the paying account and the service: those of a local run if there is one, otherwise from the environment.
import { readFileSync } from "node:fs";
import { type PrivateKeyAccount, privateKeyToAccount } from "viem/accounts";
import { Fault } from "../../src/lib/fault.ts";
import { parseHash } from "../../src/lib/hex.ts";

export type Payer = {
  readonly account: PrivateKeyAccount;
  readonly url: string;
  /** A token of a local chain, which no client knows by itself; null where only well-known tokens are paid with. */
  readonly token: { readonly network: `eip155:${string}`; readonly asset: string } | null;
};

type LocalRun = {
  readonly portfolio: string;
  readonly payment: { readonly network: `eip155:${string}`; readonly asset: string };
  readonly accounts: readonly { readonly name: string; readonly privateKey: string }[];
};

type PayerLookup = {
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly localFile: string;
  readonly url: string | null;
};

const VARIABLE = "PAYER_PRIVATE_KEY";

export function findPayer({ environment, localFile, url }: PayerLookup): Payer {
  const local = readLocalRun(localFile);
  if (local !== null && (url === null || url === new URL(local.portfolio).origin)) {
    const payer = local.accounts.find(({ name }) => name === "payer") ?? local.accounts[0];
    if (!payer) throw new Fault("CONFIG_INVALID", `${localFile} names no account that could pay.`);
    const { network, asset } = local.payment;
    return {
      account: accountOf(payer.privateKey, localFile),
      url: local.portfolio,
      token: { network, asset },
    };
  }
  if (url === null) {
    throw new Fault(
      "USAGE_INVALID",
      "There is no local run: start one with npm start, or name a service with --url.",
    );
  }
  const key = environment[VARIABLE];
  if (key === undefined) {
    throw new Fault("CONFIG_INVALID", `Set ${VARIABLE} to the key of the account that pays.`);
  }
  return { account: accountOf(key, VARIABLE), url, token: null };
}

// Never put the text of an invalid key into the message or the cause.
function accountOf(key: string, where: string): PrivateKeyAccount {
  try {
    return privateKeyToAccount(parseHash(key, "The key"));
  } catch {
    throw new Fault("CONFIG_INVALID", `The private key in ${where} must be 0x followed by 64 hex digits.`);
  }
}

function readLocalRun(file: string): LocalRun | null {
  let text: string;
  try {
    text = readFileSync(file, "utf8");
  } catch (cause) {
    if (cause instanceof Error && "code" in cause && cause.code === "ENOENT") return null;
    throw new Fault("CONFIG_INVALID", `${file} cannot be read.`, { cause });
  }
  try {
    const { portfolio, payment, accounts } = JSON.parse(text) as LocalRun;
    new URL(portfolio);
    if (!payment.network.startsWith("eip155:") || !Array.isArray(accounts))
      throw new TypeError("not a local run");
    return { portfolio, payment, accounts };
  } catch {
    throw new Fault("CONFIG_INVALID", `${file} is not what a local run writes; start npm start again.`);
  }
}
