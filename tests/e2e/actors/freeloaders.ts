// Clients who want work without paying: money that moves on while it is worked for, and payments that are worth nothing.
import { encodePaymentSignatureHeader } from "@x402/core/http";
import type { PaymentPayload } from "@x402/core/types";
import { type Hex, toHex } from "viem";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { encodeOtherTransfer } from "../../support/payments/transfer-calldata.ts";
import { type E2ePurchase, presentPayment, requestPaidSnapshot, signPurchase } from "../clients/purchase.ts";
import { drawInterval } from "../soak-profile.ts";
import type { E2eSystem } from "../system.ts";
import { sleepUntilStopped } from "../wait.ts";
import type { E2eActor } from "./intermittent-fault.ts";

type Account = { readonly address: Hex; readonly privateKey: Hex };

const CENT = 10_000n;
const AT_ONCE = 4;
/** How long the requests have the money. */
const MOVES_AFTER = [50, 500] as const;
// Behind an address of their own: honest payers have another.
const WORTHLESS_CLIENT = { "x-forwarded-for": "198.51.100.66" };
// More than a client has a minute, until some are limited: a busy machine rejects fewer than come back meanwhile.
const WORTHLESS_AT_ONCE = 40;
// Limited requests cost little, and more of them prove nothing.
const LIMITED_AT_ONCE = 4;
const WORTHLESS_PAUSE_MS = 300;
const LIMITED_PAUSE_MS = 3_000;
// A signature is good for a minute, and what expires too soon is rejected for that.
const TERMS_MS = 30_000;

/** Each round a cent for many requests, which then moves to the next account. */
export const createMoneyMover =
  (purchases: E2ePurchase[], accounts: Hex[]): E2eActor =>
  async (system, stop) => {
    const { services, market, protocol, pace, observations } = system;
    const random = system.random("money mover");
    const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)] as T;
    const [sponsor] = protocol.payers;
    if (!sponsor) throw new Error("there is no payer");
    while (!stop.aborted) {
      await sleepUntilStopped(drawInterval(pace.payments, random), stop);
      const account = createAccount();
      if (!(await move(system, sponsor, account.address))) continue;
      const wallet = pick(market.wallets);
      const signed: E2ePurchase[] = [];
      for (let each = 0; each < AT_ONCE; each += 1) {
        const purchase = await signPurchase(system, pick(services.portfolios), account, wallet);
        if (purchase) signed.push(purchase);
      }
      purchases.push(...signed);
      accounts.push(account.address.toLowerCase() as Hex);
      observations.count("requests over money that moves on", signed.length);
      const sent = signed.map((purchase, each) =>
        presentPayment(services.portfolios[each % 2] ?? pick(services.portfolios), purchase),
      );
      await sleepUntilStopped(drawInterval(MOVES_AFTER, random), stop);
      await move(system, account, sponsor.address);
      await Promise.all(sent);
    }
  };

function createAccount(): Account {
  const privateKey = generatePrivateKey();
  return { privateKey, address: privateKeyToAccount(privateKey).address };
}

/** False if the token rejects it, because the money was spent or a reorg has taken it away. */
async function move({ protocol, nodes }: E2eSystem, from: Account, to: Hex): Promise<boolean> {
  const nonce = randomBytes(32);
  const signer = privateKeyToAccount(from.privateKey);
  const times = { validAfter: "0", validBefore: String(2 ** 40) };
  const authorization = { from: from.address, to, value: CENT.toString(), nonce, ...times };
  const transfer = await encodeOtherTransfer(signer, protocol.asset, authorization);
  return nodes.frontRunner.carryOut(transfer, nonce);
}

/** Forged payments in the name of a payer, from one address. */
export const worthlessPayments: E2eActor = async (system, stop) => {
  const { services, market, protocol, observations } = system;
  const [victim] = protocol.payers;
  const [wallet] = market.wallets;
  if (!victim || !wallet) throw new Error("there is no payer, or no wallet");
  let terms: E2ePurchase | null = null;
  let isLimited = false;
  while (!stop.aborted) {
    await sleepUntilStopped(isLimited ? LIMITED_PAUSE_MS : WORTHLESS_PAUSE_MS, stop);
    const [portfolio] = services.portfolios;
    if (!portfolio) throw new Error("there is no portfolio service");
    if (terms === null || Date.now() - terms.signedMs > TERMS_MS) {
      terms = await signPurchase(system, portfolio, victim, wallet);
    }
    if (terms === null) continue;
    const { path, header } = terms;
    const count: number = isLimited ? LIMITED_AT_ONCE : WORTHLESS_AT_ONCE;
    const replies = await Promise.all(
      Array.from({ length: count }, () =>
        requestPaidSnapshot(portfolio, path, { ...WORTHLESS_CLIENT, "payment-signature": forge(header) }),
      ),
    );
    isLimited = replies.some((reply) => reply?.status === 429);
    for (const reply of replies) {
      if (reply?.status === 402) observations.count("worthless payments rejected");
      else if (reply?.status === 429) observations.count("worthless payments limited");
      else if (reply?.status === 200) observations.recordViolation(`a forged payment bought ${reply.text}`);
    }
  }
};

function forge(header: string): string {
  const payload = JSON.parse(Buffer.from(header, "base64").toString("utf8")) as PaymentPayload;
  const authorization = { ...Object(payload.payload.authorization), nonce: randomBytes(32) };
  return encodePaymentSignatureHeader({
    ...payload,
    payload: { authorization, signature: `${randomBytes(64)}1b` },
  });
}

const randomBytes = (count: number): Hex => toHex(crypto.getRandomValues(new Uint8Array(count)));
