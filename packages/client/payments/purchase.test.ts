// Each response to a signature decides whether it was charged, and which signature is sent next.
import type { RequestListener } from "node:http";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { createSextant, type Sextant, type SextantOptions } from "../create-sextant.ts";
import { SextantError } from "../errors.ts";
import { createMemoryJournal, type Journal } from "../journal/journal.ts";
import {
  createCountingPayer,
  encode,
  GUARD,
  requirePayment,
  type ScriptedService,
  startScriptedService,
} from "../testing/scripted-service.ts";

const REQUEST = { address: `0x${"77".repeat(20)}` };
const TRANSACTION = `0x${"cd".repeat(32)}`;

const deliver: RequestListener = (_, response) =>
  response
    .writeHead(200, { "payment-response": encode({ success: true, transaction: TRANSACTION }) })
    .end('{"ok":true}');
const fail = (status: number, code: string | null): RequestListener => {
  const headers = code === null ? {} : { "x-error-code": code };
  return (_, response) =>
    response.writeHead(status, { "retry-after": "0", ...headers }).end('{"error":"No."}');
};

let service: ScriptedService;
let payer: ReturnType<typeof createCountingPayer>;
let options: SextantOptions;
let sextant: Sextant;
beforeEach(async () => {
  service = await startScriptedService();
  payer = createCountingPayer();
  const journal = createMemoryJournal();
  options = { portfolio: service.url, payer, guard: GUARD, journal, attemptsMax: 2 };
  sextant = createSextant(options);
});
afterEach(() => {
  vi.useRealTimers();
  return service.stop();
});

const errorOf = (promise: Promise<unknown>) =>
  promise.then(
    () => null,
    (error: unknown) => error,
  );

