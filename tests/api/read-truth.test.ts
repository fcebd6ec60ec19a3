// Correctness of reads: states, best bids, policies, averages, reputations, analytics and explanations.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { SHARED_HISTORY_MS_MAX } from "../support/index/simulated-history.ts";
import { type ApiRecord, openReadStage, type ReadStage } from "./api-stage.ts";
import {
  ANALYTICS_SHAPE,
  ANALYTICS_SUMMARY_SHAPE,
  BID_SHAPE,
  expectShape,
  FILL_SHAPE,
  INTENT_SHAPE,
  MERCHANT_SHAPE,
  METADATA_SHAPE,
  POLICY_SHAPES,
  PROVENANCE_SHAPE,
} from "./record-shapes.ts";

let stage: ReadStage;
const UNKNOWN_ADDRESS = `0x${"ab".repeat(20)}`;

beforeAll(async () => {
  stage = await openReadStage();
}, SHARED_HISTORY_MS_MAX);
afterAll(() => stage.close());

const current = (table: string, columns = "*") => `select ${columns} from ${table} where valid_to is null`;

describe("intents", () => {
  it("shows an intent with its fill, and with metadata when read alone", async () => {
    const { intent_id, intent_hash = "" } = await stage.first(
      "select i.* from intents i join fills f using (intent_id)",
    );
    const alone = await stage.body(`/intents/${intent_id}`);
    expectShape(alone, { ...INTENT_SHAPE, metadata: "object?" });
    expectShape(alone.fill, FILL_SHAPE);
    expect(alone).toMatchObject({ status: "FILLED", metadata: null });
    await stage.database.query({
      text: "insert into intent_metadata (intent_hash, execution_data) values ($1, '0x1234')",
      values: [intent_hash],
    });
    const later = await stage.body(`/intents/${intent_id}?include=provenance`);
    expectShape(later.metadata, METADATA_SHAPE);
    expect(later.metadata).toMatchObject({ intent_id, execution_data: "0x1234", execution_target: null });
  });

  it("shows what an intent requires and proved on request, now and then", async () => {
    const rows = await stage.rows(
      "select i.*, f.block_number as filled_at, p.result_hash, p.trace_hash, p.attestation_id from intents i" +
        " join fills f using (intent_id) join fill_proofs p using (intent_id) where i.valid_to is null limit 5",
    );
    expect(rows.length).toBeGreaterThan(0);
    for (const row of rows) {
      const path = `/intents/${row.intent_id}`;
      // Another test writes metadata past the API, which then may be cached or not.
      const { metadata: _, ...plain } = await stage.body(path);
      const full = await stage.body(`${path}?include=requirements`);
      const { fill, requirements, metadata: _same, ...rest } = full;
      const { execution_target, data_hash, required_attestation_subject } = row;
      const { required_attestation_schema, metadata_uri_hash } = row;
      const expected = {
        ...{ execution_target, data_hash, required_attestation_subject },
        ...{ required_attestation_schema, metadata_uri_hash },
      };
      expect(requirements).toEqual(expected);
      const { result_hash, trace_hash, attestation_id } = row;
      expect(fill).toEqual({ ...(plain.fill as object), result_hash, trace_hash, attestation_id });
      // Without it the record is exactly the specified one.
      expect({ ...rest, fill: plain.fill }).toEqual(plain);
      expectShape(plain.fill, FILL_SHAPE);
      const before = await stage.body(`${path}?include=requirements&block=${Number(row.filled_at) - 1}`);
      expect(before).toMatchObject({ requirements: expected, fill: null });
      for (const both of ["requirements,provenance", "provenance,requirements"]) {
        const record = await stage.body(`${path}?include=${both}`);
        expect(record).toMatchObject({ requirements: expected, tx_hash: row.tx_hash });
      }
    }
    const { records } = await stage.page("/intents?status=filled&include=requirements", "intents");
    for (const { fill, requirements } of records) {
      expect([Object.keys(requirements as object).length, Object.keys(fill as object).length]).toEqual([
        5, 8,
      ]);
    }
    for (const wrong of [
      "requirement",
      "requirements,",
      "requirements,requirements",
      "provenance%20requirements",
    ]) {
      expect((await stage.get(`/intents?include=${wrong}`)).status).toBe(400);
    }
    expect((await stage.get("/agents/1?include=requirements")).status).toBe(400);
  });

  it("filters intents by state in any letter case, without expired ones among the open", async () => {
    const { block_timestamp } = await stage.first("select block_timestamp from checkpoint");
    const expected = await stage.rows(
      `select case when status = 'OPEN' and deadline <= ${block_timestamp} then 'EXPIRED' else status end as status,
         intent_id from intents where valid_to is null order by intent_id desc`,
    );
    for (const word of ["open", "OPEN", "Filled", "cancelled", "expired"]) {
      const { records } = await stage.page(`/intents?status=${word}&limit=100`, "intents");
      const ids = expected.filter(({ status }) => status === word.toUpperCase()).map((row) => row.intent_id);
      expect(ids.length, word).toBeGreaterThan(0);
      expect(records.map((each) => each.intent_id)).toEqual(ids.slice(0, 100));
      for (const each of records) expect(each.status).toBe(word.toUpperCase());
    }
  });
});

