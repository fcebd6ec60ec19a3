// Proofs never cost a response: whatever waits too long or fails is named as late, and the rest is sold.
import { expect, it } from "vitest";
import { systemClock } from "../../lib/clock.ts";
import { ResponseProver } from "../proofs/prove-response.ts";
import { ReadLoad } from "../read-load.ts";
import type { PortfolioChain } from "../types.ts";
import { addProofs } from "./proofs.ts";
import type { PaidQuery, RouteServices } from "./routes/paid-route.ts";

const never = new Promise<never>(() => undefined);
const BODY = { kept: true };
const wallet = "0x00000000000000000000000000000000000000aa";
const hash = `0x${"11".repeat(32)}` as const;
const { signal } = new AbortController();

type TestCase = {
  readonly load?: ConstructorParameters<typeof ReadLoad>[1];
  readonly isBusy?: boolean;
  readonly tryNodes?: PortfolioChain["tryNodes"];
  /** How long the read itself takes. */
  readonly readMs: number;
};

async function readWithProofs({ load: limits, isBusy = false, tryNodes = () => never, readMs }: TestCase) {
  const access = { chain: { chainId: 1, tokens: new Map() }, tryNodes } as unknown as PortfolioChain;
  const chains = new Map([["base", access]]);
  let elapsedMs = 0;
  const clock = { ...systemClock, nowMs: () => systemClock.nowMs() + elapsedMs };
  const load = new ReadLoad(chains, limits);
  if (isBusy) for (const _ of [1, 2]) load.run(["base"], signal, () => never).catch(() => undefined);
  const services = { load, clock, prover: new ResponseProver(chains, clock) } as unknown as RouteServices;
  const query = {
    parameters: [],
    parse: () => ({
      query: {},
      read: async () => {
        elapsedMs = readMs;
        return BODY;
      },
    }),
  } as unknown as PaidQuery;
  const fields = [{ path: "/a", kind: "native" as const, value: 1n }];
  const provable = {
    wallet,
    chains: [{ slug: "base", block: { number: 1, hash }, fields }],
    values: [],
  } as const;
  const startMs = systemClock.nowMs();
  const body = await addProofs(query, () => provable)
    .parse({ proof: "1" })
    .read(services, signal);
  return { body, ms: systemClock.nowMs() - startMs };
}

const late = {
  ...BODY,
  proofs: {
    chains: [
      { chain: "base", chainId: "eip155:1", reason: "late", claims: [{ kind: "none", reason: "late" }] },
    ],
  },
};

it("sells the response when too much waits", async () => {
  const limits = { runningMax: 10, waitingMax: 10 };
  const { body } = await readWithProofs({ load: limits, isBusy: true, readMs: 0 });
  expect(body).toMatchObject(late);
});

it.each([true, false])("ends at one time, also after a slow read (busy: %s)", async (isBusy) => {
  const limits = { runningMax: 10, waitingMax: 1_000 };
  const { body, ms } = await readWithProofs({ load: limits, isBusy, readMs: 23_300 });
  expect(body).toMatchObject(late);
  expect(ms).toBeLessThan(450);
});

it("has no time left after a read that took it all", async () => {
  const { body, ms } = await readWithProofs({ readMs: 24_000 });
  expect(body).toMatchObject(late);
  expect(ms).toBeLessThan(200);
});

it("still ends with the request", async () => {
  const gone = AbortSignal.abort(new Error("gone"));
  const chains = new Map<string, PortfolioChain>();
  const prover = new ResponseProver(chains, systemClock);
  const services = { load: new ReadLoad(chains), clock: systemClock, prover } as unknown as RouteServices;
  const query = {
    parameters: [],
    parse: () => ({ query: {}, read: async () => BODY }),
  } as unknown as PaidQuery;
  const proven = addProofs(query, () => ({ wallet, chains: [], values: [] }));
  await expect(proven.parse({ proof: "1" }).read(services, gone)).rejects.toThrow("gone");
});

it("logs a defect of the prover, and sells the response", async () => {
  const lines: unknown[] = [];
  const log = { error: (fields: unknown) => lines.push(fields) };
  const prover = {
    prove: () => Promise.reject(new TypeError("a defect")),
    describeLate: () => ({ proofs: { version: 1, chains: [] }, nonces: new Map() }),
  };
  const load = new ReadLoad(new Map());
  const services = { load, clock: systemClock, prover, log } as unknown as RouteServices;
  const query = {
    parameters: [],
    parse: () => ({ query: {}, read: async () => BODY }),
  } as unknown as PaidQuery;
  const proven = addProofs(query, () => ({ wallet, chains: [], values: [] }));
  const body = await proven.parse({ proof: "1" }).read(services, new AbortController().signal);
  expect(body).toMatchObject({ proofs: { chains: [] } });
  expect(lines).toEqual([expect.objectContaining({ event: "proofs_failed" })]);
});