describe("a response to a signature", () => {
  it("ends the payment with a delivered response, and the next call signs again", async () => {
    service.onPaid = deliver;
    const { data, receipt } = await sextant.getPortfolio(REQUEST);
    expect(data).toEqual({ ok: true });
    expect(receipt).toMatchObject({ transaction: TRANSACTION, amount: 10_000n, payTo: GUARD.payees[0] });
    await sextant.getPortfolio(REQUEST);
    expect([payer.signed, new Set(service.received).size]).toEqual([2, 2]);
  });

  it("comes with what its signature covers, byte for byte, and with no other header", async () => {
    const signed = {
      "content-type": "application/json",
      "content-digest": "d",
      "signature-input": "i",
      signature: "s",
    };
    const paid = encode({ success: true, transaction: TRANSACTION });
    service.onPaid = (_, response) =>
      response
        .writeHead(200, { ...signed, "payment-response": paid, "x-request-id": "1" })
        .end('{ "ok": true }\n');
    const { exchange } = await sextant.getPortfolio(REQUEST);
    expect(exchange).toEqual({
      request: { method: "GET", url: `${service.url}/portfolio?address=${REQUEST.address}` },
      response: { status: 200, headers: { ...signed, "payment-response": paid }, body: '{ "ok": true }\n' },
    });
  });

  const OPEN: Readonly<Record<string, readonly [RequestListener, charged: string, retry: string]>> = {
    "503 PAYMENT_PENDING": [fail(503, "PAYMENT_PENDING"), "unknown", "same-signature"],
    "503 FACILITATOR_UNAVAILABLE": [fail(503, "FACILITATOR_UNAVAILABLE"), "unknown", "same-signature"],
    "500 PROVIDER_FAILED": [fail(500, "PROVIDER_FAILED"), "unknown", "same-signature"],
    "500 INTERNAL": [fail(500, "INTERNAL"), "unknown", "same-signature"],
    "429 RATE_LIMITED": [fail(429, "RATE_LIMITED"), "unknown", "same-signature"],
    "502 of a proxy": [fail(502, null), "unknown", "same-signature"],
    "400 of a proxy": [fail(400, null), "unknown", "never"],
    "403 of a proxy": [fail(403, null), "unknown", "never"],
    "a redirect": [
      (_, response) => response.writeHead(302, { location: "/" }).end(),
      "unknown",
      "same-signature",
    ],
    "a lost connection": [(request) => request.socket.destroy(), "unknown", "same-signature"],
    "a body that is not JSON": [(_, response) => response.end("<html>"), "unknown", "same-signature"],
    "text that is not a receipt": [
      (_, response) => response.writeHead(200, { "payment-response": "?" }).end("{}"),
      "unknown",
      "same-signature",
    ],
  };

  it.each(Object.entries(OPEN))(
    "%s leaves a payment open: the same signature is sent until it is paid",
    async (_name, row) => {
      const [listener, charged, retry] = row;
      service.onPaid = listener;
      const error = await errorOf(sextant.getPortfolio(REQUEST));
      expect(error).toMatchObject({
        charged,
        retry,
        message: expect.not.stringContaining("nothing was signed"),
      });
      expect((await sextant.payments.budget()).spent.total).toBe("0.01");
      service.onPaid = deliver;
      const { receipt } = await sextant.getPortfolio(REQUEST);
      expect(receipt?.transaction).toBe(TRANSACTION);
      expect([payer.signed, new Set(service.received).size]).toEqual([1, 1]);
    },
  );

  it("leaves a payment open whose response does not come in time", async () => {
    service.onPaid = () => undefined;
    const hasty = createSextant({ ...options, timeoutMs: 300 });
    await hasty.quote(REQUEST).catch(() => undefined);
    const error = await errorOf(hasty.getPortfolio(REQUEST));
    service.onPaid = deliver;
    await sextant.getPortfolio(REQUEST);
    // On a busy machine even the unpaid request may take too long; then nothing was signed yet.
    const charged = service.received.length > 1 ? "unknown" : "no";
    expect(error).toMatchObject({ code: "UNREACHABLE", charged, retry: "same-signature" });
    expect([payer.signed, new Set(service.received).size]).toEqual([1, 1]);
  });

  it("402 is only the word of the service: the amount stays reserved, so that a liar gets no more than the budget", async () => {
    service.onPaid = (_, response) => requirePayment(response);
    const guard = { ...GUARD, total: "0.03" };
    const limited = createSextant({ portfolio: service.url, payer, guard, attemptsMax: 2 });
    for (const wallet of [1, 2, 3]) {
      const error = await errorOf(limited.getPortfolio({ address: `0x${String(wallet).repeat(40)}` }));
      expect(error).toMatchObject({
        code: "PAYMENT_REQUIRED",
        charged: "unknown",
        retry: "same-signature",
        status: 402,
      });
    }
    expect(await errorOf(limited.getPortfolio(REQUEST))).toMatchObject({ code: "LIMIT_EXCEEDED" });
    // A liar has charged them by now, and only waits until the client believes that it has not.
    vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 48 * 3_600_000 });
    expect(await errorOf(limited.getPortfolio(REQUEST))).toMatchObject({ code: "LIMIT_EXCEEDED" });
    expect(payer.signed).toBe(3);
  });

  const REJECTED_REQUESTS = [
    [400, "INPUT_INVALID"],
    [400, "STATE_UNAVAILABLE"],
    [404, "NOT_FOUND"],
  ] as const;

  it.each(REJECTED_REQUESTS)(
    "%d %s of the service is its word only: whether it charged is not known, and nothing new is signed",
    async (status, code) => {
      service.onPaid = fail(status, code);
      for (let call = 0; call < 3; call += 1) {
        const error = await errorOf(sextant.getPortfolio(REQUEST));
        const message = expect.stringMatching(
          /^No\. The service says that it charged nothing, and can charge the signature until 20[0-9T:-]+Z\. Correct the request/,
        );
        expect(error).toMatchObject({ code, status, charged: "unknown", retry: "never", message });
      }
      expect([payer.signed, new Set(service.received).size]).toEqual([1, 1]);
      expect((await sextant.payments.list()).map(({ state }) => state)).toEqual(["rejected"]);
      expect((await sextant.payments.budget()).spent.total).toBe("0.01");
      // Only the service claims it: the signature stands for the purchase until it is over.
      service.onPaid = deliver;
      expect((await sextant.getPortfolio(REQUEST)).receipt?.transaction).toBe(TRANSACTION);
      expect(payer.signed).toBe(1);
    },
  );

  it("400 of the service says nothing about a signature whose first response was lost", async () => {
    let requests = 0;
    service.onPaid = (request, response) => {
      requests += 1;
      return requests === 1 ? request.socket.destroy() : fail(400, "INPUT_INVALID")(request, response);
    };
    const unclear = { code: "INPUT_INVALID", charged: "unknown", retry: "never" };
    expect(await errorOf(sextant.getPortfolio(REQUEST))).toMatchObject(unclear);
    // Nor in a later process, which does not know what became of it.
    expect(await errorOf(createSextant(options).getPortfolio(REQUEST))).toMatchObject(unclear);
    expect([requests, payer.signed]).toEqual([3, 1]);
  });

  const UNCLEAR: Readonly<Record<string, RequestListener>> = {
    "402": (_, response) => requirePayment(response),
    "402 with the code of another error": fail(402, "INPUT_INVALID"),
    "a lost connection": (request) => request.socket.destroy(),
    "503": fail(503, "PAYMENT_PENDING"),
  };

  it.each(Object.entries(UNCLEAR))(
    "400 of the service says nothing about a signature that it rejected by 400 and then met with %s",
    async (_name, unclear) => {
      const call = () => errorOf(createSextant({ ...options, attemptsMax: 1 }).getPortfolio(REQUEST));
      const says = (charged: string) => ({ code: "INPUT_INVALID", charged, retry: "never" });
      service.onPaid = fail(400, "INPUT_INVALID");
      expect(await call()).toMatchObject(says("unknown"));
      service.onPaid = unclear;
      expect(await call()).toMatchObject({ charged: "unknown", retry: "same-signature" });
      service.onPaid = fail(400, "INPUT_INVALID");
      for (let repeated = 0; repeated < 2; repeated += 1) expect(await call()).toMatchObject(says("unknown"));
      expect(payer.signed).toBe(1);
    },
  );

  it("400 with a receipt says nothing, and 400 to a delivered purchase says that it was charged", async () => {
    service.onPaid = (_, response) =>
      response
        .writeHead(400, {
          "x-error-code": "INPUT_INVALID",
          "payment-response": encode({ success: true, transaction: TRANSACTION }),
        })
        .end('{"error":"No."}');
    expect(await errorOf(sextant.getPortfolio(REQUEST))).toMatchObject({ charged: "unknown" });
    service.onPaid = deliver;
    await sextant.getPortfolio(REQUEST, { purchase: "monday" });
    service.onPaid = fail(400, "INPUT_INVALID");
    const again = sextant.getPortfolio(REQUEST, { purchase: "monday" });
    expect(await errorOf(again)).toMatchObject({ charged: "once", retry: "never" });
  });

  it("409 ends a payment and counts as spent", async () => {
    service.onPaid = fail(409, "PAYMENT_CONFLICT");
    expect(await errorOf(sextant.getPortfolio(REQUEST))).toMatchObject({
      charged: "unknown",
      retry: "never",
    });
    expect((await sextant.payments.list()).map(({ state }) => state)).toEqual(["conflict"]);
    expect((await sextant.payments.budget()).spent.total).toBe("0.01");
  });

  it("409 is not followed by another signature for a day, unless the caller names a new purchase", async () => {
    service.onPaid = fail(409, "PAYMENT_CONFLICT");
    for (let call = 0; call < 3; call += 1) {
      expect(await errorOf(sextant.getPortfolio(REQUEST))).toMatchObject({
        ...{ code: "PAYMENT_CONFLICT", charged: "unknown", retry: "never" },
        message: expect.stringContaining("name a new purchase"),
      });
    }
    expect([payer.signed, new Set(service.received).size]).toEqual([1, 1]);
    service.onPaid = deliver;
    vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 23 * 3_600_000 });
    // The service may find it after all.
    expect((await sextant.getPortfolio(REQUEST)).receipt?.transaction).toBe(TRANSACTION);
    expect(payer.signed).toBe(1);
  });

  it("409 ends after a day, counted from when it was learned, and then a call is a new purchase", async () => {
    service.onPaid = fail(503, "PAYMENT_PENDING");
    await errorOf(sextant.getPortfolio(REQUEST));
    const begin = Date.now();
    const after = (hours: number) => vi.useFakeTimers({ toFake: ["Date"], now: begin + hours * 3_600_000 });
    // The service has forgotten the response of a payment that it charged.
    service.onPaid = fail(409, "PAYMENT_CONFLICT");
    for (const hours of [48, 71]) {
      after(hours);
      expect(await errorOf(sextant.getPortfolio(REQUEST))).toMatchObject({ charged: "unknown" });
      expect(payer.signed).toBe(1);
    }
    after(73);
    service.onPaid = deliver;
    await sextant.getPortfolio(REQUEST);
    expect(payer.signed).toBe(2);
  });

  it("409 does not hold up a purchase under a new name", async () => {
    service.onPaid = fail(409, "PAYMENT_CONFLICT");
    await errorOf(sextant.getPortfolio(REQUEST));
    service.onPaid = deliver;
    await sextant.getPortfolio(REQUEST, { purchase: "once-more" });
    expect(payer.signed).toBe(2);
  });

  it("402 to an open payment of an earlier process makes this call sign a new one when the old one is over", async () => {
    service.onPaid = fail(503, "PAYMENT_PENDING");
    await errorOf(sextant.getPortfolio(REQUEST));
    const [old] = service.received;
    vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 3_600_000 });
    service.onPaid = (request, response) =>
      request.headers["payment-signature"] === old ? requirePayment(response) : deliver(request, response);
    expect((await sextant.getPortfolio(REQUEST)).receipt?.transaction).toBe(TRANSACTION);
    expect((await sextant.payments.list()).map(({ state }) => state)).toEqual(["rejected", "paid"]);
  });
});