describe("intents of a pair or a solver", () => {
  it.each([
    ["pair", "hex_text(input_token) || '-' || hex_text(output_token)"],
    ["solver", "hex_text(selected_solver)"],
  ])("filters intents by %s, newest first, in any letter case", async (name, expression) => {
    const { value } = await stage.first(
      `select ${expression} as value from intents where valid_to is null and selected_solver is not null limit 1`,
    );
    const expected = await stage.rows(
      `select intent_id from intents where valid_to is null and ${expression} = '${value}' order by intent_id desc limit 100`,
    );
    const given = String(value).toUpperCase().replaceAll("0X", "0x");
    const { records } = await stage.page(`/intents?${name}=${given}&limit=100`, "intents");
    expect(expected.length).toBeGreaterThan(0);
    expect(records.map((each) => each.intent_id)).toEqual(expected.map((row) => row.intent_id));
  });

  it("rejects a pair that is not two addresses", async () => {
    const address = `0x${"1".repeat(40)}`;
    for (const wrong of [address, `${address}-`, `${address}-${address}-${address}`, `-${address}`])
      expect((await stage.get(`/intents?pair=${wrong}`)).status, wrong).toBe(400);
  });
});

describe("bids", () => {
  const whole = (value: unknown) => BigInt(String(value));
  const bestFirst = (a: ApiRecord, b: ApiRecord) => {
    const differences = [
      whole(b.amount_out) - whole(a.amount_out),
      whole(a.amount_in) - whole(b.amount_in),
      whole(a.fee) - whole(b.fee),
      whole(a.chain_bid_id) - whole(b.chain_bid_id),
    ];
    return Number(differences.find((difference) => difference !== 0n) ?? 0n);
  };

  it("sorts bids best first, with states that follow the selection on chain", async () => {
    const seen = new Set<unknown>();
    for (const { intent_id, selected_bid_id, count } of await stage.rows(
      `select b.intent_id, i.selected_bid_id, count(*) from bids b
       join intents i on i.intent_id = b.intent_id and i.valid_to is null where b.valid_to is null group by 1, 2`,
    )) {
      const { records: bids } = await stage.page(`/intents/${intent_id}/bids`, "bids");
      expect(bids).toHaveLength(Number(count));
      expect(bids).toEqual([...bids].sort(bestFirst));
      for (const each of bids) {
        expectShape(each, BID_SHAPE);
        expect(each.bid_id).toBe(`${intent_id}-${each.chain_bid_id}`);
        expectShape(each.execution_plan, { execution_hash: "hash" });
        const decided = each.chain_bid_id === selected_bid_id ? "SELECTED" : "REJECTED";
        expect(selected_bid_id === null ? ["OPEN", "EXPIRED"] : [decided]).toContain(each.status);
        seen.add(each.status);
      }
      for (const status of new Set(bids.map((each) => String(each.status)))) {
        const some = await stage.page(`/intents/${intent_id}/bids?status=${status.toLowerCase()}`, "bids");
        expect(some.records).toEqual(bids.filter((each) => each.status === status));
      }
    }
    expect([...seen].sort()).toEqual(["EXPIRED", "OPEN", "REJECTED", "SELECTED"]);
  });

  it("lists offchain bids among the bids of an intent", async () => {
    const { intent_id = "" } = await stage.first(
      `select b.intent_id from bids b join intents i on i.intent_id = b.intent_id and i.valid_to is null
       where i.status = 'OPEN' and i.selected_bid_id is null
         and i.deadline > (select block_timestamp from checkpoint) group by 1`,
    );
    const path = `/intents/${intent_id}/bids`;
    const before = (await stage.page(path, "bids")).records;
    await stage.database.query({
      text: `insert into offchain_bids (intent_id, solver, amount_in, amount_out, fee, valid_until, execution_plan)
             select $1, $2, amount, case amount when 1 then 1e70 else 0 end, 0, 4000000000, '{"route": ["a"]}'
             from unnest(array[1e70, 1]) amount`,
      values: [intent_id, UNKNOWN_ADDRESS],
    });
    // The API is not notified of rows written directly, so each read uses another URL.
    const { records } = await stage.page(`${path}?limit=99`, "bids");
    const [best] = records;
    expect(records).toHaveLength(before.length + 2);
    expect(records.slice(1, -1)).toEqual(before);
    expectShape(best, BID_SHAPE);
    expect(best).toMatchObject({ chain_bid_id: null, status: "OPEN", execution_plan: { route: ["a"] } });
    expect(await stage.pages(path, "bids", 1)).toEqual(records);
    const placed = await stage.page(`${path}?include=provenance`, "bids");
    expect(placed.records[0]).toEqual({
      ...best,
      ...Object.fromEntries(["block_number", ...Object.keys(PROVENANCE_SHAPE)].map((key) => [key, null])),
    });
    expectShape(placed.records[1], { ...BID_SHAPE, block_number: "number", ...PROVENANCE_SHAPE });

    await stage.database.query({
      text: "update offchain_bids set status = 'SELECTED' where bid_id = $1",
      values: [String(best?.bid_id)],
    });
    const chosen = await stage.page(`${path}?limit=98`, "bids");
    expect(chosen.records.map((each) => each.status)).toEqual([
      "SELECTED",
      ...records.slice(1).map(() => "REJECTED"),
    ]);
    await stage.database.query("delete from offchain_bids");
  });
});

