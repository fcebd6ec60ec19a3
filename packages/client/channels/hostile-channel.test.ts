// A service that lies about its channels, and how it differs from an honest one, without a node of the payment network.
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { createSextant, type SextantOptions } from "../create-sextant.ts";
import { createMemoryJournal } from "../journal/journal.ts";
import {
  createCountingPayer,
  encode,
  GUARD,
  type ScriptedService,
  startScriptedService,
  TERMS,
} from "../testing/scripted-service.ts";

const PRICE = BigInt(TERMS.amount);
const CHANNEL_TERMS = { receiverAuthorizer: `0x${"22".repeat(20)}`, withdrawDelay: 900, minDeposit: "1" };
const OFFER = {
  ...TERMS,
  ...{ scheme: "batch-settlement", maxTimeoutSeconds: 1, extra: { ...TERMS.extra, ...CHANNEL_TERMS } },
};
const NAMED = { "payment-identifier": { info: { required: false }, schema: {} } };
const walletAt = (index: number) => ({ address: `0x${String(index).padStart(40, "7")}` });

type Asked = { readonly channelId: string; readonly maxClaimableAmount: string };
type Reply =
  | { readonly status: 200; readonly receipt?: object | string }
  | { readonly status: 400 }
  | { readonly status: 402; readonly charged?: bigint; readonly error?: string }
  | "nothing";

let service: ScriptedService;
let extensions: object;
let options: SextantOptions;
beforeEach(async () => {
  service = await startScriptedService();
  extensions = NAMED;
  const terms = () => encode({ x402Version: 2, accepts: [OFFER], extensions });
  service.onUnpaid = (_, response) => response.writeHead(402, { "payment-required": terms() }).end("{}");
  options = {
    ...{ portfolio: service.url, payer: createCountingPayer(), guard: GUARD, attemptsMax: 1 },
    ...{ journal: createMemoryJournal(), channel: { deposit: "0.20" } },
  };
});
afterEach(() => {
  vi.useRealTimers();
  return service.stop();
});

/** Responds to vouchers, of which the first is number 1. */
function script(chooseReply: (number: number, voucher: Asked, url: string) => Reply): void {
  service.onPaid = ({ url, headers, socket }, response) => {
    const text = Buffer.from(String(headers["payment-signature"]), "base64").toString();
    const { voucher } = (JSON.parse(text) as { payload: { voucher: Asked } }).payload;
    const reply = chooseReply(service.received.length, voucher, String(url));
    if (reply === "nothing") return socket.destroy();
    if (reply.status === 200) {
      const { receipt } = reply;
      return response.writeHead(200, receipt ? { "payment-response": encodeReceipt(receipt) } : {}).end("{}");
    }
    if (reply.status === 400) return response.writeHead(400, { "x-error-code": "INPUT_INVALID" }).end("{}");
    const { charged, error = "cumulative_amount_mismatch" } = reply;
    const channelState = { channelId: voucher.channelId, chargedCumulativeAmount: String(charged) };
    const extra = { ...OFFER.extra, ...(charged === undefined ? {} : { channelState }) };
    const required = {
      ...{ x402Version: 2, error: `invalid_batch_settlement_evm_${error}`, extensions },
      accepts: [{ ...OFFER, extra }],
    };
    response.writeHead(402, { "payment-required": encode(required), "x-error-code": "PAYMENT_REQUIRED" });
    response.end("{}");
  };
}

const encodeReceipt = (receipt: object | string) => (typeof receipt === "string" ? receipt : encode(receipt));

/** The facts that a caller learns. */
async function outcomeOf(call: Promise<unknown>): Promise<string> {
  return call.then(
    () => "bought",
    (error: { code?: string; message: string }) => `${error.code}: ${error.message}`,
  );
}

async function readChannel() {
  const [channel] = (await options.journal?.read())?.channels.list() ?? [];
  if (channel === undefined) throw new Error("no channel was opened");
  return channel;
}

