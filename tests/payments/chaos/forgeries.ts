// Forged payments: each is one change away from a valid one, and none may move money.
import type { PaymentPayload } from "@x402/core/types";

type Signed = { value: string; to: string; nonce: string; validBefore: string };

const flip = (hex: string, at: number) =>
  hex.slice(0, at) + (hex[at] === "0" ? "1" : "0") + hex.slice(at + 1);

const change = (payload: PaymentPayload, changed: Partial<Signed>) => ({
  ...payload,
  payload: { ...payload.payload, authorization: { ...Object(payload.payload.authorization), ...changed } },
});

const signedIn = ({ payload }: PaymentPayload) => payload.authorization as Signed;

export const PAYMENT_FORGERIES: readonly ((payload: PaymentPayload) => unknown)[] = [
  (payload) => change(payload, { value: String(BigInt(signedIn(payload).value) - 1n) }),
  (payload) => change(payload, { to: flip(signedIn(payload).to, 20) }),
  (payload) => change(payload, { nonce: flip(signedIn(payload).nonce, 30) }),
  (payload) => change(payload, { validBefore: String(BigInt(signedIn(payload).validBefore) + 3_600n) }),
  (payload) => ({
    ...payload,
    payload: { ...payload.payload, signature: flip(String(payload.payload.signature), 40) },
  }),
  // Another v: ecrecover would return another account.
  (payload) => ({
    ...payload,
    payload: { ...payload.payload, signature: String(payload.payload.signature).replace(/..$/, "00") },
  }),
  (payload) => ({ ...payload, payload: { ...payload.payload, signature: "0x" } }),
];

export function encodePayload(payload: unknown): string {
  return Buffer.from(JSON.stringify(payload)).toString("base64");
}

export function decodePayload(header: string): PaymentPayload {
  return JSON.parse(Buffer.from(header, "base64").toString()) as PaymentPayload;
}

export function nonceOfHeader(header: string): string {
  return signedIn(decodePayload(header)).nonce;
}

export function validBeforeOfHeader(header: string): number {
  return Number(signedIn(decodePayload(header)).validBefore);
}