describe("policies", () => {
  it("lists policies with the keys of their kind, sorted by kind and subject", async () => {
    const kinds = new Set<unknown>();
    const accounts = await stage.rows(`${current("policies", "account, count(*)")} group by 1`);
    for (const { account = "", count } of accounts) {
      const path = `/accounts/0x${account.slice(2).toUpperCase()}/policies`;
      const { records, keys } = await stage.page(`${path}?limit=100`, "policies");
      expect(keys).toEqual(["account", "policies", "pagination"]);
      expect((await stage.body(path)).account).toBe(account);
      expect(records).toHaveLength(Number(count));
      for (const each of records) expectShape(each, POLICY_SHAPES[String(each.policy_type)] ?? {});
      const subjects = await stage.rows(
        `${current("policies", "policy_type")} and hex_text(account) = '${account}' order by policy_type, policy_subject`,
      );
      expect(records.map((each) => each.policy_type)).toEqual(subjects.map((row) => row.policy_type));
      for (const each of records) kinds.add(each.policy_type);
      expect(await stage.pages(path, "policies", 4)).toEqual(records);
    }
    expect([...kinds].sort()).toEqual(Object.keys(POLICY_SHAPES).sort());
  });

  it("lists no policies for an account without any", async () => {
    expect(await stage.body(`/accounts/${UNKNOWN_ADDRESS}/policies`)).toEqual({
      account: UNKNOWN_ADDRESS,
      policies: [],
      pagination: { limit: 50, offset: 0, count: 0 },
    });
  });
});

