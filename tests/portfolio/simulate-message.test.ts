// POST /simulate with a message to sign: sold like a simulation of transactions, and what is not typed data costs nothing.
import type { PaymentRequired } from "@x402/core/types";
import { hashTypedData, type TypedDataDefinition } from "viem";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Hex } from "../../src/lib/hex.ts";
import type { Simulation } from "../../src/schema/portfolio/simulation.ts";
import { decodeBase64Header } from "../support/payments/paid-client.ts";
import { type MessageSample, permitOf } from "../support/portfolio/message-samples.ts";
import {
  listedTokenOf,
  openPayingClient,
  openServiceStage,
  type PortfolioService,
  type ServiceStage,
} from "./service-stage.ts";

const WALLET: Hex = "0x14dc79964da2c08b23698b3d3cc7ca32193d9955";
const PERSON: Hex = `0x${"a1".repeat(20)}`;
const UNLIMITED = (2n ** 256n - 1n).toString();

let stage: ServiceStage;
let service: PortfolioService;
beforeAll(async () => {
  stage = await openServiceStage();
  service = await stage.serve();
});
afterAll(() => stage.close());

const permit = (message: Readonly<Record<string, unknown>> = {}): MessageSample =>
  permitOf({
    ...{ chainId: stage.base.chainId, token: listedTokenOf(stage.base, "USDC") },
    message: { owner: WALLET, spender: PERSON, value: UNLIMITED, ...message },
  });

const post = (message: unknown, more: Readonly<Record<string, unknown>> = {}) => ({
  method: "POST",
  headers: { "content-type": "application/json" },
  body: JSON.stringify({ wallet: WALLET, chain: "base", message, ...more }),
});

describe("POST /simulate with a message", () => {
  it("sells what the message allows, with its verdict and the hash that would be signed", async () => {
    const { account, fetch: pay } = await openPayingClient(stage);
    const response = await pay(`${service.url}/simulate`, post(permit()));
    expect(response.status).toBe(200);
    const simulation = (await response.json()) as Simulation;
    expect(simulation).toMatchObject({
      ...{ wallet: WALLET, chain: "base", verdict: "block", success: null, transactions: [] },
      message: {
        ...{ standard: "permit", primaryType: "Permit", signer: WALLET },
        hash: hashTypedData(permit() as unknown as TypedDataDefinition),
        takeable: [{ owner: WALLET, rawAmountMax: UNLIMITED }],
      },
      permissionChanges: [{ kind: "erc20-allowance", spender: PERSON, unlimited: true }],
    });
    const codes = simulation.reasons.map(({ code }) => code);
    expect(codes).toEqual(expect.arrayContaining(["unlimited-approval", "spender-without-code"]));
    expect(await stage.paid.transfersFrom(account.address)).toHaveLength(1);
  });

  it("names other terms for another message", async () => {
    const urlOf = async (message: MessageSample) => {
      const unpaid = await fetch(`${service.url}/simulate`, post(message));
      expect(unpaid.status).toBe(402);
      return decodeBase64Header<PaymentRequired>(unpaid, "payment-required").resource.url;
    };
    const url = await urlOf(permit());
    expect(url).toMatch(/\/simulate\?chain=base&message=[0-9a-f]{64}&wallet=0x/);
    expect(await urlOf(permit())).toBe(url);
    expect(await urlOf(permit({ value: "1" }))).not.toBe(url);
    expect(await urlOf(permit({ shown: "only" }))).not.toBe(url);
  });

  it.each([
    [
      "a number that does not fit its type",
      { message: { value: "-1" } },
      "message.value is out of the range",
    ],
    ["a message next to transactions", { more: { transactions: [{ to: PERSON }] } }, "not both"],
  ])("rejects %s before it names a price", async (_name, { message = {}, more = {} }: Wrong, sentence) => {
    const response = await fetch(`${service.url}/simulate`, post(permit(message), more));
    expect([response.status, await response.text()]).toEqual([400, expect.stringContaining(sentence)]);
  });
});

type Wrong = { readonly message?: Record<string, unknown>; readonly more?: Record<string, unknown> };