describe("an address", () => {
  // An address of EIP-55, and the same with one digit changed.
  const CHECKSUMMED = "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed";
  const MISTYPED = "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAee";
  const DIFF = { address: MISTYPED, from: "base:1" };

  it.each<[string, () => Promise<unknown>]>([
    ["a snapshot", () => sextant.getPortfolio({ address: MISTYPED })],
    ["a difference", () => sextant.getPortfolioDiff(DIFF)],
    ["exposure", () => sextant.getExposure({ address: MISTYPED }, { purchase: "report" })],
    ["a quote", () => sextant.quote("getExposure", { address: MISTYPED })],
  ])(
    "signs and sends nothing for %s of an address with a wrong checksum, and says how to go on",
    async (_, act) => {
      let requests = 0;
      service.onUnpaid = (_request, response) => {
        requests += 1;
        requirePayment(response);
      };
      expect(await errorOf(act())).toMatchObject({
        ...{ code: "INPUT_INVALID", charged: "no", retry: "never", payment: null },
        message: expect.stringMatching(
          /^The address 0x5aAe\w+ has a wrong checksum \(EIP-55\).* in lower case\.$/,
        ),
      });
      expect([requests, payer.signed]).toEqual([0, 0]);
    },
  );

  it.each([
    ["its checksum", CHECKSUMMED],
    ["lower case", MISTYPED.toLowerCase()],
    ["upper case", `0x${MISTYPED.slice(2).toUpperCase()}`],
    ["digits only", `0x${"12".repeat(20)}`],
  ])("accepts an address in %s", async (_, address) => {
    service.onPaid = deliver;
    expect((await sextant.getPortfolio({ address })).receipt?.transaction).toBe(TRANSACTION);
  });
});

