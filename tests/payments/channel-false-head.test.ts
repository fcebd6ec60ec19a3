// A node that names a head its chain does not have: one lie hides no withdrawal and stops no sales for longer than minutes.
import { numberToHex } from "viem";
import { afterAll, afterEach, expect, it } from "vitest";
import { createRpc } from "../../src/chain/rpc/client.ts";
import { Secret } from "../../src/lib/secret.ts";
import { openResponseProxy } from "../support/nodes/response-proxy.ts";
import { openChannelWorld } from "../support/payments/channel-world.ts";
import { openPaidBackend } from "../support/payments/paid-backend.ts";
import { openPaidStage, TEST_PRICE } from "../support/payments/paid-stage.ts";
import { silentLog } from "../support/quiet-log.ts";

const FAR = 1_000_000;
const DEPOSIT = 10n * TEST_PRICE;
const FROZEN = 50;

const backend = await openPaidBackend();
const HONEST = { ahead: 0, seconds: 0, hidesLogs: false };
const lie = { ...HONEST };
const liar = await openResponseProxy(backend.chain.rpcUrl, {
  instead: {
    async eth_getBlockByNumber([tag, ...rest]) {
      if (tag !== "latest" || (lie.ahead === 0 && lie.seconds === 0)) return null;
      const block = await backend.chain.request("eth_getBlockByNumber", [tag, ...rest]);
      const { number, timestamp } = block as { number: string; timestamp: string };
      const named = {
        number: numberToHex(Number(number) + lie.ahead),
        timestamp: numberToHex(Number(timestamp) + lie.seconds),
      };
      return { result: { ...(block as object), ...named } };
    },
    eth_getLogs: async () => (lie.hidesLogs ? { result: [] } : null),
  },
});
const limits = { requestTimeoutMs: 5_000, pauseMsBase: 1, pauseMsMax: 20 };
const rpc = createRpc({ urls: [new Secret(liar.url)], log: silentLog, onCall: null, limits });
afterAll(async () => {
  rpc.close();
  await liar.close();
  await backend.close();
});

const opened: (() => Promise<void>)[] = [];
afterEach(async () => {
  Object.assign(lie, HONEST);
  for (const close of opened.splice(0)) await close();
});

/** A channel with one purchase, whose service asks the node that lies. */
async function openChannel() {
  const stage = await openPaidStage("in process", backend);
  opened.push(stage.close);
  const service = await stage.serve({ channels: { rpc } });
  if (service.channels === undefined) throw new Error("the service sells by channel");
  const { mirror, rows } = service.channels;
  const world = await openChannelWorld(stage);
  await world.deposit(DEPOSIT);
  await expect(world.buy(service, 1)).resolves.toBe(200);
  await mirror.follow();
  const { channelId } = world;
  return {
    ...{ stage, service, world, mirror },
    find: () => rows.find(channelId),
    refresh: () => mirror.refresh(channelId),
    leaving: async () => (await rows.find(channelId))?.row.withdrawAmount,
    withdraw: () => world.payerSends("initiateWithdraw", [world.config, DEPOSIT - TEST_PRICE]),
    /** Lets everything that the database has seen be older, as if so many seconds had passed. */
    async age(seconds: number) {
      const passed = `interval '${seconds} seconds'`;
      await stage.database.query(`update payment_channels set seen_at = seen_at - ${passed},
        created_at = created_at - ${passed}`);
      await stage.database.query(`update channel_scans set read_at = read_at - ${passed}`);
      await stage.chain.mine();
    },
  };
}

it("sees a withdrawal a minute after one read of the channel named a false head", async () => {
  const { service, world, refresh, withdraw, age, leaving, mirror } = await openChannel();
  lie.ahead = FAR;
  await refresh();
  lie.ahead = 0;
  await withdraw();
  await age(70);
  await mirror.follow();
  await expect(leaving()).resolves.toBe(DEPOSIT - TEST_PRICE);
  await expect(world.buy(service, 2)).resolves.toBe("cumulative_exceeds_balance");
});

