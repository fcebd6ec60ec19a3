// A service that keeps signatures and denies them: one purchase is one signature, whatever the service says.
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { createSextant, type SextantOptions } from "../create-sextant.ts";
import { SextantError } from "../errors.ts";
import { createMemoryJournal } from "../journal/journal.ts";
import type { PaymentEntry } from "../journal/payment-book.ts";
import { parseRecord } from "../journal/records.ts";
import {
  createCountingPayer,
  GUARD,
  requirePayment,
  type ScriptedService,
  startScriptedService,
  TERMS,
} from "../testing/scripted-service.ts";

const REQUEST = { address: `0x${"77".repeat(20)}` };

let service: ScriptedService;
let payer: ReturnType<typeof createCountingPayer>;
let options: SextantOptions;
beforeEach(async () => {
  service = await startScriptedService();
  payer = createCountingPayer();
  const journal = createMemoryJournal();
  options = { portfolio: service.url, payer, guard: GUARD, journal, attemptsMax: 1 };
});
afterEach(() => {
  vi.useRealTimers();
  return service.stop();
});

/** Returns what a caller learns from calls that must fail. */
async function failTimes(count: number, call: () => Promise<unknown>): Promise<Set<string>> {
  const learned = new Set<string>();
  for (let index = 0; index < count; index += 1) {
    const error = await call().catch((thrown: unknown) => thrown);
    if (!(error instanceof SextantError)) throw error;
    learned.add(`${error.code} ${error.charged} ${error.retry}`);
  }
  return learned;
}

/** Redirects each name to the address that the test says, and sells everything else. */
function leadNames(addressOf: () => string): void {
  service.onUnpaid = (request, response) => {
    const url = new URL(request.url ?? "", service.url);
    if (!url.searchParams.get("address")?.includes(".")) return requirePayment(response);
    url.searchParams.set("address", addressOf());
    response.writeHead(307, { location: `${url.pathname}${url.search}` }).end("{}");
  };
}

describe("a service that keeps each signature and says 402", () => {
  it.each(["report", undefined])("gets one signature for 20 calls of the purchase %s", async (purchase) => {
    service.onPaid = (_, response) => requirePayment(response);
    const sextant = createSextant(options);
    const named = purchase === undefined ? {} : { purchase };
    const learned = await failTimes(20, () => sextant.getPortfolio(REQUEST, named));
    expect([payer.signed, new Set(service.received).size]).toEqual([1, 1]);
    expect([...learned]).toEqual(["PAYMENT_REQUIRED unknown same-signature"]);
    expect((await sextant.payments.budget()).spent.total).toBe("0.01");
  });

  it("gets one signature for a name that leads to another address at each call", async () => {
    let led = 0;
    leadNames(() => {
      led += 1;
      return `0x${String(led).padStart(40, "0")}`;
    });
    service.onPaid = (_, response) => requirePayment(response);
    const sextant = createSextant(options);
    const named = { purchase: "report" };
    await failTimes(5, () => sextant.getPortfolio({ address: "alice.eth" }, named));
    await Promise.allSettled([1, 2, 3].map(() => sextant.getPortfolio({ address: "alice.eth" }, named)));
    expect([payer.signed, new Set(service.received).size]).toEqual([1, 1]);
    expect((await sextant.payments.list()).map(({ givenUrl }) => givenUrl)).toEqual([
      `${service.url}/portfolio?address=alice.eth`,
    ]);
  });
});