describe("the request before a signature", () => {
  const FAULTS: Readonly<Record<string, RequestListener>> = {
    "a lost connection": (request) => request.socket.destroy(),
    "503 OVERLOADED": fail(503, "OVERLOADED"),
    "429 RATE_LIMITED": fail(429, "RATE_LIMITED"),
  };
  const ACTIONS = {
    purchase: async () => (await sextant.getPortfolio(REQUEST)).receipt?.amount,
    quote: async () => (await sextant.quote(REQUEST)).amount,
  };

  describe.each(Object.entries(ACTIONS))("of a %s", (_action, act) => {
    it.each(Object.entries(FAULTS))("repeats an unpaid request after %s", async (_name, fault) => {
      service.onPaid = deliver;
      let requests = 0;
      service.onUnpaid = (request, response) => {
        requests += 1;
        return requests === 1 ? fault(request, response) : requirePayment(response);
      };
      expect(await act()).toBe(10_000n);
      expect(requests).toBe(2);
    });

    it("sends an unpaid request at most attemptsMax times, and once if repeating cannot help", async () => {
      for (const [fault, most] of [
        [fail(503, "OVERLOADED"), 2],
        [fail(400, "INPUT_INVALID"), 1],
      ] as const) {
        let requests = 0;
        service.onUnpaid = (request, response) => {
          requests += 1;
          return fault(request, response);
        };
        expect(await errorOf(act())).toMatchObject({ charged: "no", payment: null });
        expect(requests).toBe(most);
      }
      expect(payer.signed).toBe(0);
    });
  });
});

