// Checks whether reads can be sold as the settings have it: what the price needs, the token on its chain, and the facilitator.
import { checkSaleConfig } from "../../api/sale/open-sale.ts";
import { createLog } from "../../lib/log.ts";
import { readAmount } from "../../payments/configured-gate.ts";
import { openPaymentToken } from "../../payments/payment-token.ts";
import { CHECK_MS_MAX, describeError, type Finding } from "./finding.ts";

type SaleConfig = Parameters<typeof checkSaleConfig>[0] & { readonly databaseUrl: unknown };

const subject = "sold reads";

/** Nothing if reads are free. */
export async function checkSale(config: SaleConfig): Promise<Finding[]> {
  if (config.apiPriceUsd === null) return [];
  try {
    checkSaleConfig(config);
  } catch (error) {
    return [{ subject, check: "settings", state: "failed", text: describeError(error) }];
  }
  const text = `$${config.apiPriceUsd} a read and a minute of a stream, by payment channel`;
  const database: Finding =
    config.databaseUrl === null
      ? { subject, check: "database", state: "failed", text: "API_PRICE_USD needs DATABASE_URL, its ledger" }
      : { subject, check: "database", state: "ok", text: "the ledger is in the database of DATABASE_URL" };
  const price: Finding = { subject, check: "settings", state: "ok", text };
  return [price, database, await checkToken(config), await checkFacilitator(config)];
}

async function checkToken(config: SaleConfig): Promise<Finding> {
  const found = { subject, check: "token" } as const;
  const log = createLog({ level: "silent", terminal: false, name: "doctor" });
  const signal = AbortSignal.timeout(CHECK_MS_MAX);
  try {
    return await openPaymentToken(config, { log, onCall: null, signal }, async ({ rpc, token }) => {
      const { name, asset, decimals } = token;
      readAmount(config.apiPriceUsd ?? "0", decimals, "API_PRICE_USD");
      rpc.close();
      return { ...found, state: "ok", text: `${name} at ${asset}, with ${decimals} decimals` };
    });
  } catch (error) {
    const late = "no node of PAYMENT_RPC_URL shows the token: the API waits for one before it starts";
    return { ...found, state: "failed", text: signal.aborted ? late : describeError(error) };
  }
}

async function checkFacilitator({ facilitatorUrl }: SaleConfig): Promise<Finding> {
  const found = { subject, check: "facilitator" } as const;
  const url = facilitatorUrl?.reveal() ?? "";
  try {
    const { username, password } = new URL(url);
    const target = new URL(url);
    [target.username, target.password] = ["", ""];
    const credentials = Buffer.from(`${decodeURIComponent(username)}:${decodeURIComponent(password)}`);
    const headers = username === "" ? {} : { authorization: `Basic ${credentials.toString("base64")}` };
    const response = await fetch(`${target.href.replace(/\/+$/, "")}/supported`, {
      ...{ headers, redirect: "error", signal: AbortSignal.timeout(CHECK_MS_MAX) },
    });
    const body = await response.text();
    if (response.status !== 200) {
      return { ...found, state: "failed", text: `it responds with ${response.status} to /supported` };
    }
    if (body.includes("batch-settlement")) {
      return { ...found, state: "ok", text: "it serves payment channels" };
    }
    const text = "it does not list batch-settlement: no deposit is made, and nothing is claimed";
    return { ...found, state: "failed", text };
  } catch (error) {
    // Without its URL, which may have a password.
    return { ...found, state: "failed", text: `it does not respond (${describeFailure(error)})` };
  }
}

const describeFailure = (error: unknown) => (error instanceof Error ? error.name : "unknown error");