describe("a rejected signature, without a node to ask,", () => {
  const WINDOW = 60;
  const MARGIN = 300;
  const deny = (seconds: number) => {
    service.onUnpaid = (_, response) => requirePayment(response, [{ ...TERMS, maxTimeoutSeconds: seconds }]);
    service.onPaid = (_, response) => requirePayment(response);
  };
  const after = (seconds: number) => {
    vi.useFakeTimers({ toFake: ["Date"], now: START + seconds * 1_000 });
  };
  const START = Date.now();

  it("stands for its purchase until it is well past its end, and its amount stays counted after that", async () => {
    after(0);
    deny(WINDOW);
    const sextant = createSextant(options);
    const buy = () => sextant.getPortfolio(REQUEST, { purchase: "report" });
    for (const seconds of [0, WINDOW - 1, WINDOW + 1, WINDOW + MARGIN - 2]) {
      after(seconds);
      expect([...(await failTimes(1, buy))]).toEqual(["PAYMENT_REQUIRED unknown same-signature"]);
      expect(payer.signed).toBe(1);
    }
    const [payment] = await sextant.payments.list();
    expect(payment).toMatchObject({ state: "rejected", purchase: "report" });
    after(WINDOW + MARGIN);
    await failTimes(3, buy);
    expect(payer.signed).toBe(2);
    expect((await sextant.payments.budget()).spent.total).toBe("0.02");
  });

  it("is not over sooner because the service asks for a shorter one", async () => {
    after(0);
    deny(1);
    const sextant = createSextant(options);
    for (let seconds = 0; seconds < MARGIN; seconds += 30) {
      after(seconds);
      await failTimes(1, () => sextant.getPortfolio(REQUEST, { purchase: "report" }));
    }
    expect(payer.signed).toBe(1);
  });

  it("stands for its purchase when the clock of the machine is set back", async () => {
    after(0);
    deny(WINDOW);
    const sextant = createSextant(options);
    for (const seconds of [0, -3_600, -30 * 86_400]) {
      after(seconds);
      await failTimes(2, () => sextant.getPortfolio(REQUEST, { purchase: "report" }));
    }
    expect(payer.signed).toBe(1);
  });

  it("is sent once more when it is over, and nothing new is signed if the service delivers", async () => {
    after(0);
    deny(WINDOW);
    const sextant = createSextant(options);
    const buy = () => sextant.getPortfolio(REQUEST, { purchase: "report" });
    await failTimes(1, buy);
    after(WINDOW + MARGIN);
    service.onPaid = (_, response) => response.end('{"ok":true}');
    expect((await buy()).data).toEqual({ ok: true });
    expect([payer.signed, service.received.length, new Set(service.received).size]).toEqual([1, 2, 1]);
  });

  it("is not followed by another one while the service does not reject it once more", async () => {
    after(0);
    deny(WINDOW);
    const sextant = createSextant(options);
    await failTimes(1, () => sextant.getPortfolio(REQUEST));
    after(WINDOW + MARGIN);
    for (const [status, code] of [
      [503, "PAYMENT_PENDING"],
      [400, "INPUT_INVALID"],
    ] as const) {
      service.onPaid = (_, response) => response.writeHead(status, { "x-error-code": code }).end("{}");
      const [learned] = await failTimes(1, () => sextant.getPortfolio(REQUEST));
      expect(learned).toMatch(`${code} unknown`);
    }
    expect(payer.signed).toBe(1);
  });

  it("is not called uncharged because its time is over", async () => {
    after(0);
    service.onPaid = (request) => request.socket.destroy();
    const sextant = createSextant(options);
    await failTimes(1, () => sextant.getPortfolio(REQUEST));
    after(WINDOW + MARGIN);
    deny(WINDOW);
    const [recovered] = await sextant.payments.recover();
    expect(recovered).toMatchObject({
      payment: { state: "rejected" },
      error: { code: "PAYMENT_REQUIRED", charged: "unknown", retry: "sign-again" },
    });
    expect(recovered?.error?.message).toContain("guard.node");
  });

  it.each([["name"], ["address"]])(
    "is followed by one payment, found by name and by address, if it was made by %s",
    async (first) => {
      after(0);
      leadNames(() => REQUEST.address);
      service.onPaid = (_, response) => requirePayment(response);
      const sextant = createSextant(options);
      const given = { name: { address: "alice.eth" }, address: REQUEST };
      const [one, two] = first === "name" ? [given.name, given.address] : [given.address, given.name];
      const buy = (request: typeof REQUEST) => sextant.getPortfolio(request, { purchase: "order-1" });
      await failTimes(1, () => buy(one));
      const [old] = service.received;
      after(WINDOW + MARGIN);
      service.onPaid = (request, response) =>
        request.headers["payment-signature"] === old ? requirePayment(response) : response.end("{}");
      const payments = [];
      for (const request of [two, two, one, two, one]) payments.push((await buy(request)).receipt?.payment);
      expect([payer.signed, new Set(payments).size]).toEqual([2, 1]);
    },
  );

  it("stands for its purchase when another process delivers it while this one finds it over", async () => {
    after(0);
    deny(WINDOW);
    const sextant = createSextant(options);
    const buy = () => sextant.getPortfolio(REQUEST, { purchase: "report" });
    await failTimes(1, buy);
    after(WINDOW + MARGIN);
    const offer = service.onUnpaid;
    service.onUnpaid = async (request, response) => {
      service.onPaid = (_, paid) => paid.end('{"ok":true}');
      const [payment] = await sextant.payments.list();
      await createSextant(options).payments.replay(payment?.id ?? "");
      offer(request, response);
    };
    expect((await buy()).data).toEqual({ ok: true });
    expect([payer.signed, new Set(service.received).size]).toEqual([1, 1]);
  });

  it("is replaced by one signature only when two processes find it over at once", async () => {
    after(0);
    deny(WINDOW);
    const [one, two] = [createSextant(options), createSextant(options)];
    await failTimes(1, () => one.getPortfolio(REQUEST, { purchase: "report" }));
    after(WINDOW + MARGIN);
    const buyers = [one, two, one, two];
    await Promise.allSettled(buyers.map((each) => each.getPortfolio(REQUEST, { purchase: "report" })));
    expect(payer.signed).toBe(2);
  });

  it("is sent again, and delivered when the service takes it after all", async () => {
    deny(WINDOW);
    const sextant = createSextant(options);
    await failTimes(2, () => sextant.getPortfolio(REQUEST));
    service.onPaid = (_, response) => response.end('{"ok":true}');
    expect((await sextant.getPortfolio(REQUEST)).data).toEqual({ ok: true });
    expect([payer.signed, new Set(service.received).size]).toEqual([1, 1]);
  });

  it("stands for its purchase in a journal of an earlier version as well", async () => {
    after(0);
    deny(WINDOW);
    const source = createMemoryJournal();
    await failTimes(1, () => createSextant({ ...options, journal: source }).getPortfolio(REQUEST));
    const [entry] = (await source.read()).list();
    const {
      id,
      at,
      payer: by,
      method,
      url,
      request,
      purchase,
      requirements,
      validBefore,
      signature,
    } = entry as PaymentEntry;
    // The lines that the version before this one wrote.
    const signed = {
      id,
      at,
      payer: by,
      method,
      url,
      request,
      purchase,
      requirements,
      validBefore,
      signature,
    };
    const rejected = { id, at, transaction: null, code: "PAYMENT_REQUIRED" };
    const journal = createMemoryJournal();
    await journal.exclusive(async (_, append) => {
      for (const line of [
        { v: 1, type: "signed", ...signed },
        { v: 1, type: "rejected", ...rejected },
      ]) {
        await append(parseRecord(JSON.stringify(line)), { durable: true });
      }
    });
    const sextant = createSextant({ ...options, journal });
    await failTimes(5, () => sextant.getPortfolio(REQUEST));
    expect(payer.signed).toBe(1);
    after(WINDOW + MARGIN);
    await failTimes(1, () => sextant.getPortfolio(REQUEST));
    expect(payer.signed).toBe(2);
  });
});