describe("a signature", () => {
  it("writes a signature durably, under the journal's lock, before the service gets it", async () => {
    const events: string[] = [];
    const inner = createMemoryJournal();
    const journal: Journal = {
      read: () => inner.read(),
      exclusive: (act) =>
        inner.exclusive(async (book, append) => {
          events.push("locked");
          const result = await act(book, (record, { durable }) => {
            events.push(`${record.type}${durable ? " durably" : ""}`);
            return append(record, { durable });
          });
          events.push("unlocked");
          return result;
        }),
    };
    service.onPaid = (request, response) => {
      events.push("received");
      deliver(request, response);
    };
    await createSextant({ ...options, journal }).getPortfolio(REQUEST);
    const written = ["locked", "signed durably", "unlocked"];
    expect(events).toEqual([...written, "received", "locked", "paid", "unlocked"]);
  });

  it("a second call does not send a signature that the first is still writing to disk", async () => {
    const events: string[] = [];
    const inner = createMemoryJournal();
    let onWritten = () => undefined as unknown;
    const journal: Journal = {
      read: () => inner.read(),
      exclusive: (act) =>
        inner.exclusive((book, append) =>
          act(book, async (record, { durable }) => {
            await append(record, { durable });
            if (!durable) return;
            onWritten();
            await new Promise((resolve) => setTimeout(resolve, 300));
            events.push("on disk");
          }),
        ),
    };
    service.onPaid = (request, response) => {
      events.push("received");
      deliver(request, response);
    };
    const slow = createSextant({ ...options, journal });
    const second = new Promise<void>((resolve) => {
      onWritten = () => resolve(slow.getPortfolio(REQUEST).then(() => undefined));
    });
    await Promise.all([slow.getPortfolio(REQUEST), second]);
    expect([events.slice(0, 2), payer.signed]).toEqual([["on disk", "received"], 1]);
  });

  it("signs nothing for a caller who has left while it waited for the journal", async () => {
    const controller = new AbortController();
    const inner = createMemoryJournal();
    const journal: Journal = {
      read: () => inner.read(),
      exclusive: (act) => {
        controller.abort();
        return inner.exclusive(act);
      },
    };
    const leaving = createSextant({ ...options, journal });
    const error = await errorOf(leaving.getPortfolio(REQUEST, { signal: controller.signal }));
    expect(error).toMatchObject({ code: "ABORTED", charged: "no" });
    expect(payer.signed).toBe(0);
  });
});