describe("a service that takes no names of purchases", () => {
  beforeEach(() => {
    extensions = {};
  });

  it("gets one price for one purchase by saying that it charged what it rejected", async () => {
    const sextant = createSextant(options);
    script((number, { maxClaimableAmount }) => {
      if (number > 1 && number % 2 === 1) return { status: 200 };
      return { status: 402, charged: number === 1 ? 0n : BigInt(maxClaimableAmount) };
    });
    expect(await outcomeOf(sextant.getPortfolio(walletAt(1)))).toMatch(
      /^TERMS_REJECTED: .* does not deliver/,
    );
    expect(await readChannel()).toMatchObject({ signed: PRICE, delivered: 0n, state: "disputed" });
    expect(await outcomeOf(sextant.getPortfolio(walletAt(1)))).toMatch(/^TERMS_REJECTED: .* is disputed/);
  });

  it("gets one price for all vouchers that it rejected of another purchase", async () => {
    const sextant = createSextant(options);
    let isFirst = true;
    script((_, { maxClaimableAmount }, url) => {
      if (url.includes(walletAt(2).address)) return { status: 402, charged: BigInt(maxClaimableAmount) };
      return isFirst ? { status: 402, charged: 0n } : { status: 200 };
    });
    expect(await outcomeOf(sextant.getPortfolio(walletAt(1)))).toMatch(/^PAYMENT_REQUIRED/);
    isFirst = false;
    expect(await outcomeOf(sextant.getPortfolio(walletAt(2)))).toMatch(
      /^TERMS_REJECTED: .* does not deliver/,
    );
    expect(await readChannel()).toMatchObject({ signed: 2n * PRICE, delivered: PRICE, state: "disputed" });
  });
});

it.each([0, 1])(
  "locks one further deposit at most by denying them, after %i deliveries",
  async (deliveries) => {
    vi.useFakeTimers({ toFake: ["Date"] });
    const sextant = createSextant(options);
    script((number) =>
      number <= deliveries ? { status: 200 } : { status: 402, error: "cumulative_exceeds_balance" },
    );
    const outcomes: string[] = [];
    for (let call = 0; call < 8; call += 1) {
      outcomes.push(await outcomeOf(sextant.getPortfolio(walletAt(call))));
      vi.advanceTimersByTime(2_000 * OFFER.maxTimeoutSeconds);
    }
    expect((await sextant.payments.budget()).spent.total).toBe("0.4");
    expect(outcomes.at(-1)).toMatch(/^TERMS_REJECTED: .* is not used up, and only guard\.node/);
  },
);

it("gets the next deposit when the last one is used up", async () => {
  const sextant = createSextant({ ...options, channel: { deposit: "0.03" } });
  script(() => ({ status: 200 }));
  for (let call = 0; call < 10; call += 1) await sextant.getPortfolio(walletAt(call));
  expect((await readChannel()).deposits).toHaveLength(4);
});

describe("an honest service that no longer stores a response", () => {
  /** Loses the first response, and stores it for a day. */
  const sell = () => {
    vi.useFakeTimers({ toFake: ["Date"] });
    let charged = 0n;
    script((number, { maxClaimableAmount }) => {
      if (number > 1 && BigInt(maxClaimableAmount) <= charged) return { status: 402, charged };
      charged = BigInt(maxClaimableAmount);
      return number === 1 ? "nothing" : { status: 200 };
    });
  };

  it("sells on a day later, and the payment says that its response is lost", async () => {
    sell();
    const sextant = createSextant(options);
    expect(await outcomeOf(sextant.getPortfolio(walletAt(1)))).toMatch(/^UNREACHABLE/);
    vi.advanceTimersByTime(24 * 3_600_000);
    for (const index of [2, 3]) await sextant.getPortfolio(walletAt(index));
    expect(await readChannel()).toMatchObject({ signed: 3n * PRICE, charged: 3n * PRICE, state: "open" });
    const states = (await sextant.payments.list()).map(({ state }) => state);
    expect(states).toEqual(["conflict", "rejected", "paid", "paid"]);
    expect(await outcomeOf(sextant.getPortfolio(walletAt(1)))).toMatch(/says that it charged the voucher/);
  });

  it("tells it to who asks for the same, who can buy it again the day after", async () => {
    sell();
    const sextant = createSextant(options);
    expect(await outcomeOf(sextant.getPortfolio(walletAt(1)))).toMatch(/^UNREACHABLE/);
    vi.advanceTimersByTime(24 * 3_600_000);
    expect(await outcomeOf(sextant.getPortfolio(walletAt(1)))).toMatch(/says that it charged the voucher/);
    vi.advanceTimersByTime(24 * 3_600_000);
    expect(await outcomeOf(sextant.getPortfolio(walletAt(1)))).toBe("bought");
    expect(await readChannel()).toMatchObject({ signed: 2n * PRICE, delivered: 2n * PRICE, state: "open" });
  });

  it("is not believed before", async () => {
    sell();
    const sextant = createSextant(options);
    expect(await outcomeOf(sextant.getPortfolio(walletAt(1)))).toMatch(/^UNREACHABLE/);
    vi.advanceTimersByTime(23 * 3_600_000);
    const outcome = await outcomeOf(sextant.getPortfolio(walletAt(2)));
    expect(outcome).toMatch(/^TERMS_REJECTED: .* does not deliver .* channels\.withdraw takes back/);
  });

  it("gets one price a day at most if it lies", async () => {
    vi.useFakeTimers({ toFake: ["Date"] });
    const sextant = createSextant(options);
    script((_, { maxClaimableAmount }) => ({ status: 402, charged: BigInt(maxClaimableAmount) - PRICE }));
    for (const index of [1, 2, 3]) await outcomeOf(sextant.getPortfolio(walletAt(index)));
    vi.advanceTimersByTime(24 * 3_600_000);
    script((_, { maxClaimableAmount }) => ({ status: 402, charged: BigInt(maxClaimableAmount) }));
    for (const index of [4, 5]) await outcomeOf(sextant.getPortfolio(walletAt(index)));
    expect(await readChannel()).toMatchObject({ signed: 2n * PRICE, delivered: PRICE, state: "disputed" });
  });
});

