// The facilitator under load: a few verifications at a time, in order, and none after its client stopped waiting.
import { pino, stdSerializers } from "pino";
import { getContractError, parseAbi, RpcRequestError } from "viem";
import { expect, it } from "vitest";
import { silentLog } from "../../../tests/support/quiet-log.ts";
import { systemClock } from "../../lib/clock.ts";
import type { Hex } from "../../lib/hex.ts";
import type { EndpointRequest } from "../../schema/endpoint.ts";
import { createFacilitatorEndpoints } from "./endpoints.ts";
import { FacilitatorUnavailableError } from "./facilitator.ts";

const NETWORK = "eip155:31337";
const asset: Hex = `0x${"01".repeat(20)}`;
const payTo: Hex = `0x${"02".repeat(20)}`;

const rules = {
  network: NETWORK,
  asset,
  assetName: "USD Coin",
  assetVersion: "2",
  amountMin: 1n,
  payees: null,
} as const;

function verification(number: number, nowMs: number): EndpointRequest {
  const terms = { scheme: "exact", network: NETWORK, asset, amount: "1000", payTo, maxTimeoutSeconds: 60 };
  const authorization = {
    from: `0x${"03".repeat(20)}`,
    to: payTo,
    value: "1000",
    validAfter: "0",
    validBefore: String(Math.floor(nowMs / 1_000) + 60),
    nonce: `0x${number.toString(16).padStart(64, "0")}`,
  };
  const payload = { authorization, signature: `0x${"11".repeat(64)}1b` };
  const body = { paymentPayload: { x402Version: 2, accepted: terms, payload }, paymentRequirements: terms };
  return { values: {}, headers: {}, body } as unknown as EndpointRequest;
}

it("starts a few verifications at a time, and calls those that waited too long unavailable", async () => {
  let nowMs = Date.now();
  const clock = { ...systemClock, nowMs: () => nowMs };
  const finish: (() => void)[] = [];
  const facilitator: Parameters<typeof createFacilitatorEndpoints>[0]["facilitator"] = {
    verify: () => new Promise((resolve) => finish.push(() => resolve({ isValid: true }))),
    settle: () => Promise.reject(new Error("must not be called")),
    findSettled: () => Promise.reject(new Error("must not be called")),
    getSupported: () => Promise.reject(new Error("must not be called")),
  };
  const [verify] = createFacilitatorEndpoints({ facilitator, rules, log: silentLog, clock });
  if (!verify) throw new Error("there is no verification");
  const requests = Array.from({ length: 30 }, (_, i) => verify.handle(verification(i, nowMs)));
  const ended = Promise.allSettled(requests);
  await systemClock.sleep(1);
  expect(finish.length).toBe(24);
  nowMs += 9_000;
  for (const each of finish.splice(0)) each();
  const responses = await ended;
  expect(finish.length).toBe(0);
  expect(responses.filter(({ status }) => status === "fulfilled").length).toBe(24);
  for (const late of responses.slice(24)) {
    expect(late).toMatchObject({ status: "rejected", reason: { code: "FACILITATOR_UNAVAILABLE" } });
  }
});

it("names the payees it serves when a payment goes to another", async () => {
  const fail = () => Promise.reject(new Error("must not be called"));
  const facilitator = { verify: fail, settle: fail, findSettled: fail, getSupported: fail };
  const payees = [4, 5, 6, 7, 8].map((byte): Hex => `0x${`0${byte}`.repeat(20)}`);
  const ask = async (served: readonly Hex[]) => {
    const [verify] = createFacilitatorEndpoints({
      ...{ facilitator, log: silentLog, rules: { ...rules, payees: served } },
    });
    const { body } = (await verify?.handle(verification(1, Date.now()))) ?? {};
    return (body as { invalidMessage: string }).invalidMessage;
  };
  expect(await ask(payees.slice(0, 1))).toBe(
    `This facilitator settles payments to ${payees[0]} only, not to ${payTo}; its operator can add a payee with FACILITATOR_PAYEES, or with --payee in a local run.`,
  );
  expect(await ask(payees)).toContain(`${payees.slice(0, 3).join(", ")} and 2 more only`);
});

it("logs what failed without the signature that the call was made with", async () => {
  const lines: string[] = [];
  const log = pino(
    { serializers: { err: stdSerializers.errWithCause } },
    { write: (line) => lines.push(line) },
  );
  const signature: Hex = `0x${"5e".repeat(65)}`;
  const rejection = new RpcRequestError({
    body: { method: "eth_call" },
    error: { code: -32_005, message: `no ${signature}` },
    url: "node.example",
  });
  const call = { abi: parseAbi(["function pay(bytes)"]), functionName: "pay", args: [signature] };
  const failed = getContractError(rejection, { ...call, address: asset });
  expect(failed.message).toContain(signature);
  const fail = () =>
    Promise.reject(new FacilitatorUnavailableError("a node did not respond", { cause: failed }));
  const facilitator = { verify: fail, settle: fail, findSettled: fail, getSupported: fail };
  const endpoints = createFacilitatorEndpoints({ facilitator, rules, log });
  for (const { handle } of endpoints.slice(0, 2)) {
    const fault: unknown = await Promise.resolve(handle(verification(1, Date.now()))).catch((error) => error);
    expect(fault).toMatchObject({ code: "FACILITATOR_UNAVAILABLE" });
    // The HTTP server may log it once more.
    log.warn({ err: fault }, "again");
  }
  expect(lines).toHaveLength(4);
  for (const line of lines) {
    expect(line).not.toContain(signature.slice(2));
    expect(line).toContain("a node did not respond");
    expect(line).toContain('"code":-32005');
  }
});