describe("numbers", () => {
  it("counts the numbers of solvers and attestors as a recount does", async () => {
    const solvers = await stage.pages("/solvers", "solvers", 50);
    for (const each of solvers) {
      const counted = await stage.first(
        `select count(*) as fills, sum(latency_blocks) as latency, sum(surplus_out) as surplus
         from fills where valid_to is null and hex_text(solver) = '${each.operator}'`,
      );
      expect([each.fills, each.successful_fills, each.failed_fills]).toEqual([
        counted.fills,
        counted.fills,
        "0",
      ]);
      expect(each.avg_latency_blocks).toBe(average(counted.latency, counted.fills));
      expect(each.avg_surplus_out).toBe(average(counted.surplus, counted.fills));
      const bid = await stage.first(
        `select count(*) as bids, count(*) filter (where i.selected_bid_id = b.chain_bid_id) as selected
         from bids b join intents i using (intent_id)
         where b.valid_to is null and i.valid_to is null and hex_text(b.solver) = '${each.operator}'`,
      );
      expect([each.bids, each.selected_bids]).toEqual([bid.bids, bid.selected]);
      expect(each.win_rate).toBe(average(bid.selected, bid.bids));
      const timed = await stage.first(
        `select sum(f.timestamp - s.timestamp) as seconds from fills join intents i using (intent_id)
         join blocks f on f.number = fills.block_number join blocks s on s.number = i.block_number
         where fills.valid_to is null and i.valid_to is null and hex_text(solver) = '${each.operator}'`,
      );
      expect(each.avg_latency_seconds).toBe(average(timed.seconds, counted.fills));
    }
    expect(solvers.filter((each) => each.selected_bids !== "0").length).toBeGreaterThan(0);
    expect(solvers.filter((each) => each.fills === "0").length).toBeGreaterThan(0);
    expect(solvers.filter((each) => each.fills !== "0").length).toBeGreaterThan(0);
    for (const each of await stage.pages("/attestors", "attestors", 50)) {
      const counted = await stage.first(
        `${current("attestations", "count(*) as all, count(*) filter (where revoked) as revoked")} and hex_text(attester) = '${each.operator}'`,
      );
      expect([each.attestations, each.revoked_attestations]).toEqual([counted.all, counted.revoked]);
    }
  });

  /** Rounds half up to six decimals, without trailing zeros; null for no values. */
  function average(sum: string | null | undefined, count: string | undefined): string | null {
    if (count === "0" || count === undefined) return null;
    const millionths = (BigInt(String(sum)) * 2_000_000n + BigInt(count)) / (2n * BigInt(count));
    const decimals = String(millionths % 1_000_000n).padStart(6, "0");
    return `${millionths / 1_000_000n}.${decimals}`.replace(/\.?0+$/, "");
  }

  it("counts a merchant's reputation as a recount does", async () => {
    for (const merchant of await stage.pages("/merchants", "merchants", 50)) {
      const { merchant_id } = merchant;
      const reputation = await stage.body(`/merchants/${merchant_id}/reputation`);
      expect(Object.keys(reputation)).toEqual(["merchant", "commerce", "disputes", "trust_signals_by_kind"]);
      expectShape(reputation.merchant, MERCHANT_SHAPE);
      expect(reputation.merchant).toEqual(merchant);
      expect(reputation.commerce).toEqual(
        await stage.first(
          `select count(*) as receipts, coalesce(sum(amount), 0) as settled_volume,
             count(fulfillment_hash) as fulfilled_receipts
           from receipts where valid_to is null and merchant_id = ${merchant_id}`,
        ),
      );
      expect(reputation.disputes).toEqual(
        await stage.first(
          `select count(*) as disputes, count(*) filter (where d.status = 'OPEN') as open_disputes,
             count(*) filter (where d.status = 'RESOLVED') as resolved_disputes,
             count(*) filter (where d.status = 'REJECTED') as rejected_disputes
           from disputes d join receipts r on r.receipt_id = d.receipt_id and r.valid_to is null
           where d.valid_to is null and r.merchant_id = ${merchant_id}`,
        ),
      );
      expect(reputation.trust_signals_by_kind).toEqual(
        await stage.rows(
          `${current("trust_signals", "kind, count(*) as signals")} and subject_type = 0
             and subject_id = ${merchant_id} group by 1 order by 2 desc, 1`,
        ),
      );
    }
  });

  it("counts analytics as a recount does", async () => {
    const analytics = await stage.body<Readonly<Record<string, readonly ApiRecord[]>>>("/analytics/commerce");
    expect(Object.keys(analytics)).toEqual(["summary", ...Object.keys(ANALYTICS_SHAPE)]);
    expectShape(analytics.summary, ANALYTICS_SUMMARY_SHAPE);
    const of = (table: string, what: string, condition = "true") =>
      `(${current(table, what)} and ${condition})`;
    const both = (table: string) =>
      `${of(table, "count(*)")} as ${table}, ${of(table, "count(*)", "active")} as active_${table}`;
    const disputed = ["open", "resolved", "rejected"].map(
      (state) => `${of("disputes", "count(*)", `status = '${state.toUpperCase()}'`)} as ${state}_disputes`,
    );
    expect(analytics.summary).toEqual(
      await stage.first(
        `select ${both("merchants")}, ${both("services")}, ${both("facilitators")},
           ${of("quotes", "count(*)")} as quotes, ${of("quotes", "count(*)", "settled")} as settled_quotes,
           ${of("quotes", "sum(amount)")} as quoted_volume,
           ${of("quotes", "sum(protocol_fee_amount)")} as quoted_protocol_fees,
           ${of("receipts", "count(*)")} as receipts, ${of("receipts", "sum(amount)")} as settled_volume,
           ${of("receipts", "sum(protocol_fee_amount)")} as settled_protocol_fees,
           ${of("disputes", "count(*)")} as disputes, ${disputed.join(", ")}`,
      ),
    );
    const volume = `count(*) as receipts, sum(r.amount) as settled_volume, sum(r.protocol_fee_amount) as protocol_fees`;
    const grouped = (keys: string, by: string, rest = "") =>
      `select ${keys}, ${volume} from receipts r ${rest} where r.valid_to is null group by ${by}
       order by sum(r.amount) desc, 1 desc limit 20`;
    const expected: Readonly<Record<string, string>> = {
      volume_by_token: grouped("token", "1"),
      top_merchants: grouped(
        "r.merchant_id, m.owner",
        "1, 2",
        "join merchants m on m.merchant_id = r.merchant_id and m.valid_to is null",
      ),
      top_services: grouped(
        "r.service_numeric_id, s.service_id, s.merchant_id",
        "1, 2, 3",
        "join services s on s.service_numeric_id = r.service_numeric_id and s.valid_to is null",
      ),
      facilitator_volume: `select * from (${grouped("facilitator", "1")}) f where hex_text(facilitator) !~ '^0x0+$'`,
      volume_by_payment_rail: grouped("payment_rail", "1"),
      trust_signals_by_kind: `${current("trust_signals", "kind, count(*) as signals")} group by 1 order by 2 desc, 1 desc`,
    };
    for (const [array, shape] of Object.entries(ANALYTICS_SHAPE)) {
      expect(analytics[array]?.length, array).toBeGreaterThan(0);
      for (const each of analytics[array] ?? []) expectShape(each, shape);
      expect(analytics[array], array).toEqual(await stage.rows(expected[array] ?? ""));
    }
  });

  it("counts totals as a recount does", async () => {
    type Totals = { readonly totals: ApiRecord; readonly interval: string; readonly series: ApiRecord[] };
    const { block_timestamp: now } = await stage.first("select block_timestamp from checkpoint");
    const count = (table: string, condition = "true", what = "*") =>
      `(${current(table, `count(${what})`)} and ${condition})`;
    const expected = await stage.first(
      `select ${count("agents")} as agents, ${count("policies", "true", "distinct account")} as accounts,
         ${count("intents")} as intents, ${count("intents", `status = 'OPEN' and deadline > ${now}`)} as open_intents,
         ${count("intents", "status = 'FILLED'")} as filled_intents,
         ${count("intents", "status = 'CANCELLED'")} as cancelled_intents,
         ${count("intents", `status = 'OPEN' and deadline <= ${now}`)} as expired_intents,
         ${["bids", "fills", "solvers", "attestors", "attestations", "merchants", "services"].map((table) => `${count(table)} as ${table}`).join(", ")},
         ${["facilitators", "quotes", "receipts", "disputes"].map((table) => `${count(table)} as ${table}`).join(", ")},
         ${count("disputes", "status = 'OPEN'")} as open_disputes, ${count("trust_signals")} as trust_signals`,
    );
    for (const [interval, seconds, length] of [
      ["day", 86_400, 30],
      ["hour", 3_600, 48],
    ] as const) {
      const { totals, series, ...rest } = await stage.body<Totals>(`/totals?interval=${interval}`);
      expect(rest).toEqual({ interval });
      expect(totals).toEqual(expected);
      expect(Object.keys(totals)).toEqual(Object.keys(expected));
      const last = Math.floor(Number(now) / seconds);
      expect(series.map(({ start }) => start)).toEqual(
        Array.from({ length }, (_, index) => String((last - length + 1 + index) * seconds)),
      );
      for (const { start, ...counts } of series) {
        const within = `p.timestamp >= ${start} and p.timestamp < ${Number(start) + seconds}`;
        const came = (table: string) =>
          `(select count(*) from ${table} t join blocks p on p.number = t.block_number where t.valid_to is null and ${within}) as ${table}`;
        const tables = [
          "agents",
          "intents",
          "bids",
          "fills",
          "attestations",
          "merchants",
          "receipts",
          "disputes",
        ];
        expect(counts).toMatchObject(await stage.first(`select ${tables.map(came).join(", ")}`));
      }
      expect(series.filter(({ receipts }) => receipts !== "0").length, interval).toBeGreaterThan(0);
    }
    expect(await stage.body("/totals")).toEqual(await stage.body("/totals?interval=day"));
  });

  const SUMS =
    "count(*) as receipts, sum(r.amount) as settled_volume, sum(r.protocol_fee_amount) as protocol_fees";

  it("sums volumes as the receipts do", async () => {
    type Volumes = { readonly from: string; readonly to: string; readonly volumes: readonly ApiRecord[] };
    const { block_timestamp: now } = await stage.first("select block_timestamp from checkpoint");
    const expected = (seconds: number, from: number, to: number, condition: string) =>
      stage.rows(
        `select p.timestamp / ${seconds} * ${seconds} as start, r.token, ${SUMS}
         from receipts r join blocks p on p.number = r.block_number
         where r.valid_to is null and p.timestamp >= ${from} and p.timestamp < ${to + seconds} and ${condition}
         group by 1, 2 order by 1, 2`,
      );
    const some = await stage.first(
      `${current("receipts")} and hex_text(facilitator) !~ '^0x0+$' order by receipt_id desc limit 1`,
    );
    const through = `hex_text(r.facilitator) = '${some.facilitator}'`;
    const filters: Readonly<Record<string, string>> = {
      "": "true",
      [`&token=${some.token}`]: `hex_text(r.token) = '${some.token}'`,
      [`&merchant_id=${some.merchant_id}`]: `r.merchant_id = ${some.merchant_id}`,
      [`&payment_rail=${some.payment_rail}`]: `r.payment_rail = ${some.payment_rail}`,
      [`&facilitator=${some.facilitator}`]: through,
      [`&facilitator=${some.facilitator}&token=${some.token}`]: `${through} and hex_text(r.token) = '${some.token}'`,
      [`&token=${UNKNOWN_ADDRESS}`]: "false",
    };
    for (const [interval, seconds, count] of [
      ["day", 86_400, 30],
      ["hour", 3_600, 48],
    ] as const) {
      const to = Math.floor(Number(now) / seconds) * seconds;
      for (const [filter, condition] of Object.entries(filters)) {
        const from = to - (count - 1) * seconds;
        const path = `/analytics/volumes?interval=${interval}${filter}`;
        const recent = await stage.body<Volumes>(path);
        expect(Object.keys(recent)).toEqual(["interval", "from", "to", "volumes"]);
        expect(recent).toMatchObject({ interval, from: String(from), to: String(to) });
        expect(recent.volumes, path).toEqual(await expected(seconds, from, to, condition));
        if (condition !== "false" && interval === "day")
          expect(recent.volumes.length, path).toBeGreaterThan(0);
        const one = await stage.body<Volumes>(`${path}&from=${to + 5}&to=${to + 7}`);
        expect(one).toMatchObject({ from: String(to), to: String(to) });
        expect(one.volumes).toEqual(await expected(seconds, to, to, condition));
        const open = await stage.body<Volumes>(`${path}&from=${to - 3 * seconds}`);
        expect(open).toMatchObject({ from: String(to - 3 * seconds), to: String(to) });
      }
      const far = await stage.body<Volumes>(`/analytics/volumes?interval=${interval}&from=0`);
      expect(far).toEqual({ interval, from: "0", to: String(399 * seconds), volumes: [] });
      const oldest = await stage.body<Volumes>(`/analytics/volumes?interval=${interval}&to=0`);
      expect(oldest).toEqual({ interval, from: "0", to: "0", volumes: [] });
    }
  });

  it("shows volumes of the tokens with the most receipts, whatever their amounts", async () => {
    const { token, merchant_id } = await stage.first(
      "select token, merchant_id from merchant_flows where valid_to is null order by receipts desc, settled_volume limit 1",
    );
    const worthless = [1, 2, 3, 4, 5].map((digit) => `0x${String(digit).repeat(40)}`);
    for (const each of worthless) {
      await stage.database.query(
        `insert into merchant_flows (token, merchant_id, receipts, settled_volume, protocol_fees, valid_from)
         values ('\\x${each.slice(2)}', ${merchant_id}, 1, 1e60, 0, 0)`,
      );
      await stage.database.query(
        `insert into token_volumes (token, receipts, settled_volume, protocol_fees, valid_from) values ('\\x${each.slice(2)}', 1, 1e60, 0, 0)`,
      );
    }
    try {
      // With a range of its own, so that no response of another test is in the cache.
      const { block_timestamp: now } = await stage.first("select block_timestamp from checkpoint");
      for (const filter of ["", `&merchant_id=${merchant_id}`]) {
        const { volumes } = await stage.body<{ volumes: readonly ApiRecord[] }>(
          `/analytics/volumes?from=${Number(now) - 31 * 86_400}&to=${now}${filter}`,
        );
        expect(volumes.map((each) => each.token)).toContain(token);
      }
    } finally {
      const list = worthless.map((each) => `'${each}'`).join(", ");
      await stage.database.query(`delete from merchant_flows where hex_text(token) in (${list})`);
      await stage.database.query(`delete from token_volumes where hex_text(token) in (${list})`);
    }
  });

  it("sums flows as the receipts do, each list up to the total", async () => {
    type Lists = Readonly<Record<"merchants" | "payers" | "facilitators", readonly ApiRecord[]>>;
    const add = (list: readonly ApiRecord[], column: string) =>
      String(list.reduce((sum, each) => sum + BigInt(String(each[column])), 0n));
    for (const { token } of await stage.rows(`${current("receipts", "distinct token")}`)) {
      const path = `/analytics/flows?token=${token}`;
      const [total, lists] = [await stage.body(path), await stage.body<Lists>(path)];
      const of = (keys: string) =>
        stage.rows(
          `select ${keys}, ${SUMS} from receipts r where r.valid_to is null and hex_text(r.token) = '${token}'
           group by ${keys} order by sum(r.amount) desc, merchant_id desc, ${keys.split(",")[0]} desc`,
        );
      const named = (list: readonly ApiRecord[], key: string) => list.filter((each) => each[key] !== null);
      const merchants = (await of("merchant_id")).slice(0, 20);
      expect(named(lists.merchants, "merchant_id")).toEqual(merchants);
      const shown = merchants.map((each) => each.merchant_id);
      for (const [list, key] of [
        [lists.payers, "agent"],
        [lists.facilitators, "facilitator"],
      ] as const) {
        const links = (await of(`${key}, merchant_id`)).filter((each) => shown.includes(each.merchant_id));
        expect(named(list, key)).toEqual(links.slice(0, 20));
        for (const column of ["receipts", "settled_volume", "protocol_fees"]) {
          expect(add(list, column)).toBe(total[column]);
          for (const merchant of merchants) {
            const own = list.filter((each) => each.merchant_id === merchant.merchant_id);
            expect(add(own, column)).toBe(merchant[column]);
          }
        }
      }
    }
    expect(await stage.body(`/analytics/flows?token=${UNKNOWN_ADDRESS}`)).toEqual({
      ...{ token: UNKNOWN_ADDRESS, receipts: "0", settled_volume: "0", protocol_fees: "0" },
      ...{ merchants: [], payers: [], facilitators: [] },
    });
  });

  it.each(["/analytics/commerce", "/totals", "/analytics/volumes"])(
    "serves %s back to the finalized block only",
    async (path) => {
      const { finalized_block } = await stage.first("select finalized_block from checkpoint");
      expect((await stage.get(`${path}?block=${finalized_block}`)).status).toBe(200);
      const older = await stage.get(`${path}?block=${Number(finalized_block) - 1}`);
      expect(older.status).toBe(400);
      expect(older.text).toContain(`from block ${finalized_block} on`);
    },
  );
});