it("gets the response that is owed before a refund", async () => {
  const sextant = createSextant(options);
  const replies: readonly Reply[] = [
    "nothing",
    { status: 402, charged: PRICE },
    { status: 200 },
    { status: 200 },
  ];
  script((number) => replies[number - 1] ?? "nothing");
  expect(await outcomeOf(sextant.getPortfolio(walletAt(1)))).toMatch(/^UNREACHABLE/);
  const { amount } = await sextant.channels.refund((await readChannel()).id);
  expect(amount).toBeNull();
  expect((await sextant.payments.list()).map(({ state }) => state)).toEqual(["held"]);
});

it("opens no channel that the next process would not know", () => {
  const { journal, ...others } = options;
  expect(journal).toBeDefined();
  expect(() => createSextant(others)).toThrow(/channel needs a journal that lasts/);
});

describe("a service that delivers one thing again for a new price", () => {
  const sellTwice = (amount: bigint) => {
    script((number, { channelId, maxClaimableAmount }) => {
      if (number < 3) return { status: 402, ...(number === 1 ? { charged: 0n } : { error: "other" }) };
      if (number === 3) return { status: 200 };
      const channelState = { channelId, chargedCumulativeAmount: maxClaimableAmount };
      return { status: 200, receipt: { extra: { chargedAmount: String(amount), channelState } } };
    });
  };

  it.each<[string, bigint, string]>([
    ["is disputed if it charges", PRICE, "disputed"],
    ["goes on from what was delivered if it says that others did", 0n, "open"],
  ])("%s", async (_, amount, state) => {
    const sextant = createSextant(options);
    sellTwice(amount);
    expect(await outcomeOf(sextant.getPortfolio(walletAt(1)))).toMatch(/^PAYMENT_REQUIRED/);
    const [first] = await sextant.payments.list();
    await sextant.payments.replay(String(first?.id));
    await sextant.getPortfolio(walletAt(1));
    const { charged, delivered, ...channel } = await readChannel();
    expect([channel.state, charged <= delivered]).toEqual([state, true]);
    const outcome = await outcomeOf(sextant.getPortfolio(walletAt(3)));
    expect(outcome).toMatch(state === "open" ? /^bought/ : /^TERMS_REJECTED/);
  });
});

it.each(["?", "e30", "bm8="])("delivers the data of a response whose receipt is %s", async (receipt) => {
  const sextant = createSextant(options);
  script(() => ({ status: 200, receipt }));
  expect((await sextant.getPortfolio(walletAt(1))).receipt).toMatchObject({ transaction: null });
  expect((await readChannel()).charged).toBe(PRICE);
});

/** A response whose receipt states what the purchase cost, and the sum. */
const sold = ({ channelId }: Asked, amount: bigint, total: bigint): Reply => {
  const channelState = { channelId, chargedCumulativeAmount: String(total), totalClaimed: "0" };
  return { status: 200, receipt: { extra: { chargedAmount: String(amount), channelState } } };
};

