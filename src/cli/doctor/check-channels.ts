// Checks payment channels: whether they are on, what is missing, and whether a node of the payment chain can serve them.

import type {
  channelSettings,
  gasSettings,
  paymentSettings,
  paywallSettings,
} from "../../config/payment-settings.ts";
import type { Config } from "../../config/read-config.ts";
import type { Hex } from "../../lib/hex.ts";
import { CHANNEL_CONTRACT } from "../../payments/channels/channel-config.ts";
import { channelAuthorizer, checkChannelConfig } from "../../payments/channels/configured-channels.ts";
import { CHANNEL_LIMITS } from "../../payments/channels/limits.ts";
import { createDoctorClient } from "./doctor-client.ts";
import { CHECK_MS_MAX, describeError, type Finding } from "./finding.ts";

type ChannelConfig = Config<
  typeof channelSettings & typeof paymentSettings & typeof paywallSettings & typeof gasSettings
>;

/** Nothing if the service sells nothing here. */
export async function checkChannels(config: ChannelConfig, nowMs: number): Promise<Finding[]> {
  const subject = "payment channels";
  if (!config.channelsOn) {
    const text = "off: every purchase is a transfer; PAYMENT_CHANNELS=true sells by channel too";
    return [{ subject, check: "setting", state: "ok", text }];
  }
  try {
    checkChannelConfig(config);
  } catch (error) {
    return [{ subject, check: "setting", state: "failed", text: describeError(error) }];
  }
  const [node] = config.paymentRpcUrls;
  const { channelKey } = config;
  const signer = channelKey === null ? "" : channelAuthorizer(channelKey).address;
  const text = `on: ${signer} signs claims; a facilitator of another process must list it in FACILITATOR_CHANNEL_AUTHORIZERS`;
  const found: Finding = { subject, check: "setting", state: "ok", text };
  if (node === undefined) {
    return [found, { subject, check: "node", state: "failed", text: "PAYMENT_RPC_URL names no node" }];
  }
  return [found, await checkNode(node.reveal(), nowMs)];
}

/** Reads what channels owe under keys that these settings do not have; nothing without debts or without the table. */
export async function checkChannelDebts(
  url: string,
  schema: string,
  { channelsOn, channelKey, channelOldKeys }: Config<typeof channelSettings>,
): Promise<Finding[]> {
  const keys = channelsOn && channelKey !== null ? [channelKey, ...channelOldKeys] : [];
  const signers = keys.map((key) => channelAuthorizer(key).address);
  const client = createDoctorClient(url);
  try {
    await client.connect();
    const { rows } = await client.query<{ signer: string; channels: string; owed: string }>(
      `SELECT receiver_authorizer AS signer, count(*)::text AS channels, sum(charged - total_claimed)::text AS owed
       FROM ${client.escapeIdentifier(schema)}.payment_channels
       WHERE charged > total_claimed AND receiver_authorizer <> ALL($1) GROUP BY 1 ORDER BY 1 LIMIT 10`,
      [signers],
    );
    return rows.map(({ signer, channels, owed }) => ({
      ...{ subject: "payment channels", check: "debts", state: "failed" },
      text: `${channels} channels owe ${owed} units, and no process with these settings claims them: set PAYMENT_CHANNELS=true and the key of ${signer} in PAYMENT_CHANNEL_KEY or PAYMENT_CHANNEL_OLD_KEYS`,
    }));
  } catch {
    // The check of the database says what is wrong; before the first start there is no table.
    return [];
  } finally {
    await client.end().catch(() => undefined);
  }
}

async function checkNode(url: string, nowMs: number): Promise<Finding> {
  const found = { subject: "payment channels", check: "node" } as const;
  try {
    const code = await call(url, "eth_getCode", [CHANNEL_CONTRACT, "latest"]);
    if (code === "0x") {
      const text = `the payment chain has no contract at ${CHANNEL_CONTRACT}: the service does not start with PAYMENT_CHANNELS=true`;
      return { ...found, state: "failed", text };
    }
    const head = await call(url, "eth_getBlockByNumber", ["latest", false]);
    const timestamp =
      typeof head === "object" && head !== null && "timestamp" in head ? head.timestamp : null;
    const ageMs = nowMs - Number(timestamp) * 1_000;
    if (ageMs <= CHANNEL_LIMITS.blockAgeMsMax) {
      return { ...found, state: "ok", text: `the contract is at ${CHANNEL_CONTRACT}` };
    }
    const text = `the newest block is ${Math.round(ageMs / 1_000)} s old: until one is younger than ${CHANNEL_LIMITS.blockAgeMsMax / 1_000} s, only transfers are offered`;
    return { ...found, state: "limited", text };
  } catch (error) {
    return { ...found, state: "failed", text: describeError(error) };
  }
}

async function call(
  url: string,
  method: string,
  params: readonly (Hex | string | boolean)[],
): Promise<unknown> {
  const response = await fetch(url, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }),
    redirect: "error",
    signal: AbortSignal.timeout(CHECK_MS_MAX),
  });
  const body: unknown = await response.json();
  if (typeof body === "object" && body !== null && "result" in body) return body.result;
  throw new Error(`the node rejects ${method}`);
}