describe("a named purchase", () => {
  it("buys a named purchase once, and each call gets its response", async () => {
    service.onPaid = deliver;
    const monday = { purchase: "monday" };
    const all = await Promise.all([1, 2, 3].map(() => sextant.getPortfolio(REQUEST, monday)));
    all.push(await sextant.getPortfolio(REQUEST, monday));
    expect(new Set(all.map(({ receipt }) => receipt?.payment)).size).toBe(1);
    expect(payer.signed).toBe(1);
    await sextant.getPortfolio(REQUEST, { purchase: "tuesday" });
    expect(payer.signed).toBe(2);
  });

  it("is one purchase however its wallet and chains are written, and of one request only", async () => {
    service.onPaid = deliver;
    const wallet = "0x5B38Da6a701c568545dCfcB03FcB875f56beddC4";
    const upper = `0x${wallet.slice(2).toUpperCase()}`;
    const monday = { purchase: "monday" };
    const spellings = [wallet, wallet.toLowerCase(), upper].map((address) => ({
      address,
      chains: "base,ethereum",
    }));
    spellings.push({ address: wallet, chains: "Ethereum,base" });
    for (const request of spellings) await sextant.getPortfolio(request, monday);
    expect([payer.signed, new Set(service.received).size]).toEqual([1, 1]);
    for (const other of [{ address: wallet }, { address: wallet, chains: "base" }, REQUEST]) {
      const error = await errorOf(sextant.getPortfolio(other, monday));
      expect(error).toMatchObject({ code: "INPUT_INVALID", charged: "no" });
      expect((error as SextantError).message).toContain('The purchase "monday" is for another request');
    }
    expect(payer.signed).toBe(1);
    await sextant.getPortfolio(REQUEST, { purchase: "tuesday" });
    expect(payer.signed).toBe(2);
  });

  it("does not buy a named purchase again when the service no longer has its response", async () => {
    service.onPaid = deliver;
    await sextant.getPortfolio(REQUEST, { purchase: "monday" });
    for (const listener of [fail(409, "PAYMENT_CONFLICT"), fail(402, "PAYMENT_REQUIRED")]) {
      service.onPaid = listener;
      const error = await errorOf(sextant.getPortfolio(REQUEST, { purchase: "monday" }));
      expect(error).toMatchObject({ charged: "once", retry: "never" });
    }
    expect(payer.signed).toBe(1);
  });

  it("does not buy a named purchase again after a conflict, which may have been charged", async () => {
    for (const listener of [fail(409, "PAYMENT_CONFLICT"), fail(402, "PAYMENT_REQUIRED")]) {
      service.onPaid = listener;
      const error = await errorOf(sextant.getPortfolio(REQUEST, { purchase: "monday" }));
      expect(error).toMatchObject({ charged: "unknown", retry: "never" });
    }
    service.onPaid = deliver;
    await sextant.getPortfolio(REQUEST, { purchase: "monday" });
    expect([payer.signed, new Set(service.received).size]).toEqual([1, 1]);
  });
});

