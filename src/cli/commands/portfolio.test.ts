// `sextant portfolio` as it is started: refusals in one sentence before anything is opened, and the gift for developers.

import { type LocalChain, startLocalChain } from "@sextant/local-chain/local-chain";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openApiClient } from "../../../tests/support/http/api-client.ts";
import { startFaultyNode } from "../../../tests/support/nodes/faulty-node.ts";
import { createTestLog } from "../../../tests/support/nodes/test-rpc.ts";
import { waitFor } from "../../../tests/support/payments/paid-client.ts";
import { createDatabaseEnvironment } from "../../../tests/support/process/sextant-process.ts";
import type { Environment } from "../../config/read-config.ts";
import { Fault } from "../../lib/fault.ts";
import { portfolioCommand } from "./portfolio.ts";

const PAY_TO = "0x70997970C51812dc3A010C7d01b50e0d17dc79C8";
const KEY = `0x${"5e".repeat(32)}`;
// Nobody listens there: whoever is refused must not have got as far as asking.
const NOBODY = "http://127.0.0.1:9";
const DATABASE_URL = "postgres://nobody:hunter2@127.0.0.1:9/none";

const COMPLETE = {
  DATABASE_URL,
  RPC_URL_8453: NOBODY,
  PAY_TO,
  PAYMENT_RPC_URL: NOBODY,
  FACILITATOR_PRIVATE_KEY: KEY,
};

function start(environment: Environment) {
  const { log, logged } = createTestLog();
  const stop = new AbortController();
  const say = () => undefined;
  const ended = portfolioCommand({ environment, options: {}, log, print: say, stop: stop.signal });
  return { ended, logged, stop };
}

function without(...names: readonly (keyof typeof COMPLETE)[]): Environment {
  return Object.fromEntries(Object.entries(COMPLETE).filter(([name]) => !names.includes(name as never)));
}

describe("a start that can not sell anything is refused", () => {
  const cases: readonly (readonly [string, Environment, RegExp])[] = [
    ["without anybody to be paid", without("PAY_TO"), /^PAY_TO must be the address that is paid/],
    [
      "without a node to read from",
      without("RPC_URL_8453"),
      /^The portfolio service needs a node of at least one chain: set RPC_URL_8453 for Base/,
    ],
    [
      "without a node of the chain that is paid on",
      without("PAYMENT_RPC_URL"),
      /^PAYMENT_RPC_URL must name at least one node of eip155:84532\.$/,
    ],
    [
      "without an address for clients to come to",
      { ...COMPLETE, HOST: "0.0.0.0" },
      /^PORTFOLIO_PUBLIC_URL must say where clients reach the service, because HOST=0\.0\.0\.0 does not\.$/,
    ],
    [
      "without anybody who carries payments out",
      without("FACILITATOR_PRIVATE_KEY"),
      /^Somebody must carry payments out: set FACILITATOR_URL, or FACILITATOR_PRIVATE_KEY/,
    ],
    [
      "to give away what is sold for money",
      { ...COMPLETE, X402_DEV_BYPASS: "true", PAYMENT_NETWORK: "eip155:8453" },
      /^X402_DEV_BYPASS gives snapshots away, but payments on eip155:8453 are worth money/,
    ],
    [
      "to give away on a chain that nobody knows",
      {
        ...COMPLETE,
        ...{ X402_DEV_BYPASS: "true", PAYMENT_NETWORK: "eip155:4242", PAYMENT_ASSET: PAY_TO },
        ...{ PAYMENT_ASSET_NAME: "Coin", PAYMENT_ASSET_VERSION: "1" },
      },
      /^X402_DEV_BYPASS gives snapshots away, but payments on eip155:4242 are worth money/,
    ],
    [
      "to give away in production",
      { ...COMPLETE, X402_DEV_BYPASS: "true", NODE_ENV: "production" },
      /^X402_DEV_BYPASS gives snapshots away, but NODE_ENV is production/,
    ],
    [
      "to ask Alchemy without a key",
      { ...COMPLETE, PORTFOLIO_PROVIDER: "alchemy" },
      /^PORTFOLIO_PROVIDER=alchemy needs ALCHEMY_API_KEY\.$/,
    ],
    [
      "to be paid where no token is known",
      { ...COMPLETE, PAYMENT_NETWORK: "eip155:4242" },
      /^PAYMENT_ASSET must name the token that is paid with on eip155:4242\.$/,
    ],
    [
      "to be paid in a token of unknown name",
      { ...COMPLETE, PAYMENT_ASSET: PAY_TO },
      /^PAYMENT_ASSET needs PAYMENT_ASSET_NAME and PAYMENT_ASSET_VERSION/,
    ],
    ["with an address that is none", { ...COMPLETE, PAY_TO: "0x12" }, /^PAY_TO must be an address/],
    [
      "with a key that is none",
      { ...COMPLETE, FACILITATOR_PRIVATE_KEY: "0x5e" },
      /^FACILITATOR_PRIVATE_KEY must/,
    ],
    ["for free", { ...COMPLETE, PORTFOLIO_PRICE_USD: "0" }, /^PORTFOLIO_PRICE_USD must be/],
    ["finer than the token", { ...COMPLETE, PORTFOLIO_PRICE_USD: "0.0000001" }, /^PORTFOLIO_PRICE_USD /],
  ];

  it.each(cases)("%s", async (_name, environment, sentence) => {
    const error = await start(environment).ended.then(
      () => null,
      (thrown: unknown) => thrown,
    );
    expect(error).toBeInstanceOf(Fault);
    const { code, message } = error as Fault;
    expect([code, message]).toEqual(["CONFIG_INVALID", expect.stringMatching(sentence)]);
    expect(message.split("\n").length).toBe(1);
    expect(message).toMatch(/\.$/);
    expect(message).not.toMatch(/hunter2|5e5e/);
  });

  it("and a complete one gets as far as its database", async () => {
    await expect(start(COMPLETE).ended).rejects.toMatchObject({ code: "DATABASE_UNREACHABLE" });
  });
});