describe("a receipt of a free call", () => {
  it("is disputed if it states a sum that nothing but this voucher can have paid", async () => {
    const sextant = createSextant(options);
    script((_, voucher) => sold(voucher, 0n, BigInt(voucher.maxClaimableAmount)));
    const { receipt } = await sextant.getPortfolio(walletAt(1));
    expect(receipt?.amount).toBe(PRICE);
    expect(await readChannel()).toMatchObject({ signed: PRICE, delivered: PRICE, state: "disputed" });
    expect(await outcomeOf(sextant.getPortfolio(walletAt(2)))).toMatch(
      /^TERMS_REJECTED: .* is disputed \(it charged a call that it states as free\)/,
    );
  });

  it("is believed if another voucher, whose response was lost, has paid the sum", async () => {
    const sextant = createSextant(options);
    script((number, voucher) => {
      if (number === 1) return sold(voucher, PRICE, PRICE);
      // The free call is lost, and so is the purchase that is charged after it, by a voucher for the same sum.
      return number <= 3 ? "nothing" : sold(voucher, 0n, 2n * PRICE);
    });
    for (const index of [1, 2, 3]) await outcomeOf(sextant.getPortfolio(walletAt(index)));
    const [, free] = await sextant.payments.list();
    const { receipt } = await sextant.payments.replay(String(free?.id));
    expect([receipt?.amount, (await readChannel()).state]).toEqual([0n, "open"]);
  });
});

describe("guard.perClient of two prices", () => {
  beforeEach(() => {
    options = { ...options, guard: { ...GUARD, perClient: 2n * PRICE } };
  });

  const buyAll = async (indexes: readonly number[]) => {
    const sextant = createSextant(options);
    const outcomes: string[] = [];
    for (const index of indexes) {
      const outcome = await outcomeOf(sextant.getPortfolio(walletAt(index)));
      outcomes.push(outcome.replace(/:.*/, ""));
    }
    return outcomes;
  };

  it("holds against a service that charges a voucher and states that the call was free", async () => {
    let number = 0;
    script((_, voucher) => {
      number += 1;
      // A voucher that it rejects could have paid the sum.
      return number % 2 === 1 ? { status: 400 } : sold(voucher, 0n, BigInt(voucher.maxClaimableAmount));
    });
    const outcomes = await buyAll([0, 1, 2, 3, 4, 5, 6, 7]);
    expect(outcomes.filter((each) => each === "LIMIT_EXCEEDED").length).toBeGreaterThan(0);
    expect((await readChannel()).signed).toBe(2n * PRICE);
  });

  it("holds against a service that rejects a request and charges its voucher later", async () => {
    const seen = new Set<string>();
    script((_, { maxClaimableAmount }, url) => {
      if (seen.has(url)) return { status: 200 };
      seen.add(url);
      const isEven = /0x\d*[02468](?!\d)/.test(url);
      return isEven ? { status: 400 } : { status: 402, charged: BigInt(maxClaimableAmount) };
    });
    const outcomes = await buyAll([10, 11, 12, 13, 14, 15]);
    expect(outcomes).toContain("LIMIT_EXCEEDED");
    expect((await readChannel()).signed).toBe(2n * PRICE);
  });

  it("counts a voucher once that was open during an outage and is rejected after it", async () => {
    script((number) => {
      if (number === 1) return "nothing";
      return number === 2 ? { status: 402, charged: 0n } : { status: 200 };
    });
    expect(await buyAll([1, 1, 2, 3])).toEqual(["UNREACHABLE", "bought", "bought", "LIMIT_EXCEEDED"]);
    expect((await readChannel()).signed).toBe(2n * PRICE);
  });

  it("lets calls through that are free, and counts the sum that they leave open once", async () => {
    script((number, voucher) => {
      const sum = BigInt(voucher.maxClaimableAmount);
      return number < 6 ? sold(voucher, 0n, sum - PRICE) : sold(voucher, PRICE, sum);
    });
    expect(await buyAll([1, 2, 3, 4, 5, 6, 7, 8])).toEqual([...Array(7).fill("bought"), "LIMIT_EXCEEDED"]);
    expect((await readChannel()).signed).toBe(2n * PRICE);
  });
});