it("keeps what a node that is ahead has shown until a block made a minute later refutes it", async () => {
  const { stage, mirror, refresh, age, leaving } = await openChannel();
  const follow = async () => {
    await stage.chain.mine();
    await mirror.follow();
  };
  // As if a node ten blocks ahead had shown a withdrawal.
  await stage.database.query(
    "update payment_channels set seen_block = seen_block + 10, withdraw_amount = 1, seen_at = now()",
  );
  await follow();
  await refresh();
  await expect(leaving()).resolves.toBe(1n);
  await age(70);
  lie.seconds = -60;
  await follow();
  lie.seconds = 0;
  await refresh();
  await expect(leaving()).resolves.toBe(1n);
  await follow();
  await expect(leaving()).resolves.toBe(0n);
});

it("sees a withdrawal at once if a clock that was set back had dated the false head five hours ahead", async () => {
  const { mirror, refresh, withdraw, age, leaving } = await openChannel();
  lie.ahead = FAR;
  await refresh();
  lie.ahead = 0;
  await withdraw();
  await age(-18_000);
  await mirror.follow();
  await expect(leaving()).resolves.toBe(DEPOSIT - TEST_PRICE);
});

it("follows the chain again a minute after a node named a false head, and goes back for no node that lags", async () => {
  const { stage, service, world, mirror, withdraw, age, find, leaving } = await openChannel();
  const honest = (await find())?.scan?.number ?? 0;
  lie.ahead = FAR;
  await mirror.follow();
  lie.ahead = 0;
  await stage.chain.mine();
  await mirror.follow();
  expect((await find())?.scan?.number).toBeGreaterThanOrEqual(honest + FAR);
  await age(70);
  lie.seconds = -60;
  await mirror.follow();
  expect((await find())?.scan?.number).toBeGreaterThanOrEqual(honest + FAR);
  lie.seconds = 0;
  await mirror.follow();
  expect((await find())?.scan?.number).toBeLessThan(honest + FAR);
  await expect(world.buy(service, 2)).resolves.toBe(200);
  await withdraw();
  await mirror.follow();
  await expect(leaving()).resolves.toBe(DEPOSIT - TEST_PRICE);
});

it("finds a withdrawal whose event is left out although false heads hold fifty other channels", async () => {
  const { stage, withdraw, mirror, leaving, age } = await openChannel();
  await age(300);
  await mirror.follow();
  await age(300);
  await stage.database.query(`insert into payment_channels
    select (jsonb_populate_record(c, jsonb_build_object('channel_id', '0x' || lpad(to_hex(each), 64, '0'),
      'seen_block', c.seen_block + ${FAR}, 'seen_at', c.seen_at - interval '1 hour'))).*
    from payment_channels c, generate_series(1, ${FROZEN}) each`);
  lie.hidesLogs = true;
  await withdraw();
  await mirror.follow();
  await expect(leaving()).resolves.toBe(DEPOSIT - TEST_PRICE);
});

it("finds a withdrawal in the blocks that replaced those it had read, of a channel that is long known", async () => {
  const { stage, service, world, withdraw, mirror, leaving, age } = await openChannel();
  await service.claims?.claimNow(null);
  for (let block = 0; block < 40; block += 1) await stage.chain.mine();
  await mirror.follow();
  await age(300);
  for (let block = 0; block < 3; block += 1) await stage.chain.mine();
  await mirror.follow();
  await stage.chain.reorg(4, { replay: "none" });
  await withdraw();
  for (let block = 0; block < 4; block += 1) await stage.chain.mine();
  await mirror.follow();
  await expect(leaving()).resolves.toBe(DEPOSIT - TEST_PRICE);
  await expect(world.buy(service, 2)).resolves.toBe("cumulative_exceeds_balance");
});