describe("payments", () => {
  it("payments.recover sends open signatures again, and replay gets a paid response once more", async () => {
    service.onPaid = fail(503, "PAYMENT_PENDING");
    await errorOf(sextant.getPortfolio(REQUEST));
    expect(await sextant.payments.recover()).toMatchObject([{ result: null, error: { charged: "unknown" } }]);
    service.onPaid = deliver;
    const [recovered] = await sextant.payments.recover();
    expect(recovered).toMatchObject({
      payment: { state: "paid" },
      result: { data: { ok: true } },
      error: null,
    });
    expect(await sextant.payments.recover()).toEqual([]);
    expect((await sextant.payments.replay(recovered?.payment.id ?? "")).data).toEqual({ ok: true });
    expect([payer.signed, new Set(service.received).size]).toEqual([1, 1]);
  });

  it("recovers payments and their responses, also when the node for releases fails", async () => {
    service.onPaid = (_, response) => requirePayment(response);
    const guard = { ...GUARD, node: "http://127.0.0.1:9" };
    const failing = createSextant({ ...options, guard });
    await errorOf(failing.getPortfolio(REQUEST));
    vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 3_600_000 });
    service.onPaid = fail(503, "PAYMENT_PENDING");
    await errorOf(failing.getPortfolio(REQUEST, { purchase: "open" }));
    service.onPaid = deliver;
    expect(await failing.payments.recover()).toMatchObject([
      { payment: { state: "paid" }, result: { data: { ok: true } }, error: null },
      { payment: { state: "rejected" }, result: null, error: { code: "UNREACHABLE", charged: "unknown" } },
    ]);
  });

  it("leaves payments open when a recovery is aborted, and sends none after that", async () => {
    service.onPaid = fail(503, "PAYMENT_PENDING");
    for (const purchase of ["one", "two"]) await errorOf(sextant.getPortfolio(REQUEST, { purchase }));
    const before = service.received.length;
    const controller = new AbortController();
    service.onPaid = () => controller.abort();
    const ended = { result: null, error: { code: "ABORTED", charged: "unknown", retry: "same-signature" } };
    expect(await sextant.payments.recover({ signal: controller.signal })).toMatchObject([
      { payment: { state: "signed", purchase: "one" }, ...ended },
      { payment: { state: "signed", purchase: "two" }, ...ended },
    ]);
    expect(service.received.length).toBe(before + 1);
    service.onPaid = deliver;
    expect((await sextant.payments.recover()).map(({ result }) => result?.data)).toEqual([
      { ok: true },
      { ok: true },
    ]);
    expect(payer.signed).toBe(2);
  });

  it("signs nothing for a price above guard.perPayment", async () => {
    const careful = createSextant({ ...options, guard: { ...options.guard, perPayment: "0.000001" } });
    expect(await errorOf(careful.getPortfolio(REQUEST))).toMatchObject({
      code: "TERMS_REJECTED",
      charged: "no",
    });
    expect(payer.signed).toBe(0);
  });

  it("leaves payments of another service in the same journal open, and sends them nowhere", async () => {
    service.onPaid = fail(503, "PAYMENT_PENDING");
    await errorOf(sextant.getPortfolio(REQUEST));
    const other = await startScriptedService();
    try {
      const elsewhere = createSextant({ ...options, portfolio: other.url });
      other.onPaid = fail(503, "PAYMENT_PENDING");
      await errorOf(elsewhere.getPortfolio(REQUEST));
      const before = service.received.length;
      other.onPaid = deliver;
      expect(await elsewhere.payments.recover()).toMatchObject([
        { result: null, error: { code: "TERMS_REJECTED", charged: "unknown", retry: "never" } },
        { result: { data: { ok: true } }, error: null },
      ]);
      expect(service.received.length).toBe(before);
    } finally {
      await other.stop();
    }
  });

  it("reports what was charged when the outcome cannot be written down", async () => {
    const inner = createMemoryJournal();
    const full = new SextantError("JOURNAL_UNAVAILABLE", "The disk is full.");
    const journal: Journal = {
      read: () => inner.read(),
      exclusive: (act) =>
        inner.exclusive((book, append) =>
          act(book, (record, how) => (record.type === "signed" ? append(record, how) : Promise.reject(full))),
        ),
    };
    const failing = createSextant({ ...options, journal });
    for (const [listener, charged] of [
      [deliver, "once"],
      [fail(409, "PAYMENT_CONFLICT"), "unknown"],
    ] as const) {
      service.onPaid = listener;
      expect(await errorOf(failing.getPortfolio(REQUEST))).toMatchObject({
        ...{ code: "JOURNAL_UNAVAILABLE", charged, retry: "same-signature" },
        payment: expect.stringMatching(/^0x/),
      });
    }
    service.onPaid = deliver;
    // One that fails does not take the responses of others along.
    expect(await failing.payments.recover()).toMatchObject([
      { result: null, error: { code: "JOURNAL_UNAVAILABLE", charged: "once" } },
    ]);
    expect(payer.signed).toBe(1);
  });

  it("shows no signature in listed payments and errors", async () => {
    service.onPaid = fail(500, "INTERNAL");
    const error = await errorOf(sextant.getPortfolio(REQUEST));
    const [signature = "?"] = service.received;
    const { inspect } = await import("node:util");
    const shown = inspect([error, await sextant.payments.list()], { depth: 9, showHidden: true });
    expect(shown).toContain("INTERNAL");
    expect(shown).not.toContain(signature.slice(0, 40));
  });

  it("leaves a payment open when the caller aborts, and does not sign again", async () => {
    const controller = new AbortController();
    service.onPaid = () => controller.abort();
    const error = await errorOf(sextant.getPortfolio(REQUEST, { signal: controller.signal }));
    expect(error).toMatchObject({ code: "ABORTED", charged: "unknown", retry: "same-signature" });
    service.onPaid = deliver;
    await sextant.getPortfolio(REQUEST);
    expect(payer.signed).toBe(1);
  });

  it("records no payment when the account does not sign", async () => {
    payer.signTypedData = () => Promise.reject(new Error("The user said no."));
    expect(await errorOf(sextant.getPortfolio(REQUEST))).toMatchObject({
      code: "SIGNING_FAILED",
      charged: "no",
    });
    expect(await sextant.payments.list()).toEqual([]);
    const reader = createSextant({ portfolio: service.url });
    expect(await errorOf(reader.getPortfolio(REQUEST))).toMatchObject({
      code: "PAYMENT_REQUIRED",
      charged: "no",
    });
    expect(await reader.quote(REQUEST)).toMatchObject({
      price: "0.01",
      amount: 10_000n,
      payTo: GUARD.payees[0],
    });
  });
});
