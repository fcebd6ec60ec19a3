// Amounts of records: symbol and decimals of known tokens, raw units of others, and at most one request for the tokens.
import { expect, it } from "vitest";
import { TokenAmounts } from "./amounts.ts";

const USDC = `0x${"a".repeat(40)}`;
const COIN = `0x${"0".repeat(40)}`;
const OTHER = `0x${"b".repeat(40)}`;
const TOKENS = [
  { address: USDC, symbol: "USDC\u001b[31m", decimals: 6 },
  { address: COIN, symbol: "ETH", decimals: 18 },
];

function open(respond: () => Promise<object> = async () => ({ deployments: [], tokens: TOKENS })) {
  let requests = 0;
  const getDeployments = () => {
    requests += 1;
    return respond();
  };
  const getIntent = async () => {
    requests += 1;
    return { input_token: USDC, output_token: COIN, amount: "7" };
  };
  const amounts = new TokenAmounts({ getDeployments, getIntent } as never, new AbortController().signal);
  return { amounts, requests: () => requests };
}

it("names the amounts of a record and of those in it, and keeps everything else", async () => {
  const { amounts, requests } = open();
  const intent = {
    intent_id: "7",
    input_token: USDC,
    output_token: COIN,
    amount_in_max: "1234500000",
    amount_out_min: "1",
    fill: { solver: OTHER, amount_in: "5", amount_out: "1500000000000000000" },
    bids: [{ amount_in: "2000000", fee: "12000" }],
  };
  expect(await amounts.name([intent])).toEqual([
    {
      ...intent,
      amount_in_max: "1,234.5 USDC·[31m",
      amount_out_min: "1 units of ETH",
      fill: { solver: OTHER, amount_in: "0.000005 USDC·[31m", amount_out: "1.5 ETH" },
      bids: [{ amount_in: "2 USDC·[31m", fee: "12,000 units" }],
    },
  ]);
  await amounts.name([intent]);
  expect(await amounts.format("1000000", USDC)).toBe("1 USDC·[31m");
  expect(requests()).toBe(1);
});

it("keeps raw units of tokens that are not known, of odd values and of a service that names none", async () => {
  const { amounts } = open();
  const odd = [
    { token: OTHER, amount: "5000" },
    { token: null, amount: "5000" },
    { amount: "5000" },
    { token: USDC, amount: "many" },
    { token: USDC, amount: null },
  ];
  expect(await amounts.name(odd)).toEqual(odd);
  expect([await amounts.format("5", OTHER), await amounts.format("5", null)]).toEqual([null, null]);
  for (const respond of [async () => ({ deployments: [] }), () => Promise.reject(new Error("gone"))]) {
    const [record] = odd;
    expect(await open(respond).amounts.name([{ ...record, token: USDC }])).toEqual([
      { ...record, token: USDC },
    ]);
  }
});

it("sends no request for records without amounts", async () => {
  const { amounts, requests } = open();
  await amounts.name([{ agent_id: "1", deep: { owner: OTHER } }]);
  expect(requests()).toBe(0);
});

it("names the amounts of all pages of bids by the tokens of their intent, in one request more", async () => {
  const { amounts, requests } = open();
  const bid = { bid_id: "7-1", amount_in: "2000000", amount_out: "1500000000000000000", fee: "12000" };
  const expected = [{ ...bid, amount_in: "2 USDC·[31m", amount_out: "1.5 ETH", fee: "12,000 units" }];
  expect(await amounts.name([bid], "7")).toEqual(expected);
  expect(await amounts.name([bid], "7")).toEqual(expected);
  expect(requests()).toBe(2);
});

it("shows a terminal words for numbers, symbols of tokens, bonds and volumes, and no sum over several tokens", async () => {
  const { amounts } = open();
  const named = (form: "symbol" | "symbol and address") =>
    new TokenAmounts(
      { getDeployments: async () => ({ tokens: TOKENS }), getIntent: async () => ({}) } as never,
      new AbortController().signal,
      form,
    );
  const record = {
    ...{ payment_rail: 3, protocol_fee_bps: 30, slippage_bps: "50", kind: 1, subject_type: 0 },
    ...{ token: COIN, max_per_day: "0", max_per_payment: "1500000000000000000", bond: "2500000000000000000" },
    ...{ from: "1767225600", to: "17", seen_at: "2026-01-01T00:00:00.000Z" },
    ...{ settled_volume: "1000000000000000000", other: { settled_volume: "12345", kind: "delegate" } },
    unknown: [{ token: OTHER, settled_volume: "12345" }],
  };
  expect(await amounts.name([{ payment_rail: 3, bond: "1", slippage_bps: "50" }])).toEqual([
    { payment_rail: 3, bond: "1", slippage_bps: "50" },
  ]);
  expect(await named("symbol").name([record])).toEqual([
    {
      ...{ payment_rail: "x402", protocol_fee_bps: "0.3 %", slippage_bps: "0.5 %" },
      ...{ kind: "Risk", subject_type: "merchant", token: "ETH", max_per_day: "no limit" },
      ...{ from: "2026-01-01 00:00:00", to: "17", seen_at: "2026-01-01 00:00:00" },
      ...{ max_per_payment: "1.5 ETH", bond: "2.5 ETH", settled_volume: "1 ETH" },
      other: { settled_volume: "12345 units of ETH", kind: "delegate" },
      unknown: [{ token: OTHER, settled_volume: "12,345 units" }],
    },
  ]);
  const solver = {
    win_rate: "0.530769",
    avg_latency_seconds: "151.6",
    avg_surplus_out: "10246071860730971.3",
  };
  const summary = { receipts: "2", quoted_volume: "5", settled_volume: "5", settled_protocol_fees: "0" };
  expect(await named("symbol").name([{ ...solver, summary, win_rate_of: null }])).toEqual([
    { win_rate: "53.1 %", avg_latency_seconds: "2 min", summary: { receipts: "2" }, win_rate_of: null },
  ]);
  expect(await amounts.name([{ ...solver, summary }])).toEqual([{ ...solver, summary }]);
  expect(
    await named("symbol and address").name([{ token: COIN, amount: "0", rows: [{ token: COIN }] }]),
  ).toEqual([{ token: `ETH ${COIN}`, amount: "0 ETH", rows: [{ token: "ETH" }] }]);
});

it("ranks by receipts at a terminal what the API ranks by sums over several tokens", async () => {
  const deployments = async () => ({ tokens: TOKENS });
  const atTerminal = new TokenAmounts(
    { getDeployments: deployments } as never,
    new AbortController().signal,
    "symbol and address",
  );
  const merchants = [
    { merchant_id: "1", receipts: "2", settled_volume: "90000000000000000000" },
    { merchant_id: "2", receipts: "10", settled_volume: "90000000" },
  ];
  const idsOf = async (record: object) => {
    const [shown] = await atTerminal.name([record as { top: typeof merchants }]);
    return shown?.top.map((each) => each.merchant_id);
  };
  expect(await idsOf({ top: merchants })).toEqual(["2", "1"]);
  expect(await idsOf({ token: USDC, top: merchants })).toEqual(["1", "2"]);
});
