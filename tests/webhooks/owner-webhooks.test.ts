// Webhooks of owners over HTTP, on a real chain: who may register, what they get, and what they can do later.
import {
  openPolicyAccount,
  setAccountFrozen,
  setSessionKey,
} from "@sextant/simulator/transactions/policy-accounts";
import type { Wallet } from "@sextant/simulator/world";
import type { Hex } from "viem";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { afterAll, afterEach, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { parseWebhookUrl } from "../../src/api/webhooks/send.ts";
import { webhooksWriteSubject, webhookWriteSubject } from "../../src/api/writes/signed-write.ts";
import { createPublicNetwork } from "../../src/lib/public-network.ts";
import { INTENT_OWNER, openWriteStage, UNRELATED_ACCOUNT, type WriteStage } from "../api/write-stage.ts";
import { Receiver } from "./receiver.ts";

let stage: WriteStage;
let nonce = 0n;
beforeAll(async () => {
  stage = await openWriteStage();
  for (const owner of [INTENT_OWNER, UNRELATED_ACCOUNT]) await submit(owner);
  await stage.waitUntilSynced();
});
afterAll(() => stage.close());
afterEach(() => stage.index.database.query("truncate webhooks"));

const patiently = { timeout: 15_000, interval: 20 };

async function startReceiver(): Promise<Receiver> {
  const receiver = await Receiver.start();
  onTestFinished(() => receiver.stop());
  return receiver;
}

type Fields = Readonly<Record<string, unknown>>;

function register(
  url: string,
  options: { by?: number; owner?: number; fields?: Fields; version?: bigint } = {},
) {
  const { by = INTENT_OWNER, owner = by, fields = {}, version = stage.nextVersion() } = options;
  const body = { owner: stage.addressOf(owner), url, ...fields };
  return stage.send(stage.person(by), webhooksWriteSubject("registerWebhook"), {
    ...{ method: "POST", path: "/webhooks", body, version },
  });
}

function manage(id: unknown, body: Fields, by = INTENT_OWNER) {
  return stage.send(stage.person(by), webhookWriteSubject(String(id)), {
    ...{ method: "POST", path: `/webhooks/${String(id)}`, body, version: stage.nextVersion() },
  });
}

const submit = (owner: number) => {
  nonce += 1n;
  return stage.submit(owner, nonce);
};

const namesOf = (receiver: Receiver) =>
  receiver.attempts.map(({ type, data }) => `${type} ${(data.args as Fields | undefined)?.intentId ?? ""}`);

describe("a webhook of an owner", () => {
  it("sends an owner the events of what the owner has, and none of others", async () => {
    const receiver = await startReceiver();
    const { status, body } = await register(receiver.url);
    expect(status).toBe(201);
    expect(body).toMatchObject({
      owner: stage.addressOf(INTENT_OWNER).toLowerCase(),
      status: "active",
      finality: "instant",
    });
    receiver.expectSecret(() => String(body.secret));
    const others = await submit(UNRELATED_ACCOUNT);
    const own = await submit(INTENT_OWNER);
    // The event names the intent and no account.
    await stage.cancel(UNRELATED_ACCOUNT, others);
    await stage.cancel(INTENT_OWNER, own);
    await submit(UNRELATED_ACCOUNT);
    await stage.waitUntilSynced();
    await expect
      .poll(() => namesOf(receiver), patiently)
      .toEqual([`event.IntentSubmitted ${own}`, `event.IntentCancelled ${own}`]);
    expect(receiver.problems).toEqual([]);
  });

  it("sends an undo, and nothing of another owner whose intent has the id after a reorg", async () => {
    const receiver = await startReceiver();
    await register(receiver.url);
    const own = await submit(INTENT_OWNER);
    await stage.waitUntilSynced();
    await expect.poll(() => receiver.ids.length, patiently).toBe(1);
    await stage.reorg(1);
    nonce += 100n;
    expect(await submit(UNRELATED_ACCOUNT)).toBe(own);
    await stage.cancel(UNRELATED_ACCOUNT, own);
    const next = await submit(INTENT_OWNER);
    await stage.waitUntilSynced();
    await expect
      .poll(() => namesOf(receiver), patiently)
      .toEqual([`event.IntentSubmitted ${own}`, "chain.undo ", `event.IntentSubmitted ${next}`]);
  });

  it("begins a webhook at genesis on request, with its filter", async () => {
    const receiver = await startReceiver();
    const own = await submit(INTENT_OWNER);
    await stage.cancel(INTENT_OWNER, own);
    await stage.waitUntilSynced();
    const filter = { types: ["IntentCancelled"], intent: own.toString() };
    const { body } = await register(receiver.url, {
      fields: { from: "genesis", filter, finality: "instant" },
    });
    expect(body).toMatchObject({ filter });
    await expect.poll(() => namesOf(receiver), patiently).toEqual([`event.IntentCancelled ${own}`]);
  });
});

describe("policy accounts", () => {
  const key = `0x${"4b".repeat(20)}` as const;

  it("sends an owner the events of the owner's policy accounts", async () => {
    const receiver = await startReceiver();
    const wallets = [INTENT_OWNER, UNRELATED_ACCOUNT].map((person) => stage.world().wallet(person));
    const [own = "0x", other = "0x"] = await Promise.all(
      wallets.map(async (wallet) => (await openPolicyAccount(stage.world(), wallet)).toLowerCase()),
    );
    const { status, body } = await register(receiver.url, { fields: { accounts: [own] } });
    expect(status).toBe(201);
    expect(body).toMatchObject({ accounts: [own] });
    const [owner, outsider] = wallets as [Wallet, Wallet];
    await setSessionKey(outsider, other as Hex, key, 2_000_000_000n, true);
    await setSessionKey(owner, own as Hex, key, 2_000_000_000n, true);
    await setAccountFrozen(owner, own as Hex, true);
    await stage.waitUntilSynced();
    // The account emits the first; of the second it is an argument.
    await expect
      .poll(() => receiver.attempts.map(({ type, data }) => `${type} ${data.contract}`), patiently)
      .toEqual(["event.SessionKeyUpdated PolicyAccount", "event.AccountFrozen PolicyModule"]);
    expect(receiver.attempts[0]?.data.address).toBe(own);
    expect((await stage.get(`/webhooks/${String(body.id)}`)).body).toMatchObject({ accounts: [own] });
  });

  it("rejects policy accounts of others, and addresses that are none", async () => {
    const other = await openPolicyAccount(stage.world(), stage.world().wallet(UNRELATED_ACCOUNT));
    const { IntentBook } = stage.world().contracts;
    for (const account of [other, IntentBook, stage.addressOf(INTENT_OWNER)].map((each) =>
      each.toLowerCase(),
    )) {
      const { status, body } = await register("http://127.0.0.1:1/", { fields: { accounts: [account] } });
      expect({ status, error: body.error }).toEqual({
        status: 403,
        error: `${account} is not a policy account of ${stage.addressOf(INTENT_OWNER).toLowerCase()}: its signer() is another.`,
      });
    }
    const eleven = Array.from({ length: 11 }, () => other);
    expect((await register("http://127.0.0.1:1/", { fields: { accounts: eleven } })).status).toBe(400);
  });
});

/** Rows of other owners, to fill a limit. */
const fill = (count: number, host: string) =>
  stage.index.database.query({
    text: `insert into webhooks (id, owner, url, host, subjects, finality, position, status)
           select 'wh_' || n, '0x' || lpad(n::text, 40, '0'), 'https://' || $1, $1, '{}', 'instant', 'genesis', 'paused'
           from generate_series(1, $2::int) n`,
    values: [host, count],
  });

describe("a registration", () => {
  it("accepts a registration signed by the owner, once", async () => {
    const receiver = await startReceiver();
    expect((await register(receiver.url, { by: UNRELATED_ACCOUNT, owner: INTENT_OWNER })).status).toBe(403);
    const version = stage.nextVersion();
    await register(receiver.url, { version });
    const again = await register(receiver.url, { version });
    expect(again.status).toBe(409);
    expect(String(again.body.error)).toContain("must be higher than");
  });

  it.each([
    [{ url: "ftp://receiver.example/" }, "url must be a URL that begins with https://"],
    [{ url: "http://user:password@127.0.0.1/" }, "url must have neither credentials nor a fragment"],
    [{ from: "yesterday" }, "from must be a cursor"],
    [{ filter: { types: ["Unknown"] } }, "filter.types.0 must be one of"],
    [{ filter: { intent: "-1" } }, "filter.intent must be"],
    [{ filter: { color: "red" } }, "filter has an unknown key"],
    [{ finality: "maybe" }, "finality must be one of"],
  ])("rejects a registration with %j", async (fields, message) => {
    const { status, body } = await register("http://127.0.0.1:1/", { fields });
    expect(status).toBe(400);
    expect(String(body.error)).toContain(message);
  });

  it("limits the webhooks of an owner", async () => {
    const receiver = await startReceiver();
    for (let count = 0; count < 10; count += 1) await register(receiver.url);
    const { status, body } = await register(receiver.url);
    expect({ status, error: body.error }).toEqual({
      status: 409,
      error: "An owner may have 10 webhooks; delete one first.",
    });
  });
});

describe("slots for webhooks", () => {
  /** A key that nothing on the chain has to do with. */
  const registerWithFreeKey = (url: string) => {
    const free = privateKeyToAccount(generatePrivateKey());
    const body = { owner: free.address, url };
    return stage.send(free, webhooksWriteSubject("registerWebhook"), {
      ...{ method: "POST", path: "/webhooks", body, version: stage.nextVersion() },
    });
  };
  const count = async () =>
    Number(
      (await stage.index.database.query<{ count: string }>("select count(*) from webhooks")).rows[0]?.count,
    );

  it("a key that the index does not know gets no webhook, and sends nothing to a receiver", async () => {
    const receiver = await startReceiver();
    const { status, body } = await registerWithFreeKey(receiver.url);
    expect({ status, error: String(body.error) }).toEqual({
      status: 403,
      error: expect.stringMatching(/^0x[0-9a-f]{40} is not in the index.*Register an agent/),
    });
    expect([await count(), receiver.challenges]).toEqual([0, 0]);
  });

  it.each([
    [
      "responds 2xx without the challenge",
      (challenge: string) => [200, `{"echo":{"challenge":"${challenge}"}}`],
    ],
    ["responds with the challenge and an error", (challenge: string) => [500, challenge]],
    ["responds with another challenge", () => [200, "c".repeat(43)]],
  ] as const)("a receiver gets no webhook that %s, and no response shows its text", async (_, respond) => {
    const receiver = await startReceiver();
    receiver.onChallenge((challenge, response) => {
      const [status, text] = respond(challenge);
      response.writeHead(Number(status)).end(text);
    });
    const { status, body, text } = await register(receiver.url, { by: UNRELATED_ACCOUNT });
    expect({ status, error: body.error }).toMatchObject({
      status: 409,
      error: expect.stringMatching(
        /^The receiver at 127\.0\.0\.1:\d+ did not prove itself: .*docs\/events\.md/s,
      ),
    });
    expect(text).not.toMatch(/echo|ccc/);
    expect([await count(), receiver.challenges]).toEqual([0, 1]);
  });

  it("a registration sends one challenge for one signature", async () => {
    const receiver = await startReceiver();
    receiver.onChallenge((_, response) => void response.writeHead(404).end());
    const version = stage.nextVersion();
    const statuses = await Promise.all(Array.from({ length: 4 }, () => register(receiver.url, { version })));
    expect(statuses.map(({ status }) => status)).toEqual([409, 409, 409, 409]);
    expect(receiver.challenges).toBe(1);
    receiver.onChallenge((challenge, response) => void response.end(` ${challenge}\n`));
    expect((await register(receiver.url)).status).toBe(201);
  });

  it("a host may have any number of webhooks, whose receivers have all agreed", async () => {
    const receiver = await startReceiver();
    await fill(60, new URL(receiver.url).host);
    expect((await register(receiver.url)).status).toBe(201);
  });

  it("one receiver cannot take all slots: with half of them taken, an owner has one there, or replaces unused ones", async () => {
    const receiver = await startReceiver();
    await fill(500, "127.0.0.1:9");
    expect((await register(receiver.url)).status).toBe(201);
    const { status, body } = await register(receiver.url);
    expect([status, body.error]).toEqual([
      409,
      expect.stringMatching(
        /^The receiver 127\.0\.0\.1 has 501 webhooks, .* an owner may have one at a receiver with 50\. Delete yours/,
      ),
    ]);
    expect([await count(), receiver.challenges]).toEqual([501, 1]);
    await stage.index.database.query(
      "update webhooks set created_at = now() - interval '8 days' where id in ('wh_7', 'wh_8')",
    );
    await stage.index.database.query("update webhooks set host = 'receiver.example' where id = 'wh_7'");
    expect((await register(receiver.url)).status).toBe(201);
    const { rows } = await stage.index.database.query("select id from webhooks where id in ('wh_7', 'wh_8')");
    expect([await count(), rows]).toEqual([501, [{ id: "wh_7" }]]);
    await stage.index.database.query("update webhooks set host = 'receiver.example'");
    expect((await register(receiver.url)).status).toBe(201);
  });

  it("a full server rejects a webhook, unless one that never delivered in a week makes room", async () => {
    const receiver = await startReceiver();
    await fill(1_000, "receiver.example");
    const { status, body } = await register(receiver.url);
    expect({ status, error: body.error }).toEqual({
      status: 503,
      error: "Webhook limit of this server reached. Read /events instead, or try again later.",
    });
    // Not due, so that nothing is sent there.
    await stage.index.database.query(
      "update webhooks set created_at = now() - interval '8 days', delivered = case id when 'wh_7' then 0 else 1 end, status = 'active', retry_at = now() + interval '1 day'",
    );
    expect((await register(receiver.url)).status).toBe(201);
    expect((await stage.index.database.query("select from webhooks where id = 'wh_7'")).rows).toEqual([]);
    expect([await count(), (await register(receiver.url)).status]).toEqual([1_000, 503]);
  });

  it.each([
    ["is paused", "status = 'paused'", 201],
    ["is disabled", "status = 'disabled'", 201],
    ["has delivered no new event for a quarter", "created_at = now() - interval '91 days'", 201],
    [
      "has only repeated old events since",
      "created_at = now() - interval '91 days', last_success_at = now()",
      201,
    ],
    [
      "has delivered a new event",
      `created_at = now() - interval '91 days', reached = jsonb_build_object('block', (select max(number) from blocks where log_count > 0))`,
      503,
    ],
  ])("a full server decides by its use about the slot of a webhook that %s", async (_, change, status) => {
    await fill(1_000, "receiver.example");
    await stage.index.database.query(
      "update webhooks set created_at = now() - interval '8 days', delivered = 1, status = 'active', retry_at = now() + interval '1 day'",
    );
    await stage.index.database.query(`update webhooks set ${change} where id = 'wh_7'`);
    const receiver = await startReceiver();
    expect((await register(receiver.url)).status).toBe(status);
    const { rows } = await stage.index.database.query("select from webhooks where id = 'wh_7'");
    expect(rows).toHaveLength(status === 201 ? 0 : 1);
  });

  it("an account in the index entitles all the keys that it names to the slots of one", async () => {
    const receiver = await startReceiver();
    const account = stage.addressOf(UNRELATED_ACCOUNT);
    onTestFinished(() => stage.chain.setCode(account, "0x"));
    const statuses: number[] = [];
    for (let each = 0; each < 11; each += 1) {
      const free = privateKeyToAccount(generatePrivateKey());
      // Returns this key, whatever is called.
      await stage.chain.setCode(account, `0x73${free.address.slice(2).toLowerCase()}5f5260205ff3`);
      const body = { owner: free.address, url: receiver.url, accounts: [account] };
      const { status } = await stage.send(free, webhooksWriteSubject("registerWebhook"), {
        ...{ method: "POST", path: "/webhooks", body, version: stage.nextVersion() },
      });
      statuses.push(status);
    }
    expect(statuses).toEqual([...Array.from({ length: 10 }, () => 201), 409]);
    expect([await count(), receiver.challenges]).toEqual([10, 10]);
  });
});

describe("its owner", () => {
  it("lets only the owner list, pause, resume, replay, rotate and delete a webhook", async () => {
    const receiver = await startReceiver();
    const { body } = await register(receiver.url);
    const { id, secret } = body;
    expect((await manage(id, { action: "pause" }, UNRELATED_ACCOUNT)).status).toBe(403);
    expect((await manage(id, { action: "pause" })).body).toMatchObject({ status: "paused", secret: null });
    const own = await submit(INTENT_OWNER);
    await stage.waitUntilSynced();
    expect((await manage(id, { action: "resume" })).body).toMatchObject({ status: "active" });
    await expect.poll(() => namesOf(receiver), patiently).toEqual([`event.IntentSubmitted ${own}`]);
    const rotated = (await manage(id, { action: "rotate" })).body;
    expect(rotated.secret).toMatch(/^whsec_/);
    expect(rotated.secret).not.toBe(secret);
    expect(rotated.public_keys).toHaveLength(2);
    const shown = await stage.get(`/webhooks/${String(id)}`);
    expect(shown.body).toMatchObject({ id, public_keys: rotated.public_keys });
    expect(shown.text).not.toContain("/hook");
    expect(shown.text).not.toContain("whsec_");
    expect((await manage(id, { action: "replay" })).status).toBe(400);
    const block = receiver.attempts[0]?.data.block_number;
    expect((await manage(id, { action: "replay", from: block })).status).toBe(200);
    await expect.poll(() => receiver.attempts.length, { ...patiently, timeout: 25_000 }).toBe(2);
    const listed = await list(INTENT_OWNER);
    expect(listed.body.webhooks).toMatchObject([{ id }]);
    expect((await list(UNRELATED_ACCOUNT)).body.webhooks).toEqual([]);
    expect((await manage(id, { action: "delete" })).status).toBe(200);
    expect((await stage.get(`/webhooks/${String(id)}`)).status).toBe(404);
  }, 40_000);

  const list = (by: number) =>
    stage.send(stage.person(by), webhooksWriteSubject("listWebhooks"), {
      ...{ method: "POST", path: "/webhooks/list", body: { owner: stage.addressOf(by) } },
      version: stage.nextVersion(),
    });

  it("shows nothing of a receiver's text that an earlier version has stored", async () => {
    const receiver = await startReceiver();
    const { body } = await register(receiver.url);
    await manage(body.id, { action: "pause" });
    await stage.index.database.query("update webhooks set last_error = 'status 500 inner\npage'");
    expect((await stage.get(`/webhooks/${String(body.id)}`)).body.last_error).toBe("status 500");
  });

  it("lets the owner test a webhook every ten seconds at most", async () => {
    const receiver = await startReceiver();
    const { body } = await register(receiver.url);
    receiver.expectSecret(() => String(body.secret));
    const tested = await manage(body.id, { action: "test" });
    expect(tested.body.test).toEqual({ delivered: true, status: 204, error: null });
    expect(receiver.attempts).toMatchObject([{ type: "webhook.test", data: { webhook_id: body.id } }]);
    expect(receiver.problems).toEqual([]);
    expect((await manage(body.id, { action: "test" })).status).toBe(429);
  });
});

describe("a URL outside a local chain", () => {
  const network = createPublicNetwork();
  const parse = (url: string, allowPrivate = false) => parseWebhookUrl(url, { network, allowPrivate });

  it.each([
    ...["http://receiver.example/", "https://127.0.0.1/", "https://0x7f.1/", "https://2130706433/"],
    ...["https://[::1]/", "https://[::ffff:10.0.0.1]/", "https://169.254.169.254/latest/meta-data"],
    ...["https://receiver.example:25/", "https://user@receiver.example/", "https://receiver.example/#x"],
    ...[
      "javascript:alert(1)",
      "https://",
      "receiver.example",
      `https://receiver.example/${"x".repeat(2_100)}`,
    ],
  ])("rejects %s as the URL of a receiver", (url) => {
    expect(() => parse(url)).toThrow(/^url must/);
  });

  it.each(["https://receiver.example/hook?token=1", "https://receiver.example:8443/", "https://8.8.8.8/"])(
    "accepts %s as the URL of a receiver",
    (url) => {
      expect(parse(url).url.reveal()).toBe(url);
    },
  );

  it("accepts a private URL if the operator allows it", () => {
    expect(parse("http://10.0.0.7:8080/hook", true).host).toBe("10.0.0.7:8080");
  });
});