describe("a gift for developers, where nothing is worth money", () => {
  let chain: LocalChain;
  let database: Awaited<ReturnType<typeof createDatabaseEnvironment>>;
  let running: ReturnType<typeof start>;
  let url: string;

  const listening = async (service: ReturnType<typeof start>): Promise<string> => {
    const pattern = /Portfolio service on (http:\/\/[\d.:]+)/;
    await waitFor(() => pattern.test(service.logged()));
    return pattern.exec(service.logged())?.[1] ?? "";
  };
  const given = (rpcUrl: string) => ({
    ...database.environment,
    ...{ PORTFOLIO_PORT: "0", PAY_TO, X402_DEV_BYPASS: "true", RPC_URL_8453: rpcUrl },
  });

  beforeAll(async () => {
    chain = await startLocalChain({ chainId: 8453 });
    database = await createDatabaseEnvironment();
    running = start(given(chain.rpcUrl));
    url = await listening(running);
  });

  afterAll(async () => {
    running?.stop.abort();
    expect(await running?.ended).toBe(0);
    await database?.drop();
    await chain?.stop();
  });

  it("is told by /health", async () => {
    expect(await (await fetch(`${url}/health`)).json()).toMatchObject({ ok: true, x402DevBypass: true });
    expect((await fetch(`${url}/ready`)).status).toBe(200);
  });

  it("is a snapshot without payment, of the chains that have a node", async () => {
    const { address } = chain.accounts.payer;
    const client = await openApiClient(url);
    const answer = await client.call(`/portfolio?address=${address}`);
    expect(answer.status).toBe(200);
    expect(answer.body).toMatchObject({
      chains: ["base"],
      tokens: [{ chain: "base", contract: null, balance: "1000000", spam: false }],
      provider: "rpc",
    });
    expect((await fetch(`${url}/portfolio?address=${address}&chains=ethereum`)).status).toBe(400);
  });

  it("counts its calls to nodes", async () => {
    const metrics = await (await fetch(`${url}/metrics`)).text();
    expect(metrics).toMatch(/sextant_rpc_calls_total\{.*method="eth_getBalance",outcome="ok"\} 1/);
  });

  it("leaves in time, also with a request that waits for a node which says nothing", async () => {
    let silent = false;
    const node = await startFaultyNode({
      upstream: chain.rpcUrl,
      plan: () => (silent ? { kind: "hang" } : null),
    });
    const service = start(given(node.url));
    const its = await listening(service);
    silent = true;
    const asked = node.requests.length;
    const answer = fetch(`${its}/portfolio?address=${chain.accounts.payer.address}`).catch(() => null);
    await waitFor(() => node.requests.length > asked);
    const startedMs = Date.now();
    service.stop.abort();
    expect(await service.ended).toBe(0);
    expect(Date.now() - startedMs).toBeLessThan(9_500);
    await node.stop();
    expect((await answer)?.status).not.toBe(200);
  });
});
