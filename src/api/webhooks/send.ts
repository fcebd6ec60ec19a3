// One attempt to deliver a message: signed, bounded, and only to addresses that anyone may name.
import type { Clock } from "../../lib/clock.ts";
import { Fault } from "../../lib/fault.ts";
import { HttpClientError, sendHttpRequest } from "../../lib/http-client.ts";
import type { PublicNetwork } from "../../lib/public-network.ts";
import { createRemoteEndpoint } from "../../lib/remote-endpoint.ts";
import { Secret } from "../../lib/secret.ts";
import type { WebhookMessage } from "./messages.ts";
import type { Webhook } from "./rows.ts";
import type { WebhookSigner } from "./signing.ts";

export type SendWebhook = (
  webhook: Pick<Webhook, "id" | "url" | "allowPrivate" | "keys">,
  message: WebhookMessage,
  signals?: readonly AbortSignal[],
) => Promise<Attempt>;

export type Attempt =
  | {
      readonly isDelivered: true;
      readonly status: number;
      /** The body of the response, for the proof of a receiver; shown and stored nowhere. */
      readonly text: string;
    }
  | {
      readonly isDelivered: false;
      /** Null without a response. */
      readonly status: number | null;
      /** The cause of the failure, in a line without secrets and without texts of the receiver. */
      readonly error: string;
      readonly retryAfterMs: number | null;
    };

type SenderOptions = {
  readonly signer: WebhookSigner;
  readonly clock: Clock;
  /** Null on a local chain, whose receivers are on the same machine. */
  readonly network: PublicNetwork | null;
};

/** The specification recommends 15 to 30 seconds. */
export const REQUEST_MS_MAX = 15_000;
// A receiver has nothing to say but its status, and once a challenge. Its text is not shown: an owner may have named a
// server that responds to us and not to the owner.
const RESPONSE_BYTES_MAX = 16 * 1024;

/** Throws only the reason of a signal. */
export function createWebhookSender({ signer, clock, network }: SenderOptions): SendWebhook {
  return async (webhook, { id: messageId, body }, signals = []) => {
    const timestamp = Math.floor(clock.nowMs() / 1_000);
    const endpoint = createRemoteEndpoint(webhook.url);
    const guarded = network === null || webhook.allowPrivate ? {} : { network };
    try {
      const { status, text, retryAfterMs } = await sendHttpRequest({
        endpoint,
        body,
        headers: {
          "webhook-id": messageId,
          "webhook-timestamp": String(timestamp),
          "webhook-signature": signer.sign(webhook.id, webhook.keys, { messageId, timestamp, body }),
        },
        timeoutMs: REQUEST_MS_MAX,
        responseBytesMax: RESPONSE_BYTES_MAX,
        signals,
        ...guarded,
      });
      if (isSuccess(status)) return { isDelivered: true, status, text };
      return { isDelivered: false, status, error: `status ${status}`, retryAfterMs };
    } catch (error) {
      if (!(error instanceof HttpClientError)) throw error;
      // The status arrived, and that is all that counts.
      if (error.status !== null && isSuccess(error.status))
        return { isDelivered: true, status: error.status, text: "" };
      return { isDelivered: false, status: error.status, error: error.message, retryAfterMs: null };
    }
  };
}

function isSuccess(status: number): boolean {
  return status >= 200 && status < 300;
}

const URL_LENGTH_MAX = 2_048;
// Below it are ports of mail, databases and other services that would take a request for something else.
const PORT_MIN = 1_024;

/** Throws a Fault that says what is wrong. The address itself is checked at every delivery: names change. */
export function parseWebhookUrl(
  text: string,
  { network, allowPrivate }: { readonly network: PublicNetwork | null; readonly allowPrivate: boolean },
): { readonly url: Secret<string>; readonly host: string } {
  const parsed = text.length <= URL_LENGTH_MAX && URL.canParse(text) ? new URL(text) : null;
  if (!parsed || !/^https?:$/.test(parsed.protocol)) {
    throw rejected(`must be a URL that begins with https://, of at most ${URL_LENGTH_MAX} characters`);
  }
  if (parsed.username || parsed.password || parsed.hash) {
    throw rejected("must have neither credentials nor a fragment");
  }
  if (network !== null && !allowPrivate) {
    if (parsed.protocol !== "https:") throw rejected("must begin with https://");
    if (parsed.port !== "" && Number(parsed.port) < PORT_MIN) {
      throw rejected(`must use port 443, or one from ${PORT_MIN} on`);
    }
    assertPublicHost(network, parsed.hostname);
  }
  // The root dot makes another text of the same name.
  parsed.hostname = parsed.hostname.replace(/\.$/, "");
  return { url: new Secret(parsed.href), host: parsed.host };
}

function assertPublicHost(network: PublicNetwork, host: string): void {
  try {
    network.assertHost(host);
  } catch (cause) {
    throw rejected("must lead to a public address", cause);
  }
}

function rejected(problem: string, cause?: unknown): Fault {
  return new Fault("INPUT_INVALID", `url ${problem}.`, cause === undefined ? {} : { cause });
}