describe("explanations", () => {
  type Explanation = {
    readonly tx_hash: string;
    readonly block_number: string;
    readonly summary: string;
    readonly events: readonly { eventName: string; args: ApiRecord; description: string }[];
  };

  it("explains every event of a transaction in order, with integers as text", async () => {
    const names = new Set<string>();
    // One of each type of event, and those with the most.
    for (const { tx, block_number, count } of await stage.rows(
      `select encode(tx_hash, 'hex') as tx, block_number, count(*) from logs
       where tx_hash in (select distinct on (substring(topics from 1 for 32)) tx_hash from logs
           order by substring(topics from 1 for 32), block_number desc)
         or tx_hash in (select tx_hash from logs group by 1 order by count(*) desc limit 20)
       group by 1, 2`,
    )) {
      const explanation = await stage.body<Explanation>(`/tx/0x${tx?.toUpperCase()}/explain`);
      expect(Object.keys(explanation)).toEqual(["tx_hash", "block_number", "summary", "events"]);
      expect(explanation).toMatchObject({ tx_hash: `0x${tx}`, block_number });
      expect(explanation.events).toHaveLength(Number(count));
      const sentences = explanation.events.map(({ description }) => description).join("; ");
      expect(explanation.summary).toBe(`Transaction contained ${count} event(s): ${sentences}.`);
      for (const each of explanation.events) {
        expectShape(each, { eventName: "text", args: "object", description: "text" });
        for (const value of Object.values(each.args)) expect(["string", "boolean"]).toContain(typeof value);
        names.add(each.eventName);
      }
    }
    expect(names.size).toBeGreaterThan(20);
  });

  it("explains an intent by id, owner and nonce, and responds 404 before its block", async () => {
    const intent = await stage.first(`${current("intents")} order by intent_id limit 1`);
    const { events } = await stage.body<Explanation>(`/tx/${intent.tx_hash}/explain`);
    const submitted = events.find(({ args }) => args.intentId === intent.intent_id);
    expect(submitted).toMatchObject({
      eventName: "IntentSubmitted",
      description: `Intent #${intent.intent_id} submitted by ${intent.owner}`,
    });
    expect(Object.entries(submitted?.args ?? {})).toEqual([
      ["intentId", intent.intent_id],
      ["owner", intent.owner],
      ["nonce", intent.nonce],
    ]);
    const before = Number(intent.block_number) - 1;
    expect((await stage.get(`/tx/${intent.tx_hash}/explain?block=${before}`)).status).toBe(404);
  });
});
